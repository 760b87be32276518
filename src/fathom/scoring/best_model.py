"""Find the best of several models on a benchmark on as few pairs as needed, one model in memory at a time.

All models are scored on the first pairs of a random order, and compared. A model stops once the verdict by
all pairs is known: significantly worse than the best, or not significantly different. The others continue
with more pairs. Decisions depend only on pairs and scores.
"""

import gc
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fathom.benchmark.target_words import list_words
from fathom.errors import InputError
from fathom.io.contracts.scoring import SCORES
from fathom.io.files import hash_text, write_json, write_json_lines
from fathom.io.names import place_inside
from fathom.io.tables import read_table
from fathom.jobs.program import log
from fathom.models.open_model import OpenModel, measure_all
from fathom.scoring.bits import Rivals, find_known, measure_bits, rank_among_rivals
from fathom.scoring.pair_files import COLUMNS
from fathom.scoring.rank_files import plan_part, read_first_tokens
from fathom.statistics.aggregates import GEOMETRIC_MEAN, MEAN, measure_values
from fathom.statistics.anytime import Order, estimate_models, find_reach, measure_growth
from fathom.statistics.clusters import choose_clusters
from fathom.statistics.metrics import BITS, RANK, RIVAL_RANK, Metric

Array = NDArray[np.float64]

FIRST, GROWTH = 200, 1.5
"""Pairs before the first look, and the factor of pairs between looks."""
ERROR = 0.05
"""Chances that any two models are wrongly called different, and that any look contradicts all pairs."""
SLACK = 0.15
"""Error of the width of the interval over all pairs, as estimated from a part of them."""
OPEN, ALIKE, APART = 0, 1, 2
REPORT = "best.json"
_WORDS = 3  # first words of a prompt: pairs that share them are drawn together, as a model reads them once


class Standing(NamedTuple):
    """Result of one model.

    `bits`, `best_bits`: its mean knowledge in bits on these pairs, and the best's; NaN if pairs have none.
    `rank`, `best_rank`: their geometric mean ranks. `rival_rank`, `best_rival_rank`: the same among rivals,
    the targets of the benchmark; NaN if no pair has one.
    """

    model: str
    verdict: str  # best; worse: significantly; alike: not significantly different from the best
    pairs: int  # pairs that it and the best share
    bits: float
    best_bits: float
    rank: float
    best_rank: float
    rival_rank: float
    best_rival_rank: float


def order_pairs(pairs: pl.DataFrame) -> tuple[pl.DataFrame, Order]:
    """Order pairs for scoring, so that all keywords advance together.

    The sentences of a keyword (pairs with the same first words) come in the order of a hash of these words;
    the j-th of n has the place (j + u) / n, with u from a hash of the keyword. So any first part of the pairs
    holds about that part of every keyword's. Without two keywords documents or pairs stand in for them.
    """
    names = choose_clusters(pairs).names
    starts = [" ".join(prompt.split()[:_WORDS]) for prompt in pairs["prompt"]]
    sentences: dict[str, set[str]] = {}
    for name, start in zip(names, starts, strict=True):
        sentences.setdefault(name, set()).add(start)
    places = {}
    for name, own in sentences.items():
        shift = int(hash_text("keyword", name)[:13], 16) / 16**13
        for number, start in enumerate(sorted(own, key=lambda text: (hash_text("sentence", text), text))):
            places[name, start] = (number + shift) / len(own)
    drawn = np.array([places[each] for each in zip(names, starts, strict=True)])
    rows = np.lexsort((pairs["pair_id"].to_numpy().astype(str), drawn))
    _, clusters = np.unique(np.array(names, dtype=str), return_inverse=True)
    return pairs[rows], Order(clusters[rows].astype(np.int64), drawn[rows])


def plan_looks(pairs: int) -> list[float]:
    """Return the share of pairs scored before each look; the last is 1."""
    shares = [min(1.0, FIRST / pairs)]
    while shares[-1] * GROWTH < 1:
        shares.append(shares[-1] * GROWTH)
    return shares if shares[-1] == 1 else [*shares, 1.0]


class Contest:
    """The looks at several models on one benchmark.

    Attributes
    ----------
    verdicts : ndarray of shape (n_models, n_models), int64
        OPEN, ALIKE or APART.
    differences : ndarray of shape (n_models, n_models), float64
        Of mean losses, first model minus second, at the last look at both; NaN before.
    pairs : ndarray of shape (n_models, n_models), int64
        Number of pairs that both had then.
    """

    def __init__(self, models: Sequence[str], order: Order) -> None:
        from scipy.stats import t

        if len(models) < 2:
            raise InputError("only one model to compare", "MODEL", "name two or more")
        self.models, self._order = sorted(models), order
        count = len(models)
        self._error = ERROR / (count * (count - 1) / 2)
        sizes = np.bincount(order.keywords)
        # keywords of unequal size are worth fewer equal ones [Kish, Ch. 11]
        equal = sizes.sum() ** 2 / np.square(sizes).sum()
        self._width = float(t.ppf(1 - self._error / 2, max(1.0, equal - 1)))
        self.verdicts = np.full((count, count), OPEN)
        self.differences = np.full((count, count), np.nan)
        self.pairs = np.zeros((count, count), dtype=np.int64)
        self._first = 0

    def look(self, losses: Mapping[str, Array], share: float) -> None:
        """Compare the models that have the first pairs; other verdicts stay.

        Losses are bits times -1, or logarithms of ranks, of shape (n_first_pairs,), float64: low is good, and
        means are compared by their difference. `share` is that of the order; after the last pair everything
        is decided.
        """
        here = [place for place, model in enumerate(self.models) if model in losses]
        end, total = self._order.find_end(share), len(self._order.places)
        if len(here) < 2 or not end:
            return
        self._first = self._first or end
        values = np.stack([losses[self.models[place]] for place in here])
        found = estimate_models(values, self._order, share)
        differences = found.values[:, None] - found.values[None, :]
        half, last = self._width * np.sqrt(found.whole), end == total
        growth = 1.0 if last else measure_growth(end, self._first, total)
        reach = np.zeros_like(half) if last else find_reach(found.ahead, growth, self._error)
        slack = 0.0 if last else SLACK
        apart = abs(differences) - reach > half * (1 + slack)
        alike = ~apart if last else abs(differences) + reach < half * (1 - slack)
        rows = np.ix_(here, here)
        now = np.where(apart, APART, np.where(alike, ALIKE, OPEN))
        # a verdict is final, as the sequence of intervals holds at all looks together
        self.verdicts[rows] = np.where(self.verdicts[rows] == OPEN, now, self.verdicts[rows])
        self.differences[rows], self.pairs[rows] = differences, end

    @property
    def best(self) -> int:
        """Place of the model that beats most others on common pairs; ties go to the first."""
        return int((self.differences < 0).sum(axis=1).argmax())

    @property
    def going(self) -> list[str]:
        """Models that continue: the best and those not yet decided against it; none if all are."""
        open_ = self.verdicts[self.best] == OPEN
        open_[self.best] = False
        if not open_.any():
            return []
        open_[self.best] = True
        return [model for model, goes_on in zip(self.models, open_, strict=True) if goes_on]


class _Entrant:
    """A model in a contest: scores one part of the pairs after another, and keeps the scores."""

    def __init__(self, name: str, open_model: Callable[[], OpenModel], folder: Path) -> None:
        self.name, self._open, self._folder = name, open_model, folder
        self.scored = 0
        self._tables: list[Path] = []

    def score(self, pairs: pl.DataFrame, words: list[str], end: int) -> None:
        """Score the pairs up to a place, in order; reuse finished scores in the folder."""
        if self.scored >= end:
            return
        part = f"{self.scored}-{end}"
        block = self._folder / "pairs" / f"{part}.jsonl"
        scores = place_inside(self._folder / "scores", self.name, f"{part}.parquet")
        write_json_lines(block, pairs[self.scored : end].select(COLUMNS).iter_rows(named=True))
        planned = plan_part(part, block, scores, words)
        measure_all(self._open(), [planned], place_inside(self._folder / "finished", self.name))
        gc.collect()  # free the weights before loading the next model
        self._tables.append(scores)
        self.scored = end

    def measure(self, pairs: pl.DataFrame, words: list[str], count: int) -> dict[Metric, Array]:
        """Return its metrics on the first pairs, as if there were no others."""
        tables = [read_table(path, SCORES, [RANK.name])[RANK.name].to_numpy() for path in self._tables]
        own, others = (
            np.concatenate(each)[:count] for each in zip(*map(read_first_tokens, self._tables), strict=True)
        )
        first = pairs[:count]
        rivals, targets = Rivals(words, []), first["target"].to_list()
        bits = measure_bits(rivals, targets, first["keyword"].to_list(), own, others).bits
        among = rank_among_rivals(rivals, targets, own, others).rank
        return {BITS: bits, RANK: np.concatenate(tables)[:count].astype(float), RIVAL_RANK: among}


def find_best(
    models: Mapping[str, Callable[[], OpenModel]], pairs: pl.DataFrame, folder: Path, by: str = BITS.name
) -> list[Standing]:
    """Find the best of several models, and write a report to REPORT in a folder.

    Parameters
    ----------
    folder : Path
        Also for scores of the pairs read; finished ones are reused.
    by : {"bits", "rank"}
        Metric to compare. Bits are computed for the pairs read so far, with all candidates, leaving out
        pairs without bits; without two keywords and different targets, ranks are compared.
    """
    metric, pairs = choose_metric(pairs, by)
    words = list_words(pairs["target"].to_list())
    ordered, order = order_pairs(pairs)
    contest = Contest(list(models), order)
    entrants = {name: _Entrant(name, models[name], folder) for name in sorted(models)}
    going: Sequence[str] = list(entrants)
    for share in plan_looks(len(ordered)):
        end = order.find_end(share)
        for model in going:
            entrants[model].score(ordered, words, end)
        values = {model: entrants[model].measure(ordered, words, end)[metric] for model in going}
        if end == len(ordered):
            _require_values(values, metric)
        contest.look({model: _turn(metric, each) for model, each in values.items()}, share)
        going = contest.going
        log.info("%s of %s pairs: %s of %s models continue", end, len(ordered), len(going), len(models))
        if not going:
            break

    def measure(model: str, count: int) -> dict[Metric, Array]:
        return entrants[model].measure(ordered, words, count)

    found = list_standings(contest, measure)
    read = sum(each.scored for each in entrants.values())
    report = {"by": metric.name, "pairs": len(ordered), "read": read}
    write_json(folder / REPORT, report | {"models": [_as_row(each) for each in found]})
    return found


def _as_row(standing: Standing) -> dict[str, Any]:
    """Replace NaN, which JSON lacks."""
    numbers = standing._asdict()
    return {
        name: None if isinstance(value, float) and math.isnan(value) else value
        for name, value in numbers.items()
    }


def choose_metric(pairs: pl.DataFrame, by: str) -> tuple[Metric, pl.DataFrame]:
    """Return the metric to compare models by, and the pairs that have it."""
    known = pl.Series(find_known(pairs["target"].to_list(), pairs["keyword"].to_list()))
    if by != BITS.name or not known.any():
        if by == BITS.name:
            log.info(
                "these pairs have no bits, which need two keywords and different targets: comparing by rank"
            )
        return RANK, pairs
    if not known.all():
        log.info("left out: %s pairs without other targets to compare with", int((~known).sum()))
    return BITS, pairs.filter(known)


def _require_values(values: Mapping[str, Array], metric: Metric) -> None:
    """Raise `InputError` if a model has no bits on some pairs: its tokens span prompt and target."""
    for model, each in values.items():
        if count := int(np.isnan(each).sum()):
            raise InputError(
                f"{model} has no {metric.label} on {count:,} of {len(each):,} pairs",
                "pairs",
                "its tokens span the end of these prompts: give --by rank",
            )


def _turn(metric: Metric, values: Array) -> Array:
    return np.asarray(-metric.sign * (np.log(values) if metric.is_factor else values))


def list_standings(contest: Contest, measure: Callable[[str, int], Mapping[Metric, Array]]) -> list[Standing]:
    """Return the result of each model, the best first, then by difference from it.

    `measure` gives a model's values on so many first pairs, by metric.
    """
    best, found = contest.best, []
    words = {OPEN: "open", ALIKE: "alike", APART: "worse"}
    for place, model in enumerate(contest.models):
        pairs = int(contest.pairs[best, place])
        both = [measure(name, pairs) for name in (model, contest.models[best])]
        means = [_average(metric, each[metric]) for metric in (BITS, RANK, RIVAL_RANK) for each in both]
        verdict = "best" if place == best else words[int(contest.verdicts[best, place])]
        found.append((float(contest.differences[place, best]), Standing(model, verdict, pairs, *means)))
    found.sort(key=lambda each: (each[1].verdict != "best", each[0], each[1].model))
    return [standing for _, standing in found]


def _average(metric: Metric, values: Array) -> float:
    known = values[~np.isnan(values)]
    statistic = GEOMETRIC_MEAN if metric.is_factor else MEAN
    return measure_values(known, statistic, 0.0) if len(known) else math.nan
