"""Maps of a domain: what benchmarks or questions cover, and how a corpus grows [CompComp, Figs. 1b, 3, 4].

Also the effect of t_c on a corpus: size, coverage and redundancy against random corpora [CompComp, Sec. 5.5].
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from fathom.config.benchmark import VARIANTS
from fathom.config.short_names import clean_name, label_variant
from fathom.errors import InputError
from fathom.figures.drawing import DrawnFigure, FigureSettings, Inputs, Parts
from fathom.figures.panels import add_legend, describe_count, entitle_set, list_handles, make_panels
from fathom.figures.style import VARIANT_SERIES, Series, make_figure, style_variant, wrap_name
from fathom.io import paths
from fathom.io.contracts.coverage import CORRELATIONS_VARIED, COVERAGE_MAP, EXPANSION_MAP, OTHERS_MAP
from fathom.io.contracts.figures import BENCHMARKS_MAP, EXPANSIONS_MAP
from fathom.io.contracts.questions import QUESTION_MAP
from fathom.io.delimited import Row, read_rows
from fathom.io.names import show_count
from fathom.io.tables import read_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


# dark to light, to be distinguishable in grey; markers differ as well
_COVERED, _GAP, _PAIR = ("#BBBBBB", "."), ("#E69F00", "x"), ("#0072B2", "o")
_OUTSIDE, _HELD, _NEW = ("#CCCCCC", "."), ("#56B4E9", "o"), ("#D55E00", "^")
_PANELS = 6
"""Rounds that a figure shows: the first ones and the last."""
_CROWD = 1500
"""Number of points of a map above which they get smaller and paler, so as not to hide each other."""

_GRID = (3, (0.0, 3.2), (1.1, 2.9), 5.0)
"""Panels in a row, and the size of a figure of several: see `make_panels`."""

_Look = tuple[str, str]


def draw_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw the map of a benchmark, of a corpus over its rounds, or of questions for each t_d."""
    contract, draw = EXPANSION_MAP, draw_expansion
    title = settings.title or parts.get("domain") or entitle_set(parts["set"])
    if "variant" in parts:
        title = f"{title}: {label_variant(parts['variant'], settings.references)} benchmark"
        contract, draw = COVERAGE_MAP, draw_benchmark
    elif "set" in parts:
        contract, draw = QUESTION_MAP, draw_questions
    rows = read_table(inputs["map"], contract)
    return draw(rows, title), (contract, rows.rows(named=True))


def draw_benchmark(rows: pl.DataFrame, title: str) -> "Figure":
    """Draw the map of a benchmark; call it inside `use_style`."""
    sentences, pairs = rows.filter(kind="sentence"), rows.filter(kind="pair")
    share = sentences.filter(~pl.col("gap")).height / max(1, sentences.height)
    figure = make_figure(6.4, 5.2)
    covered = f"{100 * share:.0f} % of the domain covered by {show_count(len(pairs), 'pair')}"
    figure.suptitle(f"{wrap_name(title, 70)}\n{covered}")
    axes = figure.subplots()
    _scatter(axes, sentences.filter(~pl.col("gap")), _COVERED, "sentence, covered", 14)
    _scatter(axes, sentences.filter("gap", ~pl.col("large")), _GAP, "gap", 9)
    _scatter(axes, sentences.filter("large"), _GAP, "large gap", 22)
    _scatter(axes, pairs, _PAIR, "pair", 9)
    name_axes([axes])
    _add_legend(figure, 4)
    return figure


def draw_expansion(rows: pl.DataFrame, title: str) -> "Figure":
    """Draw a panel for each round in which something joined; call it inside `use_style`."""
    rounds = sorted(set(rows["round"].to_list()) - {0})
    shown = rounds if len(rounds) <= _PANELS else [*rounds[: _PANELS - 1], rounds[-1]]
    figure, grid = make_panels(max(1, len(shown)), *_GRID, sharex=True, sharey=True)
    figure.suptitle(f"{wrap_name(clean_name(title), 60)}\n{_describe_kept(rows)}")
    for axes, number in zip(grid.flat, shown, strict=False):
        outside, held, new = _divide(rows, "round", number)
        _scatter(axes, outside, _OUTSIDE, "not in it", 9)
        _scatter(axes, held, _HELD, "in it before", 8)
        _scatter(axes, new, _NEW, "joined in this round", 10)
        axes.set_title(f"Round {number}")
    name_axes(grid.flat[: max(1, len(shown))], grid.shape[1])
    _add_legend(figure, 3)
    return figure


def _describe_kept(rows: pl.DataFrame) -> str:
    """Return how many of the sentences shown are kept."""
    kept = rows.filter(pl.col("round") > 0).height
    return f"{kept:,} of {len(rows):,} sentences shown are kept ({100 * kept / max(1, len(rows)):.0f} %)"


def _divide(rows: pl.DataFrame, phase: str, number: int) -> list[pl.DataFrame]:
    """Return the points outside a corpus in one of its phases, those that it had before, and the new ones."""
    when = pl.col(phase)
    return [
        rows.filter(which)
        for which in ((when == 0) | (when > number), when.is_between(1, number - 1), when == number)
    ]


def draw_questions(rows: pl.DataFrame, title: str) -> "Figure":
    """Draw a panel for each t_d: records, questions of the first round, and of those after it."""
    every = sorted(set(rows["gap_percentile"]))
    figure, grid = make_panels(len(every), *_GRID, sharex=True, sharey=True)
    counts = [rows.filter(gap_percentile=each, kind="record").height for each in every]
    about = f"{describe_count(counts, 'record')}; t_d: percentile above which a gap gets questions"
    figure.suptitle(f"{title}\n{about}")
    for axes, percentile in zip(grid.flat, every, strict=False):
        some = rows.filter(gap_percentile=percentile)
        records, questions = some.filter(kind="record"), some.filter(kind="question")
        _scatter(axes, records.filter(~pl.col("large")), _OUTSIDE, "record", 14)
        _scatter(axes, records.filter("large"), _GAP, "record, large gap", 22)
        _scatter(axes, questions.filter(round=0), _PAIR, "question of the first round", 8)
        _scatter(axes, questions.filter(pl.col("round") > 0), _NEW, "for a gap, or asked by people", 10)
        axes.set_title(f"t_d = {percentile:g}: {len(questions):,} questions")
    name_axes(grid.flat[: len(every)], grid.shape[1])
    _add_legend(figure, 2)
    return figure


def _scatter(axes: "Axes", rows: pl.DataFrame, look: _Look, label: str, size: float) -> None:
    """Draw points; in a PDF as one picture, as there are thousands."""
    color, marker = look
    shrink = min(1.0, (_CROWD / max(1, len(rows))) ** 0.5)
    axes.scatter(
        rows["x"], rows["y"], s=size * shrink, c=color, marker=marker, label=label, linewidths=0.6 * shrink,
        alpha=0.3 + 0.5 * shrink, rasterized=True,
    )  # fmt: skip


def _add_legend(figure: "Figure", columns: int) -> None:
    """Explain the points of the first panel, in a size that can be read however many there are."""
    handles, labels = figure.axes[0].get_legend_handles_labels()
    legend = figure.legend(handles, labels, loc="outside lower center", ncols=columns)
    for label, handle in zip(labels, legend.legend_handles, strict=True):
        assert handle is not None  # noqa: S101 -- for the type checker
        handle.set(sizes=[40 if label == "large gap" else 20], alpha=1.0, linewidths=0.8)


def name_axes(panels: Sequence["Axes"], columns: int = 1) -> None:
    """Label the axes of maps without units: at the left, and where there is no panel below."""
    for place, axes in enumerate(panels):
        if place + columns >= len(panels):
            axes.set_xlabel("First principal component")
            axes.tick_params(labelbottom=True)
        if place % columns == 0:
            axes.set_ylabel("Second principal component")


_OTHERS = [("#CC79A7", "D"), ("#000000", "v"), ("#E69F00", "P"), ("#56B4E9", "X")]
"""Looks of references that do not lead."""
_FEW = 200
"""Pairs up to which a benchmark has larger points."""
_NAME_WIDTH = 34
"""Letters of a panel's title on one line."""


def draw_benchmarks_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw the benchmarks of one domain on one map, references among them."""
    rows = read_benchmarks(inputs)
    figure = draw_benchmarks(rows, settings.title or parts["domain"], dict(settings.references))
    return figure, (BENCHMARKS_MAP, rows.rows(named=True))


def read_benchmarks(maps: Mapping[str, Path]) -> pl.DataFrame:
    """Read the maps of several benchmarks of a domain, references last, as one under BENCHMARKS_MAP.

    The sentences come once, with an empty variant, then the pairs of each benchmark. Raise `InputError` if
    the maps are not of the same sentences.
    """
    columns = ["kind", "id", "x", "y"]
    ordered = sorted(maps.items(), key=lambda each: each[0] not in VARIANTS)
    tables = {name: read_table(path, COVERAGE_MAP, columns) for name, path in ordered}
    first, *others = (each.filter(kind="sentence") for each in tables.values())
    if not all(first.equals(other) for other in others):
        names = ", ".join(str(path) for path in maps.values())
        raise InputError("the maps are not of the same sentences", names, "measure their coverage again")
    every = [first.with_columns(variant=pl.lit(""))]
    every += [table.filter(kind="pair").with_columns(variant=pl.lit(name)) for name, table in tables.items()]
    return pl.concat(every).select("variant", *columns)


def draw_benchmarks(rows: pl.DataFrame, title: str, references: Mapping[str, str]) -> "Figure":
    """Draw a panel for each benchmark and one for all; call it inside `use_style`."""
    looks = style_benchmarks(rows.filter(kind="pair")["variant"].unique(maintain_order=True), references)
    panels = [*([name] for name in looks), *([[*looks]] if len(looks) > 1 else [])]
    figure, grid = make_panels(len(panels), 3, (0.0, 3.4), (1.1, 3.2), 5.0, sharex=True, sharey=True)
    figure.suptitle(wrap_name(clean_name(title), 60))
    for axes, shown in zip(grid.flat, panels, strict=False):
        _draw_benchmarks(axes, rows, {name: looks[name] for name in shown})
    name_axes(grid.flat[: len(panels)], grid.shape[1])
    add_legend(figure, list_handles(grid.flat[len(panels) - 1]), markerscale=2)
    return figure


def style_benchmarks(variants: Iterable[str], references: Mapping[str, str]) -> dict[str, Series]:
    """Return the look of each benchmark by variant; references have their names."""
    found, others = dict[str, Series](), iter(_OTHERS * len(references))
    for variant in variants:
        if variant in VARIANT_SERIES:
            found[variant] = style_variant(variant, references)
        else:
            found[variant] = Series(label_variant(variant, references), *next(others), True, ":")
    return found


def _draw_benchmarks(axes: "Axes", rows: pl.DataFrame, looks: Mapping[str, Series]) -> None:
    """Draw the sentences and the pairs of some benchmarks, points of a PDF as one picture."""
    sentences = rows.filter(kind="sentence")
    places = sentences["x"], sentences["y"]
    axes.scatter(*places, s=5, c="#CCCCCC", linewidths=0, label="sentence", rasterized=True)
    counts = []
    for name, look in looks.items():
        pairs = rows.filter(variant=name)
        face = look.color if look.filled else "none"
        axes.scatter(
            pairs["x"], pairs["y"], s=9 if len(pairs) > _FEW else 22, marker=look.marker, facecolors=face,
            edgecolors=look.color, linewidths=0.5, alpha=0.7, label=look.label, rasterized=True,
        )  # fmt: skip
        counts.append(f"{look.label}: {len(pairs):,} pairs")
    axes.set_title("all benchmarks" if len(looks) > 1 else wrap_name(counts[0], _NAME_WIDTH))


_OTHER_LOOKS = (("#0072B2", "o"), ("#D55E00", "s"), ("#009E73", "^"), ("#CC79A7", "D"), ("#E69F00", "P"),
          ("#56B4E9", "X"), ("#000000", "v"))  # fmt: skip
"""Colours and markers of benchmarks; of more than these the markers are hollow."""
_OTHER_CROWD = 300
"""Questions of a benchmark beyond which its points get smaller."""
_LEGEND, _SHORT = 30, 16
"""Letters of a benchmark's name on one line of the legend, and where three stand beside each other."""


def draw_others_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw the benchmarks of one domain that others made."""
    rows = read_table(inputs["map"], OTHERS_MAP)
    return draw_others(rows, settings.title or parts["domain"]), (OTHERS_MAP, rows.rows(named=True))


def draw_others(rows: pl.DataFrame, title: str) -> "Figure":
    """Draw all benchmarks in one panel, large ones below small ones; call it inside `use_style`."""
    sentences = rows.filter(kind="sentence")
    questions = rows.filter(kind="question").partition_by("benchmark", maintain_order=True)
    names = [wrap_name(table["benchmark"][0], _LEGEND) for table in questions]
    columns = 3 if max(map(len, names), default=0) <= _SHORT else 2
    figure = make_figure(6.6, 5.4 + 0.25 * (len(questions) // columns))
    figure.suptitle(wrap_name(clean_name(title), 60))
    axes = figure.subplots()
    axes.scatter(
        sentences["x"], sentences["y"], s=5, c="#DDDDDD", linewidths=0, rasterized=True,
        label=f"sentence of the domain ({len(sentences):,})", zorder=1,
    )  # fmt: skip
    most = max(map(len, questions), default=0)
    for place, (name, table) in enumerate(zip(names, questions, strict=True)):
        color, marker = _OTHER_LOOKS[place % len(_OTHER_LOOKS)]
        shrink = min(1.0, (_OTHER_CROWD / len(table)) ** 0.5)
        axes.scatter(
            table["x"], table["y"], s=18 * max(0.2, shrink), marker=marker, edgecolors=color, linewidths=0.4,
            facecolors=color if place < len(_OTHER_LOOKS) else "none", alpha=0.7, rasterized=True,
            label=f"{name} ({len(table):,})", zorder=3 - len(table) / (most + 1),
        )  # fmt: skip
    name_axes([axes])
    add_legend(figure, list_handles(axes), columns, markerscale=1.5)
    return figure


_THRESHOLD_PANELS = (
    ("Share that is kept (%)", (("share_of_sentences", "sentences"), ("share_of_documents", "documents"))),
    ("Share of sentences covered (%)", (("coverage", "this corpus"), ("coverage_at_random", "at random"))),
    ("Share of pairs alike (redundancy, %)",
     (("redundancy", "this corpus"), ("redundancy_at_random", "at random"))),
)  # fmt: skip
_THRESHOLD_LOOKS = {
    "sentences": ("#0072B2", "o", "-"),
    "documents": ("#E69F00", "s", "--"),
    "this corpus": ("#009E73", "^", "-"),
    "at random": ("#CC79A7", "D", "--"),
}


def draw_thresholds_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw the effect of t_c on the corpus of a domain."""
    rows = read_rows(inputs["thresholds"], CORRELATIONS_VARIED)
    if not rows:
        where, hint = str(inputs["thresholds"]), "set coverage.ablation.max_correlation"
        raise InputError("no thresholds to draw", where, hint)
    return draw_correlations(rows, settings.title or parts["domain"]), (CORRELATIONS_VARIED, rows)


def draw_correlations(rows: Sequence[Row], title: str) -> "Figure":
    """Draw a panel for each kind of number; call it inside `use_style`."""
    figure = make_figure(3.2 * len(_THRESHOLD_PANELS), 3.9)
    counts = (describe_count([row[f"{item}s"] for row in rows], item) for item in ("sentence", "document"))
    figure.suptitle(f"{wrap_name(clean_name(title), 70)}\nn: {', '.join(counts)} kept")
    most = [row["max_correlation"] for row in rows]
    grid = figure.subplots(1, len(_THRESHOLD_PANELS))
    for axes, (name, lines) in zip(grid, _THRESHOLD_PANELS, strict=True):
        for column, label in lines:
            color, marker, line = _THRESHOLD_LOOKS[label]
            values = [100 * row[column] for row in rows]
            axes.plot(most, values, color=color, marker=marker, linestyle=line, label=label, clip_on=False)
        axes.set_title(name)
        axes.set_xlabel("t_c: documents join below this")
        axes.set_ylim(bottom=0)
    add_legend(figure, list_handles(*grid))
    return figure


_LAST = 3
"""Phases: the first round, the second, and all after it."""
_PHASES = ("First round", "Second round", "Later rounds")
_COLUMNS = 5
"""Domains beside each other; more stand below."""
_PANEL = 1.75
"""Inches of a panel, which is square."""
_TITLE_WIDTH = 22
"""Letters of a domain's title on one line."""
_EXPANDED_CROWD = 500
"""Points of a panel beyond which they get smaller."""
_NOT_HELD, _HELD_BEFORE, _ADDED = ("#BBBBBB", ".", 8), ("#0072B2", "o", 6), ("#CC79A7", "^", 13)
"""Colours as in the paper, markers for grey prints, and sizes, so that few new points are visible."""


def draw_expansions_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw the corpora of all domains that are expanded."""
    rows = read_expansions(inputs)
    return draw_corpora(rows, settings.titles), (EXPANSIONS_MAP, rows.rows(named=True))


def read_expansions(maps: Mapping[str, Path]) -> pl.DataFrame:
    """Read the maps of several expansions as one, under EXPANSIONS_MAP; domains follow from the paths."""
    tables = []
    for path in maps.values():
        domain = (paths.EXPANSION_MAP.read(path) or {}).get("domain", "")
        tables.append(read_table(path, EXPANSION_MAP).with_columns(domain=pl.lit(domain)))
    return pl.concat(tables).select(EXPANSIONS_MAP.names)


def draw_corpora(rows: pl.DataFrame, titles: Mapping[str, str]) -> "Figure":
    """Draw a column of panels for each domain, a line for each phase; call it inside `use_style`."""
    domains = rows["domain"].unique(maintain_order=True).to_list()
    columns = min(_COLUMNS, len(domains))
    blocks = -(-len(domains) // columns)
    figure = make_figure(max(4.2, 0.5 + _PANEL * columns), 1.1 + (0.55 + (_PANEL + 0.2) * _LAST) * blocks)
    figure.suptitle("Corpora, round by round\nAbove: sentences in the corpus, of those shown", fontsize=10)
    grid = figure.subplots(blocks * _LAST, columns, squeeze=False)
    for axes in grid.flat:
        axes.set_visible(False)
    for place, domain in enumerate(domains):
        block, column = divmod(place, columns)
        lines = grid[block * _LAST : (block + 1) * _LAST, column]
        _draw_domain(lines, rows.filter(domain=domain), titles.get(domain, domain))
        if not column:
            for axes, name in zip(lines, _PHASES, strict=True):
                axes.set_ylabel(name)
    add_legend(figure, list_handles(*grid.flat), markerscale=2)
    return figure


def _draw_domain(lines: Any, rows: pl.DataFrame, title: str) -> None:
    """Draw the phases of one domain; above each, the share of its sentences that the corpus then holds."""
    phases = rows.with_columns(phase=pl.min_horizontal("round", pl.lit(_LAST)))
    for number, axes in enumerate(lines, 1):
        axes.set_visible(True)
        outside, held, new = _divide(phases, "phase", number)
        _scatter_phase(axes, outside, _NOT_HELD, "not in the corpus")
        _scatter_phase(axes, held, _HELD_BEFORE, "in it before")
        _scatter_phase(axes, new, _ADDED, "newly added")
        kept = len(held) + len(new)
        share = f"{kept:,} of {len(rows):,} ({100 * kept / max(1, len(rows)):.0f} %)"
        name = f"{wrap_name(clean_name(title), _TITLE_WIDTH)}\n" if number == 1 else ""
        axes.set_title(f"{name}{share}", fontsize=9)
        # the same places in every phase, and the same room for every domain
        axes.set_xlim(*_frame(rows["x"]))
        axes.set_ylim(*_frame(rows["y"]))
        axes.set_box_aspect(1)
        axes.set_xticks([])
        axes.set_yticks([])


def _frame(places: pl.Series) -> tuple[float, float]:
    values = places.to_numpy()
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 0.0)
    room = 0.05 * (high - low) or 1
    return low - room, high + room


def _scatter_phase(axes: "Axes", rows: pl.DataFrame, look: tuple[str, str, float], label: str) -> None:
    color, marker, size = look
    shrink = min(1.0, (_EXPANDED_CROWD / max(1, len(rows))) ** 0.5)
    axes.scatter(
        rows["x"], rows["y"], s=size * shrink, c=color, marker=marker, label=label, linewidths=0, alpha=0.8,
        rasterized=True,
    )  # fmt: skip
