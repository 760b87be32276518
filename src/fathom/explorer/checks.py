"""Checks that the tables of a run belong together, and lists what was left out of its corpus.

A table that parses may still be of other scores.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fathom.explorer.run import COMPARISONS, GROUPS, ORDERS, SUMMARY, Row
from fathom.io.contracts.corpus import SENTENCE_COUNTS
from fathom.statistics.aggregates import GEOMETRIC_MEAN, MEAN, STATISTICS, measure_values
from fathom.statistics.metrics import BITS, RANK

LEFT_OUT = "corpus/left_out"
"""Name of the table on the page."""
_FEWEST_KEPT = 0.9
_EXAMPLES = 3
_MEANINGS = {
    column.name: column.about.removeprefix("left out: ")
    for column in SENTENCE_COUNTS.columns
    if column.about.startswith("left out: ")
}
_SETTLED = {(RANK.name, GEOMETRIC_MEAN.name), (BITS.name, MEAN.name)}
"""Numbers of the summary that depend on no setting."""
_SIGNS = {order.metric.name: order.metric.sign for order in ORDERS.values()}
_LETTER = re.compile(r"\(\d+\)|.")
Place = tuple[str, str, str, str]
"""Domain, variant, metric and statistic."""
_DIGITS = 2e-5  # a number of six digits, and the difference of two


def describe_left_out(
    splits: Sequence[Mapping[str, Any]], join: Mapping[str, Any], missing: list[str]
) -> dict[str, list[Row]]:
    """Return the table of what was left out, if anything.

    `missing` gets a line if more than a tenth of all sentences is left out.
    """
    total: Counter[str] = Counter()
    examples: dict[str, list[str]] = {}
    for report in splits:
        total.update({name: count for name, count in report.items() if isinstance(count, int)})
        for reason, found in report.get("examples", {}).items():
            examples.setdefault(reason, []).extend(found)
    sentences, kept = total["sentences"], total["kept"]
    rows = [
        _describe("sentence", _MEANINGS[name], total[name], sentences, examples.get(name, []))
        for name in _MEANINGS
        if total[name]
    ]
    files = join.get("files", {})
    every = files.get("read", 0) + sum(each["count"] for each in files.get("skipped", {}).values())
    rows += [
        _describe("file", reason, found["count"], every, found["examples"])
        for reason, found in sorted(files.get("skipped", {}).items())
    ]
    if kept < _FEWEST_KEPT * sentences:
        share = 100 - 100 * kept / sentences
        missing.append(f"{share:.0f} % of all sentences of the corpus are left out: table {LEFT_OUT}.")
    return {f"{LEFT_OUT}.csv": rows} if rows else {}


def _describe(kind: str, reason: str, count: int, every: int, examples: Sequence[str]) -> Row:
    return {
        "what": kind,
        "reason": reason,
        "count": str(count),
        "share": f"{count / max(every, 1):.4f}",
        "examples": " · ".join(examples[:_EXAMPLES]),
    }


def check_scores(
    summary: Sequence[Row],
    place: tuple[str, str],
    scores: Mapping[str, pl.DataFrame],
    kept: NDArray[np.bool_],
) -> list[str]:
    """Return sentences on models with only scores or only a summary, and on scores that give other numbers.

    Parameters
    ----------
    scores : mapping of str to DataFrame
        Columns rank and bits by model, in the order of the benchmark's pairs.
    """
    if not summary:
        return []
    name = ", ".join(place)
    rows = [row for row in summary if (row["domain"], row["variant"]) == place]
    known = {row["model"] for row in rows if row["metric"] == RANK.name}
    found = [
        f"{name}: summary.csv has {model}, but its scores are missing."
        for model in sorted(known - set(scores))
    ]
    found += [
        f"{name}: there are scores of {model}, but summary.csv lacks them."
        for model in sorted(set(scores) - known)
    ]
    for row in rows:
        if row["model"] not in scores or (row["metric"], row["aggregate"]) not in _SETTLED:
            continue
        values = scores[row["model"]][row["metric"]].filter(pl.Series(kept)).drop_nans().to_numpy()
        if len(values) != row["pairs"]:
            if int(kept.sum()) in (each["pairs"] for each in rows):  # else other pairs are said as such
                what = f"{row['metric']} of {row['model']} on {row['pairs']:,} pairs, its scores on"
                found.append(f"{name}: summary.csv has {what} {len(values):,}.")
            continue
        if not math.isfinite(row["value"]):
            continue
        own = measure_values(values, STATISTICS[row["aggregate"]], 0.0)
        if math.isfinite(own) and not _agree(row["value"], own, own):
            what = f"summary.csv was made from other scores of {row['model']} than the present ones"
            found.append(f"{name}: {what} ({row['metric']} {row['value']:g}, not {own:g}).")
    return found


def check_tables(rows: Mapping[str, Sequence[Row]]) -> list[str]:
    """Return sentences on tables of comparisons and groups that do not fit the summary's models.

    And on intervals that do not contain their value, which none does as it is made.
    """
    values: dict[Place, dict[str, tuple[float, int]]] = defaultdict(dict)
    orders = {(order.metric.name, order.statistic.name) for order in ORDERS.values()}
    for row in rows.get(SUMMARY, []):
        if (row["metric"], row["aggregate"]) in orders:
            values[_place(row)][row["model"]] = row["value"], row["pairs"]
    apart = [row for row in rows.get(SUMMARY, []) if _leaves_out_value(row)]
    found = [
        f"summary.csv: the interval of {row['metric']} of {row['model']} does not contain its value;"
        f" intervals like this: {len(apart):,}."
        for row in apart[:1]
    ]
    tables = {name: rows[name] for name in (COMPARISONS, GROUPS) if name in rows and values}
    for name, table in tables.items():
        groups: defaultdict[Place, list[Row]] = defaultdict(list)
        for row in table:
            groups[_place(row)].append(row)
        every = [*values, *(place for place in groups if place[2:] in orders and place not in values)]
        wrong = [
            place
            for place in every
            if not (_has_all if name == GROUPS else _compares_all)(
                place, groups[place], values.get(place, {})
            )
        ]
        if wrong:
            where = ", ".join(wrong[0][:2])
            found.append(
                f"{name} does not belong to summary.csv: of {where}, {' '.join(wrong[0][:1:-1])}, rows are"
                f" missing or other ones; so of {len(wrong):,} of {len(every):,} such parts."
            )
    return [*found, *_check_letters(rows)]


def _leaves_out_value(row: Row) -> bool:
    """Tell whether an interval does not contain its value."""
    low, value, high = (float(row[name]) for name in ("ci_low", "value", "ci_high"))
    return low > high or value < low or high < value  # undefined ends are NaN, which is neither


def _check_letters(rows: Mapping[str, Sequence[Row]]) -> list[str]:
    letters = {(_place(row), row["model"]): {*_LETTER.findall(row["groups"])} for row in rows.get(GROUPS, [])}
    wrong = 0
    for row in rows.get(COMPARISONS, []):
        one, other = (letters.get((_place(row), row[name])) for name in ("better", "worse"))
        wrong += one is not None and other is not None and row["apart"] == bool(one & other)
    what = f"{GROUPS} and {COMPARISONS} do not belong together: their letters differ for"
    return [f"{what} {wrong:,} comparisons."] if wrong else []


def _place(row: Row) -> Place:
    """Return domain, variant, metric and statistic; groups.csv of an older run has ranks alone."""
    return row["domain"], row["variant"], row["metric"] or RANK.name, row["aggregate"]


def _has_all(place: Place, groups: Sequence[Row], models: Mapping[str, tuple[float, int]]) -> bool:
    if sorted(row["model"] for row in groups) != sorted(models):
        return False
    signed = [_SIGNS[place[2]] * row["value"] for row in groups if math.isfinite(row["value"])]
    same = len({pairs for _, pairs in models.values()}) == 1  # else values are those of the pairs of all
    return signed == sorted(signed, reverse=True) and (
        not same or all(_fit(row["value"], models[row["model"]][0]) for row in groups)
    )


def _fit(one: float, other: float) -> bool:
    return not (math.isfinite(one) and math.isfinite(other)) or _agree(one, other, other)


def _compares_all(place: Place, comparisons: Sequence[Row], models: Mapping[str, tuple[float, int]]) -> bool:
    pairs = {frozenset((row["better"], row["worse"])) for row in comparisons}
    if len(pairs) != math.comb(len(models), 2) or not all(pair <= set(models) for pair in pairs):
        return False
    for row in comparisons:
        (better, one), (worse, other) = models[row["better"]], models[row["worse"]]
        same = one == other == row.get("pairs", one)
        numbers = all(map(math.isfinite, (better, worse, row["difference"])))
        ahead = _SIGNS[place[2]] * (better - worse)
        if same and numbers and not _agree(ahead, row["difference"], max(better, worse)):
            return False
    return True


def _agree(one: float, other: float, size: float) -> bool:
    """Tell whether two numbers are the same, given how large what they were rounded from is."""
    return abs(one - other) <= _DIGITS * max(1.0, abs(size))
