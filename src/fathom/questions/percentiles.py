"""The effect of t_d on questions: rounds with each of several thresholds [CompComp, Sec. 5.5, Fig. 4]."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from fathom.config.coverage import QuestionSettings
from fathom.coverage.benchmarks import check_spread, project
from fathom.io.contracts.questions import QUESTION_MAP
from fathom.io.tables import make_empty_table
from fathom.jobs.program import log
from fathom.questions.question_rounds import (
    Encode,
    Material,
    Possible,
    QuestionRounds,
    Vectors,
    list_possible,
    tabulate_questions,
)


class Variations(NamedTuple):
    """Questions with each t_d.

    `rows`: under PERCENTILES. `map`: under QUESTION_MAP, which questions were asked, where they and the
    records lie. `questions`: under QUESTIONS, each once that was asked with any t_d, in the round in which it
    was first. `vectors`: their unit vectors, float32 of shape (n_questions, dimension).
    """

    rows: list[tuple[object, ...]]
    map: pl.DataFrame
    questions: pl.DataFrame
    vectors: Vectors


def vary_percentile(
    material: Material, encode: Encode, settings: QuestionSettings, threads: int = 1
) -> Variations:
    """Ask questions with each t_d of `coverage.ablation`, and with `coverage.gap_percentile` itself.

    Raise `InputError` if no question can be asked, or all records have the same embedding.
    """
    coverage = settings.coverage
    remember, length = _Memory(encode), np.float32(coverage.length)
    possible = list_possible(material, remember.encode, settings, threads)
    asked = {}
    for percentile in sorted({*coverage.ablation.gap_percentile, coverage.gap_percentile}):
        rounds = possible.start(percentile)
        check_spread(rounds.of_space, coverage)
        while not rounds.end:
            drawn = rounds.draw()
            texts = [row["question"] for row in drawn]
            rounds.add(drawn, remember.encode(texts) * length if texts else rounds.vectors[:0])
        asked[percentile] = rounds
        log.info("t_d = %g: %s questions, %s", percentile, f"{len(rounds.vectors):,}", rounds.end)
    every = [row for rounds in asked.values() for each in rounds.rounds for row in each.rows]
    first: dict[str, dict[str, object]] = {}
    for row in every:
        known = first.setdefault(row["question_id"], row)
        if row["round"] < known["round"]:
            first[row["question_id"]] = row
    union = [first[name] for name in sorted(first)]
    rows = [_describe(percentile, rounds, possible) for percentile, rounds in asked.items()]
    table = tabulate_questions(union, material.names)
    vectors = remember.encode(table["question"].to_list())
    return Variations(rows, _draw_map(material.names, possible, asked), table, vectors)


class _Memory:
    def __init__(self, encode: Encode) -> None:
        self._encode = encode
        self._known: dict[str, Vectors] = {}

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return the embeddings of some texts."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            self._known.update(zip(new, self._encode(new), strict=True))
        return np.stack([self._known[text] for text in texts])


def _describe(percentile: float, rounds: QuestionRounds, possible: Possible) -> tuple[object, ...]:
    last = rounds.rounds[-1].report
    rows = [row for each in rounds.rounds for row in each.rows]
    numbers = (last["redundancy"], last["correlation"])
    return (
        percentile, f"{rounds.threshold:.6g}", len(rounds.rounds), len(rows),
        f"{possible.find_share(rows):.6g}", rounds.rounds[0].report["large_gaps"], last["large_gaps"],
        *("" if number is None else f"{number:.6g}" for number in numbers), rounds.end,
    )  # fmt: skip


def _draw_map(names: Sequence[str], possible: Possible, asked: dict[float, QuestionRounds]) -> pl.DataFrame:
    vectors = [rounds.vectors for rounds in asked.values()]
    places, _ = project(possible.vectors, np.concatenate(vectors))
    parts, start = [], len(names)
    for percentile, rounds in asked.items():
        rows = [(row["question_id"], row["round"]) for each in rounds.rounds for row in each.rows]
        here = np.concatenate([places[: len(names)], places[start : start + len(rows)]])
        start += len(rows)
        parts.append(pl.DataFrame({
            "gap_percentile": percentile,
            "kind": ["record"] * len(names) + ["question"] * len(rows),
            "id": [*names, *(name for name, _ in rows)],
            "x": here[:, 0], "y": here[:, 1],
            "round": [0] * len(names) + [number for _, number in rows],
            "large": rounds.large_gaps.tolist() + [False] * len(rows),
        }, schema=make_empty_table(QUESTION_MAP).schema))  # fmt: skip
    return pl.concat(parts)
