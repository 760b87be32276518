"""Tables of models and benchmarks: categories, families, corpora, compute [TrainBeforeTest, Tables 1-4]."""

import math
from collections.abc import Sequence
from typing import Any

import polars as pl

from fathom.benchmark.card import escape_markdown
from fathom.figures.ranking import RankingTables

Table = tuple[tuple[str, ...], list[tuple[Any, ...]]]


def tabulate_categories(tables: RankingTables) -> Table:
    """Return the benchmarks of each category [TrainBeforeTest, Table 1]; corpora have their own row."""
    found: dict[str, list[str]] = {}
    for each in tables.benchmarks.values():
        name = "corpora" if each.corpus else each.category or "no category"
        found.setdefault(name, []).append(each.title)
    return ("category", "benchmarks"), [(name, ", ".join(titles)) for name, titles in found.items()]


def tabulate_families(tables: RankingTables) -> Table:
    """Return the models of each family [TrainBeforeTest, Table 2], base before chat."""
    found: dict[tuple[str, str], list[str]] = {}
    for model in tables.models.values():
        found.setdefault((model.family or "other", model.kind or "unknown"), []).append(model.title)
    rows = [(*key, len(titles), ", ".join(titles)) for key, titles in sorted(found.items())]
    return ("family", "kind", "number", "models"), rows


def tabulate_bits(tables: RankingTables, scores: pl.DataFrame) -> Table:
    """Return every model's score on every corpus [TrainBeforeTest, Table 3]; NaN is empty."""
    corpora = [each for each in tables.benchmarks.values() if each.corpus]
    found = {(row["condition"], row["model"], row["benchmark"]): row["score"] for row in scores.to_dicts()}
    columns = [(condition, corpus) for condition in tables.conditions for corpus in corpora]
    rows = []
    for name, model in tables.models.items():
        values = [found[condition, name, corpus.name] for condition, corpus in columns]
        rows.append((model.title, *("" if math.isnan(value) else f"{value:.3f}" for value in values)))
    header = ("model", *(f"{corpus.title}, {condition}" for condition, corpus in columns))
    return header, rows if corpora else []


def tabulate_compute(tables: RankingTables) -> Table:
    """Return size, training tokens and training compute of the models for which they are known.

    Source: [TrainBeforeTest, Table 4].
    """
    rows = [
        (m.title, f"{m.parameters / 1e9:.2f}", f"{m.tokens / 1e9:.1f}", f"{m.compute / 1e18:.2f}")
        for m in tables.models.values()
        if m.parameters and m.tokens and m.compute
    ]
    return ("model", "parameters (10^9)", "tokens (10^9)", "compute (10^18 FLOP)"), rows


def render_markdown(title: str, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Render a table in Markdown under a heading; cells are shown as they are."""
    return "\n".join([f"## {escape_markdown(title)}", "", render_table(header, rows), ""])


def render_table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Render a table in Markdown; cells are shown as they are."""
    lines = [[escape_markdown(str(cell)) for cell in line] for line in (header, *rows)]
    lines.insert(1, ["---"] * len(header))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
