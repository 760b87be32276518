"""Readers of logs by other programs and people, one per format, as models' scores of items.

- lm-evaluation-harness: `samples_TASK_TIME.jsonl` of --log_samples, and the results beside it
- Every Eval Ever: a line for each instance, and the aggregate record beside [EveryEvalEver]
- Inspect: `.eval` and JSON, by its own reader [Inspect]
- plain tables: a line for each model and item
"""

import json
import math
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from fathom.errors import InputError
from fathom.io.delimited import fold_name, read_number, require_distinct, stream_parquet, stream_rows
from fathom.io.files import read_object, require_file
from fathom.jobs.program import explain_imports
from fathom.logs import raw
from fathom.logs.raw import ItemScore, RawLog

SAMPLES = re.compile(r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT[\d.:-]+?)\.jsonl(\.gz)?")
RESULTS = re.compile(r"(.*_)?results_\d{4}-\d\d-\d\dT[\d.:-]+\.json")
_UNFILTERED = "none"
_PLACEHOLDER = "bypass"
"""Metric that --predict_only gives each sample, always 999."""


class _Results(NamedTuple):
    """Results of a call: its model, directions of metrics by task, groups by task."""

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
        raise InputError("the name does not contain the task", str(path), hint)
    task, results = named["task"], _read_results(path, named["time"])
    group = results.groups.get(task, "")
    log = RawLog(str(path), group or task, results.model, folder=_find_folder(results.model))
    rows = [(where, row, _list_scores(row, where, log)) for where, row in raw.read_objects(path)]
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
    """Read the results beside some samples; without them the folder names the model."""
    file = next((each for each in sorted(path.parent.glob("*.json")) if each.stem.endswith(f"_{time}")), None)
    if file is None:
        return _Results(path.resolve().parent.name.replace("__", "/"), {}, {})
    values = read_object(file)
    model = raw.need_text(
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
        raise InputError("not results of lm-evaluation-harness", str(file), "write the log again")
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
    """Return the scores of a sample by metric; count values that are not scores of single items."""
    names = row.get("metrics")
    if not isinstance(names, list):
        raise InputError("no metrics in this line", where, "a log of lm-evaluation-harness 0.4.3 or later")
    found = {}
    for name in map(str, names):
        value = row.get(name)
        if name == _PLACEHOLDER:
            log.leave_out("answer without a score, as --predict_only gives none", where)
        elif isinstance(value, list | dict | str):
            log.leave_out(f"value of {name}, which does not score single items", where)
        elif raw.is_number(value):
            found[name] = float(value)
        else:
            log.leave_out(f"score of {name}: {str(value)!r} is no finite number", where)
    return found


def _describe(row: Mapping[str, Any], part: str, where: str) -> ItemScore:
    number = raw.need_text(row.get("doc_id"), "doc_id", where)
    doc = row["doc"] if isinstance(row.get("doc"), dict) else {}
    requests = _list_requests(row.get("arguments"))
    target, answer = _find_answers(row, requests)
    return ItemScore(
        f"{part}:{number}" if part else number,
        "",
        0.0,
        str(row.get("doc_hash") or doc),
        part or raw.find_group(doc),
        "",
        raw.shorten(requests[0][0] if requests and requests[0] else "", end=True),
        raw.shorten(target),
        raw.shorten(answer),
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
    if isinstance(row.get("target"), list):
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


_DAMAGED = "the aggregate record is damaged, or of another version: write it again"
_ENDINGS = ("_samples.jsonl", ".jsonl")


def read_instances(path: Path) -> list[RawLog]:
    """Read the instances of a record; the aggregate record beside, if it is there, says the metrics.

    Raises
    ------
    InputError
        If a line is not an instance, or a score is not a number.
    """
    metrics = _read_metrics(path)
    found: dict[tuple[str, str], RawLog] = {}
    for where, row in raw.read_objects(path):
        task = raw.need_text(row.get("evaluation_name"), "evaluation_name", where)
        model = raw.need_text(row.get("model_id"), "model_id", where)
        log = found.setdefault((task, model), RawLog(str(path), task, model))
        name, higher = metrics.get(str(row.get("evaluation_result_id")), ("score", None))
        if higher is not None:
            log.higher[name] = higher
        log.items.append(_make_instance(row, name, where))
    return list(found.values())


def _read_metrics(path: Path) -> dict[str, tuple[str, bool | None]]:
    stem = next(
        (path.name.removesuffix(ending) for ending in _ENDINGS if path.name.endswith(ending)), path.name
    )
    aggregate = path.with_name(f"{stem}.json")
    if not aggregate.is_file():
        return {}
    results = read_object(aggregate).get("evaluation_results") or []
    if not isinstance(results, list):
        raise InputError("evaluation_results is not a list", str(aggregate), _DAMAGED)
    return dict(
        _read_metric(result, f"{aggregate}, result {number}")
        for number, result in enumerate(results, start=1)
    )


def _read_metric(result: Any, where: str) -> tuple[str, tuple[str, bool | None]]:
    config = (result.get("metric_config") or {}) if isinstance(result, dict) else None
    if not isinstance(config, dict):
        raise InputError("no object where a result has its metric", where, _DAMAGED)
    name = config.get("metric_kind") or config.get("metric_name") or "score"
    lower = config.get("lower_is_better")
    if not isinstance(name, str) or not isinstance(lower, bool | None):
        raise InputError("metric_kind is not a text, or lower_is_better not a truth value", where, _DAMAGED)
    return str(result.get("evaluation_result_id")), (name, None if lower is None else not lower)


def _make_instance(row: Mapping[str, Any], metric: str, where: str) -> ItemScore:
    asked, judged = _section(row, "input"), _section(row, "evaluation")
    score = raw.take_score(judged.get("score", judged.get("is_correct")), where)
    prompt = raw.write_out(asked.get("raw") or asked.get("formatted"))
    answers = row.get("answer_attribution")
    first = answers[0] if isinstance(answers, list) and answers and isinstance(answers[0], dict) else {}
    return ItemScore(
        raw.need_text(row.get("sample_id"), "sample_id", where),
        metric,
        score,
        prompt or raw.write_out(row.get("sample_hash")),
        raw.find_group(_section(row, "metadata")),
        "",
        raw.shorten(prompt, end=True),
        raw.shorten(_first(asked.get("reference"))),
        raw.shorten(first.get("extracted_value") or _first(_section(row, "output").get("raw"))),
    )


def _section(row: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a part of a record; empty if there is none."""
    value = row.get(name)
    return value if isinstance(value, dict) else {}


def _first(value: Any) -> Any:
    return (value[0] if value else "") if isinstance(value, list) else value


LARGEST_GB = 8
"""Most gigabytes of an unpacked log."""
LARGEST_ENTRY_GB = 1
"""Gigabytes of one file in it, such as a sample: each is read into memory as a whole."""
_ENCRYPTED = 1  # the flag of a file in an archive
_CHUNK = 1 << 20
_WORDS = {"c": 1.0, "p": 0.5, "i": 0.0, "n": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
"""Values of Inspect's scorers in lower case: correct, partial, incorrect, no answer, and truth values."""
_UNREAD = {"messages", "events", "store", "attachments"}
"""Most of a log, of which nothing is shown."""


def _name_fault(error: Exception) -> str:
    """Return what is wrong with a log of Inspect, in a line: of a value its key."""
    from pydantic import ValidationError

    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    lines = str(error).splitlines() or [type(error).__name__]
    return f"{lines[0]} is missing" if isinstance(error, KeyError) else lines[0]


def read_inspect(path: Path) -> RawLog:
    """Read the samples of one evaluation; each scorer is a metric, and each key of its value a further one.

    Samples that ended in an error or are marked invalid, and scores that a scorer left open (NaN) or gives in
    words, are left out and counted.

    Raises
    ------
    InputError
        If the file is not a log of Inspect, is damaged or has no samples, or a score is not a number.
    """
    _check_archive(path)
    with explain_imports(str(path)):
        from ijson import JSONError  # Inspect uses it to read large logs
        from inspect_ai.log import read_eval_log
    from pydantic import ValidationError
    from pydantic_core import PydanticSerializationError

    faults = (ValueError, KeyError, TypeError, OSError, EOFError, zipfile.BadZipFile, zlib.error,
              RecursionError, NotImplementedError, JSONError, ValidationError,
              PydanticSerializationError)  # fmt: skip
    try:
        whole = read_eval_log(str(require_file(path)), exclude_fields=_UNREAD)
    except faults as error:
        what = f"this log cannot be read: {_name_fault(error)}"
        raise InputError(
            what, str(path), "write the log again; `inspect log dump` reads what Inspect does"
        ) from error
    model = whole.eval.model
    # the name of any local model in Inspect's documentation
    folder = str(whole.eval.model_args.get("model_path") or "") if model.endswith("/local") else ""
    log = RawLog(str(path), whole.eval.task, model, folder=folder)
    if whole.status != "success":
        log.left_out[f"evaluation cut short (status {whole.status!r})"] += 1
    for place, sample in enumerate(whole.samples or [], start=1):
        log.items += _list_items(sample, log, f"{path}, sample {place}")
    return log


def is_inspect(path: Path) -> bool:
    """Tell whether a JSON file is a log of Inspect, by its first kilobytes."""
    with path.open("rb") as stream:
        head = stream.read(4096)
    return head.lstrip().startswith(b"{") and b'"eval"' in head and b'"version"' in head


def _check_archive(path: Path) -> None:
    """Check that a log is an archive of acceptable size with unique, intact files."""
    if path.suffix != ".eval":
        return
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            name, count = Counter(each.filename for each in entries).most_common(1)[0] if entries else ("", 0)
            if count > 1:
                raise InputError(f"the log has {name!r} twice", str(path), "write the log again")
            _check_sizes({each.filename: each.file_size for each in entries}, path)
            _check_sums(archive, path)  # Inspect does not look at them
    except (zipfile.BadZipFile, OSError) as error:
        raise InputError(
            "not a log of Inspect: not an intact zip archive", str(path), "write it again"
        ) from error


def _check_sums(archive: zipfile.ZipFile, path: Path) -> None:
    """Raise `InputError` if a file of an archive is encrypted or damaged."""
    for entry in archive.infolist():
        if entry.flag_bits & _ENCRYPTED:
            raise InputError(f"{entry.filename!r} in this log is encrypted", str(path), "write it again")
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            continue  # Inspect unpacks zstd, which Python does from 3.14 on
        try:
            with archive.open(entry) as stream:
                while stream.read(_CHUNK):
                    pass
        except (zipfile.BadZipFile, zlib.error, EOFError) as error:
            raise InputError(
                f"{entry.filename!r} in this log is damaged", str(path), "copy or write it again"
            ) from error


def _check_sizes(sizes: Mapping[str, int], path: Path) -> None:
    """Raise `InputError` if files of an archive are too large to be unpacked."""
    size, largest = sum(sizes.values()), max(sizes, key=sizes.__getitem__, default="")
    if sizes and sizes[largest] > LARGEST_ENTRY_GB * 1e9:
        hint = f"at most {LARGEST_ENTRY_GB} GB are read of one file in a log"
        raise InputError(f"{largest!r} in this log unpacks to {sizes[largest] / 1e9:.1f} GB", str(path), hint)
    if size > LARGEST_GB * 1e9:
        raise InputError(
            f"this log unpacks to {size / 1e9:.0f} GB", str(path), f"at most {LARGEST_GB} GB are read"
        )


def _list_items(sample: Any, log: RawLog, where: str) -> Iterator[ItemScore]:
    if sample.invalidation is not None:
        log.leave_out("sample marked invalid", where)
        return
    if not sample.scores:
        log.leave_out(
            "sample without a score" if not sample.error else "sample that ended in an error", where
        )
        return
    prompt = sample.input if isinstance(sample.input, str) else "\n".join(each.text for each in sample.input)
    target = sample.target if isinstance(sample.target, str) else "; ".join(sample.target)
    known = ItemScore(
        str(sample.id), "", 0.0, json.dumps([prompt, target]), raw.find_group(sample.metadata), "",
        raw.shorten(prompt, end=True), raw.shorten(target), options=len(sample.choices or []),
    )  # fmt: skip
    for scorer, score in sorted(sample.scores.items()):
        values = score.value if isinstance(score.value, dict) else {"": score.value}
        for key, value in values.items():
            metric = f"{scorer}/{key}" if key else scorer
            number = None if isinstance(value, list) else _read_value(value)
            if isinstance(value, list):
                log.leave_out(f"value of {metric}, which does not score single items", where)
            elif value is None or (isinstance(number, float) and math.isnan(number)):
                log.leave_out(f"score that {metric} left open", where)
            elif raw.is_number(number):
                yield known._replace(metric=metric, score=float(number), answer=raw.shorten(score.answer))
            else:
                log.leave_out(f"value of {metric}, a word or infinite and no score", where)


def _read_value(value: Any) -> Any:
    """Return a value as in Inspect's own metrics: words and numbers in text become numbers."""
    if not isinstance(value, str):
        return value
    try:
        return _WORDS.get(value.strip().lower(), float(value))
    except ValueError:
        return _WORDS.get(value.strip().lower(), value)


NEEDED = ("model", "item", "score")
"""Required columns of a table; those of ITEMS are optional."""
_TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def read_score_table(path: Path) -> list[RawLog]:
    """Read a table of scores: CSV, TSV, JSON lines, each also as `.gz`, or Parquet."""
    found: dict[tuple[str, str], RawLog] = {}
    for where, row in list_rows(path):
        missing = [name for name in NEEDED if name not in row]
        if missing:
            raise InputError(
                f"there is no column {', '.join(missing)}", where, f"columns {', '.join(NEEDED)}"
            )
        task, model = (
            _text(row, "task") or path.name.partition(".")[0],
            raw.need_text(row["model"], "model", where),
        )
        log = found.setdefault((task, model), RawLog(str(path), task, model))
        metric = _text(row, "metric") or "score"
        if (higher := _read_truth(row.get("higher_is_better"), where)) is not None:
            log.higher[metric] = higher
        if _is_blank(row["score"]):
            log.leave_out("row without a score", where)
        else:
            log.items.append(_make_item(row, metric, where))
    return list(found.values())


def _is_blank(score: Any) -> bool:
    if isinstance(score, str):
        return score.strip().lower() in {"", "nan", "na", "n/a", "none", "null"}
    return score is None or (isinstance(score, float) and math.isnan(score))


def list_rows(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the rows of a table, each with its place; keys are in lower case."""
    ending = Path(path.name.removesuffix(".gz")).suffix
    rows: Iterator[tuple[str, Mapping[str, Any]]]
    if ending == ".parquet":
        rows = ((f"{path}, row {number}", row) for number, row in stream_parquet(path, 10_000))
    elif ending in (".csv", ".tsv"):
        rows = ((f"{path}, line {number}", row) for number, row in stream_rows(path))
    else:
        rows = raw.read_objects(path)
    for where, row in rows:
        lowered = {name: fold_name(name) for name in row}
        if len({*lowered.values()}) < len(lowered):
            require_distinct([*lowered.values()], where)
        yield where, {lowered[name]: value for name, value in row.items()}


def _make_item(row: Mapping[str, Any], metric: str, where: str) -> ItemScore:
    value = row["score"]
    if isinstance(value, str):
        try:
            value = read_number(value)
        except ValueError:
            value = _TRUTH.get(value.strip().lower(), value)
    elif isinstance(value, Decimal):
        value = float(value)
    item, prompt = raw.need_text(row["item"], "item", where), _text(row, "prompt")
    score = raw.take_score(value, where)
    target, answer = (raw.shorten(_text(row, name)) for name in ("target", "answer"))
    return ItemScore(
        item,
        metric,
        score,
        prompt,
        _text(row, "group"),
        _text(row, "cluster"),
        raw.shorten(prompt, True),
        target,
        answer,
    )


def _text(row: Mapping[str, Any], name: str) -> str:
    """Return a field as text; empty for none."""
    return raw.write_out(row.get(name)).strip()


def _read_truth(value: Any, where: str) -> bool | None:
    """Return a truth value; None if there is none."""
    if value is None or value == "":
        return None
    found = _TRUTH.get(str(value).strip().lower())
    if found is None:
        raise InputError(f"higher_is_better is {str(value)[:40]!r}", where, "true or false")
    return found
