"""What items of logs can show: smallest differences, what would settle the rest, strong and weak groups."""

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from fathom.config.scoring import Summary
from fathom.explorer.advice import ERROR, plan_size
from fathom.explorer.item_tasks import Scored, Task, choose_item_clusters
from fathom.explorer.run import Order
from fathom.explorer.subfields import Keywords, measure_residuals
from fathom.statistics.sizing import POWERS, find_smallest, measure_spread

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Sizes(NamedTuple):
    """What the items of a task can show of its models by one metric.

    Attributes
    ----------
    smallest : list of float
        The least and the largest of the smallest differences that two models could show, in 80 % of such
        tasks, among all comparisons; empty where nothing is known of them.
    unsettled : list of tuple
        Better model, worse model, their difference, the smallest one that they could show, and the items and
        clusters that would find theirs; the cheapest to settle first. None where that is not known.
    """

    smallest: list[float]
    unsettled: list[tuple[str, str, float, float | None, int | None, int | None]]


def size_task(task: Task, name: str) -> Sizes:
    """Return what the items of a task can show by one metric."""
    scored, compared = task.scored[name], task.rankings[name].comparisons
    values = dict(zip(scored.models, scored.values[:, scored.kept], strict=True))
    clusters, sign = choose_item_clusters(task, scored).names, scored.order.metric.sign
    smallest, unsettled = [], []
    for each in compared:
        differences = sign * (values[each.better] - values[each.worse])
        if len(set(clusters)) < 2:
            return Sizes([], [])
        # the smallest p of all must reach this share of the error
        confidence = 1 - ERROR / len(compared)
        pilot = measure_spread(differences, clusters)
        least = find_smallest(pilot, POWERS[0], confidence)
        if least:
            smallest.append(least)
        if not each.apart:
            needed = plan_size(pilot, confidence)
            unsettled.append((each.better, each.worse, each.difference, least or None, *needed))
    unsettled.sort(key=lambda each: (each[4] or math.inf, each[0], each[1]))
    return Sizes([min(smallest), max(smallest)] if smallest else [], unsettled)


def describe_smallest(order: Order, sizes: Sizes, items: int, comparisons: int) -> str:
    """Return a sentence on the smallest difference that items could show; nothing where it is not known."""
    if not sizes.smallest:
        return ""
    low, high = order.show_differences(*sizes.smallest)
    what = high if low == high.removesuffix(" points") else f"{low} to {high}, depending on the models,"
    many = f", all {comparisons:,} comparisons together" if comparisons > 1 else ""
    return f"With {items:,} items a difference of {what} would be found in 80 % of such tests{many}."


def describe_groups(task: Task, scored: Scored, settings: Summary, tested: int) -> dict[str, Any]:
    """Return groups of items with the mean score of each model, and where it is strong or weak.

    Parameters
    ----------
    task : Task
    scored : Scored
    settings : Summary
    tested : int
        How many tables of groups the page has: models count as strong or weak anywhere by mistake with a
        chance of at most 1 - confidence.

    Returns
    -------
    dict
        `groups`: name, number of items, and by model the mean, how much better it is than expected from the
        model's own mean and that of the group, the interval of that, and whether it is strong or weak.
        Nothing where there are no two groups.
    """
    import numpy as np

    kept = task.items.filter(scored.kept)
    names, groups = np.unique(kept["group"].to_numpy().astype(str), return_inverse=True)
    if len(names) < 2:
        return {"groups": []}
    clusters = np.unique(np.array(choose_item_clusters(task, scored).names), return_inverse=True)[1]
    # what is drawn is a cluster, or the part of it that a group has
    both = groups.astype(np.int64) * (int(clusters.max()) + 1) + clusters
    units, places = np.unique(both, return_inverse=True)
    codes = units // (int(clusters.max()) + 1)
    sign = scored.order.metric.sign
    values = -sign * scored.values[:, scored.kept]
    sums = np.stack([np.bincount(places, row).astype(np.float64) for row in values], axis=1)
    counts = np.bincount(places).astype(np.int64)
    found = measure_residuals(Keywords([], counts, sums), codes, settings, tested)
    means = -sign * found.rank + 0.0  # not -0
    columns = [_round(part) for part in (means, found.factor, found.low, found.high)]
    sizes = np.bincount(groups)
    return {
        "groups": [
            [str(name) or "no group", int(sizes[place]), *(column[place] for column in columns),
             found.apart[place].tolist()]
            for place, name in enumerate(names)
        ],
        "models": scored.models,
    }  # fmt: skip


def _round(values: "NDArray[np.float64]") -> list[list[float | None]]:
    """Return numbers with four decimals; None for NaN."""
    return [[round(value, 4) if math.isfinite(value) else None for value in row] for row in values.tolist()]
