"""Multiple-choice questions from a data set of the Hugging Face hub, at a pinned commit [MMLU].

It stands alone: only the program that fetches them needs the package `datasets`.
"""

import polars as pl

from fathom.answering.choice_files import make_choice_table, read_choice_rows
from fathom.config.choices import SPLITS
from fathom.config.corpus import TextSource
from fathom.corpus.text_sources import read_rows


def fetch_choices(hub: str, revision: str, name: str) -> pl.DataFrame:
    """Fetch the questions and examples of a set from the hub, under CHOICE_QUESTIONS.

    `name` is a subset of the data set, with the splits `dev` and `test`; code of the data set is never run.
    Raise `InputError` if there is no such, or its questions are not sound.
    """
    where = f"choices.questions.{name}"
    parts = {}
    for split in SPLITS:
        part = TextSource(dataset=hub, revision=revision, subset=name, split=split)
        parts[split] = list(read_choice_rows(read_rows(part, where), f"{hub}, {name}, {split}"))
    return make_choice_table(parts, f"{hub}, {name}")
