"""The state of an unfinished run, so that a killed run resumes where it stopped.

It is saved beside the output (:class:`Resume`), or kept step by step for inspection (:func:`open_steps`).
"""

import json
import os
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from fathom.errors import InputError
from fathom.io import paths
from fathom.io.files import hash_file, hash_text, make_folder, read_json, write_atomically, write_json
from fathom.jobs.program import log
from fathom.jobs.program_modules import hash_program

if TYPE_CHECKING:
    from numpy.typing import NDArray


_KEY = "key.json"
INTERVAL = 60.0
"""Seconds between two saves, the most work that a kill may cost."""


class State(NamedTuple):
    """Data for resuming a run."""

    values: Mapping[str, Any]
    arrays: "Mapping[str, NDArray[Any]]"


class Resume:
    """The state of one run, in the hidden folder `.{name}.partial` beside its output.

    `key`: hash of everything that the output depends on, see :func:`make_key`; a state saved under another
    key is deleted.
    """

    def __init__(self, output: Path, key: str) -> None:
        self.folder = output.with_name(f".{output.name}.partial")
        self.file = self.folder / "state.safetensors"
        self._output, self._key, self._last, self._spent = output, key, time.monotonic(), 0.0

    def part(self, name: str) -> "Resume":
        """Return the state of one part of the run, saved in the same folder."""
        part = Resume(self._output, self._key)
        part.file = self.folder / f"{name}.safetensors"
        return part

    def is_due(self) -> bool:
        """Return True if the last save is long enough ago that saving takes little of the time."""
        return time.monotonic() - self._last >= INTERVAL * max(1.0, self._spent / 3)

    def save(self, state: State) -> None:
        """Replace the saved state, atomically."""
        import numpy as np
        from safetensors.numpy import save_file

        started = time.monotonic()
        arrays = {name: np.ascontiguousarray(array) for name, array in state.arrays.items()}
        with write_atomically(self.file) as temporary:
            save_file(arrays, temporary, {"key": self._key, "values": json.dumps(state.values)})
        self._last = time.monotonic()
        self._spent = self._last - started

    def load(self) -> State | None:
        """Return the saved state, or None; one that is damaged or has another key is deleted and logged."""
        from safetensors import SafetensorError, safe_open

        if not self.file.exists():
            return None
        try:
            with safe_open(self.file, framework="numpy") as saved:
                metadata = saved.metadata() or {}
                if metadata.get("key") == self._key:
                    arrays = {name: saved.get_tensor(name) for name in saved.keys()}  # noqa: SIM118
                    return State(json.loads(metadata["values"]), arrays)
            reason = "inputs, settings or code have changed"
        except (OSError, SafetensorError) as error:
            reason = str(error)
        log.info("starting again, the state of a stopped run cannot be used: %s", reason)
        self.file.unlink()
        return None

    def remove(self) -> None:
        """Delete the saved state: the run is done."""
        shutil.rmtree(self.folder, ignore_errors=True)


def open_steps(folder: Path, key: str) -> Path:
    """Return the folder of a run's finished steps, which stay; delete the remains of another key."""
    known = None
    with suppress(InputError, AttributeError):  # there is none to read
        known = read_json(folder / _KEY).get("key")
    if known != key:
        if folder.exists():
            log.info("starting again: inputs, settings or code have changed")
            shutil.rmtree(folder)
        write_json(folder / _KEY, {"key": key})
    return folder


def make_key(program: Path | str, *values: Any) -> str:
    """Return a hash of everything that an output depends on.

    `*values`: settings, and hashes of the inputs.
    """

    def dump(section: Any) -> Any:
        return section.model_dump(mode="json")

    return hash_text(json.dumps([hash_program(program), *values], sort_keys=True, default=dump))


Maker = Callable[[Sequence[Path]], object]


class Finished:
    """Finished results of one job, each in its own folder.

    Snakemake deletes the outputs of jobs that fail or run again. Results here stay: a job that was
    interrupted, or runs again for one more domain, reuses finished results.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def provide(self, name: str, key: str, outputs: Sequence[Path], make: Maker) -> bool:
        """Write the output files of a result: stored ones under the same key, or new ones.

        Returned: whether the result was reused.

        Parameters
        ----------
        name : str
            Name of the result, and of its folder here; a result under another key is replaced.
        key : str
            Hash of everything that the result depends on, see :func:`fathom.jobs.resume.make_key`.
        make : callable
            Writes the result into files with the given names, in the order of `outputs`; they end like the
            final names, as a table's name has its place in a run.
        """
        folder = self._folder / name
        files = [folder / str(place) / _find_end(output) for place, output in enumerate(outputs)]
        found = _is_whole(folder, key, files)
        if not found:
            self._keep(folder, key, files, make)
        for file, output in zip(files, outputs, strict=True):
            _link(file, output)
        return found

    @staticmethod
    def _keep(folder: Path, key: str, files: Sequence[Path], make: Maker) -> None:
        """Make a result in a folder beside its own, then give it its name."""
        new = folder.with_name(f".{folder.name}.new")  # replaces remains of a killed job
        shutil.rmtree(new, ignore_errors=True)
        make_folder(new)
        try:
            written = [new / file.relative_to(folder) for file in files]
            for file in written:
                make_folder(file.parent)
            make(written)
            write_json(new / _KEY, {"key": key, "files": [hash_file(file) for file in written]})
            shutil.rmtree(folder, ignore_errors=True)
            new.rename(folder)
        finally:
            shutil.rmtree(new, ignore_errors=True)


def _find_end(output: Path) -> str:
    """Return the end of a path that gives its file's place in a run; elsewhere its name."""
    return max((each.find_end(output) for each in paths.ALL.values()), key=len, default="") or output.name


def _is_whole(folder: Path, key: str, files: Sequence[Path]) -> bool:
    try:
        record = json.loads((folder / _KEY).read_bytes())
        if record["key"] == key:
            whole: bool = record["files"] == [hash_file(file) for file in files]
            if not whole:
                log.info("%s was changed after it was finished: making it again", folder)
            return whole
        log.info("making %s again: inputs, settings or code have changed", folder.name)
    except (FileNotFoundError, InputError):
        pass  # not finished, or a file was deleted
    except (OSError, ValueError, KeyError, TypeError) as error:
        log.info("cannot read %s, making it again: %s", folder, error)
    return False


def _link(file: Path, output: Path) -> None:
    """Give a finished file its final name as well, by a link if possible, and the present date."""
    with write_atomically(output) as temporary:
        try:
            os.link(file, temporary)
        except OSError:
            shutil.copyfile(file, temporary)
        os.utime(temporary)  # else Snakemake would think it older than the inputs of this job
