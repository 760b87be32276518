"""What a page draws of a run's other studies: multiple choice, layers, tuning, and maps of coverage.

Each is made from finished tables alone. A study without its table is left out; a table of another version is
named among what is missing.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from fathom.explorer.run_tables import Row, Run, read_number, read_rows
from fathom.io.contracts.answering import CHOICE_ACCURACY_COLUMNS, CHOICE_DIAGNOSIS_COLUMNS, EVERY_SET
from fathom.io.contracts.coverage import COVERAGE_MAP
from fathom.io.contracts.layers import LAYER_SUMMARY_COLUMNS
from fathom.io.contracts.ranking import AGREEMENT_COLUMNS
from fathom.io.files import read_json
from fathom.io.tables import read_table
from fathom.statistics.metrics import ATTRIBUTE_RATE, METRICS, PROBABILITY, RANK

MOST_POINTS = 1_500
"""Sentences, and pairs, that a map of coverage holds; of more, evenly spaced rows of the table are taken."""

_LAYER_METRICS = {"rank": RANK, "probability": PROBABILITY, "rate": ATTRIBUTE_RATE}
_COVERAGE = {
    "coverage": "share of the sentences where pairs are as dense as the domain",
    "coverage_at_random": "the same for as many sentences drawn at random",
    "correlation": "correlation of both densities",
    "redundancy_of_pairs": "share of any two pairs that are near each other",
    "redundancy_of_domain": "share of any two sentences that are near each other",
    "explained_by_map": "share of the variance that the map shows",
}


def collect_studies(run: Run, missing: list[str]) -> dict[str, Any]:
    """Return what the page draws of each study that the run has.

    Parameters
    ----------
    run : Run
    missing : list of str
        Tables that cannot be used are added.

    Returns
    -------
    dict
        Of the keys multiple-choice, layers, tuning, coverage those that there is something to draw of.
    """
    found = {
        "multiple-choice": _collect_choices(run.folder, missing),
        "layers": _collect_layers(run, missing),
        "tuning": _collect_tuning(run.folder, missing),
        "coverage": _collect_coverage(run),
    }
    return {name: value for name, value in found.items() if value}


def _collect_choices(folder: Path, missing: list[str]) -> dict[str, Any]:
    """Return accuracy by model and variation, of all sets together, and what is behind the answers."""
    rows = read_rows(folder / "choices" / "accuracy.csv", CHOICE_ACCURACY_COLUMNS, missing) or []
    if not rows:
        return {}
    sets = {row["questions"] for row in rows}
    questions = EVERY_SET if EVERY_SET in sets else min(sets)
    some = [row for row in rows if row["questions"] == questions]
    diagnosis = read_rows(folder / "choices" / "diagnosis.csv", CHOICE_DIAGNOSIS_COLUMNS, missing) or []
    return {
        "questions": sorted(sets - {EVERY_SET}),
        "items": int(some[0]["items"]),
        "studies": list(dict.fromkeys(row["study"] for row in some if row["study"])),
        "rows": [
            [
                *(row[name] for name in ("model", "way", "study", "variation", "baseline")),
                *_numbers(row, ("accuracy", "ci_low", "ci_high", "change", "change_low", "change_high")),
                row["apart"] == "yes",
            ]
            for row in some
        ],
        "verdicts": [
            [row["model"], row["way"], row["detail"]] for row in diagnosis if row["finding"] == "verdict"
        ],
    }


def _collect_layers(run: Run, missing: list[str]) -> list[dict[str, Any]]:
    """Return each metric of each domain by layer: points of layer, value, low, high by model."""
    found = []
    titles = _name_domains(run)
    for path in sorted(run.folder.glob("*/layers/layers.csv")):
        domain = path.parents[1].name
        rows = read_rows(path, LAYER_SUMMARY_COLUMNS, missing) or []
        # with the final norm: what is exact at the last layer
        some = [row for row in rows if row["projection"] == "normed" and row["metric"] in _LAYER_METRICS]
        order = list(_LAYER_METRICS)
        keys = {
            (order.index(row["metric"]), _setting(row, "k"), _setting(row, "list_length")) for row in some
        }
        for place, k, length in sorted(keys):
            metric = _LAYER_METRICS[order[place]]
            label = metric.label if metric.variant else f"{metric.label} of the target"
            key = order[place], k, length
            lines: dict[str, list[list[float | None]]] = {}
            for row in some:
                if (row["metric"], _setting(row, "k"), _setting(row, "list_length")) == key:
                    point = [int(row["layer"]), *_numbers(row, ("value", "ci_low", "ci_high"))]
                    lines.setdefault(row["model"], []).append(point)
            found.append(
                {
                    "id": "/".join(
                        [domain, order[place], *(str(number) for number in (k, length) if number)]
                    ),
                    "title": titles.get(domain, domain),
                    "label": label + (f", {k} likeliest words, list of {length:,}" if k else ""),
                    "lower": metric.low_is_best,
                    "log": metric.is_factor,
                    "lines": [[model, sorted(points)] for model, points in lines.items()],
                }
            )
    return found


def _setting(row: Row, name: str) -> int:
    """Return k or the length of the list of a row; 0 for a metric that has none."""
    return int(row[name] or 0)


def _collect_tuning(folder: Path, missing: list[str]) -> dict[str, Any]:
    """Return the scores of each task before and after, and how far rankings agree under both conditions."""
    columns = ("model", "task", "metric", "direct", "chosen", "direct_error", "chosen_error")
    rows = read_rows(folder / "tuning.csv", columns, missing) or []
    if not rows:
        return {}
    tasks: dict[str, dict[str, Any]] = {}
    for row in rows:
        metric = METRICS[row["metric"]]
        task = tasks.setdefault(
            row["task"],
            {
                "task": row["task"],
                "label": metric.label,
                "lower": metric.low_is_best,
                "log": metric.is_factor,
                "rows": [],
            },
        )
        task["rows"].append(
            [row["model"], *_numbers(row, ("direct", "chosen", "direct_error", "chosen_error"))]
        )
    agreement = read_rows(folder / "ranking" / "agreement.csv", AGREEMENT_COLUMNS, missing) or []
    taus = [
        [row["condition"], *_numbers(row, ("value", "ci_low", "ci_high"))]
        for row in agreement
        if row["statistic"] == "mean_tau" and " > " not in row["condition"]
    ]
    return {"tasks": list(tasks.values()), "taus": taus}


def _collect_coverage(run: Run) -> list[dict[str, Any]]:
    """Return the map of each benchmark over its domain, and its numbers."""
    found = []
    titles = _name_domains(run)
    for path in sorted(run.folder.glob("*/benchmark/*/coverage.parquet")):
        domain, variant = path.parents[2].name, path.parent.name
        report = path.with_suffix(".json")
        known: Mapping[str, Any] = read_json(report) if report.is_file() else {}
        table = read_table(path, COVERAGE_MAP)
        sentences, pairs = table.filter(kind="sentence"), table.filter(kind="pair")
        marks = sentences["gap"].cast(pl.Int8) + sentences["large"].cast(pl.Int8)
        found.append(
            {
                "id": f"{domain}/{variant}",
                "title": titles.get(domain, domain),
                "variant": variant,
                "counts": [int((marks == kind).sum()) for kind in range(3)] + [len(pairs)],
                "numbers": [[text, known[name]] for name, text in _COVERAGE.items() if name in known],
                "sentences": _thin(sentences.with_columns(mark=marks), ("x", "y", "mark")),
                "pairs": _thin(pairs, ("x", "y")),
            }
        )
    return found


def _thin(table: pl.DataFrame, columns: Sequence[str]) -> list[list[Any]]:
    """Return columns of at most MOST_POINTS rows, evenly spaced."""
    some = table.gather_every(max(1, math.ceil(len(table) / MOST_POINTS))).select(columns)
    places = some.with_columns(pl.col("x", "y").cast(pl.Float64).round(3))
    return [list(row) for row in places.iter_rows()]


def _name_domains(run: Run) -> dict[str, str]:
    """Return the titles of the domains that have a benchmark."""
    return {benchmark.domain: benchmark.title for benchmark in run.benchmarks}


def _numbers(row: Row, names: Sequence[str]) -> list[float | None]:
    """Return numbers of a row, with six significant digits."""
    values = [read_number(row[name]) for name in names]
    return [None if value is None else float(f"{value:.6g}") for value in values]
