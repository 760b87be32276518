"""From records and templates to questions: rounds on the disk, and what came of them."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from fathom.benchmark.matches import load_embeddings
from fathom.config.coverage import QuestionSettings
from fathom.coverage.benchmarks import check_spread, describe_kernel
from fathom.coverage.density import choose_bandwidth, replace_nan
from fathom.coverage.redundancy import NEAR, measure_redundancy
from fathom.errors import InputError
from fathom.io.contracts.questions import QUESTIONS
from fathom.io.files import hash_text, write_atomically, write_json
from fathom.io.tables import make_empty_table, read_table, write_table
from fathom.jobs.program import log
from fathom.jobs.resume import open_steps
from fathom.questions.candidates import Entities, find_candidates
from fathom.questions.gap_rounds import Candidate, QuestionRounds, Round, RoundSettings, Row
from fathom.questions.graph import OntologyGraph
from fathom.questions.posing import pose_question
from fathom.questions.templates import Asker

Vectors = npt.NDArray[np.float32]
Encode = Callable[[Sequence[str]], Vectors]


class Material(NamedTuple):
    """What questions are made from.

    Attributes
    ----------
    vectors : array of float32 of shape (n_records, dimension)
        Their unit vectors.
    users : list of dict
        Open questions that people asked, which count as gaps.
    pairs : list of dict
        Pairs of benchmarks, which may join as open questions.
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

    Parameters
    ----------
    key : str
        Hash of everything that the rounds depend on, see :func:`fathom.jobs.resume.make_key`.
    """

    def __init__(self, folder: Path, key: str) -> None:
        self._folder = open_steps(folder, key)

    def run(self, rounds: QuestionRounds, names: list[str], encode: Encode) -> None:
        """Add the round that follows: from the disk if it is there, else written to it."""
        stem = self._folder / f"round-{len(rounds.rounds):03}"
        path, array = stem.with_suffix(".parquet"), stem.with_suffix(".npy")
        rows = rounds.draw()
        table = tabulate_questions(rows, names)
        if path.exists():
            if not read_table(path, QUESTIONS).equals(table):
                raise InputError("this round does not follow: it was changed", str(path), "delete its folder")
            rounds.add(rows, load_embeddings(array)[:])
            log.info("round %s is on the disk", len(rounds.rounds) - 1)
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
    """Ask questions round by round, going on after the last round that is on the disk.

    Raises
    ------
    InputError
        If no question can be asked, or all records have the same embedding.
    """
    coverage, length = settings.coverage, np.float32(settings.coverage.length)
    possible = list_possible(material, encode, settings, threads)
    rounds = possible.start(coverage.gap_percentile)
    check_spread(rounds.of_space, coverage)
    while not rounds.end:
        folder.run(rounds, material.names, lambda texts: encode(texts) * length)
    rows = [row for asked in rounds.rounds for row in asked.rows]
    redundancy = measure_redundancy(possible.vectors, NEAR, coverage.device, threads)
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
        "redundancy_of_records": replace_nan(redundancy),
    }
    return Questions(tabulate_questions(rows, material.names), rounds.vectors / length, report)


class Possible(NamedTuple):
    """All that can be asked, before any of it is.

    Attributes
    ----------
    users : list of (dict, int)
        Open questions that people asked, each with the record next to it.
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
    """Return what can be asked; see :func:`ask_questions`."""
    coverage = settings.coverage
    vectors = material.vectors * np.float32(coverage.length)
    bandwidth = choose_bandwidth(vectors) if coverage.bandwidth == "scott" else coverage.bandwidth
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
    """Return what templates can ask about records with an embedding, and counts by template."""
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
        report["round"],
        f"{report['asked']:,}",
        f"{report['size']:,}",
        100 * report["coverage"],
        f"{report['large_gaps']:,}",
    )
