"""Resources of a job that loads a model, from the model's size: host memory, GPUs, their memory, and time.

A retry asks for more of what ran out: GPU memory if the failed attempt's log says so, else host memory and
time.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fathom.config.adapter import Adapter
from fathom.config.model_names import ModelName
from fathom.config.whole import Config
from fathom.errors import InputError
from fathom.jobs.resources import Job, Rate, Work
from fathom.models.memory import (
    BYTES,
    GB,
    SHARD,
    Memory,
    count_needed_gpus,
    measure_training,
    request_card,
    request_host,
)
from fathom.models.quantization import is_small
from fathom.models.registry import find_folder, is_address
from fathom.models.shapes import Shape
from fathom.planning.durations import CALCULATED, PROCESSOR, Durations, find_speed
from fathom.planning.failures import read_message
from fathom.planning.model_memory import (
    ADAPTING,
    LAYERS,
    MB,
    READING,
    SCORING,
    TUNING,
    Card,
    ModelMemory,
    choose_card,
    multiply,
)

MINUTES: Mapping[str, int] = {
    **dict.fromkeys(READING, 480), **dict.fromkeys(TUNING, 720),
    "train_model": 240, "adapt_model": 480,
}  # fmt: skip
"""Least time that a job asks for, by rule."""

_UNKNOWN_HOST = 16_000  # megabytes of host memory for a model of unknown size
_SERVED = 4_000  # for a model behind a server: its tokenizer, pairs and answers
_TABLES = 1_500  # of it, for pairs and held-out text, and for Snakemake itself
_TEXT = (
    9  # bytes of host memory for a character of training text: its table, strings and tokens; 8.6 measured
)
_DRIVER = 2_000  # of it, for the libraries of a GPU
_SAVED = 12  # bytes of a trained parameter in host memory while the state of a training is saved
_SAFETY = 3  # a job asks for this multiple of its expected time
RESOURCES: Mapping[str, str] = {
    "mem_mb": "host_mb", "runtime": "minutes", "gpu": "gpus", "gpu_mem_mb": "gpu_mb", "gpu_model": "model",
}  # fmt: skip
"""Names of resources in rules, and in :class:`Need`."""
ATTEMPTS = 3
"""Of a job, by the profile's `retries`."""
_SHORTAGE = "GPU memory"  # in the message of a program that ran out of it


class Need(NamedTuple):
    """Resources of a job.

    `gpu_mb`: host memory, and memory of each GPU. `gpus`: 0 for scoring on processors (`scoring.device:
    cpu`). `model`: model of GPU; None: any.
    """

    host_mb: int
    gpu_mb: int
    gpus: int
    model: str | None
    minutes: int


class Needs(ModelMemory):
    """Resources of a run's jobs that load models.

    `registry`: table of models; it need not exist. `rates`: time by rule. `cards`: GPUs of the cluster, the
    smallest first; empty where nothing is known of them. `limit`: most minutes of a job: a retry continues
    where the last one stopped.
    """

    def __init__(
        self,
        config: Config,
        registry: Path,
        rates: Mapping[str, Rate],
        cards: Sequence[Card],
        results: str,
        limit: int | None = None,
    ) -> None:
        super().__init__(config, registry, cards, results)
        self.rates, self._limit = rates, limit
        self._durations = Durations(config, results)
        self._short: dict[tuple[str, int], bool] = {}

    def bound_text(self, megabytes: float) -> None:
        """Limit pairs and held-out text to what so many megabytes of text can give."""
        self._durations.bound_text(megabytes)

    @property
    def text_mb(self) -> int:
        """Host memory of a domain's training text of the greatest length, in megabytes."""
        return math.ceil(_TEXT * self._config.models.max_characters / MB)

    def ask(self, rule: str) -> dict[str, Callable[[Any, int], Any]]:
        """Return the resources of a rule as functions for Snakemake."""
        return {resource: self.of(rule, name) for resource, name in RESOURCES.items()}

    def of(self, rule: str, name: str) -> Callable[[Any, int], Any]:
        """Return one resource of a rule, by its name in :class:`Need`, as a function for Snakemake."""

        def find(wildcards: Any, attempt: int) -> Any:
            family = next((rules for rules in (SCORING, ADAPTING, TUNING) if rule in rules), (rule,))
            logs = [f"{self._results}/logs/{each}/{'.'.join(wildcards)}.log" for each in family]
            short = self._count_shortages(logs, attempt)
            return getattr(self.find(rule, wildcards.model, attempt - short, short), name)

        return find

    def find(self, rule: str, model: str, attempt: int = 1, short: int = 0) -> Need:
        """Return what a job of a rule needs.

        Parameters
        ----------
        attempt : int
            Host memory and time double with each after the first.
        short : int
            How often GPU memory ran out: each time the request doubles.
        """
        growth = 1 << (attempt - 1)
        minutes = self._count_minutes(rule, model) * growth
        minutes = min(minutes, self._limit) if self._limit else minutes
        if self._is_served(model):
            return Need(_SERVED * growth, 0, 0, None, minutes)
        shape, stays = self.find_shape(model), self._stays_on_processor(rule)
        if shape is None:
            return Need(_UNKNOWN_HOST * growth, 0, 0 if stays else 1, None, minutes)
        if stays:
            memory = next(self._fit_weights(rule, model, shape, "cpu"))
            stored = self._count_stored(rule, model, shape)
            host = math.ceil(request_host(memory, gpu=False, stored=stored) / MB)
            host += self._count_tables(rule)
            return Need(host * growth, 0, 0, None, minutes)
        memory, chosen = self._choose_card(rule, model, shape, 1 << short)
        larger = multiply(memory, 1 << short)
        row = self._find_row(model)
        small = bool(row and is_small(row.quantization))
        on_gpu = bool(self._cards) or small  # no processor computes with those
        # without a GPU nothing is halved: a process out of host memory is killed without a message
        memory = memory if on_gpu else next(self._fit_weights(rule, model, shape, "cpu"))
        passing = self._count_passing(rule, model) * shape.parameters
        if small:  # a file of weights is quantised on its way to the GPU
            passing = min(4.0 * shape.parameters, SHARD)
        stored = self._count_stored(rule, model, shape)
        host = math.ceil(request_host(memory, on_gpu, passing, stored) / MB)
        host += self._count_tables(rule) + (_DRIVER if on_gpu else 0)
        wanted = math.ceil(request_card(larger, chosen[1]) / MB)
        return Need(host * growth, wanted, chosen[1], chosen[0].model or None, minutes)

    def calculate(self, job: Job) -> Work | None:
        """Return the calculated work of a job; None if rates give it, see :class:`Durations`."""
        model = job.wildcards.get("model", "")
        if job.rule in ("fetch_model", "fetch_weights"):
            return self._calculate_fetching(job.rule, ModelName.parse(model).plain)
        return self._calculate(job.rule, model) if model else None

    def _calculate(self, rule: str, model: str) -> Work | None:
        shape = self.find_shape(model) if rule in CALCULATED else None
        if shape is None or self._is_served(model):
            return None
        speed = PROCESSOR
        if not self._stays_on_processor(rule):
            speed = find_speed(self._choose_card(rule, model, shape)[1][0].model)
        found = self._durations.calculate(rule, model, shape, speed)
        if self._cards:
            return found
        # without known GPUs a job may run on a processor, where the constant was measured
        return found._replace(seconds=max(found.seconds, self.rates.get(rule, Rate()).seconds_per_job))

    def _calculate_fetching(self, rule: str, model: str) -> Work | None:
        row, rate = self._entries.get(model), self.rates.get(rule, Rate())
        if row is None or not row.parameters:
            return None
        size = BYTES[row.dtype] * row.parameters
        seconds = rate.seconds_per_job + rate.seconds_per_gigaparameter * row.parameters / 1e9
        # with `on_disk` only bases stay
        models = self._config.models
        local = is_address(row.source) or find_folder(row, self._registry) is not None
        stays = rule == "fetch_model" and not local and (not models.on_disk or model in models.bases)
        return Work(seconds, size / 1e6 if stays else 0.0)

    def check(self) -> None:
        """Raise `InputError` if a model that is scored, trained or tuned fits no GPUs, or takes too long."""
        models, prepared = self._config.models, self._config.train_before_test
        jobs = [
            *(("score_model", name) for name in (*models.scored, *models.followed)),
            *(("train_model", name) for name in models.train),
            *(("adapt_model", name) for name in models.adapted),
            *(("tune_model", name) for name in (prepared.models or models.scored) if prepared.tasks),
        ]
        for rule, model in jobs:
            if self._is_served(model):
                continue
            self._check_time(rule, model)
            if not self._cards or self._stays_on_processor(rule):
                continue
            shape = self.find_shape(model)
            sizes = list(self._fit_weights(rule, model, shape, "cuda")) if shape else []
            if shape and not any(choose_card(each, self._cards, rule in SCORING) for each in sizes):
                raise self._refuse(rule, model, shape, sizes[-1])

    def _check_time(self, rule: str, model: str) -> None:
        work = self._calculate(rule, model) if self._limit else None
        if work is None or self._limit is None or work.seconds <= 60 * self._limit * ATTEMPTS:
            return
        raise InputError(
            f"{rule} of {model!r} takes about {work.seconds / 3600:,.0f} hours, {ATTEMPTS} attempts of "
            f"{self._limit / 60:,.0f} hours are too few",
            "max_minutes in the profile",
            "scoring.dtype: bfloat16, fewer pairs (pairs.per_keyword) or steps, or more time",
        )

    def _is_served(self, model: str) -> bool:
        if model in self._config.models.speaking:
            return True
        row = self._find_row(model)
        return row is not None and is_address(row.source)

    def _refuse(self, rule: str, model: str, shape: Shape, memory: Memory) -> InputError:
        largest = self._cards[-1]
        needed = math.ceil(request_card(memory) / GB)
        if rule in SCORING:
            gpus = count_needed_gpus(memory, largest.megabytes * MB)
            enough = f"{gpus} GPUs of {largest.model} would do" if gpus else "a larger GPU is needed"
            what = f"scoring {model!r} needs {needed} GB of GPU memory, more than the GPUs of any node have"
            return InputError(what, "gpu_cards in the profile", f"{enough}; or scoring.dtype: bfloat16")
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

    def _count_tables(self, rule: str) -> int:
        """Return the megabytes of tables that a rule's jobs hold; tuned lenses read training text, too."""
        trains = rule in ("train_model", *ADAPTING) or (rule in LAYERS and self._config.lens.steps > 0)
        return _TABLES + (self.text_mb if trains else 0)

    def _count_passing(self, rule: str, model: str) -> float:
        """Return the bytes of each parameter that training holds in host memory at some time."""
        if rule == "train_model":
            return 4.0
        if rule not in ADAPTING:
            return 0.0
        lora = self._config.models.adapted[model][2].lora
        # all weights are 12 bytes at each save: themselves and two moments
        return float(_SAVED) if lora is None else float(BYTES[lora.dtype])

    def _count_stored(self, rule: str, model: str, shape: Shape) -> float:
        """Return the bytes of weight files that are read in another number format than they are stored in."""
        tuning, row = rule in TUNING, self._find_row(self._find_loaded(model)[0])
        wanted = self._config.train_before_test.lora.dtype if tuning else self._config.scoring.dtype
        stored = row.dtype if row else "float32"
        # adaptation reads float32 weights of models that are made here
        same = stored == wanted or rule in ("train_model", *ADAPTING)
        return 0.0 if same else float(BYTES[stored] * shape.parameters)

    def _count_minutes(self, rule: str, model: str) -> int:
        if work := self._calculate(rule, model):
            seconds = work.seconds
        else:
            rate, shape = self.rates.get(rule, Rate()), self.find_shape(model)
            seconds = rate.seconds_per_job
            seconds += rate.seconds_per_gigaparameter * (shape.parameters if shape else 0) / 1e9
            seconds *= len(self._config.benchmark_domains) if rule in (*SCORING, *LAYERS) else 1
        return max(MINUTES[rule], math.ceil(_SAFETY * seconds / 60))

    def _count_shortages(self, logs: Sequence[str], attempt: int) -> int:
        """Return how many earlier attempts ran out of GPU memory.

        A log has only the last attempt, so results are kept.
        """
        log = logs[-1]
        if attempt > 1 and (log, attempt) not in self._short:
            self._short[log, attempt] = _SHORTAGE in read_message(logs, 0.0)
        return sum(
            short for (path, number), short in self._short.items() if path == log and number <= attempt
        )
