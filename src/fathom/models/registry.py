"""The model registry, `config/models.tsv`: models from the hub, from local folders or behind servers."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Literal, NamedTuple, get_args
from urllib.parse import urlsplit

from fathom.config.model_names import ModelName
from fathom.config.section import refuse_unknown
from fathom.errors import InputError
from fathom.io.bounded_requests import clean_text
from fathom.io.contracts.jobs import MODELS
from fathom.io.delimited import Row, scan_rows
from fathom.io.names import NAME
from fathom.models.folders import GGUF, is_gguf
from fathom.models.quantization import QUANTIZATIONS

Kind = Literal["base", "chat"]
DTYPES = ("float32", "bfloat16", "float16")
PICKLED = "pickled"
"""Value of column `weights` for sources without safetensors or GGUF."""

# families trained with a BOS token before every text, even if a copy of their tokenizer does not add it
BOS_FAMILIES = frozenset({"llama-1", "llama-2", "llama-3", "mistral", "gemma", "gemma-2", "gemma-3"})
# families whose names differ from transformers' model types
_FAMILIES = {"gemma2": "gemma-2", "gemma3": "gemma-3", "gemma3_text": "gemma-3"}
CHAT = "@chat"
"""Ending of a name whose model is asked inside its chat template."""
_HUB_NAME = re.compile(
    r"(?P<id>[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*(?<!\.(?i:gguf))(?<!\.(?i:json)))"
    r"(/(?P<file>[\w.+-]+\.gguf))?(@(?P<revision>[\w./-]+))?"
)


@dataclass(frozen=True)
class ModelRow:
    """One row of the registry."""

    name: str
    family: str  # models of one family share a tokenizer and its conventions
    # hub id, with `/FILE.gguf` if it is such a file; path of a local folder or GGUF file, absolute or
    # relative to the registry; or `package:NAME==VERSION`
    source: str
    revision: str  # commit of the hub repository; empty: the newest, which is recorded when it is fetched
    kind: Kind
    base_of: str
    parameters: int | None
    tokens: int | None
    dtype: str
    # whether to score inside the chat template: the name ends in `@chat`. Not a column of the registry
    chat_template: bool = False
    # for a LoRA adapter, which `source` then names, the name of the model that it is applied to
    adapter_of: str = ""
    quantization: str = ""  # one of :data:`fathom.models.quantization.QUANTIZATIONS`; empty: as stored
    stand_in: str = ""  # the model that takes this one's place if its weights are corrupt, or empty
    cutoff: str = ""  # last day of the text that it was pretrained on (`YYYY-MM-DD`), or empty
    # for a converted or quantised model, the row of the original, whose tokenizer is compared. For one behind
    # a server, the row whose tokenizer encodes
    original: str = ""
    weights: str = ""  # whether the source is known to have only pickled weights
    # the name that the row was made for, see :func:`fathom.models.named.resolve_models`, which configurations
    # may use
    asked: str = ""

    @property
    def add_bos(self) -> bool | None:
        """True if the family needs a BOS token; None leaves it to the tokenizer."""
        return needs_bos(self.family)


class Address(NamedTuple):
    """Where a model is served: URL without a slash at its end, and the model's name at the server."""

    url: str
    name: str


class HubName(NamedTuple):
    """A model on the hub: its id, a GGUF file or nothing, a commit, branch or tag or nothing."""

    id: str
    file: str
    revision: str

    @property
    def source(self) -> str:
        """The column `source` of its row."""
        return f"{self.id}/{self.file}" if self.file else self.id


class Reading(NamedTuple):
    """What a name means: `name` without `@chat`, whether that was there, and what it is the name of."""

    name: str
    chat: bool
    found: ModelRow | Path | Address | HubName


def name_family(model_type: str) -> str:
    """Return the family of models of one of transformers' types."""
    return _FAMILIES.get(model_type, model_type)


def needs_bos(family: str) -> bool | None:
    """Return True if a family needs a BOS token; None leaves it to the tokenizer."""
    return True if family in BOS_FAMILIES else None


def read_registry(path: Path | str) -> dict[str, ModelRow]:
    """Read the model registry: rows by name, in the order of the file."""
    entries: dict[str, ModelRow] = {}
    for where, row in scan_rows(path, MODELS):
        entry = _make_entry(row, where)
        if entry.name in entries:
            raise InputError(f"duplicate model {entry.name!r}", where, "give each row its own name")
        entries[entry.name] = entry
    for entry in entries.values():
        for what, hint in _find_faults(entry, entries):
            raise InputError(what, str(path), hint)
    return entries


def _find_faults(entry: ModelRow, entries: dict[str, ModelRow]) -> Iterator[tuple[str, str]]:
    """Yield what is wrong in what a row says of other rows, with a hint; only the first is sure to hold."""
    name, base = entry.name, entries.get(entry.adapter_of)
    for column in ("base_of", "original"):
        if (named := getattr(entry, column)) and named not in entries:
            yield f"{column} of {name!r} names an unknown model, {named!r}", ""
    if is_address(entry.source):
        if not parse_address(entry.source).name:
            yield f"source of {name!r} does not name a model", f"write {entry.source}#NAME"
        if not entry.original:
            hint = "name the row of the same model on the hub or in a folder in column original"
            yield f"{name!r} is behind a server and has no tokenizer", f"{hint}, for its tokenizer"
        for column in ("revision", "adapter_of", "quantization", "stand_in"):
            if getattr(entry, column):
                yield f"{column} of {name!r}: its weights are behind a server", "leave it empty"
    if entry.adapter_of and base is None:
        hint = "add a row for the base model"
        yield f"adapter_of of {name!r} names an unknown model, {entry.adapter_of!r}", hint
    if base and base.adapter_of:
        yield f"adapter_of of {name!r} names another adapter, {entry.adapter_of!r}", ""
    if base and (entry.quantization or base.quantization):
        hint = "name the model in full precision, which also fits a QLoRA adapter"
        yield f"{name!r} is an adapter over a quantised model", hint
    yield from _find_stand_in_faults(entry, entries)


def _find_stand_in_faults(entry: ModelRow, entries: dict[str, ModelRow]) -> Iterator[tuple[str, str]]:
    name, passed = entry.name, [entry.name]
    while stand_in := entries[passed[-1]].stand_in:
        if stand_in not in entries:
            yield f"stand_in of {passed[-1]!r} names an unknown model, {stand_in!r}", ""
        if stand_in in passed:
            yield f"{' > '.join([*passed, stand_in])}: stand-ins go in a circle", ""
        passed.append(stand_in)
        if entries[stand_in].adapter_of != entry.adapter_of:
            yield f"stand_in of {name!r}, {stand_in!r}, is not applied to the same model", ""
        if entry.tokens is not None and entries[stand_in].tokens is None:
            yield f"stand_in of {name!r}, {stand_in!r}, has no tokens", "fill in its column tokens"


def match_name(name: str, known: Iterable[str], where: str) -> str:
    """Return the row that a name matches: `smollm2` for `SmolLM2-135M-...`.

    Raises
    ------
    InputError
        If it fits none or several.
    """
    fitting = list_fitting(name, known := list(known))
    if not fitting:
        raise refuse_unknown("model", name, known, where)
    if len(fitting) > 1:
        raise InputError(f"several models fit {name!r}", where, f"name one of {', '.join(fitting[:8])}")
    return fitting[0]


def list_fitting(name: str, known: Iterable[str]) -> list[str]:
    """Return the row with exactly this name, else those that begin with it."""
    names, plain = list(known), _simplify(name)
    same = [each for each in names if each == name] or [each for each in names if _simplify(each) == plain]
    return same or [each for each in names if plain and _simplify(each).startswith(plain)]


def _simplify(name: str) -> str:
    return "".join(each for each in name.casefold() if each.isalnum())


def read_name(typed: str, known: Mapping[str, ModelRow], where: str) -> Reading:
    """Return what a model's name means; the one place that decides it.

    A row of this name comes first, then a folder or GGUF file, the row that was made for this name, the
    address of a server, an id of the hub (its row in `known`, if there is one), a row that begins so.

    Raises
    ------
    InputError
        If it means nothing, or several rows.
    """
    name, chat = split_chat(typed)
    return Reading(name, chat, _read_plain(name, known, where))


def _read_plain(name: str, known: Mapping[str, ModelRow], where: str) -> ModelRow | Path | Address | HubName:
    if name in known:
        return known[name]
    if is_local(name):
        return Path(name).expanduser()
    if row := find_known(name, known):
        return row
    if is_address(name):
        return parse_address(name)
    if _START.match(name) and not name.startswith("/"):
        what = f"no model has such an address: {hide_secrets(name)}"
        raise InputError(what, where, "http://ADDRESS/v1#NAME")
    if there := parse_hub_name(name):
        return there
    if "/" in name or name.startswith((".", "~")) or name.lower().endswith((GGUF, ".json")):
        hint = "check the path; on the hub: OWNER/NAME, OWNER/NAME@REVISION or OWNER/NAME/FILE.gguf"
        raise InputError(f"there is no folder or GGUF file {name}", where, hint)
    start, mark, revision = name.partition("@")
    if mark:
        sources = [known[each].source for each in list_fitting(start, known)]
        source = sources[0] if len(sources) == 1 and parse_hub_name(sources[0]) else "OWNER/NAME"
        hint = f"a revision follows an id on the hub: {source}@{revision or 'REVISION'}"
        raise InputError(f"unknown model {name!r}", where, hint)
    return known[match_name(name, known, where)]


def parse_hub_name(name: str) -> HubName | None:
    """Return the parts of an id of the hub, perhaps with a GGUF file and a revision; None if it is none."""
    match = _HUB_NAME.fullmatch(name)
    return HubName(match["id"], match["file"] or "", match["revision"] or "") if match else None


def split_chat(name: str) -> tuple[str, bool]:
    """Return a name without `@chat`, and whether that was there."""
    plain = name.removesuffix(CHAT)
    return plain, plain != name


def is_local(name: str) -> bool:
    """Say whether a name is that of an existing folder or GGUF file."""
    path = Path(name).expanduser()
    return path.is_dir() or (path.is_file() and is_gguf(path))


def find_known(name: str, known: Mapping[str, ModelRow]) -> ModelRow | None:
    """Return the row that was made for a name, or that of an id of the hub; None without one.

    Of several rows of a repository it is the namesake.
    """
    if made := next((each for each in known.values() if each.asked == name), None):
        return made
    if not (there := parse_hub_name(name)):
        return None
    same = [each for each in known.values() if each.source == there.source]
    if there.revision:
        return next((each for each in same if each.revision == there.revision), None)
    same = [each for each in same if "@" not in each.asked]  # which is that of a branch or tag
    namesakes = [each for each in same if each.name == there.id.partition("/")[2]]
    return namesakes[0] if namesakes else same[0] if len(same) == 1 else None


def find_model(entries: dict[str, ModelRow], name: str, path: Path | str) -> ModelRow:
    """Return the entry of `NAME` or `NAME@chat`; raise `InputError` with the nearest name if unknown."""
    asked = ModelName.parse(name)
    if asked.chat:
        entry = find_model(entries, asked.plain, path)
        check_chat(entry.name, entry.kind, str(path))
        return replace(entry, name=name, chat_template=True)
    if name not in entries:
        raise refuse_unknown("model", name, entries, str(path))
    return entries[name]


def check_chat(name: str, kind: str, where: str) -> None:
    """Raise `InputError` if a model that is asked inside its chat template is none of kind chat."""
    if kind != "chat":
        raise InputError(f"{name!r} is not a chat model", where, "score it without a chat template")


def find_folder(entry: ModelRow, registry: Path | str) -> Path | None:
    """Return the local folder or GGUF file of a model, which may be missing; None for one from elsewhere."""
    folder = Path(registry).parent / Path(entry.source).expanduser()
    return folder if entry.source.startswith((".", "/", "~")) or folder.exists() else None


def _make_entry(row: Row, where: str) -> ModelRow:
    for column in ("name", "source"):
        if not row[column]:
            raise InputError(f"empty {column}", where)
    if not re.fullmatch(NAME, row["name"]):
        hint = "letters, digits, dot, underscore, hyphen; the id on the hub goes into the column source"
        raise InputError(f"name = {row['name']!r}: it becomes the name of a folder", where, hint)
    if _START.match(row["source"]) and not row["source"].startswith("/") and not is_address(row["source"]):
        hint = "an id on the hub, the path of a folder, or http://ADDRESS/v1#NAME"
        raise InputError("no model has such an address", f"{where}: {hide_secrets(row['source'])}", hint)
    known = {"kind": get_args(Kind), "dtype": DTYPES, "quantization": ("", *QUANTIZATIONS)}
    for column, values in known.items():
        if row[column] not in values:
            hint = f"one of: {', '.join(filter(None, values))}"
            raise InputError(f"{column} = {row[column]!r}", where, hint)
    if row["weights"] not in ("", PICKLED):
        hint = f"{PICKLED}, or nothing if they are in safetensors or GGUF"
        raise InputError(f"weights = {row['weights']!r}", where, hint)
    return ModelRow(**row | {"cutoff": _read_day(row["cutoff"], where)})


def _read_day(text: str, where: str) -> str:
    try:
        return date.fromisoformat(text).isoformat() if text else ""
    except ValueError as error:
        raise InputError(f"cutoff = {text!r} is not a date", where, "such as 2023-12-31") from error


KEY_VARIABLE = "FATHOM_SERVER_KEY"
"""The variable for a server's key, so that no other service's key is sent to an address by mistake."""


_START = re.compile(r"\s*([a-z][a-z0-9+.-]+:/{1,2}|//)", re.IGNORECASE)
"""Start of an address."""
_SECRET = re.compile(r"[?@;]")
"""Characters of logins and queries that no plain address or model name has."""
_SECRET_ENDING = re.compile(r"[?#;].*", re.DOTALL)


def is_address(source: str) -> bool:
    """Say whether the source of a model is the address of a server."""
    return re.match(r"\s*https?:/", source, re.IGNORECASE) is not None


def hide_secrets(source: str) -> str:
    """Return a source for messages: an address without login or query.

    Examples
    --------
    >>> hide_secrets("https://me:secret@host/v1?api_key=secret#model")
    'https://host/v1'
    >>> hide_secrets("owner/model")
    'owner/model'
    """
    found = _START.match(source)
    rest = source[found.end() :] if found else ""
    if not found or not _SECRET.search(rest.replace("#", "?")):
        return source
    # a password may contain any of the marks
    shown = _SECRET_ENDING.sub("", rest.rpartition("@")[2])
    return clean_text(f"{found[0]}{shown}")


def parse_address(source: str) -> Address:
    """Return the parts of an address; raise `InputError` if it holds a password or a query."""
    url, _, name = source.partition("#")
    try:
        parts = urlsplit(url)
        plain = re.match("https?://", url, re.IGNORECASE) and not re.search(r"\s", url)
        fits = (
            bool(plain and parts.hostname) and parts.port != 0 and not _SECRET.search(url) and "?" not in name
        )
    except ValueError:
        fits = False
    if not fits:
        hint = f"such as http://localhost:8000/v1#NAME; a key is given by the variable {KEY_VARIABLE}"
        raise InputError("not the address of a server", hide_secrets(source), hint)
    return Address(url.rstrip("/"), name)
