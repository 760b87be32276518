"""Cases of bits and of the rank among rivals, whose means over prompts come from the same pairs.

Each prompt gives each of a hundred words a log-probability: a keyword's effect and one of the prompt, parts
of both shared by the models; words that a keyword favours are more often its targets. A model adds what it
knows to the target. The truth is that of as many keywords as there could be, with the same words. Means and
temperatures are fitted anew in each simulation.
"""

import math
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from perf.calibration.case import FAMILY, SMALL, TEST, Case, Outcome, Shape, hold
from perf.calibration.of_statistics import MODELS, read
from perf.calibration.simulate import SHARED, draw_clusters, name_models
from perf.studies.best_model import run_study

from fathom.config.scoring import Summary
from fathom.scoring.best_model import order_pairs
from fathom.scoring.bits import Rivals, measure_bits, rank_among_rivals
from fathom.statistics.aggregates import COMPARED, MEAN, STATISTICS, measure_values
from fathom.statistics.anytime import Order
from fathom.statistics.comparisons import resample_scores, tabulate_comparisons
from fathom.statistics.metrics import BITS, RIVAL_RANK, SUMMARIZED
from fathom.statistics.summaries import summarize_scores

Array = NDArray[np.float64]
_MEASURED = {each.name: each for each in (BITS, RIVAL_RANK)}
WORDS = 100
"""The demo's benchmarks have 84 different targets, those of arXiv 196."""
KEYWORD, PROMPT, KNOWN, VARIED = 0.8, 1.2, 0.3, 0.6
"""Standard deviations of a keyword's effect on a word and of a prompt's; what a model adds to the target, and
the deviation of that between keywords. Logarithms of ranks then have a mean of 2.9 and deviate by 0.4 between
keywords and 1.2 within; the demo's 2.9 to 3.4, 0 to 0.6 and 0.9 to 1.2."""
RIVALS = Rivals(
    [f" {chr(97 + place // 26)}{chr(97 + place % 26)}zz" for place in range(WORDS)], [*range(WORDS)]
)
BETTER = 0.3
"""What the better of several models adds to the target beside that: 0.24 bits (0.60 for 0.36)."""
DRAWN = 1.5
"""How much more often a word is the target where the keyword favours it."""
_MANY, _EACH, _PARTS = 8000, 4, 40
"""Keywords, and pairs of each, in each part of what stands for all that there could be: its bits have a
standard error of 0.001, a fiftieth of the least that intervals here are wide."""


def draw_prompts(
    random: np.random.Generator, clusters: NDArray[np.int64], known: Sequence[float]
) -> tuple[NDArray[np.int64], Iterator[Array]]:
    """Return the targets, and by model the log-probability of each word, of shape (n_pairs, WORDS)."""
    count, pairs = int(clusters.max()) + 1, len(clusters)
    common = random.normal(size=(count, WORDS)), random.normal(size=(pairs, WORDS))
    targets = (DRAWN * KEYWORD * common[0][clusters] + random.gumbel(size=(pairs, WORDS))).argmax(axis=1)
    shared = random.normal(size=count)

    def draw(what: float) -> Array:
        effects, noise, gains = (
            math.sqrt(SHARED) * each + math.sqrt(1 - SHARED) * random.normal(size=each.shape)
            for each in (*common, shared)
        )
        found = KEYWORD * effects[clusters] + PROMPT * noise
        found[np.arange(pairs), targets] += what + VARIED * gains[clusters]
        return np.asarray(found)

    return targets, (draw(each) for each in known)


def draw_scores(
    random: np.random.Generator, shape: Shape, known: Sequence[float]
) -> dict[tuple[str, str, str], pl.DataFrame]:
    """Return scores of models that know so much, by domain, variant, model; without any other metric."""
    clusters = draw_clusters(random, shape)
    targets, tables = draw_prompts(random, clusters, known)
    names = name_models(len(known))
    return {
        ("domain", "tf", model): _score(clusters, targets, table)
        for model, table in zip(names, tables, strict=True)
    }


def draw_shuffled(random: np.random.Generator, shape: Shape) -> dict[tuple[str, str, str], pl.DataFrame]:
    """Return scores of a model that is given the prompts of other pairs, and so is told nothing."""
    clusters = draw_clusters(random, shape)
    targets, (table,) = draw_prompts(random, clusters, [KNOWN])
    return {("domain", "tf", "model"): _score(clusters, targets, random.permutation(table))}


def _score(clusters: NDArray[np.int64], targets: NDArray[np.int64], table: Array) -> pl.DataFrame:
    """Return a model's scores, without any other metric."""
    columns = {
        "pair_id": [f"{place:06d}" for place in range(len(clusters))],
        "keyword": [f"keyword {code:04d}" for code in clusters.tolist()],
    }
    others = table.astype(np.float32)
    own = others[np.arange(len(targets)), targets].astype(float)
    wanted = [RIVALS.words[place] for place in targets]
    values = dict.fromkeys(SUMMARIZED, np.full(len(targets), np.nan)) | {
        RIVAL_RANK.name: rank_among_rivals(RIVALS, wanted, own, others).rank,
        BITS.name: measure_bits(RIVALS, wanted, columns["keyword"], own, others).bits,
    }
    return pl.DataFrame(columns | values)


@cache
def find_truth(known: float) -> dict[str, float]:
    """Return bits, and statistics of the rank among rivals, over all pairs that there could be."""
    random, parts, bits = np.random.default_rng(0), [], []
    clusters = np.repeat(np.arange(_MANY), _EACH)
    for _ in range(_PARTS):
        targets, (table,) = draw_prompts(random, clusters, [known])
        favour = table - table.mean(axis=0)
        wanted = favour[np.arange(len(targets)), targets]
        parts.append(1.0 + (favour > wanted[:, None]).sum(axis=1))
        own, names = table[np.arange(len(targets)), targets], [str(code) for code in clusters]
        found = measure_bits(
            RIVALS, [RIVALS.words[at] for at in targets], names, own, table.astype(np.float32)
        )
        bits.append(found.bits.mean())
    ranks = np.concatenate(parts)
    among = {each.name: measure_values(ranks, STATISTICS[each.name], 0.2) for each in COMPARED}
    return among | {MEAN.name: float(np.mean(bits))}


def rank_rivals(random: np.random.Generator, shape: Shape, settings: Summary) -> Iterator[Outcome]:
    """Whether intervals of a model and of a difference hold, and what is found between equal models."""
    scores = draw_scores(random, shape, [*[KNOWN] * MODELS, KNOWN + 0.3])
    first, last = next(iter(scores)), next(reversed(scores))
    for row in summarize_scores({first: scores[first]}, settings):
        if row[3] in _MEASURED and row[4] in [each.name for each in _MEASURED[row[3]].compared]:
            yield hold(_name(row[3], row[4]), find_truth(KNOWN)[row[4]], read(*row[5:8]))
    for row in summarize_scores(draw_shuffled(random, shape), settings):
        if row[3] == BITS.name:
            yield hold("bits, prompts shuffled", 0.0, read(*row[5:8]))
    for row in _compare({key: scores[key] for key in (first, last)}, settings):
        truth = abs(find_truth(KNOWN + 0.3)[row[3]] - find_truth(KNOWN)[row[3]])
        sign = 1 if row[4] == last[2] else -1
        yield hold(f"difference of {_name(row[2], row[3])}", sign * truth, read(*row[7:9]))
    rows = _compare({key: frame for key, frame in scores.items() if key != last}, settings)
    for aggregate in dict.fromkeys(row[3] for row in rows):
        some = [row for row in rows if row[3] == aggregate]
        one = next(row for row in some if {row[4], row[5]} == {"model-000", "model-001"})
        what = _name(one[2], aggregate)
        yield Outcome(f"{what}, two equal models: p < 0.05", TEST, read(one[9])[0] < 0.05)
        found = any(row[11] == "yes" for row in some)
        yield Outcome(f"{what}, {MODELS} equal models: any apart", FAMILY, found)


def _name(metric: str, aggregate: str) -> str:
    """Return what a metric, summed up, is called."""
    return "bits" if metric == BITS.name else f"{aggregate} rank among rivals"


def _compare(scores: dict[tuple[str, str, str], pl.DataFrame], settings: Summary) -> list[tuple[object, ...]]:
    """Return the rows of comparisons.csv on bits and on the rank among rivals."""
    resampled = [each for each in resample_scores(scores, settings) if each.metric.name in _MEASURED]
    return tabulate_comparisons(resampled, settings)[0]


class _Drawn(NamedTuple):
    """Models on the pairs of a benchmark, in the order of scoring."""

    tables: list[NDArray[np.float32]]
    targets: NDArray[np.int64]
    keywords: list[str]

    def measure(self, place: int, end: int) -> Array:
        """Return a model's bits times -1 on the first pairs, as if there were no others."""
        targets, others = self.targets[:end], self.tables[place][:end]
        own = others[np.arange(end), targets].astype(float)
        words = [RIVALS.words[target] for target in targets]
        return -measure_bits(RIVALS, words, self.keywords[:end], own, others).bits


def _draw_ordered(random: np.random.Generator, shape: Shape, known: Sequence[float]) -> tuple[Order, _Drawn]:
    """Return models that know so much on a benchmark in the order of scoring."""
    clusters = draw_clusters(random, shape)
    targets, tables = draw_prompts(random, clusters, known)
    ids = [f"{place:06d}" for place in range(len(clusters))]
    keywords = [f"keyword {code:04d}" for code in clusters.tolist()]
    ordered, order = order_pairs(pl.DataFrame({"pair_id": ids, "keyword": keywords, "prompt": ids}))
    rows = ordered["pair_id"].cast(pl.Int64).to_numpy()
    return order, _Drawn(
        [each[rows].astype(np.float32) for each in tables], targets[rows], ordered["keyword"].to_list()
    )


def find_best(random: np.random.Generator, shape: Shape, settings: Summary) -> Iterator[Outcome]:
    """Whether `fathom best` calls one of equal models worse, or the better one, or decides otherwise."""
    models = name_models(MODELS)
    for what, more in (("equal models", 0.0), ("models, one of them better", BETTER)):
        order, drawn = _draw_ordered(random, shape, [KNOWN + more, *[KNOWN] * (MODELS - 1)])
        found = run_study(models, order, drawn.measure)
        wrong = models[0] in found.worse if more else bool(found.worse)
        yield Outcome(f"{MODELS} {what}: {'that one' if more else 'any'} worse", FAMILY, wrong)
        yield Outcome(f"{MODELS} {what}: otherwise than all pairs", FAMILY, found.otherwise)


CASES = (
    Case("comparisons.csv, among rivals", (), rank_rivals, shapes=SMALL, share=0.4),
    Case("fathom best by bits", (), find_best, share=0.4),
)
