"""The state of a tuning that is under way, kept beside its output until it is done."""

import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from fathom.errors import InputError
from fathom.io.files import read_json, write_atomically, write_json
from fathom.running.program import log

if TYPE_CHECKING:
    from torch import Tensor

EVERY = 60.0
"""Seconds of work that a kill may cost."""


class Holder(Protocol):
    """What knows the tensors of a run."""

    def list_tensors(self) -> "dict[str, Tensor]":
        """Return them by name."""


class State(NamedTuple):
    """How far a tuning is: steps that are done, their losses, validation scores by epoch, the best epoch."""

    step: int
    losses: list[float]
    scores: list[float]
    epoch: int


class Checkpoint:
    """Keeps a tuning's state in a hidden folder, `.{name}.partial`, as safetensors and JSON.

    Parameters
    ----------
    output : Path
        File that the run will write.
    key : str
        Hash of all that the result depends on: what was kept under another key is thrown away.
    every : float
        Seconds between two writings.
    """

    def __init__(self, output: Path, key: str, every: float = EVERY) -> None:
        self.folder = output.with_name(f".{output.name}.partial")
        self._key, self._every, self._last = key, every, time.monotonic()

    def save(self, state: State, holder: Holder, forced: bool) -> None:
        """Write a state down if it is time, or if `forced`; older ones go once it is complete."""
        from safetensors.torch import save_file

        if not forced and time.monotonic() - self._last < self._every:
            return
        before = list(self.folder.glob("[0-9]*"))
        with write_atomically(self.folder / f"{state.step:010d}") as temporary:
            temporary.mkdir()
            tensors = {name: tensor.contiguous() for name, tensor in holder.list_tensors().items()}
            save_file(tensors, temporary / "state")
            write_json(temporary / "state.json", {"key": self._key, **state._asdict()})
        for folder in before:
            if folder.name != f"{state.step:010d}":
                shutil.rmtree(folder)
        self._last = time.monotonic()

    def load(self) -> "tuple[State, dict[str, Tensor]] | None":
        """Return the newest complete state, or None; one of other inputs is thrown away and logged."""
        from safetensors import SafetensorError
        from safetensors.torch import load_file

        for folder in sorted(self.folder.glob("[0-9]*"), reverse=True):
            try:
                values = read_json(folder / "state.json")
                if values.pop("key") != self._key:
                    raise InputError("it was made from other inputs or settings")
                return State(**values), load_file(folder / "state")
            except (InputError, SafetensorError, OSError) as error:
                log.info("the state of a stopped run is thrown away: %s", error)
                shutil.rmtree(folder)
        return None

    def remove(self) -> None:
        """Delete the folder: the run is done."""
        shutil.rmtree(self.folder, ignore_errors=True)
