"""The state of an unfinished run, so that a killed run resumes where it stopped.

It is saved beside the output (:class:`Resume`), or kept step by step to be looked at (:func:`open_steps`).
"""

import json
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from fathom.errors import InputError
from fathom.io.files import hash_text, read_json, write_atomically, write_json
from fathom.jobs.program import log
from fathom.jobs.program_modules import hash_program

if TYPE_CHECKING:
    from numpy.typing import NDArray


_KEY = "key.json"
INTERVAL = 60.0
"""Seconds between two saves: the work that a kill may cost."""


class State(NamedTuple):
    """What a run needs to resume.

    Attributes
    ----------
    arrays : mapping of str to ndarray
    """

    values: Mapping[str, Any]
    arrays: "Mapping[str, NDArray[Any]]"


class Resume:
    """The state of one run, in the hidden folder `.{name}.partial` beside its output.

    Parameters
    ----------
    key : str
        Hash of everything that the output depends on, see :func:`make_key`; a state saved under another key
        is deleted.
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
        """Return True if the last save is `INTERVAL` seconds ago; longer, if saving takes over three seconds.

        Then it takes a twentieth of the time.
        """
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
        log.info("starting afresh, the state of a stopped run is not used: %s", reason)
        self.file.unlink()
        return None

    def remove(self) -> None:
        """Delete the saved state: the run is done."""
        shutil.rmtree(self.folder, ignore_errors=True)


def open_steps(folder: Path, key: str) -> Path:
    """Return the folder of a run's finished steps, which stay; what another key left there is deleted."""
    if _read_key(folder / _KEY) != key:
        if folder.exists():
            log.info("starting afresh: inputs, settings or code have changed")
            shutil.rmtree(folder)
        write_json(folder / _KEY, {"key": key})
    return folder


def _read_key(path: Path) -> object:
    """Return the key that a folder was made under; None if there is none to read."""
    try:
        return read_json(path).get("key")
    except (InputError, AttributeError):
        return None


def make_key(program: Path | str, *values: Any) -> str:
    """Return a hash of everything that an output depends on.

    Parameters
    ----------
    *values : JSON values or sections of the configuration
        Settings, and hashes of the inputs.
    """
    return hash_text(json.dumps([hash_program(program), *values], sort_keys=True, default=_to_json))


def _to_json(section: Any) -> Any:
    return section.model_dump(mode="json")
