"""The rounds of an expansion on the disk, to be looked at, and for a stopped run to go on after the last."""

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np

from fathom.benchmark.matches import load_embeddings
from fathom.coverage.expansion import Expansion, Round
from fathom.coverage.subsets import Sums
from fathom.errors import InputError
from fathom.io.contracts.coverage import ROUND
from fathom.io.files import read_json, write_atomically, write_json
from fathom.io.tables import read_table, write_table
from fathom.jobs.program import log

_KEY, _DENSITIES = "key.json", "densities.npy"

Fill = Callable[[Sums], None]
"""Fills an array of log-densities, see :func:`fathom.coverage.subsets.measure_subsets`."""


class RoundFolder:
    """Densities of subsets, and `round-001.parquet`, `round-001.json` and so on.

    Parameters
    ----------
    folder : Path
        What another key left there is deleted.
    key : str
        Hash of everything that the rounds depend on, see :func:`fathom.jobs.resume.make_key`.
    """

    def __init__(self, folder: Path, key: str) -> None:
        self._folder = folder
        open_folder(folder, key)

    def provide_densities(self, shape: tuple[int, int], fill: Fill) -> Sums:
        """Return the densities, mapped from a file that is written once."""
        path = self._folder / _DENSITIES
        if not path.exists():
            with write_atomically(path) as temporary:
                new = np.lib.format.open_memmap(temporary, mode="w+", dtype=np.float32, shape=shape)
                fill(new)
                new.flush()
        found: Sums = load_embeddings(path)
        if found.shape != shape:
            raise InputError("these densities are of other subsets", str(path), "delete this folder")
        return found

    def run(self, expansion: Expansion) -> None:
        """Expand a corpus, going on after the last round that is on the disk, and write each round."""
        while not expansion.is_finished and (path := self._name(expansion, "parquet")).exists():
            try:
                expansion.repeat(read_table(path, ROUND))
            except ValueError as error:
                raise InputError(f"{error}: it was changed", str(path), "delete its folder") from error
        if expansion.rounds:
            log.info("%s rounds are on the disk", len(expansion.rounds))
        while not expansion.is_finished:
            stem = self._name(expansion, "parquet")
            done = expansion.run_round()
            write_json(stem.with_suffix(".json"), done.report)
            write_table(stem, done.subsets, ROUND)
            _tell(done)

    def _name(self, expansion: Expansion, ending: str) -> Path:
        """Return the file of the round that follows."""
        return self._folder / f"round-{len(expansion.rounds) + 1:03}.{ending}"


def open_folder(folder: Path, key: str) -> None:
    """Make a folder for the state of rounds; delete what another key left there."""
    if _read_key(folder) != key:
        if folder.exists():
            log.info("starting afresh: inputs, settings or code have changed")
            shutil.rmtree(folder)
        write_json(folder / _KEY, {"key": key})


def _read_key(folder: Path) -> object:
    """Return the key that a folder was made under; None if there is none to read."""
    try:
        return read_json(folder / _KEY).get("key")
    except (InputError, AttributeError):
        return None


def _tell(done: Round) -> None:
    """Say what a round did."""
    report = done.report
    log.info(
        "round %s: %s of %s subsets joined, %s sentences, coverage %.1f %%",
        report["round"],
        f"{report['joined']:,}",
        f"{report['looked_at']:,}",
        f"{report['size']:,}",
        100 * report["coverage"],
    )
