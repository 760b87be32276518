"""Runs whose jobs see no file of the machine that plans them: what goes to each job with the sources."""

from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter

from fathom.config.whole import Config
from fathom.errors import InputError
from fathom.io.files import read_json, write_json
from fathom.models.registry import ModelRow

Found = TypeVar("Found")


class Findings:
    """What was found on the machine that plans a run, for jobs that plan their own part of it elsewhere.

    Parameters
    ----------
    path : Path
        A JSON file in the working folder.
    reads : bool
        Whether this is such a job.
    """

    def __init__(self, path: Path, reads: bool) -> None:
        self.path, self._reads = path, reads
        self._values: dict[str, Any] = read_json(path) if reads else {}

    def recall(self, name: str, kind: Any, find: Callable[[], Found]) -> Found:
        """Return what `find` finds; in a job, what it found where the run was planned.

        Parameters
        ----------
        name : str
            Its name in the file.
        kind : type
            What pydantic writes it as JSON by.
        find : callable
            Looks at files.
        """
        adapter = TypeAdapter[Found](kind)
        if self._reads:
            # as JSON has it: a list stands for a tuple, a string for a path
            return adapter.validate_python(self._values[name], strict=False)
        found = find()
        self._values[name] = adapter.dump_python(found, mode="json")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_json(self.path, self._values)
        return found


def require_git(folder: Path) -> None:
    """Raise `InputError` if a folder is in no clone: Snakemake sends jobs the files that Git knows."""
    if not any((place / ".git").exists() for place in (folder, *folder.parents)):
        raise InputError(
            "jobs on other machines get the code from Git, which does not know this folder",
            str(folder),
            "start in a clone; or install Fathom, here and in the image, and start in another folder",
        )


def check_stored(config: Config, entries: Mapping[str, ModelRow], served: Collection[str]) -> None:
    """Raise `InputError` for what a run with a storage cannot do: its jobs would miss files.

    Parameters
    ----------
    config : Config
        The whole configuration.
    entries : mapping of str to ModelRow
        The fetched models' rows of the table of models.
    served : collection of str
        Models that are behind a server.
    """
    hint = "leave it out, or run on a file system that all jobs see"
    if config.previous:
        raise InputError("with a storage, no earlier run is looked up", "previous", hint)
    for name, entry in entries.items():
        if entry.adapter_of or name in served:
            what = "an adapter of the table" if entry.adapter_of else "a model behind a server"
            raise InputError(f"with a storage, {what} cannot be scored: {name}", "models", hint)


def require_sent(path: Path | str, places: Iterable[Path]) -> None:
    """Raise `InputError` if a file lies in none of the folders that jobs elsewhere have."""
    if not any(Path(path).absolute().is_relative_to(place.absolute()) for place in places):
        raise InputError(
            "jobs on other machines do not get this file, which lies outside of the working folder",
            str(path),
            "copy it into the working folder",
        )
