"""Tasks of logs: scores of models on single items, by task and metric, and the rankings that follow.

For the page, a task is like a benchmark of a run, and its metric like an order. Models are compared on
common items. Tasks with a common metric make a further one of all their items.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fathom.config.scoring import Summary
from fathom.explorer.run import Compared, Order, Ranked, Ranking
from fathom.io.names import show_count
from fathom.statistics import item_scores
from fathom.statistics.aggregates import MEAN
from fathom.statistics.clusters import Clusters, number_clusters
from fathom.statistics.comparisons import group_models
from fathom.statistics.metrics import METRICS, Metric

Array = NDArray[np.float64]

ITEMS, CLUSTERS = "items", "clusters"
"""Clusters that intervals of scores draw."""


_NOUNS = ("score", "rate", "accuracy", "error", "loss", "perplexity", "similarity", "distance")
"""Ends of metrics' names that say what a value is; `includes` or `choice` do not."""


class Scored(NamedTuple):
    """Scores by one metric of a task.

    `values`: on every item of the task, shape (n_models, n_items); NaN where a model has none. `kept`: items
    that all these models have, shape (n_items,).
    """

    order: Order
    models: list[str]
    values: Array
    kept: NDArray[np.bool_]


@dataclass(frozen=True)
class Task:
    """One task of logs with the scores of all models.

    `items`: columns item, cluster, group, prompt, target, all text, and options, a number. `answers`: what
    each model said of each item; empty for one that all have empty. `parts`: number of tasks that it is made
    of; 1 for one of the logs.
    """

    domain: str
    items: pl.DataFrame
    scored: Mapping[str, Scored]
    answers: Mapping[str, list[str]]
    rankings: Mapping[str, Ranking] = field(default_factory=dict)
    parts: int = 1
    variant: str = ""

    @property
    def title(self) -> str:
        """Its title."""
        return self.domain

    @property
    def label(self) -> str:
        """What it is called among those of its domain: it is the only one."""
        return ""

    @property
    def orders(self) -> Mapping[str, Order]:
        """Its orders of models, by metric."""
        return {name: each.order for name, each in self.scored.items()}

    @property
    def models(self) -> list[str]:
        """All that have a score, by name."""
        return sorted({model for each in self.scored.values() for model in each.models})


def collect_tasks(logs: pl.DataFrame, settings: Summary, notes: list[str]) -> list[Task]:
    """Return the tasks of logs with rankings, all together first where several have a metric in common.

    Parameters
    ----------
    logs : DataFrame
        Columns task, metric, model, item, cluster, group, score, higher_is_better, prompt, target, answer,
        options.
    """
    tasks = [_collect_task(str(name), part, notes) for (name,), part in logs.sort("task", maintain_order=True)
             .group_by("task", maintain_order=True)]  # fmt: skip
    tasks = [each for each in tasks if each.scored]
    whole = _join_tasks(tasks) if len(tasks) > 1 else None
    return [_rank(each, settings) for each in ([whole] if whole else []) + tasks]


def _collect_task(name: str, part: pl.DataFrame, notes: list[str]) -> Task:
    counted = part.group_by("item", maintain_order=True).agg(
        *(
            pl.col(column).filter(pl.col(column) != "").first().fill_null("")
            for column in ("cluster", "group", "prompt", "target")
        ),
        pl.col("options").max(),
    )
    # 2 before 10
    items = counted.sort(
        pl.col("item").str.extract(r"(\d+)$").cast(pl.Int64, strict=False), "item", nulls_last=True
    )
    scored = {}
    for (metric,), rows in part.sort("metric", maintain_order=True).group_by("metric", maintain_order=True):
        found = _collect_scores(f"{name}, {metric}", str(metric), rows, items, notes)
        if found is not None:
            scored[str(metric)] = found
    return Task(name, items, scored, _collect_answers(part, items))


def _collect_scores(
    where: str, metric: str, rows: pl.DataFrame, items: pl.DataFrame, notes: list[str]
) -> Scored | None:
    """Return the scores by one metric; samples of an item are averaged, and items of some models said."""
    known = rows.filter(pl.col("score").is_finite())
    each = known.group_by("model", "item").agg(pl.col("score").mean())
    if len(each) < len(known):
        notes.append(
            f"{where}: {show_count(len(known) - len(each), 'further sample')} of items averaged with the"
            " first."
        )
    wide = items.select("item").join(
        each.sort("model").pivot("model", index="item", values="score"),
        on="item", how="left", maintain_order="left",
    )  # fmt: skip
    names = sorted(column for column in wide.columns if column != "item")
    if not names:
        notes.append(f"{where}: no score is a number.")
        return None
    table = wide.select(names).fill_null(math.nan).to_numpy().T.astype(np.float64)
    models, kept = _find_common(table)
    if len(models) < len(names):
        left = ", ".join(name for place, name in enumerate(names) if place not in models)
        notes.append(f"{where}: {left} left out, for no item is common to all other models and to it.")
    names, table = [names[place] for place in models], table[models]
    asked = ~np.isnan(table).all(axis=0)
    if missing := int((asked & ~kept).sum()):
        some = [f"{name} lacks {count:,}" for name, row in zip(names, table, strict=True)
                if (count := int((np.isnan(row) & asked).sum()))]  # fmt: skip
        notes.append(
            f"{where}: {missing:,} of {int(asked.sum()):,} items are left out, for not all models have them"
            f" ({', '.join(some)})."
        )
    metric_ = describe_metric(metric, table[:, kept], not bool(rows["higher_is_better"].all()))
    return Scored(Order(metric_, MEAN), names, table, kept)


def _find_common(table: Array) -> tuple[list[int], NDArray[np.bool_]]:
    """Return places of models with common items, preferring models with most items, and these items."""
    has = ~np.isnan(table)
    kept, models = np.ones(table.shape[1], dtype=bool), []
    for place in np.argsort(-has.sum(axis=1), kind="stable"):
        if (kept & has[place]).any():
            kept &= has[place]
            models.append(int(place))
    return sorted(models), kept


def describe_metric(name: str, values: Array, low_is_best: bool) -> Metric:
    """Return a metric of logs, inferred from its name and scores.

    Right and wrong, or a mean of some such samples, have the scale from 0 to 1 that intervals of accuracies
    need; other scores have those of the bootstrap.
    """
    base, _, way = name.partition(",")
    known = METRICS.get(base)
    inside = bool(((values >= 0) & (values <= 1)).all())
    least, most = (0.0, 1.0) if inside and item_scores.find_parts(values) else (-math.inf, math.inf)
    plain = base.replace("_", " ")
    label = known.label if known else plain if plain.endswith(_NOUNS) else f"{plain} score"
    label = f"{label} ({way})" if way else label
    unit = "proportion" if inside and not low_is_best else ""
    return Metric(name, label, low_is_best, False, least, most, unit, variant=ITEMS)


def _collect_answers(part: pl.DataFrame, items: pl.DataFrame) -> dict[str, list[str]]:
    first = part.filter(pl.col("answer") != "").group_by("model", "item", maintain_order=True)
    found = first.agg(pl.col("answer").first()).sort("model", maintain_order=True)
    return {
        str(model): items.select("item").join(
            rows, on="item", how="left", maintain_order="left"
        )["answer"].fill_null("").to_list()
        for (model,), rows in found.group_by("model", maintain_order=True)
    }  # fmt: skip


def _join_tasks(tasks: Sequence[Task]) -> Task | None:
    """Return all items of the tasks that share a metric as one task, or None if none is shared.

    Every item counts the same. Models that lack a task do not count.
    """
    shared: dict[str, list[Task]] = {}
    for task in tasks:
        for name, found in task.scored.items():
            shared.setdefault(f"{name} {found.order.metric[2:]}", []).append(task)
    best = max(shared.values(), key=len)
    metrics = [name for name in best[0].scored if all(
        name in task.scored and task.scored[name].order.metric[2:] == best[0].scored[name].order.metric[2:]
        for task in best)]  # fmt: skip
    scored = {}
    for name in metrics:
        parts = [task.scored[name] for task in best]
        models = sorted(set.intersection(*(set(each.models) for each in parts)))
        if len(best) < 2 or not models:
            continue
        values = np.concatenate(
            [each.values[[each.models.index(model) for model in models]] for each in parts], axis=1
        )
        scored[name] = Scored(parts[0].order, models, values, np.concatenate([each.kept for each in parts]))
    if not scored:
        return None
    items = pl.concat(
        task.items.with_columns(
            item=pl.concat_str(pl.lit(f"{task.domain}/"), "item"),
            cluster=pl.when(pl.col("cluster") == "").then(pl.lit("")).otherwise(
                pl.concat_str(pl.lit(f"{task.domain}/"), "cluster")),
            group=pl.lit(task.domain),
        )
        for task in best
    )  # fmt: skip
    return Task(f"{len(best):,} tasks together", items, scored, {}, parts=len(best))


def measure_chance(task: Task, name: str) -> float | None:
    """Return the score by a metric that guessing among the options has; None where it is not known.

    Scores have to be right and wrong, or means of such, and all items' options known.
    """
    scored = task.scored[name]
    options = task.items["options"].filter(pl.Series(scored.kept)).to_numpy()
    metric = scored.order.metric
    if metric.low_is_best or (metric.least, metric.most) != (0.0, 1.0) or (options < 2).any():
        return None
    return float((1 / options).mean())


def choose_item_clusters(task: Task, scored: Scored) -> Clusters:
    """Return the cluster of each item that counts: its own where the logs name no two."""
    names = task.items["cluster"].filter(pl.Series(scored.kept)).to_list()
    codes = number_clusters(names)
    kind = CLUSTERS if len(set(names) - {""}) > 1 else ITEMS
    return Clusters(kind, [f"{code:09d}" for code in codes])


def _rank(task: Task, settings: Summary) -> Task:
    rankings = {name: rank_items(task, each, settings) for name, each in task.scored.items()}
    return replace(task, rankings=rankings)


def rank_items(task: Task, scored: Scored, settings: Summary) -> Ranking:
    """Return models by their mean score, best first, with intervals and letters, and every two of them.

    A single item has no interval.
    """
    values, metric = scored.values[:, scored.kept], scored.order.metric
    clusters = choose_item_clusters(task, scored)
    by_model = dict(zip(scored.models, values, strict=True))
    resampled = item_scores.resample_items(task.domain, by_model, clusters, metric, settings)
    codes = np.unique(np.array(clusters.names), return_inverse=True)[1]
    count = int(codes.max()) + 1
    compared = item_scores.compare_items(resampled, item_scores.compare_signs(values, codes), settings)
    letters = group_models(resampled.order, [each for each, _ in compared])
    ranked = []
    for model in resampled.order:
        value, low, high = item_scores.estimate_mean(
            resampled.models[model], count, metric, settings.confidence
        )
        ends = (low, high) if count > 1 else (math.nan, math.nan)
        ranked.append(Ranked(model, value, *ends, letters[model] if len(scored.models) > 1 else ""))
    pairs = [
        Compared(each.better, each.worse, each.value, each.low, each.high, each.p, each.p_adjusted,
                 each.apart, signs)
        for each, signs in compared
    ]  # fmt: skip
    return Ranking(ranked, pairs, clusters.kind)
