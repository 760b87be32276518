"""Benchmarks that others made, on the map of a domain: where their questions lie [CompComp, Fig. 1b]."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from fathom.config.coverage import Coverage
from fathom.coverage.benchmarks import measure_benchmark
from fathom.coverage.sets import Encode, Space
from fathom.errors import InputError
from fathom.io.contracts.coverage import OTHERS_MAP
from fathom.io.delimited import read_fields
from fathom.io.files import read_json_lines


class Found(NamedTuple):
    """What was measured of benchmarks: numbers by benchmark, and a table under OTHERS_MAP."""

    report: dict[str, dict[str, Any]]
    map: pl.DataFrame


def read_questions(path: Path, column: str) -> list[str]:
    """Return the texts in a column of JSON lines (`.jsonl`) or CSV with a header (`.csv`), each once.

    Raise `InputError` if the file has another ending, no such column, a text that is none, or no question.
    """
    if path.suffix == ".jsonl":
        rows: list[dict[str, Any]] = read_json_lines(path)
    elif path.suffix == ".csv":
        (_, header), *lines = read_fields(path, ",")
        rows = [dict(zip(header, fields, strict=True)) for _, fields in lines]
    else:
        raise InputError(
            f"questions are read from .jsonl or .csv, not {path.suffix!r}", str(path), "rename it"
        )
    if not rows:
        raise InputError("the file has no questions", str(path), "check the file")
    for number, row in enumerate(rows, 1):
        if not isinstance(row.get(column), str) or not row[column].strip():
            hint = f"it has {', '.join(map(str, row))}; `column` names the one with the question"
            raise InputError(f"question {number} has no text under {column!r}", str(path), hint)
    return list(dict.fromkeys(row[column].strip() for row in rows))


def map_benchmarks(
    space: Space,
    questions: Mapping[str, list[str]],
    encode: Encode,
    settings: Coverage,
    device: str = "cpu",
    threads: int = 1,
) -> Found:
    """Measure how far the questions of each benchmark cover a domain, and place them all on one map."""
    report, tables = dict[str, dict[str, Any]](), list[pl.DataFrame]()
    for name, texts in questions.items():
        vectors = (encode(texts) * settings.length).astype(np.float32)
        ids = pl.Series([str(number) for number in range(1, len(texts) + 1)])
        found = measure_benchmark(space, vectors, ids, settings, device, threads)
        report[name] = {key.replace("pairs", "questions"): value for key, value in found.report.items()}
        if not tables:
            tables.append(found.map.filter(kind="sentence").with_columns(benchmark=pl.lit("")))
        asked = found.map.filter(kind="pair")
        tables.append(asked.with_columns(benchmark=pl.lit(name), kind=pl.lit("question")))
    return Found(report, pl.concat(tables).select(OTHERS_MAP.names))
