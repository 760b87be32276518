"""Scores of a run that was stopped, kept beside its output until it is done."""

import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import polars as pl
import pyarrow as pa

from fathom.errors import InputError
from fathom.io.contracts.column import Column, Contract
from fathom.io.files import read_json, write_json
from fathom.io.tables import read_table, write_table
from fathom.running.program import log

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

EVERY = 20.0  # seconds of work that a kill may cost
TOKENS: Contract = (
    Column("rank", pa.int64(), "1 + number of strictly larger logits"),
    Column("ties", pa.int64(), "other entries with an equal logit"),
    Column("log_probability", pa.float64(), "log-probability, in nats"),
)


class TokenScores(NamedTuple):
    """Scores of single target tokens, one entry a token."""

    rank: "NDArray[np.int64]"
    ties: "NDArray[np.int64]"
    log_probability: "NDArray[np.float64]"

    def pick(self, rows: list[int]) -> "TokenScores":
        """Return the scores of some tokens."""
        return TokenScores(self.rank[rows], self.ties[rows], self.log_probability[rows])


def join_token_scores(parts: list[TokenScores]) -> TokenScores:
    """Return some parts as one, in their order."""
    import numpy as np

    if not parts:
        return TokenScores(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    return TokenScores(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


class Partial:
    """Finished sequences of one run in a hidden folder beside its output, `.{name}.partial`.

    Parameters
    ----------
    output : Path
        File that the run will write.
    key : str
        Hash of all that the scores depend on: what was kept under another key is thrown away.
    """

    def __init__(self, output: Path, key: str) -> None:
        self.folder = output.with_name(f".{output.name}.partial")
        self._key, self._waiting, self._last = key, list[TokenScores](), time.monotonic()

    def load(self, budget: int) -> tuple[list[TokenScores], int, int]:
        """Return what an earlier run finished.

        Parameters
        ----------
        budget : int
            Tokens in a batch where nothing was kept.

        Returns
        -------
        tokens : list of TokenScores
        sequences : int
            How many sequences they cover, from the first.
        budget : int
            Tokens in a batch from there on: batches are made as without the stop, and scores the same bytes.
        """
        if not self.folder.exists():
            return [], 0, budget
        try:
            if read_json(self.folder / "key.json") != self._key:
                raise InputError("it was made from other inputs or settings")
            return self._read(budget)
        except InputError as error:
            log.info("scores of a stopped run are thrown away: %s", error.what)
            self.remove()
            return [], 0, budget

    def _read(self, budget: int) -> tuple[list[TokenScores], int, int]:
        """Return the kept scores; files are named by the sequences that are done, then by the budget."""
        parts, sequences = [], 0
        for file in sorted(self.folder.glob("[0-9]*.parquet")):
            frame = read_table(file, TOKENS)
            parts.append(TokenScores(*(frame[column.name].to_numpy() for column in TOKENS)))
            sequences, budget = (int(number) for number in file.stem.split("-"))
        if sequences:
            log.info("goes on where a stopped run was: %s sequences are done", f"{sequences:,}")
        return parts, sequences, budget

    def add(self, tokens: TokenScores, sequences: int, budget: int) -> None:
        """Take the scores of one more batch, after which `sequences` are done; save them now and then."""
        self._waiting.append(tokens)
        if time.monotonic() - self._last < EVERY:
            return
        if not self.folder.exists():
            write_json(self.folder / "key.json", self._key)
        frame = pl.DataFrame(join_token_scores(self._waiting)._asdict())
        write_table(self.folder / f"{sequences:010d}-{budget}.parquet", frame, TOKENS)
        self._waiting, self._last = [], time.monotonic()

    def remove(self) -> None:
        """Delete the folder: the run is done."""
        shutil.rmtree(self.folder, ignore_errors=True)
