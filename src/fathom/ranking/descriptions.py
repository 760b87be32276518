"""Metadata of the models and benchmarks of a table: directions, categories, families, sizes.

The configuration takes precedence over the table's `metadata.json`, and that over `config/models.tsv`.
Whether a high or a low score is good is never guessed.
"""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fathom.config.ranking import RankedBenchmark, Ranking
from fathom.errors import InputError
from fathom.io.files import read_json
from fathom.jobs.program import log
from fathom.models.registry import ModelRow
from fathom.ranking.table import Benchmark, Model
from fathom.statistics.metrics import METRICS

_BILLION = 1e9


@dataclass(frozen=True)
class Metadata:
    """Metadata in a folder of scores; each part may be empty."""

    metric: dict[str, str] = field(default_factory=dict)
    category: dict[str, str] = field(default_factory=dict)
    corpora: frozenset[str] = frozenset()
    training_examples: dict[str, int] = field(default_factory=dict)
    title: dict[str, str] = field(default_factory=dict)
    kind: dict[str, str] = field(default_factory=dict)
    size: dict[str, tuple[float, float]] = field(default_factory=dict)
    lower_is_better: dict[str, bool] = field(default_factory=dict)


def read_metadata(path: Path | str | None) -> Metadata:
    """Read the `metadata.json` of a folder of scores, in the published format."""
    if path is None:
        return Metadata()
    values = read_json(path)
    if not isinstance(values, dict):
        raise InputError("not a JSON object", str(path), "see docs/ranking.md")
    kinds = {name: kind for kind in ("base", "chat") for name in _part(values, f"{kind}_models", list, path)}
    sizes = _part(values, "pretraining_compute_N_billion_D_billion_tokens", dict, path, dict)
    for model, each in sizes.items():
        if not all(isinstance(each.get(name), int | float) for name in ("N", "D")):
            raise InputError(
                f"the size of {model!r} lacks N and D", str(path), "billions of parameters and of tokens"
            )
    return Metadata(
        metric=_part(values, "metric", dict, path),
        category=_part(values, "task_category", dict, path),
        corpora=frozenset(_part(values, "perplexity_tasks", list, path)),
        training_examples=_part(values, "train_size", dict, path, int),
        title=_part(values, "model_rename", dict, path),
        kind=kinds,
        size={name: (each["N"] * _BILLION, each["D"] * _BILLION) for name, each in sizes.items()},
        lower_is_better=_part(values, "lower_is_better", dict, path, bool),
    )


def _part(values: dict[str, Any], name: str, kind: type, path: Path | str, of: type = str) -> Any:
    """Return one part of the metadata, empty where it is missing; raise `InputError` for other kinds."""
    part = values.get(name, kind())
    if not isinstance(part, dict | list) or not isinstance(part, kind):
        form = "an object" if kind is dict else "a list"
        raise InputError(f"{name} is not {form}", str(path), "see docs/ranking.md")
    held = part.values() if isinstance(part, dict) else list(part)
    wrong = [each for each in held if not isinstance(each, of)]
    if wrong:
        form = {str: "text", int: "whole numbers", dict: "objects", bool: "true or false"}[of]
        raise InputError(f"{name} holds {wrong[0]!r:.40}, not {form}", str(path), "see docs/ranking.md")
    return part


def describe_benchmarks(
    names: Sequence[str], settings: Ranking, metadata: Metadata, where: str
) -> list[Benchmark]:
    """Return the metadata of each benchmark, grouped by category, corpora last.

    Raises
    ------
    InputError
        If the direction of some benchmark is unknown.
    """
    absent = [name for name in settings.benchmarks if name not in names]
    if absent:
        log.info(
            "%s: no column for %s of the configured benchmarks: %s", where, len(absent), ", ".join(absent)
        )
    found, unclear = [], []
    for name in names:
        said = settings.benchmarks.get(name, RankedBenchmark())
        metric = _strip_metric(metadata.metric.get(name, ""))
        known = METRICS.get(metric)
        of_text = known is not None and known.variant == "text"
        corpus = name in metadata.corpora or of_text if said.corpus is None else said.corpus
        lower = said.lower_is_better
        if lower is None:
            lower = metadata.lower_is_better.get(name, known.low_is_best if known else None)
        if lower is None:
            unclear.append(name)
            continue
        found.append(
            Benchmark(
                name,
                said.title or name,
                said.category or metadata.category.get(name, ""),
                corpus,
                lower,
                metric,
                metadata.training_examples.get(name),
            )
        )
    if unclear:
        raise InputError(
            f"it is unknown whether high or low scores are good on {', '.join(unclear)}",
            where,
            f"ranking.benchmarks.{unclear[0]}.lower_is_better: true or false, or a metric in metadata.json",
        )
    return _sort_by_category(found, settings.categories)


def _sort_by_category(benchmarks: list[Benchmark], order: Sequence[str]) -> list[Benchmark]:
    """Return benchmarks by category in the given order, otherwise in their own; corpora last."""
    categories = list(dict.fromkeys([*order, *(each.category for each in benchmarks)]))
    return sorted(benchmarks, key=lambda each: (each.corpus, categories.index(each.category)))


def _strip_metric(name: str) -> str:
    """Return a harness metric such as `test_acc,none` as its bare name."""
    return name.removeprefix("test_").split(",")[0]


def describe_models(
    names: Sequence[str], settings: Ranking, metadata: Metadata, registry: Mapping[str, ModelRow]
) -> list[Model]:
    """Return the metadata of each model, in the order of `names`; log the unknown ones.

    Sizes come from the metadata if it has any, else from the registry: a published figure shows only models
    whose size its authors knew.
    """
    by_name = {key: entry for entry in registry.values() for key in (entry.source, entry.name)}
    by_name |= dict(registry)
    groups = {family: group for group, families in settings.families.items() for family in families}
    found, strangers = [], []
    for name in names:
        entry = by_name.get(name)
        if entry is None and name not in metadata.kind:
            strangers.append(name)
        family = entry.family if entry else ""
        sizes: tuple[float | None, float | None] = (None, None)
        if metadata.size:
            sizes = metadata.size.get(name, sizes)
        elif entry:
            sizes = entry.parameters, entry.tokens
        title = metadata.title.get(name) or (entry.name if entry else name)
        kind = metadata.kind.get(name) or (entry.kind if entry else "")
        found.append(Model(name, title, groups.get(family, family), kind, *sizes))
    if strangers:
        near = difflib.get_close_matches(strangers[0], by_name, n=1)
        log.info(
            "%s of %s models are in neither models.tsv nor metadata.json (%s%s): they count among all "
            "models, but in no family, kind or size",
            len(strangers),
            len(names),
            ", ".join(strangers[:5]) + (", ..." if len(strangers) > 5 else ""),
            f"; did you mean {near[0]}?" if near else "",
        )
    return _tell_apart(found)


def _tell_apart(models: Iterable[Model]) -> list[Model]:
    """Use names instead of titles for models that would share a title."""
    models = list(models)
    titles = [model.title for model in models]
    return [
        Model(
            m.name, m.name if titles.count(m.title) > 1 else m.title, m.family, m.kind, m.parameters, m.tokens
        )
        for m in models
    ]
