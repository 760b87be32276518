"""Write the scores of tunings as a folder that rankings read (docs/ranking.md)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from fathom.config.tuning import Metric, Task
from fathom.errors import InputError
from fathom.io.contracts.jobs import TUNING
from fathom.io.contracts.ranking import EXAMPLE_SCORES, KEYWORD, SCORE_TABLE, WEIGHT
from fathom.io.delimited import write_rows
from fathom.io.files import write_json

CONDITIONS = {"direct_eval": "direct", "train_before_test": "chosen"}
"""Tables of the folder, and which score of a report each holds, with its standard error."""

_NAMES: dict[Metric, str] = {"trimmed_mean_rank": "rank"}

Reports = Mapping[tuple[str, str], Mapping[str, Any]]
"""Reports of tunings by model and task."""


def write_scores(folder: Path, reports: Reports, tasks: Mapping[str, Task]) -> None:
    """Write a folder of scores: tables and standard errors for each condition, and metadata.

    Raise `InputError` if a model lacks a task; see :func:`fathom.tuning.experiment.describe_results`.
    """
    models = list(dict.fromkeys(model for model, _ in reports))
    lacking = [(model, task) for model in models for task in tasks if (model, task) not in reports]
    if lacking:
        model, task = lacking[0]
        raise InputError(
            f"{len(lacking)} of {len(models) * len(tasks)} tunings are missing, {model} on {task} among them",
            "train_before_test",
            "every model is tuned for every task",
        )
    for name, key in CONDITIONS.items():
        for file, score in ((f"{name}.csv", key), (f"{name}_stderr.csv", f"{key}_error")):
            rows = [[model, *(float(reports[model, task][score]) for task in tasks)] for model in models]
            write_rows(folder / file, rows, SCORE_TABLE, ["model", *tasks])
    texts = [name for name, task in tasks.items() if task.kind == "text"]
    write_json(
        folder / "metadata.json",
        {
            "tasks": [name for name in tasks if name not in texts],
            "perplexity_tasks": texts,
            "metric": {name: _NAMES.get(task.scored_by, task.scored_by) for name, task in tasks.items()},
            "task_category": {name: task.category for name, task in tasks.items() if task.category},
        },
    )


def pick_outcomes(report: Mapping[str, Any], score: str) -> str:
    """Return which outcomes a score of a report comes from: direct or tuned."""
    if score == "chosen":
        return "tuned" if report["improved"] else "direct"
    return score


def write_examples(path: Path, outcomes: Mapping[str, pl.DataFrame], conditions: Mapping[str, str]) -> None:
    """Write each model's score on each test example of one task as columns, for paired tests.

    `conditions` says, by model, whether its score is the direct or the tuned one.
    """
    columns = {
        model: frame.filter(pl.col("condition") == conditions[model]).sort("example_id")
        for model, frame in outcomes.items()
    }
    names = next(iter(columns.values()))["example_id"].to_list()
    different = [model for model, frame in columns.items() if frame["example_id"].to_list() != names]
    if different:
        what = f"{different[0]} and {next(iter(columns))} were scored on different examples"
        raise InputError(what, str(path), "run it again")
    first = next(iter(columns.values()))
    values = [(frame["value"] / frame["weight"]).to_list() for frame in columns.values()]
    rows = zip(names, first["keyword"].to_list(), first["weight"].to_list(), *values, strict=True)
    write_rows(path, rows, EXAMPLE_SCORES, ["example", KEYWORD, WEIGHT, *columns])


def list_rows(reports: Reports) -> list[list[Any]]:
    """Return the lines of tuning.csv."""
    rows = []
    for (model, task), report in reports.items():
        templates = {f"{when}_template": kind for when, kind in report["templates"].items()}
        flat = {**report, "model": model, "task": task, **templates}
        rows.append([flat[column] for column in TUNING.names])
    return rows
