"""Plot one figure on the agreement of rankings, and write its numbers [TrainBeforeTest, Figs. 1-15].

Reads the tables of results/{run}/ranking; writes the figure as PDF and PNG, and its numbers as CSV.
"""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fathom.config.ranking import RankingSettings
from fathom.errors import InputError
from fathom.figures.ranking import RankingTables
from fathom.figures.ranking_agreement import draw_benchmarks, draw_categories, draw_means
from fathom.figures.ranking_alignment import draw_alignment
from fathom.figures.ranking_components import draw_compute, draw_first, draw_shares
from fathom.figures.ranking_forecast import draw_forecast
from fathom.figures.ranking_perplexity import draw_conditions, draw_transfer
from fathom.figures.ranking_preparation import draw_preparation
from fathom.figures.style import save_figure, use_style
from fathom.io.files import write_delimited
from fathom.jobs.program import add_figure_files, add_settings, read_settings, run_program
from fathom.ranking.resampled_scores import PLAIN

FIGURES: dict[str, Callable[[RankingTables, RankingSettings], Any]] = {
    "alignment": lambda tables, _: draw_alignment(tables),
    "mean-tau": lambda tables, _: draw_means(tables, PLAIN),
    "mean-tau-significant": lambda tables, _: draw_means(tables, tables.tested),
    "categories": lambda tables, _: draw_categories(tables, PLAIN),
    "categories-significant": lambda tables, _: draw_categories(tables, tables.tested),
    "perplexity": lambda tables, _: draw_conditions(tables),
    "perplexity-before": lambda tables, _: draw_transfer(tables),
    "pca": lambda tables, _: draw_shares(tables),
    "pca-family": lambda tables, settings: draw_shares(tables, settings.ranking.one_family),
    "pc1-compute": lambda tables, _: draw_compute(tables),
    "pc1-scores": lambda tables, _: draw_first(tables),
    "forecast": lambda tables, _: draw_forecast(tables),
    "preparation": lambda tables, _: draw_preparation(tables),
}
MATRICES: dict[str, Callable[[RankingTables, str], Any]] = {
    "tau": lambda tables, condition: draw_benchmarks(tables, PLAIN, condition),
    "tau-significant": lambda tables, condition: draw_benchmarks(tables, tables.tested, condition),
}


def draw(name: str, tables: RankingTables, settings: RankingSettings) -> Any:
    """Return a figure by its name, and its numbers; `tau.CONDITION` is a heat map of one condition."""
    if name in FIGURES:
        return FIGURES[name](tables, settings)
    kind, _, condition = name.partition(".")
    if kind not in MATRICES or condition not in tables.conditions:
        known = [*FIGURES, *(f"{kind}.{each}" for kind in MATRICES for each in tables.conditions)]
        raise InputError(f"unknown figure {name!r}", "--figure", f"known: {', '.join(known)}")
    return MATRICES[kind](tables, condition)


def main(arguments: argparse.Namespace) -> None:
    """Read the tables, draw the figure, write it and its numbers."""
    settings = read_settings(arguments.settings, RankingSettings)
    with use_style():
        figure, (columns, rows) = draw(arguments.figure, RankingTables(arguments.tables), settings)
        save_figure(figure, arguments.output, arguments.png)
    write_delimited(arguments.table, columns, rows, ",")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=Path, required=True, help="folder of the ranking tables")
    parser.add_argument(
        "--figure", required=True, help=f"{', '.join([*FIGURES, *MATRICES])} (with .CONDITION)"
    )
    add_figure_files(parser)
    add_settings(parser, RankingSettings)
    run_program(parser, main)
