"""Rounds of questions: the first about all records, others about gaps that are left [CompComp, Sec. 3.3].

They are kept on disk, so that a stopped job resumes after the last one.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from fathom.benchmark.matches import load_embeddings
from fathom.config.coverage import QuestionSettings
from fathom.config.questions import Asking
from fathom.coverage import density
from fathom.coverage.benchmarks import check_spread, describe_kernel
from fathom.errors import InputError
from fathom.io.contracts.questions import QUESTIONS
from fathom.io.files import hash_text, write_atomically, write_json
from fathom.io.tables import make_empty_table, read_table, write_table
from fathom.jobs.program import log
from fathom.jobs.resume import open_steps
from fathom.questions.graph import Asker, OntologyGraph
from fathom.questions.posing import Entities, find_candidates, pose_question

Vectors = npt.NDArray[np.float32]
Row = dict[str, Any]


class Candidate(NamedTuple):
    """A question that may be asked.

    `chunks`: records that it is about. `pose` returns its row, without round and chunks; None if there are
    too few wrong answers.
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

    Attributes
    ----------
    of_space : array of float64 of shape (n_chunks,)
        Log-density of the records at each of them.
    vectors : array of float32 of shape (n_questions, dimension)
        Embeddings of all questions so far.
    """

    def __init__(
        self,
        chunks: Vectors,
        items: Sequence[Candidate],
        users: Sequence[tuple[Row, int]],
        limits: RoundSettings,
    ) -> None:
        self._chunks, self._items, self._users, self._limits = chunks, items, users, limits
        self.of_space = self._measure(chunks)
        self._by_chunk: dict[int, list[int]] = defaultdict(list)
        for place, item in enumerate(items):
            for chunk in item.chunks:
                self._by_chunk[chunk].append(place)
        self._drawn: set[int] = set()
        self._of_questions, self.vectors = np.full(len(chunks), -np.inf), chunks[:0]
        self._alike = 0
        self.threshold = float("nan")
        self.rounds: list[Round] = []

    @property
    def differences(self) -> density.Values:
        """Log-density of the records less that of the questions, at each record."""
        found: density.Values = self.of_space - (self._of_questions - np.log(max(len(self.vectors), 1)))
        return found

    @property
    def large_gaps(self) -> npt.NDArray[np.bool_]:
        """Records whose difference lies above the threshold."""
        found: npt.NDArray[np.bool_] = self.differences > self.threshold
        return found

    @property
    def end(self) -> str:
        """Why no round follows; empty if one does."""
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
            self.vectors = np.concatenate([self.vectors, vectors])
        if not self.rounds:
            quantile = float(np.quantile(self.differences, self._limits.percentile))
            self.threshold = max(quantile, density.EQUAL)
        self.rounds.append(Round(rows, vectors, self._describe(rows)))
        return self.rounds[-1]

    def _draw_first(self) -> list[int]:
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

    def _measure(self, vectors: Vectors) -> density.Values:
        limits = self._limits
        return density.measure_log_density(
            self._chunks, vectors, limits.bandwidth, limits.device, limits.threads
        )

    def _describe(self, rows: list[Row]) -> dict[str, Any]:
        limits, vectors = self._limits, self.vectors
        of_questions = self._of_questions - np.log(max(len(vectors), 1))
        gaps = density.find_gaps(self.of_space, of_questions)
        redundancy = density.measure_redundancy(vectors, limits.device, limits.threads)
        return {
            "round": len(self.rounds),
            "asked": len(rows),
            "templates": dict(sorted(Counter(row["template"] for row in rows).items())),
            "size": len(vectors),
            "coverage": float(1 - gaps.mean()),
            "large_gaps": int(self.large_gaps.sum()),
            "correlation": density.replace_nan(density.correlate_densities(of_questions, self.of_space)),
            "redundancy": density.replace_nan(redundancy),
            "left_out": {"too few wrong answers": self._alike} if self._alike else {},
        }


Encode = Callable[[Sequence[str]], Vectors]


class Material(NamedTuple):
    """Material of questions.

    `vectors`: unit vectors of the records, float32 of shape (n_records, dimension). `users`: open questions
    that people asked, which count as gaps. `pairs`: pairs of benchmarks, which may join as open questions.
    """

    names: list[str]
    vectors: Vectors
    entities: pl.DataFrame
    graph: OntologyGraph
    askers: Mapping[str, Asker]
    users: list[Row]
    pairs: list[Row]


class Questions(NamedTuple):
    """What rounds gave: a table under QUESTIONS, unit vectors of its rows, and a report."""

    table: pl.DataFrame
    vectors: Vectors
    report: dict[str, Any]


class RoundFolder:
    """Rounds of questions on the disk: `round-000.parquet`, `.npy` with embeddings, `.json`, and so on.

    `key`: hash of everything that the rounds depend on, see :func:`fathom.jobs.resume.make_key`.
    """

    def __init__(self, folder: Path, key: str) -> None:
        self._folder = open_steps(folder, key)

    def run(self, rounds: QuestionRounds, names: list[str], encode: Encode) -> None:
        """Add the next round: from disk if it exists, else written to it."""
        stem = self._folder / f"round-{len(rounds.rounds):03}"
        path, array = stem.with_suffix(".parquet"), stem.with_suffix(".npy")
        rows = rounds.draw()
        table = tabulate_questions(rows, names)
        if path.exists():
            if not read_table(path, QUESTIONS).equals(table):
                raise InputError("this round was changed and does not follow", str(path), "delete its folder")
            rounds.add(rows, load_embeddings(array)[:])
            log.info("round %s is on disk", len(rounds.rounds) - 1)
            return
        vectors = encode([row["question"] for row in rows]) if rows else rounds.vectors[:0]
        done = rounds.add(rows, vectors)
        with write_atomically(array) as temporary, temporary.open("wb") as stream:
            np.save(stream, vectors, allow_pickle=False)
        write_json(stem.with_suffix(".json"), done.report)
        write_table(path, table, QUESTIONS)
        _tell(done)


def ask_questions(
    material: Material, encode: Encode, settings: QuestionSettings, folder: RoundFolder, threads: int = 1
) -> Questions:
    """Ask questions round by round, after the last round on disk.

    Raise `InputError` if no question can be asked, or all records have the same embedding.
    """
    coverage, length = settings.coverage, np.float32(settings.coverage.length)
    possible = list_possible(material, encode, settings, threads)
    rounds = possible.start(coverage.gap_percentile)
    check_spread(rounds.of_space, coverage)
    while not rounds.end:
        folder.run(rounds, material.names, lambda texts: encode(texts) * length)
    rows = [row for asked in rounds.rounds for row in asked.rows]
    redundancy = density.measure_redundancy(possible.vectors, coverage.device, threads)
    report = {
        "records": len(material.names),
        **describe_kernel(possible.limits.bandwidth, coverage, rounds.of_space),
        "threshold": rounds.threshold,
        "templates": possible.counts,
        "possible": possible.total,
        "rounds": [asked.report for asked in rounds.rounds],
        "end": rounds.end,
        "questions": len(rows),
        "share_of_possible": possible.find_share(rows),
        "redundancy_of_records": density.replace_nan(redundancy),
    }
    return Questions(tabulate_questions(rows, material.names), rounds.vectors / length, report)


class Possible(NamedTuple):
    """All possible questions, before any is asked.

    `users`: open questions that people asked, each with the record next to it.
    """

    vectors: Vectors
    items: list[Candidate]
    users: list[tuple[Row, int]]
    limits: RoundSettings
    counts: dict[str, dict[str, Any]]

    @property
    def total(self) -> int:
        """Questions that templates can ask."""
        return sum(each["possible"] for each in self.counts.values())

    def start(self, percentile: float) -> QuestionRounds:
        """Return rounds with a t_d, none of which is asked yet."""
        return QuestionRounds(
            self.vectors, self.items, self.users, self.limits._replace(percentile=percentile)
        )

    def find_share(self, rows: Sequence[Row]) -> float:
        """Return the share of the possible questions that were asked."""
        return sum(1 for row in rows if row["query"]) / self.total


def list_possible(material: Material, encode: Encode, settings: QuestionSettings, threads: int) -> Possible:
    """Return the possible questions; see :func:`ask_questions`."""
    coverage = settings.coverage
    vectors = material.vectors * np.float32(coverage.length)
    bandwidth = density.choose_bandwidth(vectors) if coverage.bandwidth == "scott" else coverage.bandwidth
    limits = RoundSettings(settings.questions, coverage.gap_percentile, bandwidth, coverage.device, threads)
    items, counts = list_items(material)
    for name in (name for name, each in counts.items() if not each["possible"]):
        log.warning("template %s gives no question: %s", name, counts[name]["left_out"] or "no rows")
    users, pairs = (
        _find_nearest(material.vectors, encode, some) for some in (material.users, material.pairs)
    )
    items += [
        Candidate(hash_text("question", row["question_id"]), row["template"], (chunk,), partial(dict, row))
        for row, chunk in pairs
    ]
    return Possible(vectors, sorted(items, key=lambda item: item.key), users, limits, counts)


def list_items(material: Material) -> tuple[list[Candidate], dict[str, dict[str, Any]]]:
    """Return the questions that templates can ask about records with an embedding, and counts by template."""
    entities = Entities(material.entities)
    places = {name: place for place, name in enumerate(material.names)}
    candidates, counts = find_candidates(material.askers.values(), material.graph, entities, places.keys())
    items = []
    for candidate in candidates:
        chunks = tuple(places[iri] for iri in candidate.records if iri in places)
        pose = partial(
            pose_question, candidate, material.askers[candidate.template], entities, material.graph
        )
        items.append(Candidate(candidate.key, candidate.template, chunks, pose))
    return items, counts


def _find_nearest(vectors: Vectors, encode: Encode, rows: list[Row]) -> list[tuple[Row, int]]:
    """Return questions, each with the record whose embedding is next to its own; of equal ones the first."""
    if not rows:
        return []
    # in double precision, so that the number of cores decides no tie
    asked = encode([row["question"] for row in rows]).astype(np.float64)
    found = np.argmax(asked @ vectors.T.astype(np.float64), axis=1)
    return list(zip(rows, found.tolist(), strict=True))


def tabulate_questions(rows: Sequence[Row], names: Sequence[str]) -> pl.DataFrame:
    """Return rows as a table under QUESTIONS."""
    schema = make_empty_table(QUESTIONS).schema
    finished = [{**row, "chunks": [names[record] for record in row["records"]]} for row in rows]
    return pl.DataFrame([{name: row[name] for name in schema} for row in finished], schema=schema)


def _tell(done: Round) -> None:
    report = done.report
    log.info(
        "round %s: %s questions, %s in all, coverage %.1f %%, %s large gaps",
        report["round"], f"{report['asked']:,}", f"{report['size']:,}", 100 * report["coverage"],
        f"{report['large_gaps']:,}",
    )  # fmt: skip
