"""Two runs of one benchmark: scores paired by pair and model, and other changes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from fathom.benchmark.benchmark_files import read_manifest
from fathom.config.scoring import Summary
from fathom.config.short_names import shorten_names
from fathom.errors import InputError
from fathom.io import paths
from fathom.io.files import read_object
from fathom.io.run_path import RunPath
from fathom.statistics.bootstrap import Estimate
from fathom.statistics.comparisons import ResampledMetric, compare_models, group_models, resample_scores
from fathom.statistics.left_out import Key, leave_out_overlap
from fathom.statistics.metrics import RANKED, Metric
from fathom.statistics.summaries import read_scores

_OF_MODELS = (
    "fingerprint", "revision", "dtype", "quantization", "attention", "device", "torch", "transformers"
)  # fmt: skip
"""Keys of a score's report on its model and how it was run."""
_COMPARED = ("inputs", "parameters", "packages")
"""Parts of a manifest with settings, data and versions."""
_NAMED = 3
"""Most models to name in a sentence."""


class KeywordChange(NamedTuple):
    """A keyword's mean in both runs by the metric that leads, the geometric one of ranks."""

    keyword: str
    pairs: int
    first: float
    second: float


class ModelChange(NamedTuple):
    """A model in both runs; the difference is second minus first, keywords with largest losses first."""

    model: str
    first: Estimate
    second: Estimate
    difference: Estimate
    p: float
    p_adjusted: float
    apart: bool
    first_letters: str
    second_letters: str
    keywords: list[KeywordChange]


class BenchmarkChange(NamedTuple):
    """A benchmark of both runs.

    `pairs`, `first_only`, `second_only`: scored pairs of both runs, and of one alone. `resampled`: models of
    both runs, each twice, by the statistic that leads.
    """

    domain: str
    variant: str
    pairs: int
    first_only: int
    second_only: int
    resampled: ResampledMetric
    models: list[ModelChange]

    @property
    def answer(self) -> str:
        """Which models changed significantly, in a sentence."""
        metric = self.resampled.metric
        short = shorten_names(sorted(each.model for each in self.models))
        known: dict[str, list[str]] = {"better": [], "worse": []}
        for each in self.models:
            if each.apart:
                known[judge_change(each, metric)].append(short[each.model])
        said = [f"{_join(names)} became {what}" for what, names in known.items() if names]
        rest = len(self.models) - sum(map(len, known.values()))
        if not said:
            who = "The only model did not change" if rest == 1 else f"None of {rest:,} models changed"
            return f"{who} significantly on {self.domain}, {self.variant}"
        changed = f"{' and '.join(said)} on {self.domain}, {self.variant}"
        more = f"; {rest:,} of {len(self.models):,} did not change significantly" if rest else ""
        return changed + more


class RunChanges(NamedTuple):
    """Comparison of two runs: common parts, models and benchmarks of only one, and settings that differ."""

    benchmarks: list[BenchmarkChange]
    first_only: list[str]
    second_only: list[str]
    settings: list[tuple[str, str, str]]


def judge_change(change: ModelChange, metric: Metric) -> str:
    """Return whether a model became better or worse, significantly or not; empty if unchanged."""
    if change.difference.value == 0:
        return ""
    return "better" if metric.sign * change.difference.value > 0 else "worse"


def _join(names: list[str]) -> str:
    if len(names) > _NAMED:
        return f"{len(names):,} models"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def compare_runs(first: Path, second: Path, settings: Summary) -> RunChanges:
    """Compare the scores of two runs on the pairs that both have, without those in training text.

    Raise `InputError` if a folder has no scores, or they share no benchmark, no model or no pair.
    """
    before, after = (_read_run(folder, settings) for folder in (first, second))
    where = f"{first}, {second}"
    shared = sorted(before.keys() & after.keys())
    if not shared:
        both = [", ".join("/".join(key) for key in sorted(each)[:3]) for each in (before, after)]
        raise InputError(
            "no model was scored on one benchmark in both runs", where, f"they have: {both[0]}; {both[1]}"
        )
    benchmarks = []
    for domain, variant in sorted({key[:2] for key in shared}):
        models = [key[2] for key in shared if key[:2] == (domain, variant)]
        found = [{model: run[domain, variant, model] for model in models} for run in (before, after)]
        benchmarks.append(_compare_benchmark((domain, variant), found[0], found[1], settings))
    known = [each for each in benchmarks if each]
    if not known:
        raise InputError("the runs have no common pair", where, "compare runs of one benchmark")
    first_only, second_only = _name(before.keys() - after.keys()), _name(after.keys() - before.keys())
    return RunChanges(known, first_only, second_only, _list_differences((first, second), shared))


def _read_run(folder: Path, settings: Summary) -> dict[Key, pl.DataFrame]:
    pairs, overlap = (
        [(found["domain"], found["variant"], str(path)) for found, path in template.find_files(folder)]
        for template in (paths.PAIRS, paths.OVERLAP)
    )
    known = {each[:2] for each in pairs}
    files = [
        (found["domain"], found["variant"], found["model"], str(path))
        for found, path in paths.SCORES.find_files(folder)
        if (found["domain"], found["variant"]) in known
    ]
    if not files:
        made = "it has benchmarks only: score its models (target compare), or read the later changes.md"
        hint = made if known else "give the folder of a run: results/RUN"
        raise InputError("there are no scores in this folder", str(folder), hint)
    return leave_out_overlap(read_scores(files, pairs), overlap, settings)


def _name(keys: set[Key]) -> list[str]:
    return [f"{model} on {domain}, {variant}" for domain, variant, model in sorted(keys)]


def _compare_benchmark(
    place: tuple[str, str],
    before: Mapping[str, pl.DataFrame],
    after: Mapping[str, pl.DataFrame],
    settings: Summary,
) -> BenchmarkChange | None:
    ids = [set(next(iter(each.values()))["pair_id"]) for each in (before, after)]
    common = ids[0] & ids[1]
    if not common:
        return None
    only = [len(each - common) for each in ids]
    kept = pl.Series(sorted(common)).implode()
    scores = {
        (*place, f"{run} {model}"): frame.filter(pl.col("pair_id").is_in(kept))
        for run, frames in enumerate((before, after))
        for model, frame in frames.items()
    }
    complete = [
        each
        for each in resample_scores(scores, settings)
        if each.metric in RANKED and len(each.models) == len(scores)
    ]
    lead = min(complete, key=lambda each: RANKED.index(each.metric))  # statistics keep their order
    keywords = {
        model: _compare_keywords(scores[*place, f"0 {model}"], scores[*place, f"1 {model}"], lead.metric)
        for model in sorted(after)
    }
    models = _list_models(lead, keywords, settings)
    return BenchmarkChange(place[0], place[1], len(common), only[0], only[1], lead, models)


def _compare_keywords(first: pl.DataFrame, second: pl.DataFrame, metric: Metric) -> list[KeywordChange]:
    value = pl.col("first", "second")
    mean = value.log().mean().exp() if metric.is_factor else value.mean()
    one, other = ((each.log() if metric.is_factor else each) for each in (pl.col("first"), pl.col("second")))
    found = (
        first.select("pair_id", "keyword", first=metric.name)
        .join(second.select("pair_id", second=metric.name), on="pair_id")
        .filter(pl.all_horizontal(value.is_finite()))
        .sort("pair_id")  # sums depend on the order
        .group_by("keyword", maintain_order=True)
        .agg(pl.len().alias("pairs"), mean)
        .sort((other - one) * metric.sign, "keyword")
    )
    return [KeywordChange(*row) for row in found.select(*KeywordChange._fields).iter_rows()]


def _list_models(
    lead: ResampledMetric, keywords: Mapping[str, list[KeywordChange]], settings: Summary
) -> list[ModelChange]:
    differences = compare_models(lead, settings)
    letters = group_models(lead.order, differences)
    tested = {frozenset((each.better, each.worse)): each for each in differences}
    found = []
    for model in keywords:
        before, after = f"0 {model}", f"1 {model}"
        test, one, other = tested[frozenset((before, after))], lead.models[before], lead.models[after]
        first, second, gap = (each.estimate(settings.confidence) for each in (one, other, other - one))
        p = (test.p, test.p_adjusted, test.apart)
        found.append(
            ModelChange(model, first, second, gap, *p, letters[before], letters[after], keywords[model])
        )
    return sorted(found, key=lambda each: lead.order.index(f"1 {each.model}"))


def _list_differences(folders: Sequence[Path], shared: Sequence[Key]) -> list[tuple[str, str, str]]:
    """Return what differs: settings, input files and packages of benchmarks, then how models were scored."""
    rows: list[tuple[str, str, str]] = []
    for domain, variant in sorted({key[:2] for key in shared}):
        manifests = _read_both(paths.MANIFEST.of(domain=domain, variant=variant), folders, read_manifest)
        one, other = (dict(_flatten("", {name: each.get(name) for name in _COMPARED})) for each in manifests)
        rows += [(name, one.get(name, "-"), other.get(name, "-")) for name in sorted({*one, *other})]
    for domain, variant, model in shared:
        path = paths.SCORES.of(domain=domain, variant=variant, model=model).ending(".json")
        one, other = _read_both(path, folders, read_object)
        rows += [
            (f"{model}: {name}", str(one.get(name, "-")), str(other.get(name, "-"))) for name in _OF_MODELS
        ]
    return [row for row in dict.fromkeys(rows) if row[1] != row[2]]


def _read_both(path: RunPath, folders: Sequence[Path], read: Callable[[Path], Any]) -> list[Any]:
    """Return a file of both runs; nothing of it if one of them lacks it."""
    files = [Path(path.under(folder)) for folder in folders]
    return [read(file) for file in files] if all(file.is_file() for file in files) else [{}, {}]


def _flatten(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """Yield the values inside a JSON value by their keys, joined by dots."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _flatten(f"{name}.{key}" if name else key, each)
    elif isinstance(value, list) and any(isinstance(each, dict) for each in value):
        for place, each in enumerate(value):
            yield from _flatten(f"{name}.{each.get('file', place)}", each)
    else:
        yield name, str(value)
