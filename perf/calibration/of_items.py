"""Cases of pages of logs: scores of items, right and wrong or continuous, of models that are equal."""

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl
from perf.calibration.case import FAMILY, POWER, Case, Outcome, Shape, hold
from perf.calibration.of_statistics import Random
from scipy.special import expit
from scipy.stats import norm

from fathom.config.scoring import Summary
from fathom.explorer.item_data import describe_groups, find_least, plan_items
from fathom.explorer.item_tasks import Scored, Task, describe_metric, rank_items
from fathom.explorer.run import Order, Ranking
from fathom.statistics.aggregates import MEAN
from fathom.statistics.sizing import Variances

ACCURACIES = (0.1, 0.3, 0.5, 0.7, 0.9, 0.95)
MODELS = 10
SPREAD = 1.2
"""Standard deviation of items, or of clusters, in logits: models find the same ones hard."""
EACH = 5
"""Items of a cluster."""
_PLACES = norm.ppf((np.arange(20_000) + 0.5) / 20_000) * SPREAD
_RIGHT = {accuracy: float(np.interp(accuracy, *zip(*((expit(level + _PLACES).mean(), level)
                                                    for level in np.linspace(-6, 7, 131)), strict=True)))
          for accuracy in ACCURACIES}  # fmt: skip
"""The logits of a model with each accuracy over all items that there could be."""


def rank_scores(values: np.ndarray, names: Sequence[str], groups: Sequence[str], settings: Summary) -> tuple[
    Task, Scored, Ranking
]:  # fmt: skip
    """Return a task of some scores, shape (n_models, n_items), and its ranking."""
    count = values.shape[1]
    items = pl.DataFrame({"item": [f"{place}" for place in range(count)], "cluster": list(names),
                          "group": list(groups), "prompt": "", "target": ""})  # fmt: skip
    metric = describe_metric("acc", values, low_is_best=False)
    models = [f"model-{place:02d}" for place in range(len(values))]
    scored = Scored(Order(metric, MEAN), models, values, np.ones(count, dtype=bool))
    task = Task("task", items, {"acc": scored}, {})
    return task, scored, rank_items(task, scored, settings)


def _answer(random: Random, hard: np.ndarray, level: float, models: int) -> np.ndarray:
    """Return right and wrong answers of models that are equal, shape (n_models, n_items)."""
    return (random.random((models, len(hard))) < expit(level + hard)).astype(np.float64)


def draw_pair(random: Random, items: int, accuracy: float, gap: float) -> np.ndarray:
    """Return answers of two models, shape (2, n_items).

    `gap` says by how many standard errors of the difference the second one is worse.
    """
    hard = random.normal(0, SPREAD, items)
    chance = expit(_RIGHT[accuracy] + hard)
    error = np.sqrt(2 * float((chance * (1 - chance)).mean()) / items)
    worse = chance * max(0.0, 1 - gap * error / float(chance.mean()))
    return (random.random((2, items)) < np.stack([chance, worse])).astype(np.float64)


def _judge(what: str, values: np.ndarray, names: Sequence[str], truth: float, settings: Summary) -> Iterator[
    Outcome
]:  # fmt: skip
    """Whether intervals hold and equal models are told apart: the first two alone, and all of them."""
    none = [""] * values.shape[1]
    *_, ranking = rank_scores(values[:2], names, none, settings)
    (one,) = ranking.comparisons
    yield hold(
        f"{what}: score", truth, next(each for each in ranking.models if each.model == "model-00")[2:4]
    )
    yield Outcome(f"{what}: two equal models apart", FAMILY, one.apart)
    yield hold(f"{what}: difference of two equal models", 0.0, (one.low, one.high))


def judge_items(random: Random, shape: Shape, settings: Summary) -> Iterator[Outcome]:
    """Items that are independent: by accuracy, and scores between 0 and 1."""
    names = [""] * shape.clusters
    for accuracy, level in _RIGHT.items():
        hard = random.normal(0, SPREAD, shape.clusters)
        values = _answer(random, hard, level, 2)
        yield from _judge(f"accuracy {accuracy:.0%}".replace("%", " %"), values, names, accuracy, settings)
    hard = random.normal(0, SPREAD, shape.clusters)
    values = expit(hard + random.normal(0, 1, (2, shape.clusters)))
    yield from _judge("scores between 0 and 1", values, names, 0.5, settings)


def judge_clusters(random: Random, shape: Shape, settings: Summary) -> Iterator[Outcome]:
    """Clusters of items: those of one are as hard for a model as each other, but each for its own reason."""
    names = [f"cluster {place:04d}" for place in range(shape.clusters) for _ in range(EACH)]
    for accuracy, level in _RIGHT.items():
        hard = np.repeat(random.normal(0, SPREAD * 0.8, (2, shape.clusters)), EACH, axis=1)
        chance = expit(level + hard + random.normal(0, SPREAD * 0.6, shape.clusters * EACH))
        values = (random.random(chance.shape) < chance).astype(np.float64)
        yield from _judge(f"accuracy {accuracy:.0%}".replace("%", " %"), values, names, accuracy, settings)


def judge_many(random: Random, shape: Shape, settings: Summary) -> Iterator[Outcome]:
    """Ten equal models, 45 comparisons: any apart, any without a letter in common, any strong or weak."""
    groups = [f"group {place % 4}" for place in range(shape.clusters)]
    easy = np.array([-1.0, 0.0, 0.5, 2.0])[np.arange(shape.clusters) % 4]
    for accuracy in (0.5, 0.9):
        hard = random.normal(0, SPREAD, shape.clusters) + easy
        values = _answer(random, hard, _RIGHT[accuracy], MODELS)
        task, scored, ranking = rank_scores(values, [""] * shape.clusters, groups, settings)
        what = f"{MODELS} equal models, accuracy about {accuracy:.0%}".replace("%", " %")
        yield Outcome(f"{what}: any apart", FAMILY, any(each.apart for each in ranking.comparisons))
        letters = set.intersection(*(set(each.letters) for each in ranking.models))
        yield Outcome(f"{what}: no letter in common", FAMILY, not letters)
        found = describe_groups(task, scored, settings, 1)["groups"]
        yield Outcome(f"{what}: any strong or weak in 4 groups", FAMILY, any(any(row[-1]) for row in found))


def plan(random: Random, shape: Shape, settings: Summary) -> Iterator[Outcome]:
    """Whether as many items as are said to settle a difference find it: right and wrong, and other scores.

    The difference is the one that needs about as many items as the shape has clusters.
    """
    for accuracy in (0.5, 0.9):
        gap = 2.8 * (0.6 if accuracy == 0.5 else 0.35) / shape.clusters**0.5
        both = _RIGHT[accuracy] + _PLACES
        better, worse = expit(both), expit(both) * (1 - gap / accuracy)
        mean = float((better - worse).mean())
        variance = float((better + worse - 2 * better * worse).mean()) - mean**2
        count, _ = plan_items(Variances(mean, 0.0, variance, 2, 2), 1, 0.95)
        places = random.integers(len(_PLACES), size=count)
        values = (random.random((2, count)) < np.stack([better[places], worse[places]])).astype(np.float64)
        *_, ranking = rank_scores(values, [""] * count, [""] * count, settings)
        what = f"accuracy {accuracy:.0%}: items needed for a power of 80 % find it".replace("%:", " %:")
        yield Outcome(what, POWER, ranking.comparisons[0].apart and ranking.models[0].model == "model-00")


def show_smallest(random: Random, shape: Shape, settings: Summary) -> Iterator[Outcome]:
    """Whether the smallest difference that items are said to show is found; the pilot's models are equal."""
    for accuracy in (0.5, 0.9):
        chance = expit(_RIGHT[accuracy] + random.normal(0, SPREAD, shape.clusters))
        spread = float((2 * chance * (1 - chance)).mean())
        pilot = Variances(0.0, 0.0, spread, shape.clusters, shape.clusters)
        least = find_least(pilot, 1, 0.95, (float(chance.mean()),) * 2) or 0.0
        worse = chance * max(0.0, 1 - least / float(chance.mean()))
        values = (random.random((2, shape.clusters)) < np.stack([chance, worse])).astype(np.float64)
        none = [""] * shape.clusters
        *_, ranking = rank_scores(values, none, none, settings)
        found = ranking.comparisons[0].apart and ranking.models[0].model == "model-00"
        what = f"accuracy {accuracy:.0%}: smallest difference for a power of 80 % found".replace("%:", " %:")
        yield Outcome(what, POWER, found)


_SIZES = tuple(Shape(count) for count in (20, 50, 200, 1000))
CASES = (
    Case("fathom page LOG", (), judge_items, "items", _SIZES, 2.0),
    Case("fathom page LOG, clusters of 5 items", (), judge_clusters, "clusters", _SIZES[:3], 2.0),
    Case("fathom page LOG, ten models", (), judge_many, "items", _SIZES, 1.0),
    Case("fathom page LOG, sizes", (), plan, "items", _SIZES, 2.0),
    Case("fathom page LOG, smallest difference", (), show_smallest, "items", _SIZES, 1.0),
)
