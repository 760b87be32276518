"""Proof of every question by its own query: right answers are true, and no wrong one is."""

from collections import Counter
from typing import Any

import polars as pl

from fathom.config.questions import OPTIONS
from fathom.errors import InputError
from fathom.jobs.program import show_progress
from fathom.questions.graph import OntologyGraph, Query


def prove_questions(questions: pl.DataFrame, graph: OntologyGraph) -> dict[str, Any]:
    """Prove all questions that have a query.

    The query is asked once for each option, with the option's entity put in. A wrong one must stay wrong
    whatever cells that are empty would hold. Nothing is used but the table of questions and the ontology:
    neither templates nor how options were drawn. Raise `InputError` if a right option is not true, a wrong
    one is, an option is what the question is about, or a question has another number of options than its
    form; it names the first question and counts all. Returned: counts of `questions`, `right` and `wrong`
    options that were proved, by form, and of `open` ones.
    """
    prepared: dict[str, Query] = {}
    counts: dict[str, Counter[str]] = {}
    faults: list[tuple[str, str, str]] = []
    proved = questions.filter(pl.col("query") != "")
    for row in show_progress(proved.iter_rows(named=True), "questions proved", len(proved)):
        if row["query"] not in prepared:
            prepared[row["query"]] = Query(row["query"], "ASK", f"template {row['template']}")
        fault = _find_fault(row, prepared[row["query"]], graph)
        if fault:
            faults.append((row["template"], row["question_id"], fault))
        count = counts.setdefault(row["form"], Counter())
        count.update(questions=1, right=sum(row["right"]), wrong=len(row["right"]) - sum(row["right"]))
    if faults:
        template, name, fault = faults[0]
        raise InputError(
            f"{len(faults):,} of {len(proved):,} questions are not proved by their queries; "
            f"question {name}: {fault}",
            f"template {template}",
            "its SELECT and its ASK do not say the same",
        )
    return {
        "proved": {form: dict(sorted(count.items())) for form, count in sorted(counts.items())},
        "open": len(questions) - len(proved),
    }


def _find_fault(row: dict[str, Any], query: Query, graph: OntologyGraph) -> str:
    bindings = dict(pair.split("=", 1) for pair in row["bindings"])
    options, right = row["options"], row["right"]
    if (
        len(options) != OPTIONS[row["form"]]
        or len(right) != len(options)
        or len(set(options)) != len(options)
    ):
        return f"options {options}"
    if not any(right) or (row["form"] != "multiple-answer" and sum(right) != 1):
        return f"{sum(right)} right options"
    if row["form"] == "binary":
        ask = graph.ask if right[0] else graph.could_hold
        return "" if ask(query, bindings) == right[0] else f"the answer is {row['answer']}"
    for option, iri, is_right in zip(options, row["option_iris"], right, strict=True):
        if iri in bindings.values():
            return f"it is about {option!r}, which is an option"
        ask = graph.ask if is_right else graph.could_hold
        if ask(query, {**bindings, row["asked"]: iri}) != is_right:
            return f"{option!r} is {'not true' if is_right else 'true'}"
    return ""
