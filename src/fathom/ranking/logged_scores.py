"""Logs of other programs as a folder of scores that rankings read (docs/ranking.md)."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from fathom.errors import InputError
from fathom.io.contracts.ranking import EXAMPLE_SCORES, KEYWORD, SCORE_TABLE, WEIGHT
from fathom.io.delimited import write_rows
from fathom.io.files import write_atomically, write_json
from fathom.jobs.program import log
from fathom.ranking.condition_files import ERRORS, EXAMPLES, METADATA
from fathom.statistics.clusters import number_clusters


def choose_metrics(items: pl.DataFrame, wanted: Sequence[str]) -> dict[str, str]:
    """Return the metric of each task.

    Raise `InputError` if a task has several metrics, none of which is wanted.
    """
    found, unclear = {}, {}
    for task, names in items.group_by("task").agg(pl.col("metric").unique().sort()).sort("task").iter_rows():
        metric = next((name for name in wanted if name in names), names[0] if len(names) == 1 else None)
        if metric is None:
            unclear[task] = names
        else:
            found[task] = metric
    if unclear:
        each = (f"{task!r} has several metrics: {', '.join(names)}" for task, names in unclear.items())
        choice = " ".join(dict.fromkeys([*wanted, *(names[0] for names in unclear.values())]))
        raise InputError("; ".join(each), "--metric", f"choose one for each, such as --metric {choice}")
    return found


def write_score_folder(
    conditions: Mapping[str, pl.DataFrame], output: Path, wanted: Sequence[str] = ()
) -> None:
    """Write scores, standard errors, examples and metadata of some conditions.

    Of a task count the items that all its models have in all conditions; the log counts the others. Standard
    errors are those of means over clusters of items. Raise `InputError` if models or tasks differ between
    conditions, or the models of a task have no item in common.
    """
    every = pl.concat([frame.with_columns(condition=pl.lit(name)) for name, frame in conditions.items()])
    metrics = choose_metrics(every, wanted)
    chosen = every.filter(pl.col("metric") == pl.col("task").replace_strict(metrics))
    _require_same(chosen, conditions)
    kept = _keep_common(chosen)
    models = sorted(kept["model"].unique())
    with write_atomically(output) as folder:
        folder.mkdir()
        for name in conditions:
            _write_condition(kept.filter(pl.col("condition") == name), name, models, list(metrics), folder)
        write_json(folder / METADATA, _describe(kept, metrics))


def _require_same(chosen: pl.DataFrame, conditions: Mapping[str, pl.DataFrame]) -> None:
    places = chosen.select("task", "model", "condition").unique()
    counts = places.group_by("task", "model").agg(pl.col("condition").sort()).sort("task", "model")
    for task, model, there in counts.iter_rows():
        missing = [name for name in conditions if name not in there]
        if missing:
            what = f"{model!r} has no log of {task!r} in {missing[0]!r}"
            raise InputError(what, there[0], "conditions need the same models and tasks")


def _keep_common(chosen: pl.DataFrame) -> pl.DataFrame:
    """Return the items that all models of a task have in all conditions; log how many others there are."""
    cells = pl.struct("model", "condition").n_unique()
    owners = chosen.group_by("task", "item").agg(_has=cells)
    needed = chosen.group_by("task").agg(_needs=cells)
    counted = owners.join(needed, on="task").with_columns(_all=pl.col("_has") == pl.col("_needs"))
    for task, all_, some in (
        counted.group_by("task").agg(pl.col("_all").sum(), pl.len()).sort("task").iter_rows()
    ):
        if not all_:
            raise InputError(
                "the models have no common item", task, "make the logs with one version of the task"
            )
        if some > all_:
            log.warning("%s: %s of %s items are left out: some model lacks them", task, some - all_, some)
    return chosen.join(counted.filter("_all").select("task", "item"), on=["task", "item"])


def _write_condition(
    kept: pl.DataFrame, name: str, models: Sequence[str], tasks: Sequence[str], folder: Path
) -> None:
    estimates = _estimate(kept)
    for ending, place in (("", 0), (ERRORS, 1)):
        numbers = {key: pair[place] for key, pair in estimates.items()}
        rows = [[model, *(numbers.get((task, model)) for task in tasks)] for model in models]
        write_rows(folder / f"{name}{ending}.csv", rows, SCORE_TABLE, ["model", *tasks])
    (folder / f"{name}{EXAMPLES}").mkdir()
    for (task,), some in kept.group_by("task"):
        if some["model"].n_unique() == len(models):
            wide = some.sort("item").pivot("model", index=["item", "cluster"], values="score").sort("item")
            rows = [[row["item"], row["cluster"] or "", 1.0, *(row[model] for model in models)]
                    for row in wide.iter_rows(named=True)]  # fmt: skip
            path = folder / f"{name}{EXAMPLES}" / f"{task}.csv"
            write_rows(path, rows, EXAMPLE_SCORES, ["example", KEYWORD, WEIGHT, *models])


def _estimate(kept: pl.DataFrame) -> dict[tuple[str, str], tuple[float, float | None]]:
    """Return mean score and its standard error over clusters, None of a single item, by task and model."""
    found: dict[tuple[str, str], tuple[float, float | None]] = {}
    for (task, model), some in kept.sort("item").group_by("task", "model"):
        scores = some["score"].to_numpy()
        sums = np.bincount(number_clusters(some["cluster"].to_list()), scores - scores.mean())
        count, error = len(sums), None
        if count > 1:
            error = math.sqrt(float((sums**2).sum()) * count / (count - 1)) / len(scores)
        found[str(task), str(model)] = float(scores.mean()), error
    return found


def _describe(kept: pl.DataFrame, metrics: Mapping[str, str]) -> dict[str, object]:
    low = kept.filter(~pl.col("higher_is_better"))["task"].unique()
    return {"metric": dict(metrics), "lower_is_better": {task: task in set(low) for task in metrics}}
