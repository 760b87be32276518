"""Memory that jobs of a run need for their models, the GPUs of a cluster, and GPUs that hold a step."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from fathom.config.model_names import ModelName
from fathom.config.models import Adaptation
from fathom.config.scoring import BATCH_TOKENS
from fathom.config.whole import Config
from fathom.errors import InputError
from fathom.io import paths
from fathom.io.files import read_json
from fathom.models.adapters import ADAPTER_WEIGHTS
from fathom.models.memory import (
    Memory,
    Training,
    count_adapter,
    count_needed_gpus,
    measure_layers,
    measure_lens,
    measure_scoring,
    measure_training,
    merge_adapter,
    quantize,
)
from fathom.models.quantization import estimate_bytes_per_weight, is_small
from fathom.models.registry import ModelRow, read_registry
from fathom.models.shapes import Shape, find_shape, parse_shape, read_shape
from fathom.models.steps import LARGE

MB = 1_000_000
_CARD = re.compile(r"([\w.]+):(\d+)(?:x(\d+))?")


class Card(NamedTuple):
    """A model of GPU.

    `model`: name as in Slurm; empty if any GPU will do. `most`: GPUs of a node, the most for one job.
    """

    model: str
    megabytes: int
    most: int


UNKNOWN = Card("", 80_000, 8)
"""Default for unknown clusters: nodes of eight GPUs of 80 GB."""


def read_cards(text: str | None, where: str = "gpu_cards in the profile") -> list[Card]:
    """Return GPUs given as `MODEL:MEGABYTESxGPUS` separated by spaces, smallest first."""
    found = []
    for piece in (text or "").split():
        match = _CARD.fullmatch(piece)
        if not match:
            hint = "MODEL:MEGABYTESxGPUS for each, such as a100:40000x4: memory of a GPU, and GPUs of a node"
            raise InputError(f"{piece!r} is not a model of GPU", where, hint)
        found.append(Card(match[1], int(match[2]), int(match[3] or 1)))
    return sorted(found, key=lambda card: (card.megabytes, card.model))


def choose_card(memory: Memory, cards: Sequence[Card], several: bool) -> tuple[Card, int] | None:
    """Return the fewest, then smallest, GPUs that hold a step; None if none do."""
    counted = [(card, count_needed_gpus(memory, card.megabytes * MB)) for card in cards]
    fitting = [(card, count) for card, count in counted if 0 < count <= (card.most if several else 1)]
    return min(fitting, key=lambda choice: choice[1], default=None)


SCORING = ("score_model", "score_chat", "answer_questions")
LAYERS = ("measure_layers",)
ANSWERING = ("answer_choices",)
READING = (*SCORING, *LAYERS, *ANSWERING)
"""Rules whose jobs run a model without training."""
ADAPTING = ("adapt_model", "adapt_in_steps")
TUNING = ("tune_model", "tune_preparation")

_PROMPT = 2_048  # tokens of a question with five examples, as in MMLU


class ModelMemory:
    """Shapes of the models of a run, and the memory of their steps.

    `registry`: table of models; it need not exist. `cards`: GPUs of the cluster, the smallest first; empty if
    unknown.
    """

    def __init__(self, config: Config, registry: Path, cards: Sequence[Card], results: str) -> None:
        self._config, self._registry = config, registry
        self._entries = read_registry(registry) if registry.is_file() else {}
        self._cards, self._results = cards, results

    def _stays_on_processor(self, rule: str) -> bool:
        """Say whether a rule's jobs use no GPU; training may use one even if scoring does not."""
        return rule in READING and self._config.scoring.device == "cpu"

    def find_shape(self, model: str) -> Shape | None:
        """Return the shape of a model of the run, None if its size is unknown."""
        models, name = self._config.models, ModelName.parse(model).plain
        name = models.checkpoints.get(name, (name,))[0]
        while name in models.adapted:
            name = models.adapted[name][0]
        if name in models.train:
            made = models.train[name]
            return parse_shape(
                {
                    "model_type": made.architecture,
                    "num_hidden_layers": made.layers,
                    "hidden_size": made.width,
                    "intermediate_size": made.width * (12 if made.architecture == "gpt2" else 8) // 3,
                    "num_attention_heads": made.heads,
                    "vocab_size": made.vocabulary,
                    "max_position_embeddings": made.context,
                    "tie_word_embeddings": True,
                }
            )
        if shape := self._read_fetched(name):
            return shape
        row = self._entries.get(name)
        return find_shape(self._entries[row.adapter_of or name], self._registry) if row else None

    def _read_fetched(self, model: str) -> Shape | None:
        pointer = Path(paths.POINTER.of(model=model).under(self._results))
        if not pointer.is_file():
            return None
        config = pointer.parent / read_json(pointer)["path"] / "config.json"
        return read_shape(config) if config.is_file() else None

    def _find_row(self, model: str) -> ModelRow | None:
        """Return the registry's row of a model that is loaded as it was fetched; None for one made here."""
        models, name = self._config.models, ModelName.parse(model).plain
        return None if name in models.adapted or name in models.train else self._entries.get(name)

    def _measure_adapter(self, row: ModelRow) -> float | None:
        folder = self._registry.parent / Path(row.source).expanduser()
        pointer = Path(paths.POINTER.of(model=row.name).under(self._results))
        if pointer.is_file():
            folder = pointer.parent / str(read_json(pointer).get("adapter"))
        file = folder / ADAPTER_WEIGHTS
        return float(file.stat().st_size) if file.is_file() else None

    def _find_loaded(self, model: str) -> tuple[str, int]:
        """Return the model whose weights are loaded for one, and the rank of the adapters beside it."""
        models, name, rank = self._config.models, ModelName.parse(model).plain, 0
        name = models.checkpoints.get(name, (name,))[0]
        while name in models.adapted and (lora := models.adapted[name][2].lora):
            rank, name = rank + lora.rank, models.adapted[name][0]
        return name, rank

    def _fit_weights(self, rule: str, model: str, shape: Shape, device: str) -> Iterator[Memory]:
        """Yield the results of :meth:`_measure`, with quantised weights or an adapter as in the registry."""
        row = self._find_row(model)
        for plain in self._measure(rule, model, shape, device):
            fitted = plain
            if row and is_small(row.quantization):
                fitted = quantize(plain, shape, estimate_bytes_per_weight(row.quantization))
            if row and row.adapter_of:
                fitted = merge_adapter(fitted, shape, self._measure_adapter(row))
            elif rule in READING and (rank := self._find_loaded(model)[1]):
                fitted = merge_adapter(fitted, shape, 4.0 * count_adapter(shape, rank))
            yield fitted

    def _measure(self, rule: str, model: str, shape: Shape, device: str) -> Iterator[Memory]:
        """Yield a step's memory: as configured, then with batches halved, as programs do."""
        if rule in READING:
            tokens = self._config.scoring.count_tokens(device)
            least = min(tokens, BATCH_TOKENS["cpu"])
            while tokens >= least:
                yield self._measure_reading(rule, shape, tokens, device)
                tokens //= 2
        else:
            how, least = self._find_training(rule, model, shape, device)
            while how.tokens >= least:
                yield measure_training(shape, how)
                how = how._replace(tokens=how.tokens // 2)

    def _measure_reading(self, rule: str, shape: Shape, tokens: int, device: str) -> Memory:
        """Return the memory of a step that only reads, with some tokens in a batch."""
        config, dtype = self._config, self._config.scoring.dtype
        window = min(config.perplexity.window, shape.context or config.perplexity.window)
        if rule in SCORING:
            return measure_scoring(shape, dtype, tokens, window, device)
        if rule in ANSWERING:
            window = min(_PROMPT, shape.context or _PROMPT)
            return measure_scoring(shape, dtype, max(tokens, window), window, device)
        lens = config.lens
        steps = [measure_layers(shape, dtype, tokens, window, device)]
        if lens.steps:
            steps.append(measure_lens(shape, dtype, lens.batch * lens.sequence, lens.positions, device))
        return max(steps, key=lambda memory: memory.total)

    def _find_training(self, rule: str, model: str, shape: Shape, device: str) -> tuple[Training, int]:
        """Return how a model is trained, and the tokens of its longest example."""
        large = shape.parameters >= LARGE
        if rule in TUNING:
            lora = self._config.train_before_test.lora
            tokens = max(lora.max_tokens, lora.batch_tokens)
            return Training(tokens, lora.dtype, False, large, lora.rank), lora.max_tokens
        models = self._config.models
        made = models.train[model] if rule == "train_model" else models.adapted[model][2]
        autocast = device == "cuda" and made.precision != "float32"
        checkpointing = made.checkpointing == "always" or (made.checkpointing == "auto" and large)
        tokens = max(made.sequence, min(made.batch_tokens, made.batch * made.sequence))
        how = Training(tokens, "float32", autocast, checkpointing)
        if isinstance(made, Adaptation) and made.lora:
            how = how._replace(dtype=made.lora.dtype, rank=made.lora.rank)
        return how, made.sequence

    def _choose_card(
        self, rule: str, model: str, shape: Shape, factor: int = 1
    ) -> tuple[Memory, tuple[Card, int]]:
        """Return a step's memory, and the GPUs that hold it times a factor: the largest if none do."""
        cards = self._cards or [UNKNOWN]
        for memory in self._fit_weights(rule, model, shape, "cuda"):
            chosen = choose_card(multiply(memory, factor), cards, rule in READING)
            if chosen:
                return memory, chosen
        return memory, (cards[-1], 1)  # the job reports what is missing


def multiply(memory: Memory, factor: int) -> Memory:
    """Return a memory so many times."""
    return Memory(*({name: size * factor for name, size in part.items()} for part in memory))
