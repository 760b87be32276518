"""Files of multiple-choice questions in MMLU's format: CSV of a folder, parquet of the hub [MMLU].

`NAME_dev.csv` holds the examples, `NAME_test.csv` the questions, without a header: question, four options,
letter of the right one.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from fathom.answering.prompts import LETTERS, Item
from fathom.config.choices import SPLITS
from fathom.errors import InputError
from fathom.io.cells import find_text
from fathom.io.delimited import scan_csv
from fathom.io.files import hash_text, read_plain_text
from fathom.io.names import show_count
from fathom.jobs.program import log

OPTIONS = 4
"""Options of a question, as in MMLU."""

_COLUMNS = "question, A, B, C, D, answer"
_HUB_COLUMNS = ("question", "choices", "answer")
_SCHEMA: dict[str, Any] = {
    "item_id": pl.String,
    "split": pl.String,
    "question": pl.String,
    "options": pl.List(pl.String),
    "right": pl.Int32,
}
Row = tuple[str, list[str], int]


def read_choice_folder(folder: Path | str, name: str) -> pl.DataFrame:
    """Read the questions and examples of a set from `{name}_dev.csv` and `{name}_test.csv`.

    Under CHOICE_QUESTIONS, examples first, each part in the order of its file. Raise `InputError` if a file
    is missing, a line has other columns than six, an answer is missing or is no letter of an option, a text
    is empty, or no question is left.
    """
    parts = {}
    for split in SPLITS:
        path = Path(folder, f"{name}_{split}.csv")
        if not path.is_file():
            hint = f"a set needs {' and '.join(f'{name}_{each}.csv' for each in SPLITS)}"
            raise InputError("there is no such file", str(path), hint)
        parts[split] = list(_scan(path))
    return make_choice_table(parts, f"{Path(folder) / name}")


def make_choice_table(parts: Mapping[str, Sequence[tuple[str, Row]]], where: str) -> pl.DataFrame:
    """Return the questions of a set as a table; each comes with the place that messages name.

    A question repeated in a part is asked once, and one with a repeated right option is left out; the log
    names both.
    """
    rows = []
    for split, found in parts.items():
        seen: set[str] = set()
        for place, (question, options, right) in found:
            name = hash_text(question, *options)[:16]
            if name in seen or options.count(options[right]) > 1:
                what = "repeated question" if name in seen else "repeated right option"
                log.info("%s: left out, %s", place, what)
                continue
            seen.add(name)
            rows.append((name, split, question, options, right))
        if split == "test" and not seen:
            raise InputError("no questions", f"{where}, {split}", f"columns: {_COLUMNS}")
    return pl.DataFrame(rows, _SCHEMA, orient="row")


def make_items(table: pl.DataFrame, subject: str, shots: int, where: str) -> list[Item]:
    """Return the questions of a set, each with the first examples; raise `InputError` if it has too few."""
    by_split: dict[str, list[Item]] = {split: [] for split in SPLITS}
    for name, split, question, options, right in table.iter_rows():
        by_split[split].append(Item(name, question, tuple(options), (right,), subject=subject))
    if len(by_split["dev"]) < shots:
        hint = "add examples, or lower choices.shots"
        raise InputError(
            f"{show_count(len(by_split['dev']), 'example')}, and choices.shots = {shots}", where, hint
        )
    return [item._replace(examples=tuple(by_split["dev"][:shots])) for item in by_split["test"]]


def _scan(path: Path) -> Iterator[tuple[str, Row]]:
    for number, values in scan_csv(read_plain_text(path)):
        where = f"{path}, line {number}"
        if isinstance(values, str):
            raise InputError(
                values, where, "put texts with quotes or commas in quotes, and double quotes in them"
            )
        if not values or (
            number == 1 and values[-1].strip().casefold() == "answer"
        ):  # a header, where there is one
            continue
        if len(values) != OPTIONS + 2:
            count = len(values) - 2
            what = (
                show_count(count, "option")
                if count > 0 and values[-1].strip() in LETTERS
                else show_count(len(values), "column")
            )
            raise InputError(f"{what}, questions have {OPTIONS} options", where, f"columns: {_COLUMNS}")
        answer = values[-1].strip()
        if not answer:
            raise InputError("the answer is missing", where, f"columns: {_COLUMNS}")
        if answer not in LETTERS[:OPTIONS]:
            what = f"the answer is {answer!r:.40}, no letter from A to {LETTERS[OPTIONS - 1]}"
            raise InputError(what, where, f"columns: {_COLUMNS}")
        yield where, _check(values[0], values[1:-1], LETTERS.index(answer), where)


def read_choice_rows(rows: Iterable[Mapping[str, Any]], where: str) -> Iterator[tuple[str, Row]]:
    """Yield the place and the content of each question of a data set with the columns of `cais/mmlu`."""
    for number, row in enumerate(rows, start=1):
        place = f"{where}, row {number}"
        missing = [name for name in _HUB_COLUMNS if name not in row]
        if missing:
            raise InputError(
                f"missing columns: {', '.join(missing)}", place, f"needed: {', '.join(_HUB_COLUMNS)}"
            )
        options, answer = row["choices"], row["answer"]
        if not isinstance(options, list) or len(options) != OPTIONS:
            raise InputError(f"choices are {options!r:.60}, questions have {OPTIONS} options", place)
        if answer is None:
            raise InputError("the answer is missing", place, f"a number from 0 to {OPTIONS - 1}")
        if not isinstance(answer, int) or isinstance(answer, bool) or not 0 <= answer < OPTIONS:
            raise InputError(f"the answer is {answer!r:.40}, no number from 0 to {OPTIONS - 1}", place)
        texts = [find_text(each, " ") for each in (row["question"], *options)]
        if any(text is None for text in texts):
            raise InputError("a question or an option holds no text", place, "text, or objects with it")
        yield place, _check(texts[0] or "", [text or "" for text in texts[1:]], answer, place)


def _check(question: str, options: Sequence[str], right: int, where: str) -> Row:
    """Return a question without blanks around its texts; raise `InputError` if one is empty."""
    texts = [text.strip() for text in (question, *options)]
    if not all(texts):
        place = texts.index("")
        what = "the question is empty" if not place else f"option {LETTERS[place - 1]} is empty"
        raise InputError(what, where, "fill it in")
    return texts[0], texts[1:], right
