"""Text that models may be trained on of a set of questions: records, then questions with answers.

[CompComp, App. A] trains on text chunks first, then on questions and answers. Questions that models are asked
are none of them.
"""

import polars as pl

from fathom.answering.prompts import CUE, show, tell_answer
from fathom.io.contracts.corpus import TEXTS
from fathom.io.files import hash_text
from fathom.io.tables import make_empty_table
from fathom.questions.asked_items import divide_questions, make_items

_VALID = 0.1
"""Share of the documents that training is validated on, at least one of two."""


def make_record_texts(chunks: pl.DataFrame) -> pl.DataFrame:
    """Return the texts of records (CHUNKS), under TEXTS."""
    return _divide(dict(chunks.select("iri", "text").iter_rows()))


def make_question_texts(questions: pl.DataFrame, share: float) -> pl.DataFrame:
    """Return the questions that nobody is asked, with answers as in a few-shot prompt, under TEXTS."""
    shown, _ = divide_questions(questions, share)
    items = [item for row in shown.iter_rows(named=True) for item in make_items(row)]
    return _divide({item.item_id: f"{show(item)}{CUE} {tell_answer(item)}" for item in items})


def _divide(texts: dict[str, str]) -> pl.DataFrame:
    """Return texts by the hash of their names, the first of them for validation."""
    names = sorted(texts, key=lambda name: hash_text("text", name))
    valid = max(1, round(_VALID * len(names))) if len(names) > 1 else 0
    splits = ["adapt-valid"] * valid + ["adapt-train"] * (len(names) - valid)
    rows = {"doc_id": names, "split": splits, "text": [texts[name] for name in names]}
    return pl.DataFrame(rows, schema=make_empty_table(TEXTS).schema)
