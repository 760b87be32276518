"""Multiple-choice questions from a data set of the Hugging Face hub, at a pinned commit [MMLU]."""

import polars as pl

from fathom.answering.choice_files import make_choice_table, read_choice_rows
from fathom.config.choices import SPLITS
from fathom.config.corpus import TextSource
from fathom.corpus.text_sources import read_rows


def fetch_choices(hub: str, revision: str, name: str) -> pl.DataFrame:
    """Fetch the questions and examples of a set from the hub.

    Parameters
    ----------
    hub, revision : str
        A data set, and its commit; its code is never run.
    name : str
        Subset of the data set, with the splits `dev` and `test`.

    Returns
    -------
    DataFrame
        Under contract CHOICE_QUESTIONS; see :func:`fathom.answering.choice_files.read_choice_folder`.

    Raises
    ------
    InputError
        If the data set, its commit or subset does not exist, or its questions are not sound.
    """
    where = f"choices.questions.{name}"
    parts = {}
    for split in SPLITS:
        part = TextSource(dataset=hub, revision=revision, subset=name, split=split)
        parts[split] = list(read_choice_rows(read_rows(part, where), f"{hub}, {name}, {split}"))
    return make_choice_table(parts, f"{hub}, {name}")
