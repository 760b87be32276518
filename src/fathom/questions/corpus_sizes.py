"""Sizes and redundancy of corpora and questions, beside those of the paper [CompComp, Secs. 4 and 5]."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from fathom.config.questions import OPEN
from fathom.questions.answer_scores import METRICS as MEASURED
from fathom.statistics.metrics import METRICS

Row = tuple[str, str, str, str, str, str]
"""Under SIZES."""

_FORMS = {
    ("binary", "memorise"): 7000,
    ("multiple-choice", "understand"): 7000,
    ("multiple-answer", "understand"): 1000,
    ("multiple-answer", "apply"): 4496,
    ("open", "create"): 5387,
}
"""Questions of the paper by form and level [CompComp, Table 2]."""
_POSSIBLE = 0.017


def list_corpus_sizes(domain: str, report: Mapping[str, Any], places: pl.DataFrame) -> list[Row]:
    """Return what an expansion gave, beside the paper's corpus.

    `places`: under EXPANSION_MAP. The map's growth is that of the side of the box that holds the corpus, from
    the first round to the last; the paper's grows from 20 to 75 units.
    """
    corpus, redundancy = report["corpus"], report["redundancy"]
    whole, kept = redundancy["domain"], redundancy["corpus"]
    removed = 1 - kept / whole if whole and kept is not None else None
    sides = [_measure_side(places.filter(pl.col("round").is_between(1, last))) for last in (1, 2**31 - 1)]
    values = (
        ("rounds", len(report["rounds"]), None),
        ("documents that are kept", corpus["documents"], None),
        ("share of the sentences that is kept", corpus["share"], 0.464),
        ("share of the domain that is covered", corpus["coverage"], 0.98),
        (
            "growth of the corpus on the map, first round to last",
            sides[1] / sides[0] if sides[0] else None,
            3.75,
        ),
        ("share of pairs within a cosine distance of 0.2", kept, None),
        ("share of redundancy that is removed", removed, 0.68),
    )
    return [(domain, name, "", "", _tell(here), _tell(paper)) for name, here, paper in values]


def list_question_sizes(name: str, report: Mapping[str, Any], questions: pl.DataFrame) -> list[Row]:
    """Return how many questions there are, beside the paper's."""
    first, last = report["rounds"][0], report["rounds"][-1]
    kinds = [
        _describe_kind(form, level, questions.filter(form=form, level=level), paper)
        for (form, level), paper in _FORMS.items()
    ]
    values = [
        ("rounds", "", "", len(report["rounds"]), None),
        ("questions", "", "", len(questions), sum(_FORMS.values())),
        *kinds,
        ("share of the possible questions that is asked", "", "", report["share_of_possible"], _POSSIBLE),
        ("large gaps after the first round", "", "", first["large_gaps"], None),
        ("large gaps at the end", "", "", last["large_gaps"], None),
        ("share of pairs within a cosine distance of 0.2", "", "", last["redundancy"], None),
    ]
    return [
        (name, what, source, metric, _tell(here), _tell(paper))
        for what, source, metric, here, paper in values
    ]


def _describe_kind(
    form: str, level: str, questions: pl.DataFrame, paper: int
) -> tuple[str, str, str, int, int]:
    """Return what the questions of a form and level are, their source and metrics, and how many there are."""
    sources = sorted(set(questions["template"])) if form == OPEN else ["records"] * (len(questions) > 0)
    metrics = ", ".join(METRICS[metric].label for metric in MEASURED[form])
    return f"questions: {form}, {level}", ", ".join(sources), metrics, len(questions), paper


def _measure_side(places: pl.DataFrame) -> float:
    if places.is_empty():
        return 0.0
    sides = [float(places[axis].to_numpy().max() - places[axis].to_numpy().min()) for axis in ("x", "y")]
    return sum(sides) / 2


def _tell(number: float | None) -> str:
    return "" if number is None else str(number) if isinstance(number, int) else f"{number:.6g}"
