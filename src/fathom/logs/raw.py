"""Results and common parts of the readers of all kinds of logs."""

import json
import math
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard

from fathom.errors import InputError
from fathom.io.cells import spell_value
from fathom.io.files import LINE_MB, open_decompressed, read_lines, require_file
from fathom.io.json_text import parse_object

SHOWN = 300
"""Characters of a question and of an answer that are kept."""
GROUPS = ("group", "subject", "category", "subset", "topic")
"""Fields of an item, or of its metadata, that name its part of a task; the first one counts."""
LOW_IS_GOOD = frozenset({
    "bits_per_byte", "brier", "brier_score", "byte_perplexity", "cer", "loss", "nll", "perplexity", "rank",
    "ter", "wer", "word_perplexity",
})  # fmt: skip
"""Metrics where less is better, if the log does not say."""


class ItemScore(NamedTuple):
    """One score of one item.

    Attributes
    ----------
    score : float
        Finite.
    text : str
        Distinguishes items with equal ids and different texts: a hash, or the text itself; empty if unknown.
    group, cluster, prompt, target, answer : str
        May be empty.
    options : int
        How many answers were offered; 0 if unknown.
    """

    item: str
    metric: str
    score: float
    text: str = ""
    group: str = ""
    cluster: str = ""
    prompt: str = ""
    target: str = ""
    answer: str = ""
    options: int = 0


@dataclass
class RawLog:
    """Results of one model on one task, from one file.

    Attributes
    ----------
    items : list of ItemScore
        All repetitions of an item are included.
    higher : dict of str to bool
        By metric, whether a high score is good; metrics that the log is silent about are missing.
    first : dict of str to str
        By reason, where the first of these stands, if that is known.
    folder : str
        Of a model that was loaded from a folder: its path; the model is named by its end.
    """

    file: str
    task: str
    model: str
    items: list[ItemScore] = field(default_factory=list)
    higher: dict[str, bool] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)
    folder: str = ""

    def leave_out(self, reason: str, where: str = "") -> None:
        """Count a left-out item, and keep the place of the first one.

        `reason`: what it is, in one word, then why, such as `row without a score`.
        """
        self.left_out[reason] += 1
        if where:
            self.first.setdefault(reason, where)


def read_objects(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the JSON objects of a file of lines, each with its place."""
    number = 0
    try:
        with open_decompressed(require_file(path)) as stream:
            for number, line in enumerate(read_lines(stream, LINE_MB), start=1):
                if line is None or line.strip():
                    yield f"{path}, line {number}", _parse(line, f"{path}, line {number}")
    except (EOFError, OSError, zlib.error) as error:
        if getattr(error, "errno", None):
            raise  # an error of the disk, not of the file
        what = f"the log cannot be decompressed: {error}"
        raise InputError(what, f"{path}, after line {number:,}", "get or write it again") from error


def _parse(line: bytes | None, where: str) -> dict[str, Any]:
    if line is None:
        raise InputError(f"a line of more than {LINE_MB} MB", where, "no log has such lines")
    try:
        return parse_object(line)
    except ValueError as error:
        cut = "" if line.endswith(b"\n") else "; the file seems to be cut short"
        raise InputError(f"{error}{cut}", where, "write the log again") from error


def is_number(value: Any) -> TypeGuard[float]:
    """Tell whether a score is a finite number, or a truth value."""
    try:
        return isinstance(value, bool | int | float) and math.isfinite(value)
    except OverflowError:  # an integer too large for a float
        return False


def take_score(value: Any, where: str) -> float:
    """Return a score as a number, truth values as 0 and 1; raise `InputError` if not finite."""
    if is_number(value):
        return float(value)
    raise InputError(
        f"the score {str(value)[:40]!r} is no finite number", where, "leave the item out, or score it"
    )


def shorten(value: Any, end: bool = False) -> str:
    """Return a value as one line of at most :data:`SHOWN` characters: its beginning, or its end."""
    # questions with many examples are long: only what can be shown is split
    text = write_out(value)
    text = " ".join((text[-4 * SHOWN :] if end else text[: 4 * SHOWN]).split())
    if len(text) <= SHOWN:
        return text
    return f"... {text[4 - SHOWN :]}" if end else f"{text[: SHOWN - 4]} ..."


def write_out(value: Any) -> str:
    """Return a value as text: that of a list or an object if it holds any, else JSON."""
    text = spell_value(value, " ")
    return json.dumps(value, ensure_ascii=False, default=str) if text is None else text


def find_group(values: Mapping[str, Any]) -> str:
    """Return the part of a task that an item says it belongs to; empty if it says none."""
    found = next((values[name] for name in GROUPS if isinstance(values.get(name), str | int)), "")
    return shorten(found)


def need_text(value: Any, what: str, where: str) -> str:
    """Return a name that a log must have; raise `InputError` if it is missing or empty."""
    if isinstance(value, float) and value.is_integer():  # ids in a column with gaps
        value = int(value)
    if isinstance(value, str | int) and str(value).strip():
        return str(value).strip()
    raise InputError(f"there is no {what}", where, "the log is of another version, or damaged")
