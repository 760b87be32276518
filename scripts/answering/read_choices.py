"""Read a set of multiple-choice questions: CSV files of a folder, or a data set of the hub [MMLU]."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from fathom.config.choices import SPLITS
from fathom.config.corpus import TextSource
from fathom.errors import InputError
from fathom.io.contracts.answering import CHOICE_QUESTIONS
from fathom.io.tables import write_table
from fathom.jobs.program import log
from fathom.jobs.signature import run

if TYPE_CHECKING:
    import polars as pl


def fetch_choices(hub: str, revision: str, name: str) -> "pl.DataFrame":
    """Fetch the questions and examples of a set from the hub, under CHOICE_QUESTIONS.

    `name` is a subset of the data set, with the splits `dev` and `test`; code of the data set is never run.
    Raise `InputError` if it does not exist, or its questions are invalid.
    """
    from fathom.answering.choice_files import make_choice_table, read_choice_rows
    from fathom.corpus.text_sources import read_rows

    where = f"choices.questions.{name}"
    parts = {}
    for split in SPLITS:
        part = TextSource(dataset=hub, revision=revision, subset=name, split=split)
        parts[split] = list(read_choice_rows(read_rows(part, where), f"{hub}, {name}, {split}"))
    return make_choice_table(parts, f"{hub}, {name}")


def main(
    *,
    set: Annotated[str, "name of the set: of NAME_test.csv, or of a subset"],
    folder: Annotated[Path | None, "folder of its CSV files"] = None,
    hub: Annotated[str, "in place of the folder: a data set of the hub, such as cais/mmlu"] = "",
    revision: Annotated[str, "commit of the data set, all 40 digits"] = "",
    questions: Annotated[Path, "questions to write (parquet)"],
) -> None:
    """Read the questions, check them, write the table."""
    from fathom.answering.choice_files import read_choice_folder

    if folder is not None:
        found = read_choice_folder(folder, set)
    elif hub and revision:
        found = fetch_choices(hub, revision, set)
    else:
        raise InputError("neither a folder nor a data set with its commit", "--folder, --hub, --revision")
    write_table(questions, found, CHOICE_QUESTIONS)
    asked = int((found["split"] == "test").sum())
    log.info("%s questions and %s examples", asked, len(found) - asked)


if __name__ == "__main__":
    run(main)
