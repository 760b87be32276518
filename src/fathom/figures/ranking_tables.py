"""Tables of models and benchmarks [TrainBeforeTest, Tables 1-4], and what figures of rankings share."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from fathom.benchmark.card import escape_markdown
from fathom.config.ranking import CorpusTable
from fathom.config.short_names import clean_name
from fathom.figures.drawing import require_known
from fathom.figures.style import RANKING_COLORS, TAU_COLOR_MAP, Series, style_families
from fathom.io.contracts import ranking as contracts
from fathom.io.delimited import Row, read_rows
from fathom.jobs.program import log
from fathom.ranking.table import PARTS, Benchmark, Model, read_benchmarks, read_models

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_CONTRACTS = {
    "agreement": contracts.AGREEMENT,
    "pairwise": contracts.PAIRWISE,
    "means": contracts.PAIRWISE,
    "categories": contracts.CATEGORIES,
    "perplexity": contracts.CORPUS_AGREEMENT,
    "pca": contracts.COMPONENTS,
    "pc1": contracts.FIRST_COMPONENT,
    "alignment": contracts.ALIGNMENT,
    "forecast": contracts.FORECAST,
    "preparation": contracts.PREPARATION,
}
_HATCHES = ("", "///", "...", "xxx")


@dataclass(frozen=True)
class RankingTables:
    """The ranking tables of one run, `results/{run}/ranking`, read on first use."""

    folder: Path

    def read(self, name: str) -> list[Row]:
        """Read a table by its name without suffix; raise `InputError` if a column is missing."""
        return read_rows(self.folder / f"{name}.csv", _CONTRACTS[name])

    @cached_property
    def models(self) -> dict[str, Model]:
        """Models by name."""
        return {model.name: model for model in read_models(self.folder / PARTS[2])}

    @cached_property
    def benchmarks(self) -> dict[str, Benchmark]:
        """Benchmarks by name, corpora last."""
        return {each.name: each for each in read_benchmarks(self.folder / PARTS[3])}

    @cached_property
    def conditions(self) -> list[str]:
        """Single conditions, without comparisons of two."""
        return list(dict.fromkeys(row["condition"] for row in self.read("means")))

    @property
    def tested(self) -> str | None:
        """Statistic that counts only significant differences, preferably paired; None if there is none."""
        statistics = {row["statistic"] for row in self.read("means")}
        return next((name for name in ("tau_paired", "tau_significant") if name in statistics), None)

    @cached_property
    def families(self) -> dict[str, Series]:
        """Style of each model family; models without a known family come last."""
        return style_families({model.family for model in self.models.values()})


def condition_style(index: int) -> dict[str, Any]:
    """Return colour and hatch of a condition's bars, by the condition's index."""
    return {"color": condition_color(index), "hatch": _HATCHES[index % 4], "edgecolor": "white"}


def condition_color(index: int) -> str:
    """Return the colour of a condition, by its index."""
    return RANKING_COLORS[index % 8]


def measure_names(names: Iterable[str], size: float = 8.0) -> float:
    """Estimate the width, in inches, of the longest name at a font size in points."""
    return max((len(clean_name(name)) for name in names), default=0) * 0.62 * size / 72


def title_condition(name: str) -> str:
    """Return a condition's name as a heading."""
    name = clean_name(name)
    return name[:1].upper() + name[1:]


def draw_matrix(
    axes: "Axes",
    values: Sequence[Sequence[float]],
    rows: Sequence[str],
    columns: Sequence[str],
    size: float = 8.0,
    lowest: float = 0.0,
) -> Any:
    """Draw a heat map with its numbers, to two decimals; NaN cells stay white.

    `size` is that of the numbers in points, `lowest` the value of the lightest colour; the darkest is 1.
    """
    image = axes.imshow(values, cmap=TAU_COLOR_MAP, vmin=lowest, vmax=1.0, aspect="auto")
    axes.set_xticks(range(len(columns)), [clean_name(name) for name in columns], rotation=45, ha="right",
                    rotation_mode="anchor")  # fmt: skip
    axes.set_yticks(range(len(rows)), [clean_name(name) for name in rows])
    axes.tick_params(length=0)
    axes.grid(False)
    for side in axes.spines.values():
        side.set_visible(False)
    for row, line in enumerate(values):
        for column, value in enumerate(line):
            if not math.isnan(value):
                red, green, blue, _ = image.cmap(float((value - lowest) / (1 - lowest)))
                dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
                axes.text(column, row, f"{value:.2f}", ha="center", va="center", fontsize=size,
                          color="white" if dark else "0.1")  # fmt: skip
    return image


def add_colorbar(figure: "Figure", image: Any, axes: Any, label: str) -> None:
    """Add a colour bar beside axes."""
    bar = figure.colorbar(image, ax=axes, fraction=0.03, pad=0.015)
    bar.set_label(label.replace(", ", ",\n"))  # a long one is longer than a small matrix is high
    bar.outline.set_visible(False)


def label_statistic(statistic: str) -> str:
    """Return the axis label of a statistic."""
    names = {
        "tau_significant": "tau-b, insignificant = tie",
        "tau_paired": "tau-b, insignificant = tie (paired)",
    }
    return names.get(statistic, "Kendall's tau-b")


Table = tuple[tuple[str, ...], list[tuple[Any, ...]]]


def tabulate_categories(tables: RankingTables) -> Table:
    """Return the benchmarks of each category [TrainBeforeTest, Table 1]; corpora have their own row."""
    found: dict[str, list[str]] = {}
    for each in tables.benchmarks.values():
        name = "corpora" if each.corpus else each.category or "no category"
        found.setdefault(name, []).append(each.title)
    return ("category", "benchmarks"), [(name, ", ".join(titles)) for name, titles in found.items()]


def order_models(models: Iterable[Model], families: Sequence[str]) -> list[Model]:
    """Return models by family, those named in their order and before the others; then by size, base first."""
    places = {name: place for place, name in enumerate(families)}

    def find_place(model: Model) -> tuple[Any, ...]:
        family = (places.get(model.family, len(places)), model.family == "", model.family)
        return (*family, model.parameters or math.inf, model.kind != "base")

    return sorted(models, key=find_place)


def tabulate_families(tables: RankingTables, families: Sequence[str] = ()) -> Table:
    """Return the models of each family [TrainBeforeTest, Table 2], base before chat; :func:`order_models`."""
    found: dict[str, dict[str, list[str]]] = {}
    for model in order_models(tables.models.values(), families):
        kinds = found.setdefault(model.family or "other", {})
        kinds.setdefault(model.kind or "unknown", []).append(model.title)
    rows = [
        (family, kind, len(titles), "; ".join(titles))
        for family, kinds in found.items()
        for kind, titles in sorted(kinds.items())
    ]
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


def tabulate_chosen(
    tables: RankingTables, scores: pl.DataFrame, wanted: CorpusTable, titles: Mapping[str, str] | None = None
) -> Table:
    """Return chosen models' scores on corpora in one condition [TrainBeforeTest, Table 3].

    Missing scores are empty, and so are rows of models that were not scored; `titles` may name these.
    """
    known = [each.name for each in tables.benchmarks.values() if each.corpus]
    corpora, condition = wanted.corpora or known, wanted.condition or tables.conditions[0]
    for name in corpora:
        require_known("corpus", name, known, "ranking.corpus_table.corpora")
    require_known("condition", condition, tables.conditions, "ranking.corpus_table.condition")
    chosen = scores.filter(condition=condition)
    found = {(row["model"], row["benchmark"]): row["score"] for row in chosen.to_dicts()}
    # published tables have the owner before the name
    meant = {name.rpartition("/")[2]: name for name in tables.models} | {name: name for name in tables.models}
    called = {name.rpartition("/")[2]: title for name, title in (titles or {}).items()} | dict(titles or {})
    unscored = [name for name in wanted.models if name not in meant]
    if unscored:
        log.info("not in the table of scores: %s (ranking.corpus_table.models)", ", ".join(unscored))
    rows = []
    for name in wanted.models:
        model = tables.models.get(meant.get(name, ""))
        values = [found[model.name, corpus] if model else math.nan for corpus in corpora]
        cells = ("" if math.isnan(value) else f"{value:.3f}" for value in values)
        rows.append((model.title if model else called.get(name, name), *cells))
    return ("model", *(tables.benchmarks[name].title for name in corpora)), rows


def tabulate_compute(tables: RankingTables, families: Sequence[str] = ()) -> Table:
    """Return size, training tokens and compute of models, where known [TrainBeforeTest, Table 4].

    Models are ordered by :func:`order_models`.
    """
    rows = [
        (m.title, f"{m.parameters / 1e9:.2f}", f"{m.tokens / 1e9:.1f}", f"{m.compute / 1e18:.2f}")
        for m in order_models(tables.models.values(), families)
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
