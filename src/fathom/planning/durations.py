"""Time and disk of a job that loads a model, calculated from the model's shape.

Operations over a share of the card's rate, or bytes of weights over its bandwidth if that takes longer,
plus starting and loading.
"""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from fathom.config.benchmark import VARIANTS
from fathom.config.models import Adaptation
from fathom.config.whole import Config
from fathom.io import paths
from fathom.jobs.resources import Work
from fathom.models.memory import BYTES, Dtype, count_adapted, count_adapter
from fathom.models.shapes import Shape
from fathom.models.steps import LARGE
from fathom.planning.model_memory import ADAPTING, LAYERS, TUNING

SCORING_SHARE = 0.45
"""Share of a card's peak that scoring reaches: measured 48 % on a processor, 40 % at 7B on an H100."""
TRAINING_SHARE = 0.28
"""Share of a card's peak that training reaches: measured 28 % at 1B on an H100, 34 and 43 % on an H200."""
LAUNCH = 1.3e-3
"""Seconds that a matrix with an adapter takes in a forward pass of a step, and its part of the backward pass,
however few tokens it reads: 1.2 and 1.4 ms were measured on an H100."""
START = 30.0
"""Seconds until a job's libraries are imported."""
READING = 1e9
"""Bytes a second in which weights are hashed and loaded."""
PAIR = 1e-3
"""Seconds per pair besides the model: tokens, line of the table."""
PAIR_TOKENS = 40
"""Tokens of a pair: a sentence up to its term, in most tokenizers."""
TARGET_TOKENS = 2
PAIRS_PER_MEGABYTE = 250
"""Most pairs of a variant per megabyte of text: 80 to 160 in manuals and abstracts."""
EXAMPLES, EXAMPLE_TOKENS = 22_753, 100
"""Training examples of a tuning, on average over the tasks of [TrainBeforeTest], and tokens of one."""
CHARACTERS = 4.0
"""Bytes per token of running text."""

CALCULATED = ("score_model", "score_chat", *LAYERS, *ADAPTING, *TUNING)
"""Rules whose jobs are calculated; the others' time comes from `config/rates.tsv`."""
_MOVED = 28  # bytes that AdamW reads and writes for each trained parameter
_STATE = 12  # bytes of a trained parameter in the state of a run: itself and two moments


class Speed(NamedTuple):
    """What a card does at its peak: products in float32 and in 16 bits (FLOP/s), bytes from its memory."""

    float32: float
    half: float
    bandwidth: float

    def of(self, dtype: str) -> float:
        """Return the rate of products in a number format."""
        return self.float32 if dtype == "float32" else self.half


SPEEDS: Mapping[str, Speed] = {
    "h200": Speed(67e12, 989e12, 4.8e12),
    "h100": Speed(67e12, 989e12, 3.35e12),
    "a100": Speed(19.5e12, 312e12, 2.0e12),
    "l40s": Speed(91.6e12, 362e12, 0.86e12),
    "v100": Speed(15.7e12, 125e12, 0.9e12),
    "l4": Speed(30.3e12, 121e12, 0.3e12),
    "t4": Speed(8.1e12, 65e12, 0.32e12),
}
"""Peaks of cards by part of their names, from data sheets; without TF32 and sparsity."""
PROCESSOR = Speed(205e9, 205e9, 2e10)
"""One core with AVX-512."""


def find_speed(card: str | None) -> Speed:
    """Return the peaks of a card by its name; for unknown names, an A100's."""
    name = (card or "").lower()
    return next((speed for part, speed in SPEEDS.items() if part in name), SPEEDS["a100"])


class Load(NamedTuple):
    """What is computed.

    `length`: of a sequence, for attention. `rows`: tokens whose logits are computed. `passes`: how often all
    weights are read from the card's memory.
    """

    tokens: float
    length: float
    rows: float
    passes: float


def measure_seconds(
    shape: Shape, load: Load, dtype: Dtype, speed: Speed, share: float, output: Dtype | None = None
) -> float:
    """Return the seconds of a forward pass.

    Parameters
    ----------
    load : Load
    dtype : {"float32", "bfloat16", "float16"}
        Of the weights and the products of blocks.
    share : float
        Of the peak that products reach.
    output : str, optional
        Number format of the output layer's products; float32 by default, as for ranks.
    """
    # attention is causal: half of 4
    blocks = load.tokens * shape.layers * (2.0 * shape.block + 2.0 * load.length * shape.width)
    logits = 2.0 * load.rows * shape.embedding
    products = (blocks / speed.of(dtype) + logits / speed.of(output or "float32")) / share
    return max(products, load.passes * BYTES[dtype] * shape.parameters / speed.bandwidth)


class Durations:
    """Time and disk of the jobs of a run.

    `results`: folder of the run's results; existing benchmarks count with their pairs.
    """

    def __init__(self, config: Config, results: str) -> None:
        self._config, self._results = config, results
        self._pairs: dict[str, int] = {}
        self._megabytes = math.inf

    def bound_text(self, megabytes: float) -> None:
        """Limit pairs and held-out text of all benchmarks to what so much text can give."""
        self._megabytes = megabytes / max(1, len(self._config.benchmark_domains))

    def calculate(self, rule: str, model: str, shape: Shape, speed: Speed) -> Work:
        """Return the work of a job of one of the rules CALCULATED."""
        if rule in LAYERS:
            return self._measure_layers(shape, speed)
        if rule in ADAPTING:
            return self._adapt(self._config.models.adapted[model][2], shape, speed)
        if rule in TUNING:
            return self._tune(shape, speed)
        return self._read(shape, self._count_scoring(shape, rule == "score_model", speed), speed)

    def count_pairs(self, domain: str) -> int:
        """Return the number of pairs of a domain's benchmarks: the existing ones, else the most possible."""
        if domain not in self._pairs:
            files = [
                Path(paths.PAIRS.of(domain=domain, variant=each).under(self._results)) for each in VARIANTS
            ]
            made = self._config.pairs
            most = self._config.keywords.count * made.per_keyword if made else 0
            few = math.ceil(min(most, PAIRS_PER_MEGABYTE * self._megabytes))
            self._pairs[domain] = sum(_count_rows(file) if file.is_file() else few for file in files)
        return self._pairs[domain]

    def _count_all_pairs(self) -> int:
        return sum(self.count_pairs(domain) for domain in self._config.benchmark_domains)

    def _count_passes(self, tokens: float, speed: Speed) -> float:
        return tokens / self._config.scoring.count_tokens("cpu" if speed == PROCESSOR else "cuda")

    def _count_scoring(self, shape: Shape, text: bool, speed: Speed) -> Load:
        pairs, settings = self._count_all_pairs(), self._config.perplexity
        window = min(settings.window, shape.context or settings.window)
        stride = settings.stride * window / settings.window
        share = self._config.corpus.splits.adapt_test
        held_out = 1e6 * self._megabytes * share if share else 0.0
        own, elsewhere = min(settings.max_characters, held_out), settings.max_characters
        domains = self._config.benchmark_domains if text else []
        scored = sum(elsewhere if name in settings.texts else own for name in domains) / CHARACTERS
        running = scored * window / stride
        tokens = pairs * PAIR_TOKENS + running
        length = (pairs * PAIR_TOKENS * PAIR_TOKENS + running * window) / max(tokens, 1.0)
        rows = pairs * TARGET_TOKENS + scored
        return Load(tokens, length, rows, self._count_passes(tokens, speed))

    def _read(self, shape: Shape, load: Load, speed: Speed, more: float = 0.0) -> Work:
        dtype = self._config.scoring.dtype
        seconds = measure_seconds(shape, load, dtype, speed, SCORING_SHARE) + more
        seconds += START + BYTES[dtype] * shape.parameters / READING + PAIR * self._count_all_pairs()
        return Work(seconds)

    def _measure_layers(self, shape: Shape, speed: Speed) -> Work:
        """Return the time of layers: all of them are projected in every way, and lenses are trained."""
        settings, lens, domains = self._config.layers, self._config.lens, len(self._config.benchmark_domains)
        pairs = domains * settings.keywords * settings.pairs
        positions = pairs * TARGET_TOKENS + domains * self._config.keywords.count
        rows = positions * (shape.layers + 1) * (len(settings.projections) + bool(lens.steps))
        tokens = float(pairs * PAIR_TOKENS)
        load = Load(tokens, PAIR_TOKENS, rows, self._count_passes(tokens, speed))
        steps = domains * lens.steps
        learned = steps * lens.positions * shape.layers
        training = Load(steps * lens.batch * lens.sequence, lens.sequence, 3.0 * learned, steps)
        matrices = 6.0 * learned * shape.width**2 / speed.float32 / TRAINING_SHARE
        dtype = self._config.scoring.dtype
        lenses = measure_seconds(shape, training, dtype, speed, TRAINING_SHARE) + matrices if steps else 0.0
        return self._read(shape, load, speed, lenses)

    def _adapt(self, made: Adaptation, shape: Shape, speed: Speed) -> Work:
        """Return the time of an adaptation, and the disk of weights, checkpoints and the state of the run."""
        trained = count_adapter(shape, made.lora.rank) if made.lora else shape.parameters
        size = made.lora.dtype if made.lora else "float32"
        products: Dtype = "float32" if made.precision == "float32" and size == "float32" else "bfloat16"
        if speed == PROCESSOR:
            products = "float32"
        tokens = float(made.steps * made.batch * made.sequence)
        large = made.checkpointing == "always" or (made.checkpointing == "auto" and shape.parameters >= LARGE)
        load = Load(tokens, made.sequence, tokens, made.steps)
        seconds = (2 + (not made.lora) + large) * measure_seconds(
            shape, load, products, speed, TRAINING_SHARE, products
        )
        seconds += made.steps * _MOVED * trained / speed.bandwidth
        seconds += START + 2 * BYTES[size] * shape.parameters / READING
        disk = 4.0 * trained * (1 + len(made.list_checkpoints())) + _STATE * trained
        return Work(seconds, disk / 1e6)

    def _tune(self, shape: Shape, speed: Speed) -> Work:
        prepared = self._config.train_before_test
        lora, limits = prepared.lora, prepared.limits
        tokens = float(min(EXAMPLE_TOKENS, lora.max_tokens))
        learned = lora.epochs * min(limits.train, EXAMPLES) * tokens
        read = 2 * limits.test + lora.epochs * limits.valid
        recomputed = shape.parameters >= LARGE
        load = Load(learned, tokens, learned, learned / lora.batch_tokens)
        seconds = (2 + recomputed) * measure_seconds(
            shape, load, lora.dtype, speed, TRAINING_SHARE, lora.dtype
        )
        if speed != PROCESSOR:  # a batch of eight short examples does not fill a card
            steps = lora.epochs * min(limits.train, EXAMPLES) / lora.batch
            seconds = max(seconds, steps * (1 + recomputed) * count_adapted(shape) * LAUNCH)
        reading = Load(read * tokens, tokens, read * tokens, read * tokens / lora.batch_tokens)
        seconds += measure_seconds(shape, reading, lora.dtype, speed, SCORING_SHARE, lora.dtype)
        return Work(seconds + START + BYTES[lora.dtype] * shape.parameters / READING)


def _count_rows(pairs: Path) -> int:
    # imports polars, which an empty plan does not need
    from fathom.io.tables import explain_damage, open_table

    with explain_damage(pairs):
        return int(open_table(pairs, ["pair_id"]).metadata.num_rows)
