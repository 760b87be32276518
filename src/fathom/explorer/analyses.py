"""A page's data of a run's analyses: questions, multiple choice, layers, tuning, and maps of coverage.

All come from finished tables. An analysis without its table is left out; a table of another version is
listed as missing.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from fathom.config.questions import OPEN
from fathom.explorer.run import (
    AGREEMENT,
    CHOICE_ACCURACY,
    CHOICE_DIAGNOSIS,
    QUESTION_SCORES,
    TUNING,
    CoverageMap,
    QuestionSet,
    Row,
    Run,
)
from fathom.io.contracts.answering import EVERY_SET
from fathom.io.paths import LAYERS
from fathom.questions.answer_scores import CHANCE, LEADING
from fathom.questions.shown import divide_kinds
from fathom.statistics.metrics import ATTRIBUTE_RATE, METRICS, PROBABILITY, RANK

Tables = Mapping[str, list[Row]]

MOST_POINTS = 1_500
"""Most sentences, and pairs, on a map of coverage; of more, evenly spaced rows are taken."""

_LAYER_METRICS = {"rank": RANK, "probability": PROBABILITY, "rate": ATTRIBUTE_RATE}
_COVERAGE = {
    "coverage": "share of the sentences where pairs are as dense as the domain",
    "coverage_at_random": "the same for as many sentences drawn at random",
    "correlation": "correlation of both densities",
    "redundancy_of_pairs": "share of pairs of pairs that are near each other",
    "redundancy_of_domain": "share of pairs of sentences that are near each other",
    "explained_by_map": "share of the variance that the map shows",
}


def collect_analyses(run: Run) -> dict[str, Any]:
    """Return the page's data of each analysis in the run."""
    titles = {benchmark.domain: benchmark.title for benchmark in run.benchmarks}
    scores = run.rows.get(QUESTION_SCORES, [])
    found = {
        "questions": [describe_set(each, scores) for each in run.questions],
        "multiple-choice": _collect_choices(run.rows),
        "layers": _collect_layers(run.rows, titles),
        "tuning": _collect_tuning(run.rows),
        "coverage": [_describe_map(each, titles.get(each.domain, each.domain)) for each in run.coverage],
    }
    return {name: value for name, value in found.items() if value}


def _collect_choices(tables: Tables) -> dict[str, Any]:
    """Return accuracy by model and variation, of all sets together, and what is behind the answers."""
    rows = tables.get(CHOICE_ACCURACY)
    if not rows:
        return {}
    sets = {row["questions"] for row in rows}
    questions = EVERY_SET if EVERY_SET in sets else min(sets)
    some = [row for row in rows if row["questions"] == questions]
    return {
        "questions": sorted(sets - {EVERY_SET}),
        "items": some[0]["items"],
        "factors": list(dict.fromkeys(row["factor"] for row in some if row["factor"])),
        "rows": [
            [
                *(row[name] for name in ("model", "way", "factor", "variation", "baseline")),
                *_numbers(row, ("accuracy", "ci_low", "ci_high", "change", "change_low", "change_high")),
                row["apart"],
            ]
            for row in some
        ],
        "verdicts": [
            [row["model"], row["way"], row["detail"]]
            for row in tables.get(CHOICE_DIAGNOSIS, [])
            if row["finding"] == "verdict"
        ],
    }


def _collect_layers(tables: Tables, titles: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return each metric of each domain by layer: points of layer, value, low, high by model."""
    found = []
    for name, rows in tables.items():
        place = LAYERS.read(name)
        if place is None:
            continue
        domain = place["domain"]
        # with the final norm: what is exact at the last layer
        some = [row for row in rows if row["projection"] == "normed" and row["metric"] in _LAYER_METRICS]
        order = list(_LAYER_METRICS)
        # a metric without such a setting has 0
        groups: defaultdict[tuple[int, int, int], list[Row]] = defaultdict(list)
        for row in some:
            groups[order.index(row["metric"]), row["k"] or 0, row["list_length"] or 0].append(row)
        for number, k, length in sorted(groups):
            metric = _LAYER_METRICS[order[number]]
            label = metric.label if metric.variant else f"{metric.label} of the target"
            lines: defaultdict[str, list[list[float]]] = defaultdict(list)
            for row in groups[number, k, length]:
                lines[row["model"]].append([row["layer"], *_numbers(row, ("value", "ci_low", "ci_high"))])
            found.append(
                {
                    "id": "/".join([domain, order[number], *(str(each) for each in (k, length) if each)]),
                    "title": titles.get(domain, domain),
                    "label": label + (f", {k} likeliest words, list of {length:,}" if k else ""),
                    "lower": metric.low_is_best,
                    "log": metric.is_factor,
                    "lines": [[model, sorted(points)] for model, points in lines.items()],
                }
            )
    return found


def _collect_tuning(tables: Tables) -> dict[str, Any]:
    """Return the scores of each task before and after, and how far rankings agree under both conditions."""
    rows = tables.get(TUNING)
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
    taus = [
        [row["condition"], *_numbers(row, ("value", "ci_low", "ci_high"))]
        for row in tables.get(AGREEMENT, [])
        if row["statistic"] == "mean_tau" and " > " not in row["condition"]
    ]
    return {"tasks": list(tasks.values()), "taus": taus}


def _describe_map(found: CoverageMap, title: str) -> dict[str, Any]:
    sentences, pairs = found.table.filter(kind="sentence"), found.table.filter(kind="pair")
    marks = sentences["gap"].cast(pl.Int8) + sentences["large"].cast(pl.Int8)
    return {
        "id": f"{found.domain}/{found.variant}",
        "title": title,
        "variant": found.variant,
        "counts": [int((marks == kind).sum()) for kind in range(3)] + [len(pairs)],
        "numbers": [
            [text, found.numbers[name]]
            for name, text in _COVERAGE.items()
            if isinstance(found.numbers.get(name), int | float)
        ],
        "sentences": _thin(sentences.with_columns(mark=marks), ("x", "y", "mark")),
        "pairs": _thin(pairs, ("x", "y")),
    }


def _thin(table: pl.DataFrame, columns: Sequence[str]) -> list[list[Any]]:
    some = table.gather_every(max(1, math.ceil(len(table) / MOST_POINTS))).select(columns)
    places = some.with_columns(pl.col("x", "y").cast(pl.Float64).round(3))
    return [list(row) for row in places.iter_rows()]


def _numbers(row: Row, names: Sequence[str]) -> list[float]:
    return [float(f"{row[name]:.6g}") for name in names]


NOT_ASKED = -1
"""Marks, in place of an answer, a question that was shown to models with its answer."""


def describe_set(found: QuestionSet, scores: Sequence[Row]) -> dict[str, Any]:
    """Return the forms and levels of a set of questions, and the scores of models.

    Returns
    -------
    dict
        `kinds`: form, level, number of questions, leading metric and chance. `rows`: model, prompting, place
        of the kind, metric, value, low, high, number of questions, and of those without an answer.
    """
    kinds = list(divide_kinds(found.questions))
    places = {(form, level): place for place, (form, level, _) in enumerate(kinds)}
    own = [row for row in scores if row["set"] == found.name and not row["template"]]
    columns = ("value", "ci_low", "ci_high", "questions", "unanswered")
    return {
        "id": found.name,
        "count": len(found.questions),
        "kinds": [
            [form, level, len(some), METRICS[LEADING[form]].label, CHANCE.get(form)]
            for form, level, some in kinds
        ],
        "rows": [
            [row["model"], row["prompting"], places[row["form"], row["level"]], METRICS[row["metric"]].label]
            + [row[name] for name in columns]
            for row in own
            if (row["form"], row["level"]) in places
        ],
    }


def list_questions(found: QuestionSet) -> dict[str, Any]:
    """Return the questions of a set in the order of the page, and models' answers.

    Options that are right, or chosen, are bits of a number, the first option the lowest.
    """
    kinds = list(divide_kinds(found.questions))
    questions = pl.concat([each.questions for each in kinds]) if kinds else found.questions
    queries = {query: place for place, query in enumerate(sorted({*questions["query"]}))}
    return {
        "ids": questions["question_id"].to_list(),
        "kind": [place for place, each in enumerate(kinds) for _ in range(len(each.questions))],
        "questions": questions["question"].to_list(),
        "options": questions["options"].to_list(),
        "right": [_to_bits(right) for right in questions["right"].to_list()],
        "keys": questions["answer"].to_list(),
        "sources": questions["sources"].to_list(),
        "queries": list(queries),
        "query": [queries[query] for query in questions["query"]],
        "answers": [
            [model, prompting, *_list_answers(questions, answers.filter(prompting=prompting))]
            for model, answers in found.answers.items()
            for prompting in answers["prompting"].unique(maintain_order=True)
        ],
    }


def _list_answers(questions: pl.DataFrame, answers: pl.DataFrame) -> tuple[list[int], list[str]]:
    given = dict(zip(answers["question_id"], answers.select("chosen", "text").iter_rows(), strict=True))
    some = [given.get(name) for name in questions["question_id"]]
    forms = questions["form"].to_list()
    chosen = [
        NOT_ASKED if each is None else 0 if form == OPEN else _to_bits(each[0])
        for each, form in zip(some, forms, strict=True)
    ]
    return chosen, ["" if each is None else each[1] for each in some]


def _to_bits(flags: Sequence[bool]) -> int:
    return sum(1 << place for place, is_set in enumerate(flags) if is_set)
