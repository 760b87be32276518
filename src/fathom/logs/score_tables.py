"""Plain tables of scores: a line for each model and item."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fathom.errors import InputError
from fathom.io.delimited import require_distinct, stream_parquet, stream_rows
from fathom.logs.raw import ItemScore, RawLog, need_text, read_objects, shorten, take_score, write_out

NEEDED = ("model", "item", "score")
"""Columns that a table has; those of ITEMS may be there, too."""
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
            need_text(row["model"], "model", where),
        )
        log = found.setdefault((task, model), RawLog(str(path), task, model))
        metric = _text(row, "metric") or "score"
        if (higher := _read_truth(row.get("higher_is_better"), where)) is not None:
            log.higher[metric] = higher
        log.items.append(_make_item(row, metric, where))
    return list(found.values())


def list_rows(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the rows of a table, each with its place; keys are in lower case."""
    ending = Path(path.name.removesuffix(".gz")).suffix
    rows: Iterator[tuple[str, Mapping[str, Any]]]
    if ending == ".parquet":
        rows = ((f"{path}, row {number}", row) for number, row in stream_parquet(path, 10_000))
    elif ending in (".csv", ".tsv"):
        rows = ((f"{path}, line {number}", row) for number, row in stream_rows(path))
    else:
        rows = read_objects(path)
    for where, row in rows:
        lowered = {name: name.strip().lower() for name in row}
        if len({*lowered.values()}) < len(lowered):
            require_distinct([*lowered.values()], where)
        yield where, {lowered[name]: value for name, value in row.items()}


def _make_item(row: Mapping[str, Any], metric: str, where: str) -> ItemScore:
    value = row["score"]
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            value = _TRUTH.get(value.strip().lower(), value)
    item, prompt = need_text(row["item"], "item", where), _text(row, "prompt")
    score = take_score(value, where)
    target, answer = (shorten(_text(row, name)) for name in ("target", "answer"))
    return ItemScore(
        item,
        metric,
        score,
        prompt,
        _text(row, "group"),
        _text(row, "cluster"),
        shorten(prompt, True),
        target,
        answer,
    )


def _text(row: Mapping[str, Any], name: str) -> str:
    """Return a field as text; empty for none."""
    return write_out(row.get(name)).strip()


def _read_truth(value: Any, where: str) -> bool | None:
    """Return a truth value; None if there is none."""
    if value is None or value == "":
        return None
    found = _TRUTH.get(str(value).strip().lower())
    if found is None:
        raise InputError(f"higher_is_better is {str(value)[:40]!r}", where, "true or false")
    return found
