"""The data of a page of logs: tasks as benchmarks are in that of a run, and their items in blocks."""

import math
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import polars as pl

from fathom import __version__
from fathom.config.scoring import Summary
from fathom.explorer.answers import answer, describe_answers
from fathom.explorer.data import PageData, has_room, leave_out
from fathom.explorer.encoding import pack_json, pack_numbers
from fathom.explorer.item_advice import describe_chance, describe_groups, describe_smallest, size_task
from fathom.explorer.item_tasks import CLUSTERS, Task, choose_item_clusters, collect_tasks
from fathom.explorer.wording import to_text
from fathom.models.origins import Origins

PROMPT, ANSWER = 2_000, 600
"""Characters of a prompt and of an answer in a page; of a longer prompt the end is shown."""

KIND = "items"
"""What the page has instead of pairs."""

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
        "metrics": [],
        "baselines": [],
        "correlations": [],
        "analyses": [],
        "questions": {},
        "figures": 0,
        "missing": missing,
    }  # fmt: skip
    first = to_text(answer(tasks[0], next(iter(tasks[0].orders)))) if tasks else ""
    return PageData(overview, blocks, first)


def _describe_task(
    task: Task, number: int, blocks: dict[str, str], settings: Summary, grouped: int
) -> dict[str, Any]:
    """Return rankings and sentences of a task by metric; add the blocks of its groups."""
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
            "unit": "%" if scored.order.is_share else "",
            "low": scored.order.metric.low_is_best,
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
    """Return how large a task is by one metric."""
    scored = task.scored[name]
    count, every = int(scored.kept.sum()), int(scored.kept.size)
    facts = [f"{count:,} item{'' if count == 1 else 's'}"]
    clusters = choose_item_clusters(task, scored)
    if clusters.kind == CLUSTERS:
        facts.append(f"in {len(set(clusters.names)):,} clusters, which intervals and tests draw as a whole")
    if every > count:
        facts.append(f"{every - count:,} that not all models have left out")
    groups = task.items["group"].n_unique()
    if groups > 1:
        facts.append(f"{groups:,} {'tasks' if task.parts > 1 else 'groups'}")
    if task.parts > 1:
        facts.append("every item counts the same")
    models = len(scored.models)
    return [*facts, f"{models:,} model{'' if models == 1 else 's'}"]


def _shorten(value: Any) -> Any:
    """Return a number with six significant digits; anything else as it is."""
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
    import numpy as np

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
    """Return what models said: different answers, and the place of each model's answer to each item."""
    cut = [[_cut(text) for text in task.answers.get(model, [""] * len(task.items))] for model in task.models]
    words = sorted(set(chain.from_iterable(cut)))
    places = {word: place for place, word in enumerate(words)}
    return {"words": words, "said": [[places[word] for word in row] for row in cut]}


def _collect_tables(tasks: Sequence[Task]) -> list[dict[str, Any]]:
    """Return what the page has as tables: models, and every two of them, by task and metric."""
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
    """Return a number as a table has it; nothing for NaN."""
    return f"{value:.6g}" if math.isfinite(value) else ""
