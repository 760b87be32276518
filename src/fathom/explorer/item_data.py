"""The data of a page of logs: tasks as benchmarks are in that of a run, and their items in blocks.

Adds what items can show: smallest detectable differences, how to settle the rest, strong and weak groups.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fathom import __version__
from fathom.config.scoring import Summary
from fathom.explorer.advice import ERROR, plan_size
from fathom.explorer.answers import MOST_NAMED, answer, describe_answers, join_names, to_text
from fathom.explorer.data import PageData, has_room, leave_out, pack_json, pack_numbers
from fathom.explorer.item_tasks import (
    CLUSTERS,
    Scored,
    Task,
    choose_item_clusters,
    collect_tasks,
    measure_chance,
)
from fathom.explorer.run import Order
from fathom.explorer.subfields import Keywords, Strengths, measure_residuals, round_rows
from fathom.io.names import show_count
from fathom.models.origins import Origins
from fathom.statistics.clustered_tests import adjust_holm
from fathom.statistics.item_scores import find_parts
from fathom.statistics.sizing import POWERS, Variances, find_smallest, measure_spread

PROMPT, ANSWER = 2_000, 600
"""Characters of a prompt and of an answer in a page; of a longer prompt the end is shown."""

KIND = "items"
"""Name of what the page has instead of pairs."""

_SCORES = ("task", "metric", "place", "model", "value", "ci_low", "ci_high", "groups", "items")
_COMPARISONS = ("task", "metric", "better", "worse", "difference", "ci_low", "ci_high", "p", "p_adjusted",
                "apart", "p_signs")  # fmt: skip


def collect_items(name: str, logs: pl.DataFrame, notes: Sequence[str], settings: Summary) -> PageData:
    """Collect the data of a page of logs; equal logs give equal data.

    `logs`: see :func:`fathom.explorer.item_tasks.collect_tasks`; `notes` are what the readers left out.
    """
    missing = list(notes)
    tasks = collect_tasks(logs, settings, missing)
    blocks: dict[str, str] = {}
    grouped = sum(len(task.scored) for task in tasks if task.items["group"].n_unique() > 1)
    described = []
    for number, task in enumerate(tasks):
        found = _describe_task(task, number, blocks, settings, grouped)
        described.append(found | _add_items(task, number, blocks, missing))
    blocks["tables"], blocks["models"] = pack_json(_collect_tables(tasks)), pack_json([])
    orders = {name: order for task in tasks for name, order in sorted(task.orders.items())}
    overview = {
        "kind": KIND,
        "run": name,
        "version": __version__,
        "confidence": settings.confidence,
        "models": sorted({model for task in tasks for model in task.models}),
        "statistics": [
            {"name": name, "label": order.label, "metric": [name, order.metric.label],
             "aggregate": [order.statistic.name, order.statistic.label]}
            for name, order in sorted(orders.items())
        ],
        "benchmarks": described,
        **{name: [] for name in ("metrics", "baselines", "correlations", "analyses")},
        "questions": {},
        "figures": 0,
        "missing": missing,
    }  # fmt: skip
    first = to_text(answer(tasks[0], next(iter(tasks[0].orders)))) if tasks else ""
    return PageData(overview, blocks, first)


def _describe_task(
    task: Task, number: int, blocks: dict[str, str], settings: Summary, grouped: int
) -> dict[str, Any]:
    found: dict[str, Any] = {
        "id": task.domain,
        "domain": task.domain,
        "title": task.title,
        "variant": "",
        "label": "",
        "models": task.models,
        "pairs": len(task.items),
        "parts": task.parts,
        "manifest": {},
        **describe_answers(task, [task], Origins([], [])),
    }
    for place, (name, scored) in enumerate(task.scored.items()):
        sizes, shown = size_task(task, name), found["statistics"][name]
        count, compared = int(scored.kept.sum()), task.rankings[name].comparisons
        shown["comparisons"] = [[_shorten(each) for each in row] for row in shown["comparisons"]]
        shown["ranking"] = [[_shorten(each) for each in row] for row in shown["ranking"]]
        if text := describe_chance(task, name):
            shown["details"].insert(0, [[text, False]])
        if text := describe_smallest(scored.order, sizes, count, len(compared)):
            shown["details"].append([[text, False]])
        shown |= {
            "kept": count,
            "facts": _list_facts(task, name),
            "unsettled": [[_shorten(each) for each in row] for row in sizes.unsettled],
            "scores": f"scores-{number}-{place}",
            "groups": "",
        }
        if task.items["group"].n_unique() > 1:
            shown["groups"] = f"groups-{number}-{place}"
            blocks[shown["groups"]] = pack_json(describe_groups(task, scored, settings, grouped))
    return found


def _list_facts(task: Task, name: str) -> list[str]:
    scored = task.scored[name]
    count, every = int(scored.kept.sum()), int(scored.kept.size)
    facts = [show_count(count, "item")]
    clusters = choose_item_clusters(task, scored)
    if clusters.kind == CLUSTERS:
        facts.append(
            f"in {show_count(len(set(clusters.names)), 'cluster')}, which intervals and tests draw as a whole"
        )
    if every > count:
        facts.append(f"{every - count:,} left out, for not all models have them")
    groups = task.items["group"].n_unique()
    if groups > 1:
        facts.append(f"{groups:,} {'tasks' if task.parts > 1 else 'groups'}")
    if task.parts > 1:
        facts.append("every item counts the same")
    return [*facts, show_count(len(scored.models), "model")]


def _shorten(value: Any) -> Any:
    return float(f"{value:.6g}") if isinstance(value, float) and math.isfinite(value) else value


def _add_items(task: Task, number: int, blocks: dict[str, str], missing: list[str]) -> dict[str, str]:
    """Add the blocks of a task's items and answers, if the page has room for them; return their ids."""
    found = {"texts": "", "answers": ""}
    if task.parts > 1:  # those of its tasks
        return found
    scores = {f"scores-{number}-{place}": pack_numbers(_spread(task, name))
              for place, name in enumerate(task.scored)}  # fmt: skip
    texts = pack_json(_list_items(task))
    if not has_room(blocks, texts, *scores.values()):
        missing.append(leave_out(task.domain, "items"))
        return found
    blocks |= {**scores, f"texts-{number}": texts}
    found["texts"] = f"texts-{number}"
    if task.answers:
        answers = pack_json(_list_answers(task))
        if has_room(blocks, answers):
            blocks[f"answers-{number}"] = answers
            found["answers"] = f"answers-{number}"
        else:
            missing.append(leave_out(task.domain, "answers"))
    return found


def _spread(task: Task, name: str) -> Any:
    """Return the scores of all models of a task by one metric, shape (n_models, n_items); NaN for none."""
    scored = task.scored[name]
    values = np.full((len(task.models), len(task.items)), np.nan)
    values[[task.models.index(model) for model in scored.models]] = scored.values
    return values


def _list_items(task: Task) -> dict[str, Any]:
    groups = sorted(set(task.items["group"]))
    places = {name: place for place, name in enumerate(groups)}
    return {
        "ids": task.items["item"].to_list(),
        "groups": groups,
        "group": [places[name] for name in task.items["group"]],
        "clusters": task.items["cluster"].to_list() if task.items["cluster"].n_unique() > 1 else [],
        "prompts": [text if len(text) <= PROMPT else f"…{text[-PROMPT:]}" for text in task.items["prompt"]],
        "targets": [_cut(text) for text in task.items["target"]],
    }


def _cut(text: str) -> str:
    return text if len(text) <= ANSWER else f"{text[:ANSWER]}…"


def _list_answers(task: Task) -> dict[str, Any]:
    """Return models' answers: the distinct ones, and the place of each model's answer to each item."""
    cut = [[_cut(text) for text in task.answers.get(model, [""] * len(task.items))] for model in task.models]
    words = sorted(set(chain.from_iterable(cut)))
    places = {word: place for place, word in enumerate(words)}
    return {"words": words, "said": [[places[word] for word in row] for row in cut]}


def _collect_tables(tasks: Sequence[Task]) -> list[dict[str, Any]]:
    scores, compared = [], []
    for task in tasks:
        for name, (models, comparisons, *_) in task.rankings.items():
            count = int(task.scored[name].kept.sum())
            scores += [[task.domain, name, place, each.model, *map(_write, each[1:4]), each.letters, count]
                       for place, each in enumerate(models, start=1)]  # fmt: skip
            compared += [[task.domain, name, each.better, each.worse, *map(_write, each[2:7]),
                          "yes" if each.apart else "no", _write(each.p_signs)]
                         for each in comparisons]  # fmt: skip
    about: Mapping[str, tuple[str, Sequence[str], list[list[Any]]]] = {
        "models.csv": ("models by score, with intervals and letters", _SCORES, scores),
        "comparisons.csv": (
            "every two models: who is ahead, how far, and how surely",
            _COMPARISONS,
            compared,
        ),
    }
    return [
        {"name": name, "about": text, "lines": "", "count": len(rows), "columns": list(columns),
         "rows": [[str(value) for value in row] for row in rows]}
        for name, (text, columns, rows) in about.items()
    ]  # fmt: skip


def _write(value: float) -> str:
    return f"{value:.6g}" if math.isfinite(value) else ""


class Sizes(NamedTuple):
    """What the items of a task can show of its models by one metric.

    `smallest`: the least and the largest of the smallest differences that two models could show, in 80 % of
    such tasks, among all comparisons; empty where nothing is known of them. `unsettled`: better model, worse
    model, their difference, the smallest one that they could show, and the items and clusters that would find
    theirs; the cheapest to settle first. None where that is not known.
    """

    smallest: list[float]
    unsettled: list[tuple[str, str, float, float | None, int | None, int | None]]


def size_task(task: Task, name: str) -> Sizes:
    """Return what the items of a task can show by one metric."""
    scored, compared = task.scored[name], task.rankings[name].comparisons
    values = dict(zip(scored.models, scored.values[:, scored.kept], strict=True))
    clusters, sign = choose_item_clusters(task, scored).names, scored.order.metric.sign
    parts = find_parts(scored.values[:, scored.kept])
    smallest: list[float] = []
    unsettled: list[tuple[str, str, float, float | None, int | None, int | None]] = []
    for each in compared:
        differences = sign * (values[each.better] - values[each.worse])
        if len(set(clusters)) < 2:  # nothing to plan with
            unsettled.append((each.better, each.worse, each.difference, None, None, None))
            continue
        # the smallest p of all must reach this share of the error
        confidence = 1 - ERROR / len(compared)
        pilot = measure_spread(differences, clusters)
        means = (float(values[each.better].mean()), float(values[each.worse].mean()))
        least = find_least(pilot, parts, confidence, means)
        if least:
            smallest.append(least)
        if not each.apart:
            needed = plan_items(pilot, parts, confidence)
            unsettled.append((each.better, each.worse, each.difference, least, *needed))
    unsettled.sort(key=lambda each: (each[4] or math.inf, each[0], each[1]))
    return Sizes([min(smallest), max(smallest)] if smallest else [], unsettled)


def find_least(pilot: Variances, parts: int, confidence: float, means: tuple[float, float]) -> float | None:
    """Return the smallest difference that two models could show in 80 % of such tests.

    Scores that are parts of a point have sums with steps. Models that differ further differ on more items
    than those of a pilot: as many more as if right answers were independent. And the exact test of signs
    needs one step more than a test without steps does.

    Returns
    -------
    float or None
        None where the models are alike on every item.
    """
    each = pilot.pairs / pilot.keywords
    spread = pilot.between + pilot.within / each
    least = find_smallest(pilot, POWERS[0], confidence)
    if not least or not parts:
        return least or None
    error = least**2 / spread  # of one unit of variance
    for _ in range(_STEPS):
        second = (spread + pilot.difference**2) * _foresee(means, least)
        least = math.sqrt(error * max(second - least**2, least / (parts * each) - least**2, 0.0))
    return least + 1 / (parts * pilot.pairs)


_STEPS = 50
"""Of an iteration that comes to rest after about ten."""


def _foresee(means: tuple[float, float], difference: float) -> float:
    """Return how many times more items two models differ on if they differ by so much.

    One of them keeps its mean, the one that leaves more room; 1 for scores that do not lie between 0 and 1.
    """
    low, high = sorted(means)
    now = low + high - 2 * low * high
    if low < 0 or high > 1 or now <= 0:
        return 1.0
    pairs = ((max(high - difference, 0.0), high), (low, min(low + difference, 1.0)))
    return max(one + other - 2 * one * other for one, other in pairs) / now


def plan_items(pilot: Variances, parts: int, confidence: float) -> tuple[int | None, int | None]:
    """Return items and clusters that find a pilot's difference in 80 % of such tests; None for too many.

    Scores that are parts of a point have sums with steps: the exact test of signs needs one step more than a
    test without steps does, so n items must show what n - 1 / (parts |difference|) would.
    """
    items, clusters = plan_size(pilot, confidence)
    if items is None or clusters is None or not parts:
        return items, clusters
    factor = (1 + math.sqrt(1 + 4 / (items * abs(pilot.difference) * parts))) ** 2 / 4
    count = math.ceil(clusters * factor)
    return count * round(items / clusters), count


def describe_chance(task: Task, name: str) -> str:
    """Return the score of guessing among the options, and the models not better; empty if unknown."""
    chance = measure_chance(task, name)
    if chance is None:
        return ""
    order = task.scored[name].order
    guessing = f"Guessing among the options scores {order.show(chance)}"
    # an interval of a single item is not known
    known = [each for each in task.rankings[name].models if math.isfinite(each.low)]
    weak = [each.model for each in known if each.low <= chance]
    if not weak:
        return f"{guessing}: all models are better." if known else f"{guessing}."
    if len(weak) > MOST_NAMED:
        return f"{guessing}: {len(weak):,} models are not shown to be better."
    names = to_text(join_names(weak))
    return f"{guessing}: {names} {'is' if len(weak) == 1 else 'are'} not shown to be better."


def describe_smallest(order: Order, sizes: Sizes, items: int, comparisons: int) -> str:
    """Return a sentence on the smallest difference that items could show; empty if unknown."""
    if not sizes.smallest:
        return ""
    if order.metric.most - order.metric.least < sizes.smallest[0]:
        return f"{show_count(items, 'item')}: too few to find any difference in 80 % of such tests."
    low, high = order.show_differences(*sizes.smallest)
    what = high if low == high.removesuffix(" points") else f"{low} to {high}, depending on the models,"
    many = f", all {comparisons:,} comparisons together" if comparisons > 1 else ""
    return (
        f"With {show_count(items, 'item')} a difference of {what} would be found in 80 % of such tests{many}."
    )


def describe_groups(task: Task, scored: Scored, settings: Summary, tested: int) -> dict[str, Any]:
    """Return groups of items with the mean score of each model, and where it is strong or weak.

    Parameters
    ----------
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
    apart = found.apart & _test_alone(found, np.bincount(codes), (1 - settings.confidence) / tested)
    means = -sign * found.value + 0.0  # not -0
    columns = [round_rows(part, ".4f") for part in (means, found.gain, found.low, found.high)]
    sizes = np.bincount(groups)
    return {
        "groups": [
            [str(name) or "no group", int(sizes[place]), *(column[place] for column in columns),
             apart[place].tolist()]
            for place, name in enumerate(names)
        ],
        "models": scored.models,
    }  # fmt: skip


def _test_alone(found: Strengths, clusters: NDArray[np.int64], error: float) -> NDArray[np.bool_]:
    """Return which gains are not 0 by Student's t, corrected for all of them by Holm's method.

    Scores of easy items vary less than others, which the shuffled items of :func:`measure_residuals` do not
    know: the end of each gain's own interval says how far it is from 0.
    """
    from scipy.special import stdtr, stdtrit

    freedom = np.maximum(clusters - 1.0, 1.0)[:, None]
    gain = found.gain
    reach = np.where(gain > 0, gain - found.low, found.high - gain)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = 2 * stdtr(freedom, stdtrit(freedom, 0.025) * np.abs(gain) / reach)
    return np.asarray(adjust_holm(p.ravel()).reshape(p.shape) <= error)
