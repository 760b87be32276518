"""Where models come from: a folder, a GGUF file, a Python package, or the hub at a pinned revision."""

import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

from fathom.errors import InputError
from fathom.io.files import require_file, write_atomically
from fathom.jobs.program import log
from fathom.models import folders
from fathom.models.adapters import check_adapter, is_adapter, name_base
from fathom.models.hub import TOKENIZER, WHOLE, fetch_snapshot
from fathom.models.loading import Pointer, check_fingerprint, open_weights, point_to_folder, read_pointer
from fathom.models.packages import fetch_package, is_package
from fathom.models.quantization import choose_quantization
from fathom.models.registry import (
    ModelRow,
    find_folder,
    find_model,
    find_row,
    hide_secrets,
    is_address,
    parse_address,
    read_registry,
)
from fathom.models.served import point_to_server

REVISION_FILE = "revision.txt"
"""Names the revision and the model of a folder made by :func:`gather_files`, on one line each."""
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?(?<!\.json)(?<!\.gguf)")
_HUB_FILE = re.compile(r"(?P<id>[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)/(?P<file>[\w.+-]+\.gguf)")


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
    elif named := _HUB_FILE.fullmatch(entry.source):
        folder, revision = fetch_snapshot(named["id"], revision, (named["file"],), what, where, cache)
        path = folder / named["file"]
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
        **_describe(entry),
        quantization=choose_quantization(folder, entry.quantization) or stored.quantization,
        adapter=adapter,
        original=_find_original(entry, entries, registry),
        stand_in="" if used.name == entry.name else used.name,
        stand_in_tokens=None if used.name == entry.name else used.tokens,
    )
    return replace(pointer, fingerprint=check_fingerprint(pointer))


def _describe(entry: ModelRow) -> dict[str, Any]:
    names = ("kind", "dtype", "add_bos", "chat_template")
    return {name: getattr(entry, name) for name in names} | {"base": entry.adapter_of or entry.base_of}


def _locate_served(entry: ModelRow, registry: Path | str) -> Pointer:
    tokenizer, _ = locate_model(entry, registry, tokenizer_only=True)
    found = point_to_server(entry.source, tokenizer, need_ranks=True)
    return replace(found, name=entry.name, **_describe(entry))


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
        Path of a pointer, a model's folder or a GGUF file; else a name in the table of models, or the start
        of one, see :func:`fathom.models.registry.find_row`; else an id on the hub, where the model is fetched
        from, or `ORGANISATION/REPOSITORY/FILE.gguf`, with `@REVISION` if need be. With the environment
        variable HF_HUB_OFFLINE set, only what was fetched before is found.
    base : Path or str, optional
        If `source` is a LoRA adapter, the model that it is applied to, named in the same ways. None: what
        the adapter names.

    Raises
    ------
    InputError
        If there is no such path, or the hub cannot be reached, or does not have or give the model, or an
        adapter has no base, or it is the address of a server.
    """
    name, path = str(source), Path(source).expanduser()
    row = None if path.exists() else find_row(name)
    address = row[0].source if row else name
    if is_address(address):
        raise InputError(
            "a model's weights are needed here, and a server does not give them",
            parse_address(address).url,
            "name their folder or id on the hub; `fathom score`, `best` and `bits` take ADDRESS#NAME",
        )
    if "://" in name and not path.exists():
        raise InputError("no model has such an address", hide_secrets(name), "http://ADDRESS/v1#NAME")
    revision = ""
    if row and base is None:
        return locate_pointer(row[0].name, row[1])
    identifier, _, asked = name.partition("@")
    what = f"model {identifier!r}, which is no file or folder,"
    if not path.exists() and _HUB_ID.fullmatch(identifier):
        path, revision = fetch_snapshot(identifier, asked, WHOLE, what, "")
        base = base or _follow_base(path)
        if base is None:
            return point_to_folder(name, path, revision)
    elif not path.exists() and (file := _HUB_FILE.fullmatch(identifier)):
        path, revision = fetch_snapshot(file["id"], asked, (file["file"],), what, "")
        return replace(read_pointer(path / file["file"]), revision=revision)
    base = base or _follow_base(path)
    if base is None:
        return read_pointer(path)
    check_adapter(path)
    below = find_pointer(base)
    named = name if revision else path.resolve().name
    return replace(below, name=named, base=below.name, revision=revision, adapter=path, fingerprint="")


def _follow_base(folder: Path) -> str | None:
    """Return the id on the hub of an adapter's base; None for a folder, or without an adapter."""
    named = name_base(folder) if is_adapter(folder) else ""
    if not _HUB_ID.fullmatch(named) or any(path.is_dir() for path in (Path(named), folder / named)):
        return None
    log.info("%s is an adapter of %s", folder, named)
    return named


def find_served_row(name: str) -> tuple[ModelRow, Path] | None:
    """Return the row of a model behind a server, and its table; None for other names."""
    row = None if Path(name).expanduser().exists() else find_row(name)
    return row if row and is_address(row[0].source) else None


def find_tokenizer(source: Path | str) -> Path:
    """Return the folder of a tokenizer named by a user: that folder, or one fetched from the hub."""
    name, path = str(source), Path(source).expanduser()
    identifier, _, asked = name.partition("@")
    if path.exists() or not _HUB_ID.fullmatch(identifier):
        return path
    what = f"tokenizer {identifier!r}, which is no folder,"
    return fetch_snapshot(identifier, asked, TOKENIZER, what, "")[0]


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
