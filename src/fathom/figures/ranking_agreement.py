"""Agreement of benchmarks: overall, in pairs, by category, with perplexity, by models and by preparation.

Source: [TrainBeforeTest, Figs. 2-5, 9, 10, 12-15]. The bump chart has two rankings after reordering models
that do not differ significantly [TrainBeforeTest, Fig. 1].
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fathom.config.scoring import Summary
from fathom.config.short_names import clean_name
from fathom.figures import ranking_tables as shared
from fathom.figures.drawing import DrawnFigure, FigureSettings, Inputs, Parts
from fathom.figures.panels import describe_count, describe_intervals, draw_note
from fathom.figures.ranking_tables import RankingTables, draw_matrix, measure_names, title_condition
from fathom.figures.style import add_families, fit_columns, label_scale, make_figure, mark_model, wrap_name
from fathom.io.contracts import ranking as contracts
from fathom.io.delimited import Row
from fathom.ranking.resampled_scores import ALL, KINDS, PLAIN, name_transfer

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_LEGEND, _LETTERS = 2.9, 8.5  # inches of a condition and its mean; letters of a title in an inch of a figure
NO_TEST = "There is no test of differences: the table of scores has no standard errors."


def draw_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw one figure of agreement; names that end in `significant` count only significant differences."""
    tables = RankingTables(inputs["models"].parent)
    name = parts.get("figure") or parts["statistic"]
    kind = name.removesuffix("-significant")
    statistic = PLAIN if kind == name else tables.tested
    if statistic is None:
        return draw_note(NO_TEST), (contracts.CATEGORIES if kind == "categories" else contracts.PAIRWISE, [])
    if kind == "tau":
        return draw_benchmarks(tables, statistic, parts["condition"], settings.summary)
    if kind == "mean-tau":
        return draw_means(tables, statistic, settings.summary)
    return draw_categories(tables, statistic)


def draw_means(tables: RankingTables, statistic: str, settings: Summary) -> DrawnFigure:
    """Draw each benchmark's mean tau with all others, one bar per condition [TrainBeforeTest, Figs. 2, 12].

    Benchmarks are sorted by the first condition; whiskers are intervals.
    """
    rows = [row for row in tables.read("means") if row["statistic"] == statistic]
    values = {(row["condition"], row["first"]): row for row in rows}
    names = list(dict.fromkeys(row["first"] for row in rows))
    # benchmarks without tau, constant over models, come first
    means = {name: values[tables.conditions[0], name]["value"] for name in names}
    names.sort(key=lambda name: -math.inf if math.isnan(means[name]) else means[name])
    titles = [clean_name(tables.benchmarks[name].title) for name in names]
    figure = make_figure(max(5.0, 1.5 + 0.36 * len(names)), 3.4 + 0.7 * measure_names(titles, 9))
    axes = figure.subplots()
    width, overall = 0.8 / len(tables.conditions), _read_means(tables, statistic)
    for place, condition in enumerate(tables.conditions):
        lines = [values[condition, name] for name in names]
        heights, lows, highs = _list_ends(lines)
        at = [column + (place - (len(tables.conditions) - 1) / 2) * width for column in range(len(names))]
        label = f"{title_condition(condition)}: mean {overall[condition]}"
        axes.bar(at, heights, width, label=label, **shared.condition_style(place))
        axes.vlines(at, lows, highs, color="0.25", linewidth=0.9)
    axes.set_xticks(range(len(names)), titles, rotation=45, ha="right", rotation_mode="anchor")
    axes.grid(False, axis="x")
    axes.set_xlim(-0.6, len(names) - 0.4)
    lowest = min([0.0, *(row["ci_low"] for row in rows if not math.isnan(row["ci_low"]))])
    axes.set_ylim(lowest - 0.05 * (lowest < 0), 1.0)  # an interval ends above the axis
    axes.set_ylabel(f"Mean {shared.label_statistic(statistic)}".replace(", ", ",\n"))
    beside = max(1, min(len(tables.conditions), int(figure.get_figwidth() / _LEGEND)))
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=beside)
    _explain(figure, rows, settings, [row["models"] for row in rows], "Whiskers and brackets")
    return figure, (contracts.PAIRWISE, [values[s, t] for s in tables.conditions for t in names])


def draw_benchmarks(tables: RankingTables, statistic: str, condition: str, settings: Summary) -> DrawnFigure:
    """Draw a heat map of tau of every two benchmarks in one condition, by category.

    Source: [TrainBeforeTest, Figs. 9, 10, 14, 15].
    """
    names = [name for name, each in tables.benchmarks.items() if not each.corpus]
    pairs = (row for row in tables.read("pairwise") if row["first"] in names and row["second"] in names)
    every = [row for row in pairs if row["statistic"] == statistic]
    rows = [row for row in every if row["condition"] == condition]
    values = _fill(rows, names)
    # one scale for all conditions, so that a colour means the same in each figure
    lowest = _find_lowest([[row["value"] for row in every if row["condition"] in tables.conditions]])
    titles = [tables.benchmarks[name].title for name in names]
    side = 1.2 + measure_names(titles, 9) + 0.36 * len(names)
    figure = make_figure(side + 1.0, side)
    axes = figure.subplots()
    image = draw_matrix(axes, values, titles, titles, size=7.0, lowest=lowest)
    categories = [tables.benchmarks[name].category for name in names]
    for place in range(1, len(names)):
        if categories[place] != categories[place - 1]:
            axes.axhline(place - 0.5, color="white", linewidth=2.5)
            axes.axvline(place - 0.5, color="white", linewidth=2.5)
    shared.add_colorbar(figure, image, axes, shared.label_statistic(statistic))
    mean = _read_means(tables, statistic)[condition]
    told = [f"{title_condition(condition)}: mean {mean}", _count_pairs(tables, rows, len(names))]
    if "[" in mean:
        told.append(f"{describe_intervals(settings, 'Brackets')} over models")
    axes.set_title("\n".join(wrap_name(text, int(_LETTERS * side)) for text in told))
    return figure, (contracts.PAIRWISE, rows)


def _count_pairs(tables: RankingTables, rows: Sequence[Row], benchmarks: int) -> str:
    """Return how many models there are, and how many of all pairs of benchmarks have a value."""
    models = describe_count([row["models"] for row in rows] or [len(tables.models)], "model")
    known, every = sum(not math.isnan(row["value"]) for row in rows), math.comb(benchmarks, 2)
    return f"n: {models}, {known} of {describe_count([every], 'pair')} of benchmarks"


def _read_means(tables: RankingTables, statistic: str) -> dict[str, str]:
    """Return the mean over all pairs of benchmarks, with its interval, by condition."""
    rows = tables.read("agreement")
    return {row["condition"]: _describe(row) for row in rows if row["statistic"] == f"mean_{statistic}"}


def draw_categories(tables: RankingTables, statistic: str) -> DrawnFigure:
    """Draw mean tau within and between categories by condition [TrainBeforeTest, Figs. 3, 13]."""
    rows = [row for row in tables.read("categories") if row["statistic"] == statistic]
    names = list(dict.fromkeys(name for row in rows for name in (row["first"], row["second"])))
    if not names:
        return draw_note("The benchmarks have no categories."), (contracts.CATEGORIES, [])
    grids = [_fill([row for row in rows if row["condition"] == condition], names, diagonal=math.nan)
             for condition in tables.conditions]  # fmt: skip
    lowest = min(_find_lowest(grid) for grid in grids)
    side = 1.2 + measure_names(names, 9) + 0.55 * len(names)
    figure = make_figure(side * len(grids) + 1.0, side)
    panels = figure.subplots(1, len(grids), squeeze=False)[0]
    for axes, condition, grid in zip(panels, tables.conditions, grids, strict=True):
        image = draw_matrix(axes, grid, names, names, size=9.0, lowest=lowest)
        axes.set_title(title_condition(condition))
    shared.add_colorbar(figure, image, list(panels), f"Mean {shared.label_statistic(statistic)}")
    means = (row["models"] for row in tables.read("means") if row["statistic"] == statistic)
    models = describe_count([*means], "model")
    pairs = describe_count([row["pairs"] for row in rows], "pair")
    figure.supxlabel(f"n: {models}, in a cell {pairs} of benchmarks", fontsize=9)
    return figure, (contracts.CATEGORIES, rows)


def _fill(rows: list[Row], names: list[str], diagonal: float = 1.0) -> list[list[float]]:
    """Return a symmetric matrix from the rows of its pairs, with a default for the diagonal."""
    found = {(row["first"], row["second"]): row["value"] for row in rows}
    return [
        [found.get((a, b), found.get((b, a), diagonal if a == b else math.nan)) for b in names] for a in names
    ]


def _find_lowest(values: list[list[float]]) -> float:
    known = [value for line in values for value in line if not math.isnan(value)]
    return min(0.0, math.floor(10 * min(known, default=0.0)) / 10)


def _list_ends(rows: Sequence[Row], value: str = "value") -> list[list[float]]:
    """Return values, and the lower and upper ends of their intervals."""
    return [[row[key] for row in rows] for key in (value, "ci_low", "ci_high")]


def _explain(
    figure: "Figure",
    rows: Sequence[Row],
    settings: Summary,
    models: Sequence[int] = (),
    which: str = "Whiskers",
) -> None:
    """Write below a figure how many models it has, and what whiskers are, if any row has one."""
    texts = [f"n: {describe_count(models, 'model')}"] if models else []
    if any(not math.isnan(row["ci_low"]) for row in rows):
        texts.append(describe_intervals(settings, which))
    figure.supxlabel(". ".join(texts), fontsize=9)


def _describe(row: Row) -> str:
    value, low, high = (row[key] for key in ("value", "ci_low", "ci_high"))
    if math.isnan(value):
        return "undefined"
    return f"{value:.2f}" if math.isnan(low) else f"{value:.2f} [{low:.2f}, {high:.2f}]"


_STILL = 20  # models that move by at most 1/20 of the number of models are drawn in grey
_SPAN = 2.3  # inches between the two sides


def draw_alignment_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw one bump chart per condition, with names on both sides."""
    from matplotlib.lines import Line2D

    tables = RankingTables(inputs["models"].parent)
    rows = tables.read("alignment")
    count = max(sum(row["condition"] == condition for row in rows) for condition in tables.conditions)
    still = count // _STILL
    side = 0.3 + measure_names((tables.models[row["model"]].title for row in rows), 7.5)
    figure = make_figure((_SPAN + 2 * side) * len(tables.conditions), 1.9 + 0.172 * count)
    panels = figure.subplots(1, len(tables.conditions), squeeze=False)[0]
    agreement = {(row["condition"], row["statistic"]): row for row in tables.read("agreement")}
    for axes, condition in zip(panels, tables.conditions, strict=True):
        some = [row for row in rows if row["condition"] == condition]
        _draw_condition(axes, tables, some, still, side)
        crossed = agreement[condition, "opposite_aligned"]["value"]
        counted = f"{describe_count([len(some)], 'model')}, {100 * crossed:.1f} % of pairs cross"
        axes.set_title(f"{title_condition(condition)}:\n{counted}", pad=22)
    handles = [
        Line2D([], [], color=style.color, marker=style.marker, label=clean_name(style.label))
        for style in tables.families.values()
    ]
    grey = f"moves {still} place{'s or fewer' if still > 1 else ' or none'}" if still else "stays"
    handles.append(Line2D([], [], color="0.75", label=grey))
    columns = fit_columns(figure.get_figwidth(), [str(handle.get_label()) for handle in handles], 7)
    figure.legend(handles=handles, loc="outside upper center", ncols=columns)
    return figure, (contracts.ALIGNMENT, rows)


def _draw_condition(axes: "Axes", tables: RankingTables, rows: list[Row], still: int, side: float) -> None:
    """Draw a line per model between its two ranks, with `side` inches for names on each side."""
    for row in rows:
        model = tables.models[row["model"]]
        style = tables.families[model.family]
        ends = [row["place_first"], row["place_second"]]
        moves = abs(ends[0] - ends[1]) > still
        axes.plot([0, 1], ends, color=style.color if moves else "0.75", linewidth=1.3 if moves else 1.0,
                  zorder=3 if moves else 2)  # fmt: skip
        axes.plot(
            [0, 1], ends, color=style.color, marker=style.marker, markersize=4, linestyle="none", zorder=4
        )
        for at, place, where in ((-0.04, ends[0], "right"), (1.04, ends[1], "left")):
            axes.text(at, place, clean_name(model.title), ha=where, va="center", fontsize=7.5, color="0.1")
    axes.set_xlim(-side / _SPAN, 1 + side / _SPAN)
    axes.set_ylim(len(rows) + 0.8, 0.2)
    axes.set_xticks(
        [0, 1], [clean_name(tables.benchmarks[rows[0][which]].title) for which in ("first", "second")]
    )
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.set_yticks([])
    axes.grid(False)
    for edge in axes.spines.values():
        edge.set_visible(False)


def draw_forecast_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw the change of mean tau and the share of significant samples against the number of models.

    The band holds 95 % of the samples drawn; the last point is the whole table.
    """
    rows = RankingTables(inputs["models"].parent).read("forecast")
    if not rows:
        return draw_note("A forecast needs two conditions."), (contracts.FORECAST, [])
    figure = make_figure(7.4, 3.3)
    changes, shares = figure.subplots(1, 2)
    for place, condition in enumerate(dict.fromkeys(row["condition"] for row in rows)):
        some = [row for row in rows if row["condition"] == condition]
        sizes = [row["models"] for row in some]
        values, lows, highs = _list_ends(some, "change")
        look = {"color": shared.condition_color(place), "label": clean_name(condition)}
        changes.plot(sizes, values, marker="o", **look)
        changes.fill_between(sizes, lows, highs, color=look["color"], alpha=0.2, linewidth=0)
        shares.plot(sizes, [100 * row["significant"] for row in some], marker="o", **look)
    changes.axhline(0, color="0.25", linewidth=0.9)
    changes.set_ylabel("Change of mean tau-b")
    shares.set_ylabel("Samples with a significant change (%)")
    shares.set_ylim(0, 105)
    for axes in (changes, shares):
        axes.set_xlabel("Models")
        axes.set_xlim(left=0)
        axes.xaxis.get_major_locator().set_params(integer=True)
    shares.legend(loc="lower right")
    return figure, (contracts.FORECAST, rows)


def draw_preparations_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw mean tau against training examples and against epochs; whiskers are intervals over models."""
    rows = RankingTables(inputs["models"].parent).read("preparation")
    whole = rows[-1]
    figure = make_figure(7.4, 3.3)
    panels = figure.subplots(1, 2, sharey=True)
    varied = (("examples", "epochs", "Training examples"), ("epochs", "examples", "Epochs"))
    for place, (axes, (key, other, title)) in enumerate(zip(panels, varied, strict=True)):
        chosen = [row for row in rows if row[other] in (0, whole[other])]
        some = sorted(chosen, key=lambda row: math.inf if row[key] is None else row[key])
        at = range(len(some))
        values, lows, highs = _list_ends(some, "mean_tau")
        axes.vlines(at, lows, highs, color="0.25", linewidth=0.9)
        axes.plot(at, values, marker="o", color=shared.condition_color(place))
        axes.set_xticks(at, ["all" if row[key] is None else row[key] for row in some])
        for where, row in zip(at, some, strict=True):
            axes.annotate(row["pairs"], (where, row["mean_tau"]), xytext=(4, 4), textcoords="offset points")
        axes.set_xlabel(title)
    panels[0].set_ylabel("Mean tau-b of two benchmarks")
    return figure, (contracts.PREPARATION, rows)


def draw_perplexity_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw the agreement of perplexity with tasks, in each condition or across them."""
    tables = RankingTables(inputs["models"].parent)
    return draw_conditions(tables) if parts["figure"] == "perplexity" else draw_transfer(tables)


def draw_conditions(tables: RankingTables) -> DrawnFigure:
    """Draw tau of each corpus with corpora and benchmarks by condition [TrainBeforeTest, Fig. 4]."""
    panels = [(condition, ALL, title_condition(condition)) for condition in tables.conditions]
    return _draw_perplexity(tables, panels, corpora=True)


def draw_transfer(tables: RankingTables) -> DrawnFigure:
    """Draw tau of perplexity before with benchmarks after tuning, separately for base and chat models.

    Source: [TrainBeforeTest, Fig. 5].
    """
    first, *others = tables.conditions
    panels = [
        (name_transfer(first, other), group, f"{group} models: perplexity {first}, benchmarks {other}")
        for other in others
        for group in KINDS
    ]
    return _draw_perplexity(tables, [(s, g, t[:1].upper() + t[1:]) for s, g, t in panels], corpora=False)


def _draw_perplexity(tables: RankingTables, panels: list[tuple[str, str, str]], corpora: bool) -> DrawnFigure:
    rows = tables.read("perplexity")
    names = [name for name, each in tables.benchmarks.items() if each.corpus]
    columns = [*(names if corpora else []), *(n for n, each in tables.benchmarks.items() if not each.corpus)]
    grids: list[tuple[str, list[list[float]]]] = []
    used = []
    for condition, group, title in panels:
        some = [row for row in rows if (row["condition"], row["group"]) == (condition, group)
                and row["benchmark"] in columns]  # fmt: skip
        if some:
            values = {(row["corpus"], row["benchmark"]): row["value"] for row in some}
            tasks = [v for (_, name), v in values.items() if name not in names and not math.isnan(v)]
            mean = sum(tasks) / len(tasks) if tasks else math.nan
            number = describe_count([some[0]["models"]], "model")
            grids.append((f"{title}\nmean over benchmarks {mean:.2f}, {number}",
                          [[values.get((a, b), math.nan) for b in columns] for a in names]))  # fmt: skip
            used += some
    if not grids:
        return draw_note("Too few models have a perplexity."), (contracts.CORPUS_AGREEMENT, [])
    lowest = _find_lowest([line for _, grid in grids for line in grid])
    titles = [tables.benchmarks[name].title for name in columns]
    width = 1.6 + measure_names(tables.benchmarks[name].title for name in names) + 0.37 * len(columns)
    width = max(width, 7.0)
    heads = ["\n".join(wrap_name(line, int(_LETTERS * width)) for line in title.split("\n"))
             for title, _ in grids]  # fmt: skip
    height = 0.7 + len(grids) * (0.45 + 0.34 * len(names)) + 0.7 * measure_names(titles, 9)
    figure = make_figure(width, height + 0.2 * sum(head.count("\n") for head in heads))
    axes_of = figure.subplots(len(grids), 1, squeeze=False, sharex=True)[:, 0]
    for axes, head, (_, grid) in zip(axes_of, heads, grids, strict=True):
        image = draw_matrix(
            axes, grid, [tables.benchmarks[name].title for name in names], titles, 7.0, lowest
        )
        axes.set_title(head)
        if corpora:
            axes.axvline(len(names) - 0.5, color="0.3", linewidth=1.2)
    shared.add_colorbar(figure, image, list(axes_of), shared.label_statistic(PLAIN))
    return figure, (contracts.CORPUS_AGREEMENT, used)


def draw_components_figure(inputs: Inputs, parts: Parts, settings: FigureSettings) -> DrawnFigure:
    """Draw one figure of principal components."""
    tables = RankingTables(inputs["models"].parent)
    if parts["figure"] in ("pca", "pca-family"):
        group = ALL if parts["figure"] == "pca" else settings.ranking.one_family
        return draw_shares(tables, settings.summary, group)
    return draw_compute(tables) if parts["figure"] == "pc1-compute" else draw_first(tables, settings.summary)


def draw_shares(tables: RankingTables, settings: Summary, group: str = ALL) -> DrawnFigure:
    """Draw the variance that each component explains, by condition [TrainBeforeTest, Figs. 6, 8]."""
    rows = [row for row in tables.read("pca") if row["group"] == group and not math.isnan(row["share"])]
    single = [row for row in rows if " to " not in row["component"]]
    if not single:
        return draw_note("There are too few models for principal components."), (contracts.COMPONENTS, [])
    conditions = [
        condition for condition in tables.conditions if any(row["condition"] == condition for row in single)
    ]
    figure = make_figure(3.7 * len(conditions) + 0.3, 3.7)
    panels = figure.subplots(1, len(conditions), squeeze=False, sharey=True)[0]
    for place, (axes, condition) in enumerate(zip(panels, conditions, strict=True)):
        lines = [row for row in single if row["condition"] == condition]
        names = [row["component"] for row in lines]
        heights, lows, highs = _list_ends(lines, "share")
        axes.bar(names, heights, 0.7, **shared.condition_style(place))
        axes.vlines(range(len(names)), lows, highs, color="0.25", linewidth=1.1)
        for at, (height, high) in enumerate(zip(heights, highs, strict=True)):
            top = height if math.isnan(high) else max(height, high)
            axes.text(at, top + 0.015, f"{100 * height:.0f} %", ha="center", va="bottom", fontsize=9)
        axes.grid(False, axis="x")
        axes.set_ylim(0, 1.08)
        axes.set_yticks([0, 0.2, 0.4, 0.6, 0.8, 1.0])
        family = "" if group == ALL else f"{group} "
        together = next((row for row in rows if row["condition"] == condition and row not in single), None)
        total = f", {together['component']}: {100 * together['share']:.0f} %" if together else ""
        axes.set_title(f"{title_condition(condition)}\n{lines[0]['models']} {family}models{total}")
    panels[0].set_ylabel("Share of the variance")
    _explain(figure, rows, settings)
    return figure, (contracts.COMPONENTS, rows)


def draw_compute(tables: RankingTables) -> DrawnFigure:
    """Draw each model's first component against its training compute, by condition [TrainBeforeTest, Fig. 7].

    Chat models have hollow markers. Models of unknown compute are left out.
    """
    every = tables.read("pc1")
    rows = [r for r in every if r["group"] == ALL and math.isfinite(r["log10_compute"] + r["score"])]
    if not rows:
        return draw_note("No model's training compute is known."), (contracts.FIRST_COMPONENT, [])
    figure = make_figure(4.2 * len(tables.conditions), 4.6)
    panels = figure.subplots(1, len(tables.conditions), squeeze=False, sharey=True)[0]
    agreement = {(row["condition"], row["statistic"]): row["value"] for row in tables.read("agreement")}
    for axes, condition in zip(panels, tables.conditions, strict=True):
        some = [row for row in rows if row["condition"] == condition]
        for row in some:
            model = tables.models[row["model"]]
            look = mark_model(tables.families[model.family], model.kind)
            axes.plot(10 ** row["log10_compute"], row["score"], **look)
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(lambda value, _: format_power(value))
        axes.set_xlabel(label_scale("Training compute, 6 N D (FLOP)", axes.xaxis))
        r = agreement.get((condition, "pc1_compute_pearson"), math.nan)
        found = "" if math.isnan(r) else f", r = {r:.2f}"
        axes.set_title(f"{title_condition(condition)}{found}, {len(some)} models")
    panels[0].set_ylabel("PC1 score")
    _add_families(figure, tables, {tables.models[row["model"]].family for row in rows})
    return figure, (contracts.FIRST_COMPONENT, rows)


def format_power(value: float) -> str:
    """Format a power of ten as text, such as `10²¹`, without math mode."""
    exponent = str(round(math.log10(value)))
    return "10" + exponent.translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _add_families(figure: "Figure", tables: RankingTables, used: set[str]) -> None:
    """Add a legend of the families that are drawn, and of base and chat models if the run has both."""
    families = {name: look for name, look in tables.families.items() if name in used}
    add_families(figure, families, {model.kind for model in tables.models.values()})


def draw_first(tables: RankingTables, settings: Summary) -> DrawnFigure:
    """Draw models' scores on the first component, sorted by the last condition [TrainBeforeTest, Fig. 11]."""
    rows = [row for row in tables.read("pc1") if row["group"] == ALL and not math.isnan(row["score"])]
    if not rows:
        return draw_note("There are too few models for principal components."), (
            contracts.FIRST_COMPONENT,
            [],
        )
    # a condition in which all models are alike on every benchmark has no components
    conditions = [name for name in tables.conditions if any(row["condition"] == name for row in rows)]
    order = [row["model"] for row in rows if row["condition"] == conditions[-1]]
    names = measure_names(tables.models[name].title for name in order)
    figure = make_figure(0.8 + names + 3.0 * len(conditions), 1.6 + 0.185 * len(order))
    panels = figure.subplots(1, len(conditions), squeeze=False, sharey=True)[0]
    for axes, condition in zip(panels, conditions, strict=True):
        place = tables.conditions.index(condition)
        found = {row["model"]: row for row in rows if row["condition"] == condition}
        _draw_scores(axes, tables, [found[name] for name in order], shared.condition_color(place))
        axes.set_title(title_condition(condition))
        axes.set_xlabel("PC1 score")
    panels[0].set_yticks(
        range(len(order)), [clean_name(tables.models[name].title) for name in order], fontsize=8
    )
    panels[0].set_ylim(len(order) - 0.4, -0.6)
    _explain(figure, rows, settings, [len(order)])
    _add_families(figure, tables, {model.family for model in tables.models.values()})
    return figure, (contracts.FIRST_COMPONENT, rows)


def _draw_scores(axes: "Axes", tables: RankingTables, rows: list[Row], color: str) -> None:
    for place, row in enumerate(rows):
        model = tables.models[row["model"]]
        axes.plot([row["ci_low"], row["ci_high"]], [place, place], color=color, linewidth=1)
        look = mark_model(tables.families[model.family], model.kind)
        axes.plot(row["score"], place, markersize=5, **look)
    axes.tick_params(axis="y", length=0)
    axes.axvline(0, color="0.6", linewidth=0.8)
