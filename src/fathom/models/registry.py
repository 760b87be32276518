"""The table of models from the hub or from local folders: `config/models.tsv`."""

import difflib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, cast, get_args

from fathom.errors import InputError
from fathom.io.files import read_delimited

Kind = Literal["base", "chat"]
DTYPES = ("float32", "bfloat16", "float16")
COLUMNS = ("name", "family", "source", "revision", "kind", "base_of", "parameters", "tokens", "dtype")

CHAT = "@chat"
"""What ends the name of a chat model that is scored inside its chat template."""

# Families that were trained with a BOS token before every text, whatever a copy of their tokenizer says.
BOS_FAMILIES = frozenset({"llama-1", "llama-2", "llama-3", "mistral", "gemma", "gemma-2", "gemma-3"})


@dataclass(frozen=True)
class Entry:
    """One row of the table.

    Attributes
    ----------
    name : str
        Name of the model in the configuration and in paths.
    family : str
        Models that share a tokenizer and its habits.
    source : str
        Hub id, or path of a local folder, absolute or relative to the table.
    revision : str
        Commit of the hub repository; empty: the newest, resolved and recorded when it is fetched.
    kind : {"base", "chat"}
        Pretrained only, or tuned for chat.
    base_of : str
        For a chat model, the name of its base model, may be empty.
    parameters, tokens : int or None
        Parameters, and tokens seen in training, where known.
    dtype : str
        Number type that the model was published in.
    chat_template : bool
        Whether it is scored inside its chat template: its name ends in `@chat`. No column of the table.
    """

    name: str
    family: str
    source: str
    revision: str
    kind: Kind
    base_of: str
    parameters: int | None
    tokens: int | None
    dtype: str
    chat_template: bool = False

    @property
    def add_bos(self) -> bool | None:
        """True where the family needs a BOS token; None leaves it to the tokenizer."""
        return True if self.family in BOS_FAMILIES else None


def read_registry(path: Path | str) -> dict[str, Entry]:
    """Read the table of models.

    Returns
    -------
    dict of str to Entry
        By name, in the order of the file.

    Raises
    ------
    InputError
        If a column is missing, a name stands twice, or a value is of the wrong kind.
    """
    entries: dict[str, Entry] = {}
    for number, row in enumerate(read_delimited(path), start=2):
        where = f"{path}, line {number}"
        missing = [column for column in COLUMNS if column not in row]
        if missing:
            raise InputError(f"columns are missing: {', '.join(missing)}", str(path))
        entry = _read_row(row, where)
        if entry.name in entries:
            raise InputError(f"model {entry.name!r} stands twice", where, "give each row its own name")
        entries[entry.name] = entry
    for entry in entries.values():
        if entry.base_of and entry.base_of not in entries:
            raise InputError(
                f"base_of of {entry.name!r} names {entry.base_of!r}, which is no model of the table",
                str(path),
            )
    return entries


def find_model(entries: dict[str, Entry], name: str, path: Path | str) -> Entry:
    """Return the row of `NAME` or `NAME@chat`; raise `InputError` with the nearest name if there is none."""
    if name.endswith(CHAT):
        plain = find_model(entries, name.removesuffix(CHAT), path)
        if plain.kind != "chat":
            raise InputError(
                f"{plain.name!r} is no chat model", str(path), "score it without a chat template"
            )
        return replace(plain, name=name, chat_template=True)
    if name not in entries:
        near = difflib.get_close_matches(name, entries, n=1)
        hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(sorted(entries))}"
        raise InputError(f"there is no model {name!r}", str(path), hint)
    return entries[name]


def _read_row(row: dict[str, str], where: str) -> Entry:
    """Check one row and give it its types."""
    for column in ("name", "source"):
        if not row[column]:
            raise InputError(f"{column} is empty", where)
    kind, dtype = row["kind"], row["dtype"]
    if kind not in get_args(Kind):
        raise InputError(f"kind = {kind!r}", where, f"one of: {', '.join(get_args(Kind))}")
    if dtype not in DTYPES:
        raise InputError(f"dtype = {dtype!r}", where, f"one of: {', '.join(DTYPES)}")
    return Entry(
        name=row["name"],
        family=row["family"],
        source=row["source"],
        revision=row["revision"],
        kind=cast(Kind, kind),
        base_of=row["base_of"],
        parameters=_read_count(row["parameters"], "parameters", where),
        tokens=_read_count(row["tokens"], "tokens", where),
        dtype=dtype,
    )


def _read_count(text: str, column: str, where: str) -> int | None:
    """Return a whole number, or None for an empty field."""
    if not text:
        return None
    if not text.isdecimal():
        raise InputError(f"{column} = {text!r} is no whole number", where, "write it out: 7000000000")
    return int(text)
