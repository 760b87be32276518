"""Records of Every Eval Ever: a line for each instance, and the aggregate record beside [EveryEvalEver]."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fathom.errors import InputError
from fathom.io.files import read_object
from fathom.logs.raw import (
    ItemScore,
    RawLog,
    find_group,
    need_text,
    read_objects,
    shorten,
    take_score,
    write_out,
)

_DAMAGED = "the aggregate record is damaged, or of another version: write it again"
_ENDINGS = ("_samples.jsonl", ".jsonl")


def read_instances(path: Path) -> list[RawLog]:
    """Read the instances of a record; the aggregate record beside, if it is there, says the metrics.

    Raises
    ------
    InputError
        If a line is no instance, or a score is no number.
    """
    metrics = _read_metrics(path)
    found: dict[tuple[str, str], RawLog] = {}
    for where, row in read_objects(path):
        task = need_text(row.get("evaluation_name"), "evaluation_name", where)
        model = need_text(row.get("model_id"), "model_id", where)
        log = found.setdefault((task, model), RawLog(str(path), task, model))
        name, higher = metrics.get(str(row.get("evaluation_result_id")), ("score", None))
        if higher is not None:
            log.higher[name] = higher
        log.items.append(_make_item(row, name, where))
    return list(found.values())


def _read_metrics(path: Path) -> dict[str, tuple[str, bool | None]]:
    """Return name and direction of each metric of the aggregate record, by the id of its result."""
    stem = next(
        (path.name.removesuffix(ending) for ending in _ENDINGS if path.name.endswith(ending)), path.name
    )
    aggregate = path.with_name(f"{stem}.json")
    if not aggregate.is_file():
        return {}
    results = read_object(aggregate).get("evaluation_results") or []
    if not isinstance(results, list):
        raise InputError("evaluation_results is no list", str(aggregate), _DAMAGED)
    return dict(
        _read_metric(result, f"{aggregate}, result {number}")
        for number, result in enumerate(results, start=1)
    )


def _read_metric(result: Any, where: str) -> tuple[str, tuple[str, bool | None]]:
    """Return the id of a result, with name and direction of its metric."""
    config = (result.get("metric_config") or {}) if isinstance(result, dict) else None
    if not isinstance(config, dict):
        raise InputError("no object where a result has its metric", where, _DAMAGED)
    name = config.get("metric_kind") or config.get("metric_name") or "score"
    lower = config.get("lower_is_better")
    if not isinstance(name, str) or not isinstance(lower, bool | None):
        raise InputError("metric_kind is no text, or lower_is_better no truth value", where, _DAMAGED)
    return str(result.get("evaluation_result_id")), (name, None if lower is None else not lower)


def _make_item(row: Mapping[str, Any], metric: str, where: str) -> ItemScore:
    asked, judged = _section(row, "input"), _section(row, "evaluation")
    score = take_score(judged.get("score", judged.get("is_correct")), where)
    prompt = write_out(asked.get("raw") or asked.get("formatted"))
    answers = row.get("answer_attribution")
    first = answers[0] if isinstance(answers, list) and answers and isinstance(answers[0], dict) else {}
    return ItemScore(
        need_text(row.get("sample_id"), "sample_id", where),
        metric,
        score,
        prompt or write_out(row.get("sample_hash")),
        find_group(_section(row, "metadata")),
        "",
        shorten(prompt, end=True),
        shorten(_first(asked.get("reference"))),
        shorten(first.get("extracted_value") or _first(_section(row, "output").get("raw"))),
    )


def _section(row: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a part of a record; empty if there is none."""
    value = row.get(name)
    return value if isinstance(value, dict) else {}


def _first(value: Any) -> Any:
    return (value[0] if value else "") if isinstance(value, list) else value
