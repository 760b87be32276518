"""Tables of models and benchmarks: categories, families, corpora, compute [TrainBeforeTest, Tables 1-4]."""

import math
from collections.abc import Sequence
from typing import Any

import polars as pl

from fathom.benchmark.card import escape_markdown
from fathom.config.ranking import CorpusTable
from fathom.errors import InputError
from fathom.figures.ranking import RankingTables
from fathom.jobs.program import log

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
    """Return every model's score on every corpus; NaN is empty."""
    corpora = [each for each in tables.benchmarks.values() if each.corpus]
    found = {(row["condition"], row["model"], row["benchmark"]): row["score"] for row in scores.to_dicts()}
    columns = [(condition, corpus) for condition in tables.conditions for corpus in corpora]
    rows = []
    for name, model in tables.models.items():
        values = [found[condition, name, corpus.name] for condition, corpus in columns]
        rows.append((model.title, *("" if math.isnan(value) else f"{value:.3f}" for value in values)))
    header = ("model", *(f"{corpus.title}, {condition}" for condition, corpus in columns))
    return header, rows if corpora else []


def tabulate_chosen(tables: RankingTables, scores: pl.DataFrame, wanted: CorpusTable) -> Table:
    """Return chosen models' scores on corpora in one condition [TrainBeforeTest, Table 3].

    A missing score is empty. So is the row of a model that was not scored, as in a run of fewer models.
    """
    known = [each.name for each in tables.benchmarks.values() if each.corpus]
    corpora = [_require_known(name, known, "corpora") for name in wanted.corpora] or known
    condition = _require_known(wanted.condition or tables.conditions[0], tables.conditions, "condition")
    chosen = scores.filter(condition=condition)
    found = {(row["model"], row["benchmark"]): row["score"] for row in chosen.to_dicts()}
    # published tables have the owner before the name
    meant = {name.rpartition("/")[2]: name for name in tables.models} | {name: name for name in tables.models}
    unscored = [name for name in wanted.models if name not in meant]
    if unscored:
        log.info("not in the table of scores: %s (ranking.corpus_table.models)", ", ".join(unscored))
    rows = []
    for name in wanted.models:
        model = tables.models.get(meant.get(name, ""))
        values = [found[model.name, corpus] if model else math.nan for corpus in corpora]
        cells = ("" if math.isnan(value) else f"{value:.3f}" for value in values)
        rows.append((model.title if model else name, *cells))
    return ("model", *(tables.benchmarks[name].title for name in corpora)), rows


def _require_known(name: str, known: Sequence[str], key: str) -> str:
    if name not in known:
        what, where = f"the table of scores has no {name!r}", f"ranking.corpus_table.{key}"
        raise InputError(what, where, f"known: {', '.join(known) or 'none'}")
    return name


def tabulate_compute(tables: RankingTables) -> Table:
    """Return size, training tokens and compute of models, where known [TrainBeforeTest, Table 4]."""
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
