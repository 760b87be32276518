"""Scores of models on items, from logs of any program, in one table."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import NamedTuple

import polars as pl

from fathom.errors import InputError
from fathom.io.contracts import column
from fathom.io.contracts.column import Contract
from fathom.io.names import show_count
from fathom.io.paths import find_named_folder
from fathom.io.tables import make_empty_table
from fathom.jobs.program import log as logger
from fathom.logs import readers
from fathom.logs.raw import LOW_IS_GOOD, RawLog, read_objects

ITEMS = Contract(
    "logs, in memory only",
    "Scores of models on the items of tasks, from logs of any program.",
    column.text("task", "benchmark or data set"),
    column.text("metric", "what the score is, such as acc or exact_match"),
    column.ANY_MODEL,
    column.text("item", "id of the item, the same for all models of a task"),
    column.text("cluster", "items that are not independent have one in common; empty: none"),
    column.text("group", "part of the task, such as a subject; empty: none"),
    column.number("score", "score of the model on the item, the mean over its repetitions"),
    column.flag("higher_is_better", "whether a high score is good"),
    column.text("prompt", "end of the question, shortened; may be empty"),
    column.text("target", "right answer; may be empty"),
    column.text("answer", "answer of the model; may be empty"),
    column.count("options", "how many answers were offered, one of them right; 0 if unknown"),
)

_TABLES = (".csv", ".tsv", ".parquet", ".jsonl")
_SEVERAL = ["task", "metric", "model", "item"]


class ItemLogs(NamedTuple):
    """Content of logs: ITEMS, sorted by task, metric, model, item, and notes on what was left out."""

    items: pl.DataFrame
    notes: list[str]


def read_logs(paths: Sequence[Path]) -> ItemLogs:
    """Read logs of other programs.

    Parameters
    ----------
    paths : sequence of Path
        Logs, or folders with logs at any depth: samples of lm-evaluation-harness, logs of Inspect, instances
        of Every Eval Ever, tables with the columns of :data:`NEEDED`. The kind follows from the content.

    Raises
    ------
    InputError
        If a path is not a log, a log is damaged or has no samples, a model has two logs of one task, or an
        item's text differs between models.
    """
    notes: list[str] = []
    left_out: Counter[str] = Counter()
    first: dict[str, str] = {}
    frames: list[tuple[str, pl.DataFrame]] = []
    for path in _list_files(paths, notes):
        found = _read(path)
        if not any(log.items or log.left_out for log in found):
            hint = "write it with its samples"
            raise InputError("no scores of items in this log", str(path), hint)
        for log in found:
            left_out += log.left_out
            first = log.first | first
            if log.items:
                frames.append((log.folder, _make_frame(log)))
    reasons = _tell_left_out(left_out, first)
    if not frames:
        what = f"no scores of items: {'; '.join(reasons)}"
        raise InputError(what, ", ".join(map(str, paths)), "the page needs a task that scores each item")
    notes += [f"Left out: {reason}." for reason in reasons]
    names = _name_folders(folder for folder, _ in frames if folder)
    frame = pl.concat(
        each.with_columns(model=pl.lit(names[folder])) if folder else each for folder, each in frames
    )
    _require_one_log_each(frame)
    _require_same_texts(frame)
    return ItemLogs(_average(frame, notes), notes)


def _tell_left_out(counts: Counter[str], first: Mapping[str, str]) -> list[str]:
    found = []
    for reason, count in sorted(counts.items()):
        item, _, rest = reason.partition(" ")
        where = f" (the first: {first[reason]})" if reason in first else ""
        found.append(f"{show_count(count, item)} {rest}{where}")
    return found


def _list_files(paths: Sequence[Path], notes: list[str]) -> list[Path]:
    found, others = set(), 0
    for path in paths:
        if not path.exists():
            raise InputError("there is no such file or folder", str(path), "check the path")
        if path.is_file():
            found.add(path)
            continue
        inside = [Path(folder, name) for folder, _, names in os.walk(path) for name in names]
        logs = {each for each in inside if each.is_file() and _is_log(each)}
        rest = [each for each in inside if each not in logs and not readers.RESULTS.fullmatch(each.name)]
        faults = [fault for each in sorted(rest) if (fault := _find_fault(each))]
        if not logs:
            hint = "; ".join([_explain(inside), *faults[:1]])
            raise InputError("no log in this folder", str(path), hint)
        others += len(rest) - len(faults)
        if faults:
            notes.append(
                f"Left out: {show_count(len(faults), 'table')} that cannot be read (the first: {faults[0]})."
            )
        found |= logs
    if others:
        notes.append(f"Left out: {show_count(others, 'file')} of other kinds.")
    return sorted(found)


def _explain(inside: Sequence[Path]) -> str:
    if any(readers.RESULTS.fullmatch(path.name) for path in inside):
        return "its results have no samples: call lm_eval with --log_samples"
    return f"lm-evaluation-harness, Inspect, Every Eval Ever, or a table of {', '.join(readers.NEEDED)}"


def _is_log(path: Path) -> bool:
    name = path.name.removesuffix(".gz")
    if readers.SAMPLES.fullmatch(path.name) or name.endswith(".eval"):
        return True
    if name.endswith(".json"):
        return readers.is_inspect(path)
    if name.endswith(_TABLES):
        first = next(iter(_peek(path)), set())
        return {"evaluation_name", "sample_id"} <= first or first >= set(readers.NEEDED)
    return False


def _find_fault(path: Path) -> str:
    """Return what is wrong with a table that cannot be read; nothing of other files."""
    if not path.is_file() or not path.name.removesuffix(".gz").endswith(_TABLES):
        return ""
    try:
        next(iter(readers.list_rows(path)), None)
    except InputError as error:
        return f"{error.where}: {error.what}"
    return ""


def _peek(path: Path) -> Iterator[set[str]]:
    """Yield the names of the fields of a table's first row; none if unreadable."""
    try:
        yield from ({*row} for _, row in readers.list_rows(path))
    except InputError:
        return


def _read(path: Path) -> list[RawLog]:
    if readers.SAMPLES.fullmatch(path.name):
        return [readers.read_harness(path)]
    if path.suffix == ".eval":
        return [readers.read_inspect(path)]
    if readers.RESULTS.fullmatch(path.name):
        raise InputError("these are results without samples", str(path), "call lm_eval with --log_samples")
    if path.suffix == ".json":
        if readers.is_inspect(path):
            return [readers.read_inspect(path)]
        raise InputError("not a log of Inspect", str(path), "give the lines of samples, or a table")
    name = path.name.removesuffix(".gz")
    if not name.endswith(_TABLES):
        raise InputError("not a log", str(path), _explain([]))
    lines = read_objects(path) if name.endswith(".jsonl") else iter(())
    names = next((set(row) for _, row in lines), set())
    if {"evaluation_name", "sample_id"} <= names:
        return readers.read_instances(path)
    if {"doc_id", "filtered_resps"} <= names:
        return [readers.read_harness(path)]
    return readers.read_score_table(path)


def _name_folders(folders: Iterable[str]) -> dict[str, str]:
    """Return a name for each folder of a model: the shortest distinguishing end of its path."""
    whole = {folder: PurePath(folder) for folder in folders}
    taken, parts = set(whole.values()), {}
    for folder, path in whole.items():
        named = find_named_folder(path)
        parts[folder] = (path if named in taken else named).parts  # another model may lie above
    names = {}
    for folder, own in parts.items():
        others = [each for each in parts.values() if each != own]
        depths = (
            depth for depth in range(1, len(own)) if all(each[-depth:] != own[-depth:] for each in others)
        )
        names[folder] = str(PurePath(*own[-next(depths, len(own)) :]))
    return names


def _require_one_log_each(frame: pl.DataFrame) -> None:
    files = frame.group_by(_SEVERAL).agg(pl.col("file").unique().sort())
    twice = files.filter(pl.col("file").list.len() > 1).sort(_SEVERAL)
    if len(twice):
        row = twice.row(0, named=True)
        raise InputError(
            f"{row['model']!r} has two logs of {row['task']!r}",
            " and ".join(row["file"][:2]),
            "leave one out; if these are two models, name them in a table of model, item and score",
        )


def _make_frame(log: RawLog) -> pl.DataFrame:
    columns = ("item", "metric", "score", "text", "group", "cluster", "prompt", "target", "answer", "options")
    kinds = dict.fromkeys(columns, pl.String) | {"score": pl.Float64, "options": pl.Int64}
    frame = pl.DataFrame(log.items, schema=kinds, orient="row")
    guessed = {
        metric: metric.partition(",")[0].lower() not in LOW_IS_GOOD for metric in frame["metric"].unique()
    }
    return frame.with_columns(
        task=pl.lit(log.task),
        model=pl.lit(log.model),
        higher_is_better=pl.col("metric").replace_strict(guessed | log.higher, return_dtype=pl.Boolean),
        text=pl.col("text").hash(),
        file=pl.lit(log.file),
    )


def _require_same_texts(frame: pl.DataFrame) -> None:
    """Check that an item is the same for all models, and that all agree on the good direction."""
    known = frame.filter(pl.col("text") != pl.Series([""]).hash().item())
    files = known.group_by("task", "metric", "item", "text").agg(pl.col("file").min())
    other = files.group_by("task", "metric", "item").agg(pl.col("text").n_unique(), pl.col("file").sort())
    other = other.filter(pl.col("text") > 1).sort("task", "metric", "item")
    if len(other):
        task, _, item, _, between = other.row(0)
        count = other.select("task", "item").n_unique()
        raise InputError(
            f"item {item!r} of {task!r} has another text in another log ({show_count(count, 'item')} in all)",
            " and ".join(between[:2]),
            "models are compared on the same items: make the logs with one version of the task",
        )
    ways = frame.group_by("task", "metric").agg(pl.col("higher_is_better").n_unique(), pl.col("file").first())
    unsure = ways.filter(pl.col("higher_is_better") > 1).sort("task", "metric")
    if len(unsure):
        task, metric, _, file = unsure.row(0)
        raise InputError(
            f"logs differ on whether a high {metric!r} of {task!r} is good", file, "correct one of them"
        )


def _average(frame: pl.DataFrame, notes: list[str]) -> pl.DataFrame:
    shown = ("cluster", "group", "higher_is_better", "prompt", "target", "answer", "options")
    once = frame.group_by(_SEVERAL, maintain_order=True).agg(
        pl.col("score").mean(), *(pl.col(name).first() for name in shown), _times=pl.len()
    )
    repeated = once.filter(pl.col("_times") > 1)
    counts = repeated.group_by("task", "metric").agg(pl.len(), pl.max("_times")).sort("task", "metric")
    for task, metric, count, times in counts.iter_rows():
        notes.append(
            f"{task}, {metric}: {show_count(count, 'score')} averaged over up to {times} repetitions."
        )
    for note in notes:
        logger.info("%s", note)
    names = make_empty_table(ITEMS).columns
    return once.select(names).sort(_SEVERAL)
