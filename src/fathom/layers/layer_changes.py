"""Layers summarized over keywords, and changes against a reference model, with intervals.

Source: [BeyondBenchmarks, Secs. 3.3.2, 3.3.3].

Intervals come from a bootstrap over keywords. The same keywords are drawn for all models, so that the change
of a model against its reference is paired. Those of the summary, and of means over several layers, are
pointwise: each holds by itself. Where a change begins is read from a simultaneous band: it holds for all
layers of a comparison at once.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fathom.config.layers import Layers
from fathom.config.scoring import Summary
from fathom.errors import InputError
from fathom.io.contracts.column import Contract
from fathom.io.tables import read_table
from fathom.jobs.program import log
from fathom.layers.target_ranks import MEASURES
from fathom.statistics.bootstrap import Resampled, draw_resamples, find_band
from fathom.statistics.summaries import format_number

RATES = ("rate", "inside", "outside", "outside_any")
COMPARED_METRICS = {"rates": ("rate", "inside", "outside_any"), "targets": ("rank", "probability")}
"""Metrics that are compared with a reference model: of attributes, and of targets."""
PARTS = ("early", "middle", "late")
"""Thirds of the layers by depth, including layer 0 and the last layer."""


class LayerCurve(NamedTuple):
    """A metric of one model by keyword and layer."""

    keywords: tuple[str, ...]
    sums: NDArray[np.float64]  # of shape (n_keywords, n_layers), float64: sum over the rows of each keyword
    # of shape (n_keywords,), float64: number of rows of each keyword: 1 for rates, the number of pairs for
    # targets
    counts: NDArray[np.float64]

    def average(self, resamples: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return the mean over rows in every resample of keywords, of shape (n_resamples, n_layers), float64.

        `resamples` says how often each keyword is drawn, of shape (n_resamples, n_keywords), int32.
        """
        return (resamples @ self.sums) / (resamples @ self.counts)[:, None]

    def select(self, keywords: Sequence[str]) -> "LayerCurve":
        """Return the curve of some keywords."""
        rows = [self.keywords.index(word) for word in keywords]
        return LayerCurve(tuple(keywords), self.sums[rows], self.counts[rows])


class LayerChange(NamedTuple):
    """The percentage change of one metric by layer."""

    percent: Resampled  # rows of shape (1 + n_resamples, n_layers); NaN where the reference is 0
    # of the same shape, float64: standard errors, from the keywords that were drawn
    errors: NDArray[np.float64]

    def find_band(self, confidence: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the ends of the band that holds for all layers at once.

        It is found for the logarithm of the ratio, which spreads alike above and below.
        """
        ratio = 1 + self.percent.rows / 100
        ratio[ratio < 1e-12] = 0  # rounding errors of 0
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = find_band(np.log(ratio), self.errors / 100 / ratio, confidence)
        low, high = (100 * np.expm1(end) for end in ends)
        return low, high


Key = tuple[str, str, int | None, int | None, str]
"""Model, projection, k, list length, metric; k and list length are None for targets."""


def read_layers(files: Iterable[tuple[str, str]], contract: Contract) -> dict[str, pl.DataFrame]:
    """Read tables under LAYER_RATES or LAYER_TARGETS by model; raise `InputError` if one comes twice."""
    tables: dict[str, pl.DataFrame] = {}
    for model, path in files:
        if model in tables:
            raise InputError(f"duplicate model {model!r}", path, "give each model once")
        tables[model] = read_table(path, contract)
    return tables


def make_curves(
    rates: Mapping[str, pl.DataFrame], targets: Mapping[str, pl.DataFrame]
) -> dict[Key, LayerCurve]:
    """Return every metric of every model by layer."""
    curves: dict[Key, LayerCurve] = {}
    for model, frame in rates.items():
        for (projection, k, length), group in frame.group_by(
            "projection", "k", "list_length", maintain_order=True
        ):
            for metric in RATES:
                key = (model, str(projection), int(str(k)), int(str(length)), metric)
                curves[key] = _make_curve(group, metric)
    for model, frame in targets.items():
        for (lens,), group in frame.group_by("lens", maintain_order=True):
            for metric in MEASURES:
                projection = "normed" if lens == "plain" else str(lens)
                curves[model, projection, None, None, metric] = _make_curve(group, metric)
    return curves


def _make_curve(rows: pl.DataFrame, metric: str) -> LayerCurve:
    grouped = rows.group_by("keyword", "layer").agg(
        pl.col(metric).sum().alias("sum"), pl.len().alias("count")
    )
    ordered = grouped.sort("keyword", "layer")
    keywords = tuple(ordered["keyword"].unique(maintain_order=True).to_list())
    shape = (len(keywords), -1)
    sums = ordered["sum"].to_numpy().reshape(shape)
    return LayerCurve(keywords, sums, ordered["count"].to_numpy().reshape(shape)[:, 0].astype(np.float64))


def summarize_layers(curves: Mapping[Key, LayerCurve], settings: Summary) -> list[tuple[Any, ...]]:
    """Return mean and interval of every metric at every layer, as rows under LAYER_SUMMARY."""
    rows: list[tuple[Any, ...]] = []
    for key in sorted(curves, key=_make_sort_key):
        curve = curves[key]
        count = len(curve.keywords)
        drawn = np.vstack([np.ones((1, count), dtype=np.int32), draw_resamples(count, settings)])
        resampled = Resampled(curve.average(drawn), count, max(1, count - 1))
        value, (low, high) = resampled.rows[0], resampled.find_ends(settings.confidence)
        model, projection, k, length, metric = key
        identity = (model, projection, "" if k is None else k, "" if length is None else length)
        for layer in range(len(value)):
            numbers = (format_number(float(part[layer])) for part in (value, low, high))
            rows.append((*identity, layer, metric, *numbers, len(curve.keywords)))
    return rows


def _make_sort_key(key: Key) -> tuple[Any, ...]:
    return tuple("" if part is None else f"{part:08d}" if isinstance(part, int) else part for part in key)


Comparison = tuple[str, str, str, str]
"""Model, reference, projection, metric."""


def compare_layers(
    curves: Mapping[Key, LayerCurve], references: Iterable[tuple[str, str]], layers: Layers, settings: Summary
) -> dict[Comparison, LayerChange]:
    """Compare models with their references, layer by layer.

    Raise `InputError` if a model or its reference was not measured, or they share no keyword or differ in
    depth. `layers`: uses `k` and `list_length`; rates at other values are not compared. `settings`: uses
    `rounds`, `confidence` and `seed`.
    """
    found: dict[Comparison, LayerChange] = {}
    models = {key[0] for key in curves}
    for model, reference in references:
        for name in (model, reference):
            if name not in models:
                hint = "measure it first"
                raise InputError(f"{name} has no measurements by layer", f"{model} against {reference}", hint)
        for key in sorted(curves, key=_make_sort_key):
            metrics = COMPARED_METRICS["targets"] if key[2] is None else COMPARED_METRICS["rates"]
            standard = key[2:4] in ((layers.k, layers.list_length), (None, None))
            other = (reference, *key[1:])
            if key[0] == model and standard and key[-1] in metrics and other in curves:
                names = (model, reference, key[1], key[-1])
                found[names] = _compare(curves[key], curves[other], settings, names)
    return found


def _compare(mine: LayerCurve, theirs: LayerCurve, settings: Summary, names: Comparison) -> LayerChange:
    """Return the percentage change of one metric by layer; NaN where the reference is 0."""
    shared = sorted(set(mine.keywords) & set(theirs.keywords))
    where = f"{names[0]} against {names[1]}"
    if not shared:
        raise InputError("the models share no keyword", where, "measure both on the same keywords")
    if mine.sums.shape[1] != theirs.sums.shape[1]:
        what = f"the models have {mine.sums.shape[1] - 1} and {theirs.sums.shape[1] - 1} blocks"
        raise InputError(what, where, "only models of equal depth can be compared layer by layer")
    left_out = len(set(mine.keywords) ^ set(theirs.keywords))
    if left_out and names[3] in ("rate", "rank"):
        log.info("%s: %s keywords measured for only one of them are left out", where, left_out)
    drawn = np.vstack([np.ones((1, len(shared)), dtype=np.int32), draw_resamples(len(shared), settings)])
    mine, theirs = mine.select(shared), theirs.select(shared)
    value, reference = mine.average(drawn), theirs.average(drawn)
    with np.errstate(divide="ignore", invalid="ignore"):
        percent = np.where(reference > 0, (value - reference) * 100 / reference, np.nan)
    return LayerChange(
        Resampled(percent, len(shared), max(1, len(shared) - 1)), _find_errors(mine, theirs, drawn)
    )


def _find_errors(mine: LayerCurve, theirs: LayerCurve, drawn: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return the standard error of the change by resample and layer: the delta method over keywords."""
    found = np.full((len(drawn), mine.sums.shape[1]), np.nan)
    keywords = len(mine.keywords)
    if keywords < 2:
        return found
    values, references = mine.average(drawn), theirs.average(drawn)
    for row, value, reference, errors in zip(drawn, values, references, found, strict=True):
        counts = (row @ mine.counts, row @ theirs.counts)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = (mine.sums - value * mine.counts[:, None]) / counts[0] / reference
            other = (theirs.sums - reference * theirs.counts[:, None]) / counts[1] / reference
            spread = row @ (share - value / reference * other) ** 2
        errors[:] = 100 * np.sqrt(spread * keywords / (keywords - 1))
    return found


def list_changes(changes: Mapping[Comparison, LayerChange], settings: Summary) -> list[tuple[Any, ...]]:
    """Return changes with their intervals, as rows under LAYER_CHANGES."""
    rows: list[tuple[Any, ...]] = []
    for (model, reference, projection, metric), change in changes.items():
        percent = change.percent
        ends = percent.find_ends(settings.confidence)
        band = change.find_band(settings.confidence)
        for layer in range(percent.rows.shape[1]):
            numbers = (format_number(float(part[layer])) for part in (percent.rows[0], *ends, *band))
            rows.append((model, reference, projection, layer, metric, *numbers, percent.items))
    return rows


def find_onsets(changes: Mapping[Comparison, LayerChange], settings: Summary) -> list[tuple[Any, ...]]:
    """Find where changes begin, and their size in early, middle and late layers.

    Returned: rows under LAYER_ONSETS. Part `first`: the change at the first layer whose simultaneous interval
    excludes 0, and all such layers. Parts early, middle, late: the mean change in each third. `late -
    middle`: whether later layers amplify the change.
    """
    rows: list[tuple[Any, ...]] = []
    for (model, reference, projection, metric), change in changes.items():
        percent = change.percent
        low, high = change.find_band(settings.confidence)
        apart = [layer for layer in range(len(low)) if low[layer] > 0 or high[layer] < 0]
        first = (percent.rows[0, apart[0]], low[apart[0]], high[apart[0]]) if apart else (float("nan"),) * 3
        lines = [("first", " ".join(map(str, apart)), first)]
        thirds = _split_into_thirds(percent.rows.shape[1])
        means = {part: replace(percent, rows=percent.rows[:, thirds[part]].mean(axis=1)) for part in PARTS}
        for part in PARTS:
            span = f"{thirds[part][0]}-{thirds[part][-1]}"
            lines.append((part, span, means[part].estimate(settings.confidence)))
        gap = means["late"] - means["middle"]
        lines.append(("late - middle", "", gap.estimate(settings.confidence)))
        for part, span, numbers in lines:
            shown = (format_number(float(number)) for number in numbers)
            interval = "simultaneous" if part == "first" else "pointwise"
            identity = (model, reference, projection, metric, part, span)
            rows.append((*identity, *shown, interval, percent.items))
    return rows


def _split_into_thirds(layers: int) -> dict[str, list[int]]:
    """Split the layers into early, middle and late; with fewer than three layers, parts overlap."""
    parts = np.array_split(np.arange(layers), len(PARTS))
    last = [layers - 1]
    return {name: part.tolist() or last for name, part in zip(PARTS, parts, strict=True)}
