"""Models by their usual names, and the rows of the table of models that they stand for."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from fathom.config.yaml_files import parse_yaml
from fathom.errors import InputError
from fathom.io.contracts.jobs import MODELS
from fathom.io.delimited import write_rows
from fathom.io.files import read_object
from fathom.jobs.program import log
from fathom.models.adapters import check_adapter, find_base, is_adapter, list_places, name_base
from fathom.models.folders import ADAPTER_CONFIG, INDEX
from fathom.models.gguf_header import read_header
from fathom.models.hub import fetch_snapshot
from fathom.models.registry import (
    DTYPES,
    Address,
    HubName,
    Kind,
    ModelRow,
    check_chat,
    find_folder,
    name_family,
    parse_hub_name,
    read_name,
)
from fathom.models.shapes import parse_shape

_DESCRIBING = ("config.json", ADAPTER_CONFIG, "tokenizer_config.json", "chat_template.jinja", "README.md",
               INDEX)  # fmt: skip
"""Small files of a repository that describe its model."""
_METADATA = re.compile(r"\ufeff?\s*---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_COMMIT = re.compile("[0-9a-f]{40}")
_CHAT = re.compile(r"(?i)(^|[-_.])(chat|instruct|it)([-_.]|$)")
_OWN: dict[str, Any] = dict.fromkeys(("base_of", "stand_in", "original", "weights", "asked"), "")
"""What a row made from another does not take over."""


class Resolved(NamedTuple):
    """Rows of named models; `new`: rows that the table lacks, after the rows that they name."""

    names: list[str]
    new: list[ModelRow]


def resolve_models(asked: Iterable[str], known: Mapping[str, ModelRow], where: str) -> Resolved:
    """Return the rows of models as people name them.

    A name is that of a row, or the start of one (`smollm2`); an id of the hub, with `@REVISION` or a GGUF
    file if need be; a folder, a GGUF file, an adapter; or `ADDRESS#ID`, a server that has a model of the
    hub. See :func:`fathom.models.registry.read_name`. Rows of models of the hub are made from their small
    files, and pinned to the commit. A name already given to a row stands for it, so the hub is asked only
    once.

    Raises
    ------
    InputError
        If a name fits nothing or several rows, or the hub lacks or refuses the model.
    """
    names: dict[str, None] = {}
    new: dict[str, ModelRow] = {}
    for name in asked:
        rows = find_rows(name, {**known, **new}, where)
        names[rows[-1].name] = None
        new |= {each.name: each for each in rows if each.name not in known}
    return Resolved(list(names), list(new.values()))


def place_rows(entries: Iterable[ModelRow], registry: Path) -> list[ModelRow]:
    """Return rows of a table for use in another one: relative sources become absolute."""
    placed = ((entry, find_folder(entry, registry)) for entry in entries)
    return [replace(entry, source=str(folder.resolve())) if folder else entry for entry, folder in placed]


def write_models(path: Path, entries: Iterable[ModelRow]) -> None:
    """Write rows to a table of models, see :func:`place_rows`."""
    write_rows(path, ([vars(entry)[name] for name in MODELS.names] for entry in entries), MODELS)


def close_over(entries: Iterable[ModelRow], known: Mapping[str, ModelRow]) -> list[ModelRow]:
    """Return rows with all rows that they name, these first."""
    found: dict[str, ModelRow] = {}

    def add(entry: ModelRow) -> None:
        for name in (entry.base_of, entry.adapter_of, entry.stand_in, entry.original):
            if name and name not in found:
                add(known[name])
        found.setdefault(entry.name, entry)

    for entry in entries:
        add(entry)
    return list(found.values())


def find_rows(name: str, known: Mapping[str, ModelRow], where: str) -> list[ModelRow]:
    """Return the row of a model, after rows that it needs and `known` lacks; see :func:`resolve_models`."""
    name, chat, found = read_name(name, known, where)
    match found:
        case ModelRow():
            rows = [found]
        case Path():
            rows = _describe_path(found, known, where)
        case Address():
            rows = _describe_served(name, found, known, where)
        case HubName():
            rows = _describe_hub(found, known, where)
    *before, row = rows
    if chat:
        check_chat(row.name, row.kind, where)
    return [*before, row if row.name in known else replace(row, asked=name)]


def tell_kind(path: Path, name: str) -> Kind:
    """Tell whether a folder or GGUF file has a chat model: a template, and a card or a name that says so."""
    if path.is_file():
        is_chat = "tokenizer.chat_template" in read_header(path).metadata and bool(_CHAT.search(name))
    else:
        is_chat = _has_template(path) and bool(_CHAT.search(name) or _find_above(path))
    return "chat" if is_chat else "base"


def name_adapted(folder: Path, known: Collection[str]) -> str:
    """Return the model that an adapter names: a folder, an id of the hub or a row of this name.

    Raises
    ------
    InputError
        If it names none of these.
    """
    named = name_base(folder)
    is_here = any(path.is_dir() for path in list_places(folder))
    return named if not is_here and (named in known or parse_hub_name(named)) else str(find_base(folder))


def _describe_served(
    name: str, address: Address, known: Mapping[str, ModelRow], where: str
) -> list[ModelRow]:
    if not address.name:
        hint = "write ADDRESS#NAME, with the name at the server"
        raise InputError(f"{name} does not name a model", where, hint)
    *before, original = find_rows(address.name, known, where)
    free = _free(f"{original.name}-served", name, known)
    empty = {**_OWN, **dict.fromkeys(("revision", "adapter_of", "quantization"), "")}
    row = replace(original, **empty | {"name": free, "source": name, "original": original.name})
    return [*before, original, row]


def _describe_path(path: Path, known: Mapping[str, ModelRow], where: str) -> list[ModelRow]:
    source = str(path.resolve())
    same = [each for each in known.values() if each.source == source]
    if same:
        return same[:1]
    if is_adapter(path):
        check_adapter(path)
    name = _free(_clean(path.resolve().stem if path.is_file() else path.resolve().name), source, known)
    if path.is_file():
        family = name_family(read_header(path).architecture)
        return [ModelRow(name, family, source, "", tell_kind(path, name), "", None, None, "float32")]
    return _describe_folder(path, name, source, "", known, where)


def _describe_hub(found: HubName, known: Mapping[str, ModelRow], where: str) -> list[ModelRow]:
    """Pin the model to a commit; the base of an adapter comes first."""
    identifier, file, asked = found
    what = f"model {identifier!r}"
    folder, commit = fetch_snapshot(identifier, asked, _DESCRIBING, what, where)
    name = Path(file).stem if file else identifier.partition("/")[2]
    name += f"-{asked[:8] if _COMMIT.fullmatch(asked) else asked}" if asked else ""
    source = found.source
    name = _free(_clean(name), source, known, _clean(identifier.replace("/", "-")))
    if file:
        kind: Kind = "chat" if _CHAT.search(name) else "base"
        return [ModelRow(name, "gguf", source, commit, kind, "", None, None, "float32")]
    return _describe_folder(folder, name, source, commit, known, where)


def _describe_folder(
    folder: Path, name: str, source: str, revision: str, known: Mapping[str, ModelRow], where: str
) -> list[ModelRow]:
    """Return the row of a model from its description, after the row of an adapter's base."""
    if is_adapter(folder):
        base = name_adapted(folder, known)
        log.info("%s is an adapter of %s", source, base)
        *before, below = find_rows(base, known, f"{where}, base of {source}")
        row = replace(below, name=name, source=source, revision=revision, adapter_of=below.name, **_OWN)
        return [*before, below, row]
    if not (folder / "config.json").is_file():
        hint = "name a model in safetensors, an adapter, or a GGUF file: OWNER/NAME/FILE.gguf"
        raise InputError(f"{source} has no config.json", where, hint)
    config = read_object(folder / "config.json")
    shape = parse_shape(config)
    text = config.get("text_config")
    both = {**text, **config} if isinstance(text, dict) else config
    dtype = both.get("dtype") or both.get("torch_dtype")
    design = str(config.get("model_type", ""))
    kind = tell_kind(folder, name)
    above = _find_above(folder) if kind == "chat" else ""
    base_of = next((each.name for each in known.values() if above and each.source == above), "")
    known_dtype = dtype if dtype in DTYPES else "float32"
    parameters, family = shape.parameters if shape else None, name_family(design)
    return [ModelRow(name, family, source, revision, kind, base_of, parameters, None, known_dtype)]


def _find_above(folder: Path) -> str:
    """Return the model that a card says a model was made from."""
    above = _read_card(folder).get("base_model")
    return str((above[0] if isinstance(above, list) and above else above) or "")


def _read_card(folder: Path) -> dict[str, Any]:
    """Return the metadata of a model's card, YAML between two lines of hyphens; nothing without any."""
    file = folder / "README.md"
    text = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
    found = _METADATA.match(text)
    try:
        values = parse_yaml(found[1], str(file), distinct=False) if found else {}
    except InputError as error:
        log.warning("the card's metadata is left out: %s", error)
        return {}
    return values if isinstance(values, dict) else {}


def _has_template(folder: Path) -> bool:
    """Tell whether the tokenizer has a chat template; many base models have one, too."""
    file = folder / "tokenizer_config.json"
    said = file.is_file() and bool(read_object(file).get("chat_template"))
    return said or (folder / "chat_template.jinja").is_file()


def _clean(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-._") or "model"


def _free(name: str, source: str, known: Mapping[str, ModelRow], longer: str = "") -> str:
    names = (name, longer, *(f"{name}-{number}" for number in range(2, len(known) + 3)))
    return next(each for each in names if each and (each not in known or known[each].source == source))
