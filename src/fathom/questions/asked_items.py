"""Questions as models get them: which ones, after which examples and records.

A question with eight options becomes eight questions on single options, so that their number of right ones
stays unknown.
"""

import math
from collections.abc import Iterable, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from fathom.answering.prompts import CUE, Item, show, tell_answer
from fathom.config.questions import OPEN, Evaluation, Prompting
from fathom.io.contracts.corpus import TEXTS
from fathom.io.files import hash_text
from fathom.io.tables import make_empty_table
from fathom.questions.posing import NO, YES

Row = dict[str, Any]

SEVERAL = "multiple-answer"
_ALONE = "\nProposed answer: {}\nIs this one of them?"
_EVERY = " Name the letters of all right answers."


RAG: Prompting = "rag"
ALL = "all"
"""The corpus of all records."""


class PromptedQuestion(NamedTuple):
    """A question in one prompting: its row, and the items that it becomes, one or one for each option.

    `corpus` names the records that those in its prompt are drawn from.
    """

    prompting: Prompting
    row: Row
    items: list[Item]
    corpus: str = ALL

    @property
    def prompt(self) -> tuple[str, str, str]:
        """Key of its prompt: questions with equal keys share an answer."""
        return self.row["question_id"], self.prompting, self.items[0].context


def divide_questions(questions: pl.DataFrame, share: float) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Divide questions into those that may be shown with their answers, and those that models are asked.

    `share`: of the questions of each form and level, those that a hash puts first; at least one of two, never
    all.
    """
    names: set[str] = set()
    for _, some in sorted(questions.partition_by("form", "level", as_dict=True).items()):
        ordered = sorted(some["question_id"], key=lambda name: hash_text("shown", name))
        most = len(ordered) - 1
        names.update(ordered[: min(most, math.ceil(share * len(ordered)))])
    is_shown = pl.col("question_id").is_in(sorted(names))
    return questions.filter(is_shown), questions.filter(~is_shown)


def ask(
    rows: Iterable[tuple[Row, str]], shown: Sequence[Row], prompting: Prompting, settings: Evaluation
) -> list[PromptedQuestion]:
    """Return questions as they are asked.

    Each of `rows` has the records next to it as text; examples are drawn from those `shown` of the same form
    and level.
    """
    kinds: dict[tuple[str, str], list[Row]] = {}
    for row in shown:
        kinds.setdefault((row["form"], row["level"]), []).append(row)
    found = []
    for row, nearest in rows:
        items = make_items(row, settings.by)
        if prompting == "rag":
            items = [item._replace(context=nearest) for item in items]
        if prompting == "few-shot":
            others = kinds.get((row["form"], row["level"]), [])
            name = row["question_id"]
            drawn = sorted(others, key=lambda other: hash_text("shot", name, other["question_id"]))
            examples = tuple(_make_example(other, settings.by) for other in drawn[: settings.shots])
            items = [item._replace(examples=examples) for item in items]
        found.append(PromptedQuestion(prompting, row, items))
    return found


def select_own(answers: pl.DataFrame, questions: pl.DataFrame) -> pl.DataFrame:
    """Return the answers to a set of questions, without those with other thresholds."""
    return answers.filter(corpus=ALL).join(questions, on="question_id", how="semi", maintain_order="left")


def make_items(row: Row, by: str = "likelihood") -> list[Item]:
    """Return the items that a question becomes, without context and examples.

    By `likelihood`, eight options are asked about one by one; by `text`, shown together.
    """
    name, text, form = row["question_id"], f"Question: {row['question']}", row["form"]
    right = tuple(place for place, is_right in enumerate(row["right"]) if is_right)
    if form in (OPEN, "binary"):
        return [Item(name, text, answer=row["answer"])]
    options = tuple(row["options"])
    if form == SEVERAL and by == "likelihood":
        return [
            Item(f"{name}.{place}", text + _ALONE.format(option), answer=YES if place in right else NO)
            for place, option in enumerate(options)
        ]
    return [Item(name, text + (_EVERY if form == SEVERAL else ""), options, right)]


def _make_example(row: Row, by: str) -> Item:
    """Return a question with its answer; of one for each option, a right one or a wrong one in turn."""
    items = make_items(row, by)
    drawn = int(hash_text("example", row["question_id"]), 16)
    wanted = [item for item in items if item.answer == (YES, NO)[drawn % 2]] if len(items) > 1 else []
    some = wanted or items
    return some[drawn // 2 % len(some)]


_VALID = 0.1
"""Share of the documents that training is validated on, at least one of two."""


def make_record_texts(chunks: pl.DataFrame) -> pl.DataFrame:
    """Return the texts of records (CHUNKS), under TEXTS."""
    return _divide(dict(chunks.select("iri", "text").iter_rows()))


def make_question_texts(questions: pl.DataFrame, share: float) -> pl.DataFrame:
    """Return the questions that are not asked, with answers as in a few-shot prompt, under TEXTS."""
    shown, _ = divide_questions(questions, share)
    items = [item for row in shown.iter_rows(named=True) for item in make_items(row)]
    return _divide({item.item_id: f"{show(item)}{CUE} {tell_answer(item)}" for item in items})


def _divide(texts: dict[str, str]) -> pl.DataFrame:
    names = sorted(texts, key=lambda name: hash_text("text", name))
    valid = max(1, round(_VALID * len(names))) if len(names) > 1 else 0
    splits = ["adapt-valid"] * valid + ["adapt-train"] * (len(names) - valid)
    rows = {"doc_id": names, "split": splits, "text": [texts[name] for name in names]}
    return pl.DataFrame(rows, schema=make_empty_table(TEXTS).schema)


RETRIEVED = 5
"""Records in a prompt."""
_CHARACTERS = 800
"""Characters of a record in a prompt, so that five fit into a context of 2,048 tokens."""
_AT_ONCE = 1024
_SPARE = 16
"""Records beyond those wanted that FAISS finds, so that its rounding leaves out none of them."""
_DECIMALS = 12

Vectors = npt.NDArray[np.float32]
Places = npt.NDArray[np.int64]


def retrieve_records(
    questions: Vectors, records: Vectors, texts: Sequence[str], count: int = RETRIEVED
) -> list[str]:
    """Return the texts of the records next to each question, the nearest first, by exact search.

    FAISS is used where it is installed, and changes nothing but the time.

    Parameters
    ----------
    questions : array of float32 of shape (n_questions, dimension)
        Unit vectors.
    records : array of float32 of shape (n_records, dimension)
        Unit vectors.
    count : int, default=RETRIEVED
        Records for each question, if there are as many; of equal ones the first.
    """
    find = _find_with_faiss if find_spec("faiss") else find_exactly
    parts = (questions[start : start + _AT_ONCE] for start in range(0, len(questions), _AT_ONCE))
    places = [row for some in parts for row in find(some, records, count).tolist()]
    return ["".join(f"{texts[place][:_CHARACTERS]}\n" for place in each) for each in places]


def find_exactly(questions: Vectors, records: Vectors, count: int) -> Places:
    """Return the rows of the records next to each question, of shape (n_questions, count)."""
    return _sort(questions.astype(np.float64) @ records.astype(np.float64).T, count)


def _find_with_faiss(questions: Vectors, records: Vectors, count: int) -> Places:
    """Like :func:`find_exactly`, but sort only results of a flat index of FAISS in float32.

    If rounding leaves open whether another record is nearer, look at all records.
    """
    # by its name, as an environment of the workflow need not have it
    faiss = import_module("faiss")
    index = faiss.IndexFlatIP(records.shape[1])
    index.add(np.ascontiguousarray(records))
    nearest, found = index.search(np.ascontiguousarray(questions), min(count + _SPARE, len(records)))
    found = np.sort(found, axis=1)
    cosines = np.einsum("qd,qkd->qk", questions.astype(np.float64), records[found].astype(np.float64))
    places = np.take_along_axis(found, _sort(cosines, count), axis=1)
    if found.shape[1] < len(records):
        lengths = np.linalg.norm(questions, axis=1) * np.linalg.norm(records, axis=1).max()
        error = records.shape[1] * np.finfo(np.float32).eps * lengths
        last = np.sort(cosines, axis=1)[:, -places.shape[1]]
        unsure = last <= nearest[:, -1] + error
        places[unsure] = find_exactly(questions[unsure], records, count)
    return places


def _sort(cosines: npt.NDArray[np.float64], count: int) -> Places:
    # rounded, so that the order in which products are summed decides no tie
    return np.argsort(-cosines.round(_DECIMALS), axis=1, kind="stable")[:, :count]
