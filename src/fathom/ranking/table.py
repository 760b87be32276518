"""The table to rank: models, benchmarks, scores, standard errors, paired tests."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fathom.errors import InputError
from fathom.io.contracts.ranking import PAIRED_TESTS, RANKED_BENCHMARKS, RANKED_MODELS, RANKED_SCORES
from fathom.io.delimited import read_rows, write_rows
from fathom.io.names import show_count
from fathom.io.tables import make_empty_table, read_table, write_table
from fathom.jobs.program import log

Array = NDArray[np.float64]


PARTS = ("scores.parquet", "paired.parquet", "models.csv", "benchmarks.csv")
"""Files of a table of scores: scores, paired tests, data on models and on benchmarks."""

FEWEST_MODELS, FEWEST_BENCHMARKS = 3, 2


@dataclass(frozen=True)
class Model:
    """A ranked model; unknown values are empty or None."""

    name: str
    title: str
    family: str = ""
    kind: str = ""
    parameters: float | None = None
    tokens: float | None = None

    @property
    def compute(self) -> float | None:
        """Training compute, 6 × parameters × tokens, if both are known [TrainBeforeTest, Table 4]."""
        return 6 * self.parameters * self.tokens if self.parameters and self.tokens else None


@dataclass(frozen=True)
class Benchmark:
    """A benchmark that models are ranked on: a column of the table."""

    name: str
    title: str
    category: str = ""
    corpus: bool = False
    lower_is_better: bool = False
    metric: str = ""
    training_examples: int | None = None


@dataclass(frozen=True)
class ScoreTable:
    """Scores of models on benchmarks, in one condition or several.

    `models`, `benchmarks`: in the order of the arrays. `scores`, `errors`: (n_conditions, n_models,
    n_benchmarks): as read; NaN where missing. `paired`: (n_conditions, n_benchmarks, n_model_pairs): for
    models a < b (in the order of `numpy.triu_indices`): 1 if a is better by a paired test, -1 if b is, 0 if
    neither, NaN without a test.
    """

    conditions: tuple[str, ...]  # the baseline first
    models: tuple[Model, ...]
    benchmarks: tuple[Benchmark, ...]
    scores: Array
    errors: Array
    paired: Array

    @property
    def downstream(self) -> list[int]:
        """Columns of the downstream benchmarks: all but the corpora."""
        return [place for place, each in enumerate(self.benchmarks) if not each.corpus]

    @property
    def corpora(self) -> list[int]:
        """Columns of the benchmarks that are corpora, scored by perplexity or bits per byte."""
        return [place for place, each in enumerate(self.benchmarks) if each.corpus]

    def oriented(self) -> Array:
        """Return the scores with signs such that high is always good."""
        signs = np.array([-1.0 if each.lower_is_better else 1.0 for each in self.benchmarks])
        return np.asarray(self.scores * signs)


def check_size(table: ScoreTable, where: str) -> None:
    """Raise `InputError` if there are too few models or benchmarks to compare."""
    if len(table.models) < FEWEST_MODELS:
        what = f"rankings of {show_count(len(table.models), 'model')} cannot be compared"
        raise InputError(what, where, f"at least {FEWEST_MODELS} are needed")
    if len(table.downstream) < FEWEST_BENCHMARKS:
        raise InputError(
            f"{show_count(len(table.downstream), 'benchmark')} (corpora apart), so no second ranking",
            where,
            f"at least {FEWEST_BENCHMARKS} are needed",
        )


def tabulate_scores(table: ScoreTable) -> pl.DataFrame:
    """Return scores and standard errors under contract RANKED_SCORES."""
    rows = [
        (condition, model.name, benchmark.name, table.scores[s, m, b], table.errors[s, m, b])
        for s, condition in enumerate(table.conditions)
        for m, model in enumerate(table.models)
        for b, benchmark in enumerate(table.benchmarks)
    ]
    return pl.DataFrame(rows, make_empty_table(RANKED_SCORES).schema, orient="row")


def tabulate_paired(table: ScoreTable) -> pl.DataFrame:
    """Return paired tests under contract PAIRED_TESTS; the test says which model is better."""
    firsts, seconds = np.triu_indices(len(table.models), 1)
    rows = []
    for s, b in np.argwhere(~np.isnan(table.paired).all(axis=2)).tolist():
        where = (table.conditions[s], table.benchmarks[b].name)
        oriented = table.oriented()[s, :, b]
        for first, second, found in zip(firsts, seconds, table.paired[s, b], strict=True):
            if not np.isnan(found):
                ahead = found > 0 or (found == 0 and oriented[first] >= oriented[second])
                names = [table.models[each].name for each in (first, second)]
                rows.append((*where, *(names if ahead else names[::-1]), bool(found)))
    return pl.DataFrame(rows, make_empty_table(PAIRED_TESTS).schema, orient="row")


def read_models(path: Path | str) -> list[Model]:
    """Read models.csv."""
    rows = [list(row.values()) for row in read_rows(path, RANKED_MODELS)]
    return [
        Model(*texts, *(None if math.isnan(n) else n for n in (size, tokens)))
        for *texts, size, tokens in rows
    ]


def read_benchmarks(path: Path | str) -> list[Benchmark]:
    """Read benchmarks.csv."""
    return [Benchmark(*row.values()) for row in read_rows(path, RANKED_BENCHMARKS)]


def write_score_table(folder: Path | str, table: ScoreTable) -> None:
    """Write a table of scores as the four files named in PARTS."""
    folder = Path(folder)
    write_table(folder / PARTS[0], tabulate_scores(table), RANKED_SCORES)
    write_table(folder / PARTS[1], tabulate_paired(table), PAIRED_TESTS)
    write_rows(folder / PARTS[2], map(astuple, table.models), RANKED_MODELS)
    write_rows(folder / PARTS[3], map(astuple, table.benchmarks), RANKED_BENCHMARKS)
    counts = (len(table.models), len(table.downstream), len(table.corpora))
    log.info("%s models, %s benchmarks, %s corpora; conditions: %s", *counts, ", ".join(table.conditions))


def read_score_table(folder: Path | str) -> ScoreTable:
    """Read the table of scores that :func:`write_score_table` wrote into a folder."""
    scores, paired, models, benchmarks = (Path(folder) / name for name in PARTS)
    frame = read_table(scores, RANKED_SCORES)
    known, columns = read_models(models), read_benchmarks(benchmarks)
    conditions = tuple(frame["condition"].unique(maintain_order=True))
    shape = (len(conditions), len(known), len(columns))
    if len(frame) != int(np.prod(shape)):
        raise InputError(f"{len(frame)} scores instead of {shape}", str(scores), "make it again")
    names = [each.name for each in columns], [model.name for model in known]
    tests = place_tests(read_table(paired, PAIRED_TESTS).iter_rows(), conditions, *names)
    numbers, errors = (frame[name].to_numpy().reshape(shape) for name in ("score", "standard_error"))
    return ScoreTable(conditions, tuple(known), tuple(columns), numbers, errors, tests)


def place_tests(
    tests: Iterable[tuple[Any, ...]],
    conditions: Sequence[str],
    benchmarks: Sequence[str],
    models: Sequence[str],
) -> Array:
    """Return tests as `paired` has them.

    `tests`: condition, benchmark, better and worse model, and whether they are apart.
    """
    place = {name: number for number, name in enumerate(models)}
    found = np.full((len(conditions), len(benchmarks), len(models), len(models)), np.nan)
    for condition, benchmark, better, worse, apart in tests:
        first, second = sorted((place[better], place[worse]))
        ahead = (1 if first == place[better] else -1) if apart else 0
        found[conditions.index(condition), benchmarks.index(benchmark), first, second] = ahead
    upper = np.triu_indices(len(models), 1)
    return np.asarray(found[:, :, upper[0], upper[1]])
