"""What a job that loads a model asks for, from the model's size: host memory, GPUs, their memory, and time.

On a retry grows what ran out: GPU memory if the failed attempt's log says so, else host memory and time.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fathom.config.adapter import Adapter
from fathom.config.model_names import ModelName
from fathom.config.models import Adaptation
from fathom.config.scoring import BATCH_TOKENS
from fathom.config.whole import Config
from fathom.errors import InputError
from fathom.io import paths
from fathom.io.files import read_json
from fathom.jobs.resources import Rate
from fathom.models.adapters import ADAPTER_WEIGHTS
from fathom.models.memory import (
    BYTES,
    GB,
    SHARD,
    Memory,
    Training,
    count_needed_gpus,
    measure_layers,
    measure_lens,
    measure_scoring,
    measure_training,
    merge_adapter,
    quantize,
    request_card,
    request_host,
)
from fathom.models.quantization import estimate_bytes_per_weight
from fathom.models.registry import Entry, read_registry
from fathom.models.shapes import Shape, find_shape, parse_shape, read_shape
from fathom.models.steps import LARGE
from fathom.planning.cards import MB, UNKNOWN, Card, choose_card
from fathom.planning.failures import read_message

SCORING = ("score_model", "score_chat", "answer_questions")
LAYERS = ("measure_layers",)
ANSWERING = ("answer_choices",)
READING = (*SCORING, *LAYERS, *ANSWERING)
"""Rules whose jobs read with a model, and train nothing."""
ADAPTING = ("adapt_model", "adapt_in_steps")
TUNING = ("tune_model", "tune_preparation")
MINUTES: Mapping[str, int] = {
    **dict.fromkeys(READING, 480), **dict.fromkeys(TUNING, 720),
    "train_model": 240, "adapt_model": 480,
}  # fmt: skip
"""Least time that a job asks for, by rule."""

_PROMPT = 2_048  # tokens of a question with five examples, as in MMLU
_UNKNOWN_HOST = 16_000  # megabytes of host memory for a model of unknown size
_TABLES = 1_500  # of it, for pairs and texts, and for Snakemake itself
_DRIVER = 2_000  # of it, for the libraries of a GPU
_SAFETY = 3  # a job asks for so many times the time that it is expected to take
_SHORTAGE = "GPU memory"  # in the message of a program that ran out of it


class Need(NamedTuple):
    """What a job asks for.

    Attributes
    ----------
    host_mb, gpu_mb : int
        Host memory, and memory of each GPU.
    gpus : int
        0 for scoring on processors (`scoring.device: cpu`).
    model : str or None
        Model of GPU; None: any.
    minutes : int
    """

    host_mb: int
    gpu_mb: int
    gpus: int
    model: str | None
    minutes: int


class Needs:
    """What the jobs of a run that load models ask for.

    Parameters
    ----------
    config : Config
    registry : Path
        Table of models; it need not exist.
    rates : mapping of str to Rate
        Time by rule.
    cards : sequence of Card
        GPUs of the cluster, the smallest first; empty where nothing is known of them.
    results : str
        Folder of the run's results.
    """

    def __init__(
        self,
        config: Config,
        registry: Path,
        rates: Mapping[str, Rate],
        cards: Sequence[Card],
        results: str,
    ) -> None:
        self._config, self._registry, self._rates = config, registry, rates
        self._entries = read_registry(registry) if registry.is_file() else {}
        self._cards, self._results = cards, results
        self._short: dict[tuple[str, int], bool] = {}

    def of(self, rule: str, name: str) -> Callable[[Any, int], Any]:
        """Return one resource of a rule, by its name in :class:`Need`, as a function for Snakemake."""

        def find(wildcards: Any, attempt: int) -> Any:
            family = next((rules for rules in (SCORING, ADAPTING, TUNING) if rule in rules), (rule,))
            logs = [f"{self._results}/logs/{each}/{'.'.join(wildcards)}.log" for each in family]
            short = self._count_shortages(logs, attempt)
            return getattr(self.find(rule, wildcards.model, attempt - short, short), name)

        return find

    def of_all(self, rule: str, models: Sequence[str], name: str) -> Callable[[Any, int], Any]:
        """Return one resource of a job that takes one model after the other, as a function for Snakemake.

        Minutes add up, host memory is the largest, GPUs are those of the model that needs most of them.
        """

        def find(wildcards: Any, attempt: int) -> Any:
            needs = [self.find(rule, model, attempt) for model in models]
            if name == "minutes":
                return sum(need.minutes for need in needs)
            if name == "host_mb":
                return max(need.host_mb for need in needs)
            return getattr(max(needs, key=lambda need: need.gpu_mb * need.gpus), name)

        return find

    def find(self, rule: str, model: str, attempt: int = 1, short: int = 0) -> Need:
        """Return what a job of a rule needs.

        Parameters
        ----------
        rule, model : str
        attempt : int
            Host memory and time double with each after the first.
        short : int
            How often GPU memory ran out: each time twice as much is asked for.
        """
        growth = 1 << (attempt - 1)
        minutes = self._count_minutes(rule, model) * growth
        shape, stays = self.find_shape(model), self._stays_on_processor(rule)
        if shape is None:
            return Need(_UNKNOWN_HOST * growth, 0, 0 if stays else 1, None, minutes)
        if stays:
            memory = next(self._fit_weights(rule, model, shape, "cpu"))
            stored = self._count_stored(rule, model, shape)
            host = math.ceil(request_host(memory, gpu=False, stored=stored) / MB) + _TABLES
            return Need(host * growth, 0, 0, None, minutes)
        cards = self._cards or [UNKNOWN]
        for memory in self._fit_weights(rule, model, shape, "cuda"):
            larger = Memory(*({name: size * (1 << short) for name, size in part.items()} for part in memory))
            chosen = choose_card(larger, cards, rule in READING)
            if chosen:
                break
        else:
            chosen = cards[-1], 1  # the job says what is missing
        row = self._find_row(model)
        on_gpu = bool(self._cards) or bool(row and row.quantization)  # no processor computes with those
        # without a GPU nothing is halved: memory of the host does not run out with a message
        memory = memory if on_gpu else next(self._fit_weights(rule, model, shape, "cpu"))
        passing = self._count_passing(rule, model) * shape.parameters
        if row and row.quantization:  # a file of weights is quantised on its way to the GPU
            passing = min(4.0 * shape.parameters, SHARD)
        stored = self._count_stored(rule, model, shape)
        host = math.ceil(request_host(memory, on_gpu, passing, stored) / MB)
        host += _TABLES + (_DRIVER if on_gpu else 0)
        wanted = math.ceil(request_card(larger, chosen[1]) / MB)
        return Need(host * growth, wanted, chosen[1], chosen[0].model or None, minutes)

    def check(self) -> None:
        """Raise `InputError` if a model that is scored, trained or tuned fits no GPUs of the cluster."""
        models, prepared = self._config.models, self._config.train_before_test
        jobs = [
            *(("score_model", name) for name in (*models.scored, *models.followed)),
            *(("train_model", name) for name in models.train),
            *(("adapt_model", name) for name in models.adapted),
            *(("tune_model", name) for name in (prepared.models or models.scored) if prepared.tasks),
        ]
        for rule, model in jobs:
            if not self._cards or self._stays_on_processor(rule):
                continue
            shape = self.find_shape(model)
            sizes = list(self._fit_weights(rule, model, shape, "cuda")) if shape else []
            if shape and not any(choose_card(each, self._cards, rule in SCORING) for each in sizes):
                raise self._refuse(rule, model, shape, sizes[-1])

    def _stays_on_processor(self, rule: str) -> bool:
        """Say whether a rule's jobs leave GPUs alone; training takes them whatever scoring does."""
        return rule in READING and self._config.scoring.device == "cpu"

    def _refuse(self, rule: str, model: str, shape: Shape, memory: Memory) -> InputError:
        """Return the message for a model that fits no GPUs, with what would do."""
        largest = self._cards[-1]
        needed = math.ceil(request_card(memory) / GB)
        if rule in SCORING:
            gpus = count_needed_gpus(memory, largest.megabytes * MB)
            enough = f"{gpus} GPUs of {largest.model} would do" if gpus else "a larger GPU is needed"
            return InputError(
                f"scoring {model!r} needs {needed} GB of GPU memory, more than the GPUs of any node have",
                "gpu_cards in the profile",
                f"{enough}; or scoring.dtype: bfloat16",
            )
        how, least = self._find_training(rule, model, shape, "cuda")
        part = "an adapter" if how.rank else "all weights"
        smaller = how._replace(tokens=least, dtype="bfloat16", rank=how.rank or Adapter().rank)
        adapter = math.ceil(request_card(measure_training(shape, smaller)) / GB)
        hints = ["several GPUs share batches, not weights"]
        if rule != "train_model" and adapter < needed:
            key = "train_before_test.lora" if rule in TUNING else "lora in its entry of models.adapt"
            hints.insert(0, f"{key}: {{dtype: bfloat16}} trains an adapter in {adapter} GB")
        return InputError(
            f"training {part} of {model!r} needs {needed} GB on one GPU; {largest.model} has"
            f" {largest.megabytes / 1000:.0f}",
            "gpu_cards in the profile",
            "; ".join(hints),
        )

    def find_shape(self, model: str) -> Shape | None:
        """Return the shape of a model of the run, None if nothing says how large it is."""
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
        """Return the shape of a model that has been fetched, from its own config.json."""
        pointer = Path(paths.POINTER.of(model=model).under(self._results))
        if not pointer.is_file():
            return None
        config = pointer.parent / read_json(pointer)["path"] / "config.json"
        return read_shape(config) if config.is_file() else None

    def _find_row(self, model: str) -> Entry | None:
        """Return the registry's row of a model that is loaded as it was fetched; None for one made here."""
        models, name = self._config.models, ModelName.parse(model).plain
        return None if name in models.adapted or name in models.train else self._entries.get(name)

    def _count_passing(self, rule: str, model: str) -> float:
        """Return the bytes of each parameter that training holds in host memory at some time."""
        if rule == "train_model":
            return 4.0
        if rule != "adapt_model":
            return 0.0
        lora = self._config.models.adapted[model][2].lora
        # read in float32; the cast for an adapter is made before anything goes to a GPU
        return 6.0 if lora and lora.dtype == "bfloat16" else 4.0

    def _count_stored(self, rule: str, model: str, shape: Shape) -> float:
        """Return the bytes of weight files that are read in another number format than they are stored in."""
        tuning, row = rule in TUNING, self._find_row(model)
        wanted = self._config.train_before_test.lora.dtype if tuning else self._config.scoring.dtype
        stored = row.dtype if row else "float32"
        # adaptation reads float32 weights of models that are made here
        same = stored == wanted or rule in ("train_model", "adapt_model")
        return 0.0 if same else float(BYTES[stored] * shape.parameters)

    def _measure_adapter(self, row: Entry) -> float | None:
        """Return the bytes of an adapter's weights, None if they are not here yet."""
        folder = self._registry.parent / Path(row.source).expanduser()
        pointer = Path(paths.POINTER.of(model=row.name).under(self._results))
        if pointer.is_file():
            folder = pointer.parent / str(read_json(pointer).get("adapter"))
        file = folder / ADAPTER_WEIGHTS
        return float(file.stat().st_size) if file.is_file() else None

    def _fit_weights(self, rule: str, model: str, shape: Shape, device: str) -> Iterator[Memory]:
        """Yield what :meth:`_measure` yields, with quantised weights or an adapter as the registry says."""
        row = self._find_row(model)
        for plain in self._measure(rule, model, shape, device):
            fitted = plain
            if row and row.quantization:
                fitted = quantize(plain, shape, estimate_bytes_per_weight(row.quantization))
            if row and row.adapter_of:
                fitted = merge_adapter(fitted, shape, self._measure_adapter(row))
            yield fitted

    def _measure(self, rule: str, model: str, shape: Shape, device: str) -> Iterator[Memory]:
        """Yield a step's memory: as configured, then with smaller batches, as programs halve them."""
        if rule in (*SCORING, *ANSWERING, *LAYERS):
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

    def _count_minutes(self, rule: str, model: str) -> int:
        """Return the minutes that a job of a rule asks for."""
        rate = self._rates.get(rule, Rate())
        shape = self.find_shape(model)
        seconds = rate.seconds_per_job
        seconds += rate.seconds_per_gigaparameter * (shape.parameters if shape else 0) / 1e9
        seconds *= len(self._config.benchmark_domains) if rule in (*SCORING, *LAYERS) else 1
        return max(MINUTES[rule], math.ceil(_SAFETY * seconds / 60))

    def _count_shortages(self, logs: Sequence[str], attempt: int) -> int:
        """Return how many attempts before this one ended for want of GPU memory.

        A log is that of the last attempt only, so what it said is kept.
        """
        log = logs[-1]
        if attempt > 1 and (log, attempt) not in self._short:
            self._short[log, attempt] = _SHORTAGE in read_message(logs, 0.0)
        return sum(
            short for (path, number), short in self._short.items() if path == log and number <= attempt
        )
