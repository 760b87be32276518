"""Logs of lm-evaluation-harness: `samples_TASK_TIME.jsonl` of --log_samples, and the results beside it."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from fathom.errors import InputError
from fathom.io.files import read_object
from fathom.logs.raw import ItemScore, RawLog, find_group, is_number, need_text, read_objects, shorten

SAMPLES = re.compile(r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT[\d.:-]+?)\.jsonl(\.gz)?")
RESULTS = re.compile(r"(.*_)?results_\d{4}-\d\d-\d\dT[\d.:-]+\.json")
_UNFILTERED = "none"
_PLACEHOLDER = "bypass"
"""Metric that --predict_only gives each sample, always 999."""


class _Results(NamedTuple):
    """What the results of a call say: its model, directions of metrics by task, groups by task."""

    model: str
    higher: Mapping[str, Mapping[str, Any]]
    groups: Mapping[str, str]


def read_harness(path: Path) -> RawLog:
    """Read the samples of one model on one task.

    A task of a group, such as a subject of MMLU, becomes a part of the group. Where answers were filtered in
    several ways, metric and filter together name a metric.

    Parameters
    ----------
    path : Path
        `samples_TASK_TIME.jsonl`; the results of the same time beside it name the model.
    """
    named = SAMPLES.fullmatch(path.name)
    if named is None:
        hint = "keep the name that lm-evaluation-harness gave it"
        raise InputError("the name does not say which task this is", str(path), hint)
    task, results = named["task"], _read_results(path, named["time"])
    group = results.groups.get(task, "")
    log = RawLog(str(path), group or task, results.model, folder=_find_folder(results.model))
    rows = [(where, row, _list_scores(row, where, log)) for where, row in read_objects(path)]
    filters = {str(row.get("filter", _UNFILTERED)) for _, row, _ in rows}
    for where, row, scores in rows:
        about = _describe(row, task if group else "", where)
        for metric, score in scores.items():
            name = f"{metric},{row.get('filter', _UNFILTERED)}" if len(filters) > 1 else metric
            log.items.append(about._replace(metric=name, score=score))
            known = (results.higher.get(task) or {}).get(metric)
            if isinstance(known, bool):
                log.higher[name] = known
    return log


def _read_results(path: Path, time: str) -> _Results:
    """Return what the results beside some samples say; without them the folder names the model."""
    file = next((each for each in sorted(path.parent.glob("*.json")) if each.stem.endswith(f"_{time}")), None)
    if file is None:
        return _Results(path.resolve().parent.name.replace("__", "/"), {}, {})
    values = read_object(file)
    model = need_text(
        values.get("model_name") or path.parent.name.replace("__", "/"), "model_name", str(file)
    )
    higher = values.get("higher_is_better") or {}
    subtasks = values.get("group_subtasks") or {}
    sound = isinstance(higher, dict) and all(
        each is None or isinstance(each, dict) for each in higher.values()
    )
    parts = isinstance(subtasks, dict) and all(
        each is None or isinstance(each, list) for each in subtasks.values()
    )
    if not (sound and parts):
        raise InputError("these are no results of lm-evaluation-harness", str(file), "write the log again")
    scored = {name for name, scores in _list_results(values) if any("," in metric for metric in scores)}
    parents = {
        str(child): name for name, children in subtasks.items() if name in scored for child in children or []
    }
    return _Results(model, higher, {task: _find_top(task, parents) for task in parents})


def _find_folder(model: str) -> str:
    """Return the folder that a model was loaded from; empty for an id on the hub."""
    # an id on the hub has one slash at most
    return model if Path(model).is_absolute() or model.startswith(".") or model.count("/") > 1 else ""


def _list_results(values: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the scores of tasks and groups by name; a group of unlike tasks has none."""
    for part in ("results", "groups"):
        scores = values.get(part)
        if isinstance(scores, dict):
            yield from ((name, each) for name, each in scores.items() if isinstance(each, dict))


def _find_top(task: str, parents: Mapping[str, str]) -> str:
    """Return the outermost group of a task; a group within itself ends the search."""
    seen = {task}
    while task in parents and parents[task] not in seen:
        task = parents[task]
        seen.add(task)
    return task


def _list_scores(row: Mapping[str, Any], where: str, log: RawLog) -> dict[str, float]:
    """Return the scores of a sample by metric; what is no score of single items is counted."""
    names = row.get("metrics")
    if not isinstance(names, list):
        raise InputError(
            "there are no metrics in this line", where, "a log of lm-evaluation-harness 0.4.3 or later"
        )
    found = {}
    for name in map(str, names):
        value = row.get(name)
        if name == _PLACEHOLDER:
            log.leave_out("answers without a score, for --predict_only gives none", where)
        elif isinstance(value, list | dict | str):
            log.leave_out(f"values of {name}, which is no score of single items", where)
        elif is_number(value):
            found[name] = float(value)
        else:
            log.leave_out(f"scores of {name}: {str(value)!r} is no finite number", where)
    return found


def _describe(row: Mapping[str, Any], part: str, where: str) -> ItemScore:
    """Return what a sample says of its item."""
    number = need_text(row.get("doc_id"), "doc_id", where)
    doc = row["doc"] if isinstance(row.get("doc"), dict) else {}
    requests = _list_requests(row.get("arguments"))
    target, answer = _find_answers(row, requests)
    return ItemScore(
        f"{part}:{number}" if part else number,
        "",
        0.0,
        str(row.get("doc_hash") or doc),
        part or find_group(doc),
        "",
        shorten(requests[0][0] if requests and requests[0] else "", end=True),
        shorten(target),
        shorten(answer),
        _count_options(row, requests),
    )


def _list_requests(arguments: Any) -> list[list[Any]]:
    """Return what was asked: a list of arguments for each request, of whichever version."""
    if isinstance(arguments, dict):
        return [list(each.values()) if isinstance(each, dict) else [each] for each in arguments.values()]
    requests = arguments if isinstance(arguments, list) else []
    return [list(each) if isinstance(each, list) else [each] for each in requests]


def _count_options(row: Mapping[str, Any], requests: list[list[Any]]) -> int:
    """Return how many different answers' likelihoods were asked for, one of which is right; 0 if none."""
    # a list of targets: several may be right
    if isinstance(row.get("target"), list) or len(requests) < 2:
        return 0
    answers = {str(request[1:]) for request in requests}
    # of one answer after several beginnings the beginnings are the options
    options = answers if len(answers) > 1 else {str(request[:1]) for request in requests}
    return len(options) if len(options) > 1 else 0


def _find_answers(row: Mapping[str, Any], requests: list[list[Any]]) -> tuple[Any, Any]:
    """Return target and answer as texts; of likelihoods of several options, those options."""
    target, said = row.get("target"), row.get("filtered_resps")
    if not isinstance(said, list) or not said:
        return target, ""
    likely = [each[0] if isinstance(each, list) and each else None for each in said]
    try:
        sums = [float(each) for each in likely if each is not None]
    except (TypeError, ValueError):
        sums = []
    if len(sums) < 2 or len(sums) != len(requests):
        return target, said[0]
    options = [request[1] if len(request) > 1 else "" for request in requests]
    place = int(str(target)) if str(target).isdecimal() else -1
    return options[place] if 0 <= place < len(options) else target, options[sums.index(max(sums))]
