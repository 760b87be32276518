"""Summaries of ranks for tests of figures and tables."""

import csv
import random
from pathlib import Path

from fathom.io.contracts.statistics import SUMMARY


def write_summary(path: Path, rows: list[tuple]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(SUMMARY.names[:-1])
        writer.writerows(rows)
    return path


def make_row(
    model, variant, value, low=None, high=None, *, domain="ml", metric="rank", aggregate="trimmed_mean"
):
    low, high = value * 0.9 if low is None else low, value * 1.2 if high is None else high
    return domain, variant, model, metric, aggregate, value, low, high, 100


def make_summary(path: Path, names: list[str], spread: float = 1.0) -> Path:
    chance = random.Random(len(names))
    rows = []
    for name in names:
        base = 10 ** chance.uniform(1.5, 1.5 + spread)
        rows += [make_row(name, "tf", base), make_row(name, "tfidf", base * chance.uniform(0.7, 0.9))]
    return write_summary(path, rows)


def add_reference(path: Path, spread: float = 1.0) -> Path:
    """Add a reference rank for each model of a summary."""
    chance = random.Random(7)
    with path.open(newline="", encoding="utf-8") as stream:
        names = sorted({row["model"] for row in csv.DictReader(stream)})
    with path.open("a", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows(
            make_row(name, "reference", 10 ** chance.uniform(1, 1 + spread)) for name in names
        )
    return path


def add_geometric_means(path: Path) -> Path:
    """Add the geometric mean of each rank of a summary: half of the trimmed one."""
    with path.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    with path.open("a", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows(
            make_row(row["model"], row["variant"], float(row["value"]) / 2, aggregate="geometric_mean")
            for row in rows
        )
    return path
