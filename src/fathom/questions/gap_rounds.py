"""Rounds of questions: the first about all records, others about gaps that are left [CompComp, Sec. 3.3]."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from itertools import chain, zip_longest
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fathom.config.questions import Asking
from fathom.coverage.density import (
    EQUAL,
    Values,
    correlate_densities,
    find_gaps,
    measure_log_density,
    replace_nan,
)
from fathom.coverage.redundancy import NEAR, measure_redundancy

Vectors = npt.NDArray[np.float32]
Row = dict[str, Any]


class Candidate(NamedTuple):
    """A question that may be asked.

    Attributes
    ----------
    chunks : tuple of int
        Records that it is about.
    pose : callable
        Returns its row, without round and chunks; None if there are too few wrong answers.
    """

    key: str
    template: str
    chunks: tuple[int, ...]
    pose: Callable[[], Row | None]


class RoundSettings(NamedTuple):
    """How rounds are drawn, what counts as a large gap (t_d), and how densities are computed."""

    chosen: Asking
    percentile: float
    bandwidth: float
    device: str = "cpu"
    threads: int = 1


class Round(NamedTuple):
    """A round: its rows, their embeddings, and its report."""

    rows: list[Row]
    vectors: Vectors
    report: dict[str, Any]


class QuestionRounds:
    """Questions that grow round by round.

    Parameters
    ----------
    chunks : array of float32 of shape (n_chunks, dimension)
        Embeddings of the records.
    users : sequence of (dict, int)
        Open questions that people asked, each with the record next to it: they join in round 1.
    """

    def __init__(
        self,
        chunks: Vectors,
        items: Sequence[Candidate],
        users: Sequence[tuple[Row, int]],
        limits: RoundSettings,
    ) -> None:
        self._chunks, self._items, self._users, self._limits = chunks, items, users, limits
        self._of_space = self._measure(chunks)
        self._by_chunk: dict[int, list[int]] = defaultdict(list)
        for place, item in enumerate(items):
            for chunk in item.chunks:
                self._by_chunk[chunk].append(place)
        self._drawn: set[int] = set()
        self._of_questions, self._vectors = np.full(len(chunks), -np.inf), chunks[:0]
        self._alike = 0
        self.threshold = float("nan")
        self.rounds: list[Round] = []

    @property
    def of_space(self) -> Values:
        """Log-density of the records at each of them."""
        return self._of_space

    @property
    def vectors(self) -> Vectors:
        """Embeddings of all questions so far."""
        return self._vectors

    @property
    def differences(self) -> Values:
        """Log-density of the records less that of the questions, at each record."""
        found: Values = self._of_space - (self._of_questions - np.log(max(len(self._vectors), 1)))
        return found

    @property
    def large_gaps(self) -> npt.NDArray[np.bool_]:
        """Records whose difference lies above the threshold."""
        found: npt.NDArray[np.bool_] = self.differences > self.threshold
        return found

    @property
    def end(self) -> str:
        """Why no round follows; empty while one does."""
        if not self.rounds:
            return ""
        if not self.rounds[-1].rows:
            return "no question is left for any gap"
        if len(self.rounds) == 1 and self._users and self._limits.chosen.rounds:
            return ""
        if not self.large_gaps.any():
            return "no gap is left above the threshold"
        return "most rounds" if len(self.rounds) > self._limits.chosen.rounds else ""

    def draw(self) -> list[Row]:
        """Return the questions of the round that follows, not yet embedded, sorted by id."""
        number = len(self.rounds)
        rows = [row for row, _ in self._users] if number == 1 else []
        for place in self._draw_first() if not number else self._draw_for_gaps(number):
            self._drawn.add(place)
            row = self._items[place].pose()
            self._alike += row is None
            if row is not None:
                rows.append({**row, "records": self._items[place].chunks})
        for row, chunk in self._users if number == 1 else []:
            row["records"] = (chunk,)
        known = {row["question_id"] for asked in self.rounds for row in asked.rows}
        fresh = {row["question_id"]: row for row in rows if row["question_id"] not in known}
        return [{**fresh[name], "round": number} for name in sorted(fresh)]

    def add(self, rows: list[Row], vectors: Vectors) -> Round:
        """Add a round that was drawn, with the embeddings of its questions; return it."""
        if len(rows):
            new = self._measure(vectors) + np.log(len(vectors))
            self._of_questions = np.logaddexp(self._of_questions, new)
            self._vectors = np.concatenate([self._vectors, vectors])
        if not self.rounds:
            quantile = float(np.quantile(self.differences, self._limits.percentile))
            self.threshold = max(quantile, EQUAL)
        self.rounds.append(Round(rows, vectors, self._describe(rows)))
        return self.rounds[-1]

    def _draw_first(self) -> list[int]:
        """Return the first questions by their hashes, as many of each template as there are."""
        by_template: dict[str, list[int]] = defaultdict(list)
        for place, item in enumerate(self._items):
            by_template[item.template].append(place)
        turns = zip_longest(*(by_template[name] for name in sorted(by_template)))
        places = [place for place in chain.from_iterable(turns) if place is not None]
        return places[: self._limits.chosen.first]

    def _draw_for_gaps(self, number: int) -> list[int]:
        """Return questions about records that are large gaps, the largest first, or next to users'."""
        differences = self.differences
        gaps = np.flatnonzero(self.large_gaps)
        ordered = gaps[np.argsort(-differences[gaps], kind="stable")].tolist()
        special = [chunk for _, chunk in self._users] if number == 1 else []
        found: dict[int, None] = {}
        for chunk in dict.fromkeys([*special, *ordered]):
            free = [
                place for place in self._by_chunk[chunk] if place not in self._drawn and place not in found
            ]
            found.update(dict.fromkeys(free[: self._limits.chosen.per_gap]))
        return list(found)

    def _measure(self, vectors: Vectors) -> Values:
        """Return the log-density of a set at all records."""
        limits = self._limits
        return measure_log_density(self._chunks, vectors, limits.bandwidth, limits.device, limits.threads)

    def _describe(self, rows: list[Row]) -> dict[str, Any]:
        limits, vectors = self._limits, self._vectors
        of_questions = self._of_questions - np.log(max(len(vectors), 1))
        gaps = find_gaps(self._of_space, of_questions)
        redundancy = measure_redundancy(vectors, NEAR, limits.device, limits.threads)
        return {
            "round": len(self.rounds),
            "asked": len(rows),
            "templates": dict(sorted(Counter(row["template"] for row in rows).items())),
            "size": len(vectors),
            "coverage": float(1 - gaps.mean()),
            "large_gaps": int(self.large_gaps.sum()),
            "correlation": replace_nan(correlate_densities(of_questions, self._of_space)),
            "redundancy": replace_nan(redundancy),
            "left_out": {"too few wrong answers": self._alike} if self._alike else {},
        }
