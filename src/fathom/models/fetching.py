"""Where models come from: a folder, a GGUF file, a Python package, or the hub at a pinned revision."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

from fathom.errors import InputError
from fathom.io.files import require_file, write_atomically
from fathom.io.paths import find_named_folder
from fathom.io.places import find_own
from fathom.jobs.program import log
from fathom.models import folders
from fathom.models.adapters import check_adapter, is_adapter
from fathom.models.hub import TOKENIZER, WHOLE, fetch_snapshot
from fathom.models.loading import Pointer, check_fingerprint, open_weights, point_to_folder, read_pointer
from fathom.models.named import name_adapted, tell_kind
from fathom.models.packages import fetch_package, is_package
from fathom.models.quantization import choose_quantization
from fathom.models.registry import (
    CHAT,
    Address,
    HubName,
    ModelRow,
    Reading,
    check_chat,
    find_folder,
    find_model,
    is_address,
    parse_address,
    parse_hub_name,
    read_name,
    read_registry,
    split_chat,
)
from fathom.models.served import point_to_server

REVISION_FILE = "revision.txt"
"""Names the revision and the model of a folder made by :func:`gather_files`, on one line each."""
_TABLE = "config/models.tsv"


def locate_model(
    entry: ModelRow, registry: Path | str, tokenizer_only: bool = False, cache: Path | None = None
) -> tuple[Path, str]:
    """Return the folder and revision of a registered model; fetch it if it is not local.

    A GGUF file is unpacked, see :func:`fathom.models.loading.open_weights`.

    Parameters
    ----------
    registry : Path or str
        Path of the registry; relative model paths start from its folder.
    cache : Path, optional
        Folder that files are fetched to; None: the hub's cache.

    Raises
    ------
    InputError
        If there is no such folder, or the model cannot be downloaded.
    """
    what = f"model {entry.name!r} ({entry.source})"
    where = f"{registry}, row {entry.name}"
    if is_address(entry.source):
        if not tokenizer_only:
            raise InputError(f"{what} is behind a server, but this needs its weights", where)
        return locate_model(read_registry(registry)[entry.original], registry, True, cache)
    local, revision, terms = find_folder(entry, registry), entry.revision, None
    if is_package(entry.source):
        path, terms = fetch_package(entry.source, registry, where, cache)
    elif local is not None:
        path = local
    elif (named := parse_hub_name(entry.source)) and named.file:
        folder, revision = fetch_snapshot(named.id, revision, (named.file,), what, where, cache)
        path = folder / named.file
    else:
        wanted = TOKENIZER if tokenizer_only else WHOLE
        path, revision = fetch_snapshot(entry.source, revision, wanted, what, where, cache)
    opened = open_weights(path, cache, terms)
    if not opened.is_dir():
        raise InputError("no such folder", str(path), f"see model {entry.name!r} in {registry}")
    return opened.resolve() if local is not None else opened, revision


def locate_pointer(name: str, registry: Path | str, weights: Path | None = None) -> Pointer:
    """Return the pointer of a registered model, with its fingerprint; an adapter's with its base.

    Parameters
    ----------
    weights : Path, optional
        Folder made by :func:`gather_files` for the model's `source`; None: find or fetch it.

    Raises
    ------
    InputError
        If the registry or the model cannot be read or fetched, or the model is not safe to load.
    """
    entries = read_registry(registry)
    entry = find_model(entries, name, registry)
    if is_address(entry.source):
        return _locate_served(entry, registry)
    if weights is None:
        used, folder, revision = locate_sound(name, registry)
    else:
        told = require_file(weights / REVISION_FILE).read_text(encoding="utf-8")
        revision, _, stand_in = told.partition("\n")
        used, folder = entries[stand_in] if stand_in else entry, weights
    if revision and not used.revision:
        log.info("%s has no pinned revision: fetched %s; add it to the registry", entry.name, revision)
    adapter = folder if entry.adapter_of else None
    if adapter is not None:
        check_adapter(adapter)
        folder, _ = locate_model(entries[entry.adapter_of], registry)
    folders.check_folder(folder)
    stored = point_to_folder(entry.name, folder, revision)
    pointer = replace(
        stored,
        **_describe(entry, stored),
        quantization=choose_quantization(folder, entry.quantization) or stored.quantization,
        adapter=adapter,
        original=_find_original(entry, entries, registry),
        stand_in="" if used.name == entry.name else used.name,
        stand_in_tokens=None if used.name == entry.name else used.tokens,
    )
    return replace(pointer, fingerprint=check_fingerprint(pointer))


def _describe(entry: ModelRow, stored: Pointer) -> dict[str, Any]:
    values = {name: getattr(entry, name) for name in ("kind", "dtype", "chat_template")}
    return {**values, "add_bos": entry.add_bos or stored.add_bos, "base": entry.adapter_of or entry.base_of}


def _locate_served(entry: ModelRow, registry: Path | str) -> Pointer:
    tokenizer, _ = locate_model(entry, registry, tokenizer_only=True)
    found = point_to_server(entry.source, tokenizer, need_ranks=True)
    return replace(found, name=entry.name, **_describe(entry, found))


def _find_original(entry: ModelRow, entries: dict[str, ModelRow], registry: Path | str) -> Path | None:
    """Return the folder of a converted model's original tokenizer; None if it cannot be fetched."""
    if not entry.original:
        return None
    try:
        return locate_model(entries[entry.original], registry, tokenizer_only=True)[0]
    except InputError as error:
        log.warning("%s: cannot compare its tokenizer with the original's: %s", entry.name, error)
        return None


def locate_sound(name: str, registry: Path | str, cache: Path | None = None) -> tuple[ModelRow, Path, str]:
    """Locate a registered model; while its weights are corrupt, the model that its row names as `stand_in`.

    Only models with a stand-in are searched for corrupt weights, which reads them once; the parameters are
    those of :func:`locate_model`.
    """
    entries = read_registry(registry)
    entry = find_model(entries, name, registry)
    while True:
        folder, revision = locate_model(entry, registry, cache=cache)
        damage = folders.find_damage(folder) if entry.stand_in else ""
        if not damage:
            return entry, folder, revision
        log.warning("%s is corrupt and replaced by %s: %s", entry.name, entry.stand_in, damage)
        entry = entries[entry.stand_in]


def find_pointer(source: Path | str, base: Path | str | None = None) -> Pointer:
    """Return the pointer of a model named by a user.

    Parameters
    ----------
    source : Path or str
        Path of a pointer, a model's folder or a GGUF file; else any name that
        :func:`fathom.models.registry.read_name` knows; with `@chat`, to be asked inside its chat template.
        With the environment variable HF_HUB_OFFLINE set, only what was fetched before is found.
    base : Path or str, optional
        If `source` is a LoRA adapter, the model that it is applied to, named in the same ways. None: what
        the adapter names.

    Raises
    ------
    InputError
        If there is no such model, or the hub cannot be reached, or does not have or give the model, or an
        adapter has no base, or it is the address of a server.
    """
    reading, table = _read_typed(str(source))
    name, chat, found = reading
    if isinstance(found, Address) or (isinstance(found, ModelRow) and is_address(found.source)):
        raise InputError(
            "a model's weights are needed here, and a server does not give them",
            found.url if isinstance(found, Address) else parse_address(found.source).url,
            "name their folder or id on the hub; `fathom score`, `best` and `bits` take ADDRESS#NAME",
        )
    if isinstance(found, ModelRow) and base is None:
        return locate_pointer(f"{found.name}{CHAT}" if chat else found.name, table)
    path, revision = _fetch(reading, table)
    if base or is_adapter(path):
        return _find_adapter(reading, path, revision, base)
    if path.is_dir() and isinstance(found, HubName):
        pointer = point_to_folder(name, path, revision)
    else:
        pointer = replace(read_pointer(path), revision=revision) if revision else read_pointer(path)
    if not chat:
        return pointer
    called = Path(found.source) if isinstance(found, HubName) else path.resolve()
    is_weights = path.is_dir() or folders.is_gguf(path)
    kind = tell_kind(path, called.name if path.is_dir() else called.stem) if is_weights else pointer.kind
    check_chat(pointer.name, kind, "")
    return replace(pointer, name=f"{pointer.name}{CHAT}", kind=kind, chat_template=True)


def _read_typed(typed: str, where: str = "") -> tuple[Reading, Path]:
    """Read a name by the table of the working folder, else Fathom's own; what is there comes first."""
    table = find_own(_TABLE)
    for name, chat in ((typed, False), split_chat(typed)):
        if (path := Path(name).expanduser()).exists():
            return Reading(name, chat, path), table
    return read_name(typed, read_registry(table), where), table


def _fetch(reading: Reading, table: Path) -> tuple[Path, str]:
    """Return the folder or file of a model, and its commit; fetch what is not here."""
    found = reading.found
    if isinstance(found, ModelRow):
        return locate_model(found, table)
    if not isinstance(found, HubName):
        return Path(reading.name).expanduser(), ""
    what = f"model {found.id!r}, which is no file or folder,"
    wanted = (found.file,) if found.file else (*WHOLE, "README.md") if reading.chat else WHOLE
    folder, commit = fetch_snapshot(found.id, found.revision, wanted, what, "")
    return folder / found.file, commit


def _find_adapter(reading: Reading, path: Path, revision: str, base: Path | str | None) -> Pointer:
    check_adapter(path)
    if base is None:
        base = name_adapted(path, read_registry(find_own(_TABLE)))
        log.info("%s is an adapter of %s", path, base)
    below = find_pointer(f"{split_chat(str(base))[0]}{CHAT}" if reading.chat else base)
    if below.adapter is not None:
        what = f"the adapter's base, {below.name!r}, is an adapter too"
        raise InputError(what, str(path), "merge that one into its own base, and name the whole model")
    name = reading.name if revision else find_named_folder(path.resolve()).name
    name, under = f"{name}{CHAT}" if reading.chat else name, split_chat(below.name)[0]
    return replace(below, name=name, base=under, revision=revision, adapter=path, fingerprint="")


def find_served_row(name: str) -> tuple[ModelRow, Path] | None:
    """Return the row of a model behind a server, and its table; None for other names."""
    (_, chat, row), table = _read_typed(name)
    if not isinstance(row, ModelRow) or not is_address(row.source):
        return None
    return find_model({row.name: row}, f"{row.name}{CHAT}" if chat else row.name, table), table


def find_tokenizer(source: Path | str) -> tuple[Path, bool | None]:
    """Return the folder of a tokenizer named by a user, and whether its row's family needs a BOS token."""
    where = "--tokenizer"
    (name, _, found), table = _read_typed(str(source), where)
    if isinstance(found, ModelRow):
        return locate_model(found, table, tokenizer_only=True)[0], found.add_bos
    if isinstance(found, HubName) and not found.file:
        what = f"tokenizer {found.id!r}, which is no folder,"
        return fetch_snapshot(found.id, found.revision, TOKENIZER, what, "")[0], None
    if isinstance(found, Path):
        return found, None
    raise InputError(f"{name} has no tokenizer to read", where, "name a folder or an id on the hub")


def gather_files(source: Path, folder: Path, cache: Path, revision: str, stand_in: str = "") -> None:
    """Make a folder of a fetched model's files that may be deleted; for other models, a folder of links.

    Files of `source` that lie in `cache`, the hub's, are moved. The file `revision.txt` names the revision
    and, if these are the files of a model that stands in for another, its name.
    """
    folder.mkdir()
    for named in folders.list_files(source):
        file = named.resolve()
        if cache.resolve() in file.parents:
            file.replace(folder / named.name)
        else:
            (folder / named.name).symlink_to(file)
    (folder / REVISION_FILE).write_text(f"{revision}\n{stand_in}".strip(), encoding="utf-8")


def copy_tokenizer(source: Path, folder: Path | str) -> None:
    """Copy the tokenizer files of a model folder, and config.json, which older tokenizers need."""
    folders.load_tokenizer(source)
    names = {file for pattern in (*folders.TOKENIZER_FILES, "config.json") for file in source.glob(pattern)}
    with write_atomically(folder) as temporary:
        temporary.mkdir()
        for file in sorted(names):
            shutil.copyfile(file, temporary / file.name)
