"""Layers summed up over keywords, and changes against a reference model, with intervals.

Source: [BeyondBenchmarks, Secs. 3.3.2, 3.3.3].

Every interval comes from a bootstrap over keywords; the same ones are drawn for all models, so that the
change of a model against its reference is paired.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from fathom.config.layers import Layers
from fathom.config.scoring import Summary
from fathom.errors import InputError
from fathom.io.contracts.column import Contract
from fathom.io.tables import read_table
from fathom.layers.target_ranks import MEASURES
from fathom.running.program import log
from fathom.scoring.summaries import draw_resamples, format_number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RATES = ("rate", "inside", "outside", "outside_any")
CHANGED = {"rates": ("rate", "inside", "outside_any"), "targets": ("rank", "probability")}
"""Metrics whose changes are of interest: of attributes, and of targets."""
PARTS = ("early", "middle", "late")
"""Thirds of the layers by depth, layer 0 and the last one included."""


class Curve(NamedTuple):
    """A metric of one model by layer.

    Attributes
    ----------
    keywords : tuple of str
        Sorted.
    sums, counts : ndarray, shape (keywords, layers) and (keywords,)
        Sum over the rows of each keyword, and their number: one for rates, pairs for targets.
    """

    keywords: tuple[str, ...]
    sums: "NDArray[np.float64]"
    counts: "NDArray[np.float64]"

    def average(self, drawn: "NDArray[np.int32]") -> "NDArray[np.float64]":
        """Return the mean over rows for every draw of keywords, shape (draws, layers)."""
        return (drawn @ self.sums) / (drawn @ self.counts)[:, None]

    def select(self, keywords: Sequence[str]) -> "Curve":
        """Return the same of some keywords."""
        places = [self.keywords.index(word) for word in keywords]
        return Curve(tuple(keywords), self.sums[places], self.counts[places])


Key = tuple[str, str, int | None, int | None, str]
"""Model, projection, k, length of list, metric; the two in the middle are None for targets."""


def read_layers(files: Iterable[tuple[str, str]], contract: Contract) -> dict[str, pl.DataFrame]:
    """Read tables of layers.

    Parameters
    ----------
    files : iterable of (model, path)
    contract : Contract
        LAYER_RATES or LAYER_TARGETS.

    Raises
    ------
    InputError
        If a model is given twice, or a file is no such table.
    """
    tables: dict[str, pl.DataFrame] = {}
    for model, path in files:
        if model in tables:
            raise InputError(f"{model} is given twice", path, "give it once")
        tables[model] = read_table(path, contract)
    return tables


def make_curves(rates: Mapping[str, pl.DataFrame], targets: Mapping[str, pl.DataFrame]) -> dict[Key, Curve]:
    """Return every metric of every model by layer.

    Parameters
    ----------
    rates, targets : mapping of str to DataFrame
        Frames under contracts LAYER_RATES and LAYER_TARGETS, by model.
    """
    curves: dict[Key, Curve] = {}
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


def _make_curve(rows: pl.DataFrame, metric: str) -> Curve:
    """Return one metric by keyword and layer."""
    import numpy as np

    grouped = rows.group_by("keyword", "layer").agg(
        pl.col(metric).sum().alias("sum"), pl.len().alias("count")
    )
    ordered = grouped.sort("keyword", "layer")
    keywords = tuple(ordered["keyword"].unique(maintain_order=True).to_list())
    shape = (len(keywords), -1)
    sums = ordered["sum"].to_numpy().reshape(shape)
    return Curve(keywords, sums, ordered["count"].to_numpy().reshape(shape)[:, 0].astype(np.float64))


def summarize_layers(curves: Mapping[Key, Curve], settings: Summary) -> list[tuple[Any, ...]]:
    """Return mean and interval of every metric at every layer: rows under LAYER_SUMMARY_COLUMNS."""
    import numpy as np

    rows: list[tuple[Any, ...]] = []
    for key in sorted(curves, key=_order):
        curve = curves[key]
        value = curve.average(np.ones((1, len(curve.keywords)), dtype=np.int32))[0]
        drawn = curve.average(draw_resamples(len(curve.keywords), settings))
        low, high = _bound(drawn, settings)
        model, projection, k, length, metric = key
        start = (model, projection, "" if k is None else k, "" if length is None else length)
        for layer in range(len(value)):
            numbers = (format_number(float(part[layer])) for part in (value, low, high))
            rows.append((*start, layer, metric, *numbers, len(curve.keywords)))
    return rows


def _order(key: Key) -> tuple[Any, ...]:
    """Return a sort key: nothing before numbers."""
    return tuple("" if part is None else f"{part:08d}" if isinstance(part, int) else part for part in key)


def _bound(drawn: "NDArray[np.float64]", settings: Summary) -> tuple[Any, Any]:
    """Return the ends of the percentile intervals of draws, over their first axis."""
    import numpy as np

    tail = (1 - settings.confidence) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail], axis=0)
    return low, high


class Change(NamedTuple):
    """Percentage change of one metric against a reference, by layer.

    Attributes
    ----------
    value : ndarray, shape (layers,)
        (mean of the model − mean of the reference) · 100 / mean of the reference.
    drawn : ndarray, shape (rounds, layers)
        The same in every round of the bootstrap.
    keywords : int
        Keywords that both models have.
    """

    value: "NDArray[np.float64]"
    drawn: "NDArray[np.float64]"
    keywords: int


Pairing = tuple[str, str, str, str]
"""Model, reference, projection, metric."""


def compare_layers(
    curves: Mapping[Key, Curve], references: Iterable[tuple[str, str]], layers: Layers, settings: Summary
) -> dict[Pairing, Change]:
    """Compare models with their references, layer by layer.

    Parameters
    ----------
    curves : mapping
        From :func:`make_curves`.
    references : iterable of (model, reference)
    layers : Layers
        Uses `k`, `list_length`: rates of other values are not compared.
    settings : Summary
        For the bootstrap.

    Raises
    ------
    InputError
        If a model or its reference was not measured, they share no keyword or have not as many layers.
    """
    found: dict[Pairing, Change] = {}
    models = {key[0] for key in curves}
    for model, reference in references:
        for name in (model, reference):
            if name not in models:
                raise InputError(
                    f"{name} was not measured layer by layer",
                    f"{model} against {reference}",
                    "measure it first",
                )
        for key in sorted(curves, key=_order):
            metrics = CHANGED["targets"] if key[2] is None else CHANGED["rates"]
            standard = key[2:4] in ((layers.k, layers.list_length), (None, None))
            other = (reference, *key[1:])
            if key[0] == model and standard and key[-1] in metrics and other in curves:
                names = (model, reference, key[1], key[-1])
                found[names] = _compare(curves[key], curves[other], settings, names)
    return found


def _compare(mine: Curve, theirs: Curve, settings: Summary, names: Pairing) -> Change:
    """Return the change of one metric; what the reference has none of changes by no percentage (NaN)."""
    import numpy as np

    shared = sorted(set(mine.keywords) & set(theirs.keywords))
    where = f"{names[0]} against {names[1]}"
    if not shared:
        raise InputError("the two models share no keyword", where, "measure both on the same keywords")
    if mine.sums.shape[1] != theirs.sums.shape[1]:
        raise InputError(
            f"one has {mine.sums.shape[1] - 1} blocks, the other {theirs.sums.shape[1] - 1}",
            where,
            "layers can be compared between models of one depth only",
        )
    left_out = len(set(mine.keywords) ^ set(theirs.keywords))
    if left_out and names[3] in ("rate", "rank"):
        log.info("%s: %s keywords that only one of them has are left out", where, left_out)
    drawn = np.vstack([np.ones((1, len(shared)), dtype=np.int32), draw_resamples(len(shared), settings)])
    one, other = (curve.select(shared).average(drawn) for curve in (mine, theirs))
    with np.errstate(divide="ignore", invalid="ignore"):
        percent = np.where(other > 0, (one - other) * 100 / other, np.nan)
    return Change(percent[0], percent[1:], len(shared))


def list_changes(changes: Mapping[Pairing, Change], settings: Summary) -> list[tuple[Any, ...]]:
    """Return changes with their intervals: rows under LAYER_CHANGE_COLUMNS."""
    rows: list[tuple[Any, ...]] = []
    for (model, reference, projection, metric), change in changes.items():
        low, high = _bound(change.drawn, settings)
        for layer in range(len(change.value)):
            numbers = (format_number(float(part[layer])) for part in (change.value, low, high))
            rows.append((model, reference, projection, layer, metric, *numbers, change.keywords))
    return rows


def find_onsets(changes: Mapping[Pairing, Change], settings: Summary) -> list[tuple[Any, ...]]:
    """Say where changes begin and how large they are early, in the middle and late.

    Returns
    -------
    list of tuples
        Rows under LAYER_ONSET_COLUMNS. Part `first`: the first layer whose interval leaves out 0, and all
        layers after it of which that is true. Parts early, middle, late: the mean change in each third of
        the layers. `late - middle`: whether later layers amplify it.
    """
    rows: list[tuple[Any, ...]] = []
    for names, change in changes.items():
        low, high = _bound(change.drawn, settings)
        apart = [layer for layer in range(len(low)) if low[layer] > 0 or high[layer] < 0]
        first = (change.value[apart[0]], low[apart[0]], high[apart[0]]) if apart else (float("nan"),) * 3
        lines = [("first", " ".join(map(str, apart)), first)]
        thirds = _divide(len(change.value))
        means = {part: change.drawn[:, thirds[part]].mean(axis=1) for part in PARTS}
        values = {part: float(change.value[thirds[part]].mean()) for part in PARTS}
        for part in PARTS:
            span = f"{thirds[part][0]}-{thirds[part][-1]}"
            lines.append((part, span, (values[part], *_bound(means[part], settings))))
        grown = _bound(means["late"] - means["middle"], settings)
        lines.append(("late - middle", "", (values["late"] - values["middle"], *grown)))
        for part, span, numbers in lines:
            shown = (format_number(float(number)) for number in numbers)
            model, reference, projection, metric = names
            rows.append((model, reference, projection, metric, part, span, *shown, change.keywords))
    return rows


def _divide(layers: int) -> dict[str, list[int]]:
    """Return which layers are early, in the middle and late; with fewer than three, some stand in two."""
    import numpy as np

    parts = np.array_split(np.arange(layers), len(PARTS))
    whole = list(range(layers))
    return {name: part.tolist() or whole[-1:] for name, part in zip(PARTS, parts, strict=True)}
