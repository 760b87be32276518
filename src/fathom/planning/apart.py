"""Runs with results in a storage, whose jobs see no files of the planning machine."""

from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from pydantic import TypeAdapter

import fathom
from fathom.config.whole import Config
from fathom.errors import InputError
from fathom.io.files import read_json, write_json
from fathom.models.registry import ModelRow

Found = TypeVar("Found")


class Findings:
    """Findings on the planning machine, for jobs that plan their own part elsewhere."""

    def __init__(self, path: Path, reads: bool) -> None:
        self.path, self._reads = path, reads
        self._values: dict[str, Any] = read_json(path) if reads else {}

    def recall(self, name: str, kind: Any, find: Callable[[], Found]) -> Found:
        """Return what `find` finds; in a job, what it found on the planning machine.

        Parameters
        ----------
        kind : type
            Type by which pydantic writes it as JSON.
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


_LIBRARY = Path(fathom.__file__).parent


class Marks(NamedTuple):
    """Snakemake's marks of files, and its test for a file.

    `old`: `ancient`: the date of an input does not matter. `flag`: gives a file a flag of Snakemake's own.
    `local`: the file is not in a storage, and its job runs on this machine. `exists`: whether a file is
    there, or in the storage.
    """

    old: Callable[[Any], Any]
    flag: Callable[..., Any]
    local: Callable[[Any], Any]
    exists: Callable[[str], bool]


class RunStorage:
    """Files of a run as its jobs get them: from the working folder or, with a storage, in three ways.

    Results are copied from the storage; files from outside are read in place, by jobs on this machine; small
    files and findings are sent to jobs with the sources. `stored`: whether results lie in a storage
    (`--default-storage-provider`). `in_module`: whether another workflow uses this one as a module. Raise
    `InputError` if jobs elsewhere would lack the code.
    """

    def __init__(self, workflow: Any, run: str, root: Path, marks: Marks) -> None:
        self._workflow, self._root, self.marks = workflow, root, marks
        self.in_module = not workflow.modifier.is_main_snakefile()
        self.stored = workflow.storage_settings.default_storage_provider is not None
        if self.stored:
            file = Path(".snakemake", "fathom", f"{run}.json")
            self._findings = Findings(file, workflow.remote_exec)
            self._send(file)
            if workflow.is_main_process:
                self._require_code()

    def outside(self, path: Path | str) -> Any:
        """Return a file from outside as an input; with a storage, its job runs on this machine."""
        return self.marks.local(self._name(path)) if self.stored else self._name(path)

    def ship(self, path: Path | str) -> Any:
        """Return a small file as an input that is sent with the code, not from the storage."""
        if not self.stored:
            return self._name(path)
        if self._workflow.is_main_process:
            require_sent(path, [Path.cwd(), self._root, _LIBRARY])
        place = Path(path).absolute()
        if place.is_relative_to(Path.cwd()) and not place.is_relative_to(_LIBRARY):
            self._send(path)
        return self.marks.flag(self._name(path), "sourcecache_entry", str(path))

    def find_copy(self, path: Any) -> Any:
        """Return a file of the run as programs find it: with a storage, the copy that a job gets."""
        return str(self._workflow.modifier.path_modifier.apply_default_storage(path)) if self.stored else path

    def is_made(self, path: Path | str) -> bool:
        """Say whether a file of the run is there, or in the storage."""
        return self.marks.exists(str(path)) if self.stored else Path(path).is_file()

    def recall(self, name: str, kind: Any, find: Callable[[], Found]) -> Found:
        """Return what `find` finds on the machine that plans the run; see :meth:`Findings.recall`."""
        return self._findings.recall(name, kind, find) if self.stored else find()

    def list_made(self, files: Iterable[str], folder: str, is_wanted: Callable[[str], bool]) -> list[str]:
        """Return intermediate files on the way to some files of a run with a storage.

        Parameters
        ----------
        folder : str
            Folder of the run's results.
        is_wanted : callable
            Takes a path below it; says whether the file is asked for.
        """
        made = dict[str, None]()
        waiting = [str(self.find_copy(file)) for file in files]
        while waiting:
            file = waiting.pop()
            if file in made:
                continue
            # of Rule, not public: nothing else says what makes a file (tests/workflow/test_stored_page.py)
            for rule in self._workflow.rules:
                if rule.is_producer(file):
                    wildcards = rule.get_wildcards(file)
                    made |= dict.fromkeys(map(str, rule.expand_output(wildcards)[0]))
                    waiting += map(str, rule.expand_input(wildcards)[0])
        below = (file.partition(f"{folder}/")[2] for file in made)
        return sorted(f"{folder}/{name}" for name in below if is_wanted(name))

    def _name(self, path: Path | str) -> str:
        return str(Path(path).absolute() if self.in_module else path)

    def _send(self, path: Path | str) -> None:
        files = self._workflow.configfiles
        if self._workflow.is_main_process and str(path) not in map(str, files):
            files.append(str(path))

    def _require_code(self) -> None:
        shared = {str(usage) for usage in self._workflow.storage_settings.shared_fs_usage}
        if "sources" not in shared and self._root.is_relative_to(Path.cwd()):
            require_git(Path.cwd())


def require_git(folder: Path) -> None:
    """Raise `InputError` if a folder is not in a clone: Snakemake sends jobs the files that Git tracks."""
    if not any((place / ".git").exists() for place in (folder, *folder.parents)):
        what = "jobs on other machines get the code from Git, but this folder is not in a clone"
        hint = "start in a clone; or install Fathom, here and in the image, and start in another folder"
        raise InputError(what, str(folder), hint)


def check_stored(config: Config, entries: Mapping[str, ModelRow], served: Collection[str]) -> None:
    """Raise `InputError` for what a run with a storage cannot do, as its jobs would lack files."""
    hint = "leave it out, or run on a shared file system"
    if config.previous:
        raise InputError("a run with a storage cannot reuse an earlier run", "previous", hint)
    for name, entry in entries.items():
        if entry.adapter_of or name in served:
            what = "an adapter of the table" if entry.adapter_of else "a model behind a server"
            raise InputError(f"a run with a storage cannot score {what}: {name}", "models", hint)


def require_sent(path: Path | str, places: Iterable[Path]) -> None:
    """Raise `InputError` if a file is in none of the folders that jobs elsewhere have."""
    if not any(Path(path).absolute().is_relative_to(place.absolute()) for place in places):
        what = "jobs on other machines do not get this file, as it is outside the working folder"
        raise InputError(what, str(path), "copy it into the working folder")
