"""Logs of Inspect, `.eval` and JSON, by its own reader [Inspect]."""

import json
import math
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fathom.errors import InputError
from fathom.io.files import require_file
from fathom.jobs.extras import explain_imports
from fathom.logs.raw import ItemScore, RawLog, find_group, is_number, shorten

LARGEST_GB = 8
"""Gigabytes that a log may hold when it is unpacked."""
LARGEST_ENTRY_GB = 1
"""Gigabytes of one file in it, such as a sample: each is read into memory as a whole."""
_WORDS = {"c": 1.0, "p": 0.5, "i": 0.0, "n": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
"""Values of Inspect's scorers in lower case: correct, partial, incorrect, no answer, and truth values."""
_UNREAD = {"messages", "events", "store", "attachments"}
"""Most of a log, of which nothing is shown."""


def read_inspect(path: Path) -> RawLog:
    """Read the samples of one evaluation; each scorer is a metric, and each key of its value a further one.

    Samples that ended in an error or are marked invalid, and scores that a scorer left open (NaN) or gives in
    words, are left out and counted.

    Raises
    ------
    InputError
        If the file is no log of Inspect, is damaged or has no samples, or a score is no number.
    """
    _check_size(path)
    with explain_imports(str(path)):
        from inspect_ai.log import read_eval_log
    from pydantic import ValidationError
    from pydantic_core import PydanticSerializationError

    faults = (ValueError, KeyError, TypeError, OSError, EOFError, zipfile.BadZipFile, zlib.error,
              RecursionError, NotImplementedError, ValidationError, PydanticSerializationError)  # fmt: skip
    try:
        whole = read_eval_log(str(require_file(path)), exclude_fields=_UNREAD)
    except faults as error:
        what = (
            f"this log cannot be read: {str(error).splitlines()[0] if str(error) else type(error).__name__}"
        )
        raise InputError(
            what, str(path), "write the log again; `inspect log dump` reads what Inspect does"
        ) from error
    model = whole.eval.model
    # what Inspect's documentation calls any model of a folder
    folder = str(whole.eval.model_args.get("model_path") or "") if model.endswith("/local") else ""
    log = RawLog(str(path), whole.eval.task, model, folder=folder)
    if whole.status != "success":
        log.left_out[f"the end of an evaluation whose status is {whole.status!r}"] += 1
    for place, sample in enumerate(whole.samples or [], start=1):
        log.items += _list_items(sample, log, f"{path}, sample {place}")
    return log


def is_inspect(path: Path) -> bool:
    """Tell whether a JSON file is a log of Inspect, by its first kilobytes."""
    with path.open("rb") as stream:
        head = stream.read(4096)
    return head.lstrip().startswith(b"{") and b'"eval"' in head and b'"version"' in head


def _check_size(path: Path) -> None:
    """Check that a log is an archive of a bearable size, without unpacking it."""
    if path.suffix != ".eval":
        return
    try:
        with zipfile.ZipFile(path) as archive:
            sizes = {each.filename: each.file_size for each in archive.infolist()}
    except (zipfile.BadZipFile, OSError) as error:
        raise InputError(
            "this is no log of Inspect: no whole zip archive", str(path), "write it again"
        ) from error
    size, largest = sum(sizes.values()), max(sizes, key=sizes.__getitem__, default="")
    if sizes and sizes[largest] > LARGEST_ENTRY_GB * 1e9:
        raise InputError(
            f"{largest!r} in this log unpacks to {sizes[largest] / 1e9:.1f} GB",
            str(path),
            f"at most {LARGEST_ENTRY_GB} GB are read of one file in a log",
        )
    if size > LARGEST_GB * 1e9:
        raise InputError(
            f"this log unpacks to {size / 1e9:.0f} GB", str(path), f"at most {LARGEST_GB} GB are read"
        )


def _list_items(sample: Any, log: RawLog, where: str) -> Iterator[ItemScore]:
    if sample.invalidation is not None:
        log.leave_out("samples marked invalid", where)
        return
    if not sample.scores:
        log.leave_out(
            "samples without a score" if not sample.error else "samples that ended in an error", where
        )
        return
    prompt = sample.input if isinstance(sample.input, str) else "\n".join(each.text for each in sample.input)
    target = sample.target if isinstance(sample.target, str) else "; ".join(sample.target)
    known = ItemScore(
        str(sample.id), "", 0.0, json.dumps([prompt, target]), find_group(sample.metadata), "",
        shorten(prompt, end=True), shorten(target), options=len(sample.choices or []),
    )  # fmt: skip
    for scorer, score in sorted(sample.scores.items()):
        values = score.value if isinstance(score.value, dict) else {"": score.value}
        for key, value in values.items():
            metric = f"{scorer}/{key}" if key else scorer
            number = None if isinstance(value, list) else _read_value(value)
            if isinstance(value, list):
                log.leave_out(f"values of {metric}, which is no score of single items", where)
            elif value is None or (isinstance(number, float) and math.isnan(number)):
                log.leave_out(f"scores that {metric} left open", where)
            elif is_number(number):
                yield known._replace(metric=metric, score=float(number), answer=shorten(score.answer))
            else:
                log.leave_out(f"values of {metric} in words, or without end, which are no scores", where)


def _read_value(value: Any) -> Any:
    """Return a value as Inspect's own metrics take it: words and numbers in text are numbers."""
    if not isinstance(value, str):
        return value
    try:
        return _WORDS.get(value.strip().lower(), float(value))
    except ValueError:
        return _WORDS.get(value.strip().lower(), value)
