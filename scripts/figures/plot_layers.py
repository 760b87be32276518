"""Plot one figure of a family of models by layer.

Most follow [BeyondBenchmarks, Figs. 9-12, 22-24]; the heat map and the lenses are additions.

Reads layers.csv and layer-changes.csv of a domain, and the rates of the family's reference model. Writes the
figure as PDF and PNG, and its numbers as CSV.
"""

import argparse
from pathlib import Path

from fathom.config.layers import FIGURES, Layers
from fathom.config.section import Section
from fathom.figures.layers import FigureData, plot_curves, plot_keywords
from fathom.io.contracts.layers import LAYER_CHANGE_COLUMNS, LAYER_RATES, LAYER_SUMMARY_COLUMNS
from fathom.io.files import read_delimited
from fathom.io.tables import read_table
from fathom.jobs.program import add_figure_files, add_settings, log, read_settings, run_program


class Settings(Section):
    """Settings of this program."""

    layers: Layers = Layers()


def main(arguments: argparse.Namespace) -> None:
    """Draw one figure, write it and its numbers."""
    settings = read_settings(arguments.settings, Settings)
    data = FigureData(
        arguments.models,
        read_delimited(arguments.summary, ",", LAYER_SUMMARY_COLUMNS),
        read_delimited(arguments.changes, ",", LAYER_CHANGE_COLUMNS),
        read_table(arguments.rates, LAYER_RATES),
        settings.layers,
    )
    files = (arguments.output, arguments.png, arguments.table)
    if arguments.figure == "keywords":
        plot_keywords(data, arguments.title, files)
    else:
        plot_curves(arguments.figure, data, arguments.title, files)
    log.info("figure %s of %s drawn", arguments.figure, ", ".join(arguments.models))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--figure", choices=FIGURES, required=True, help="name of the figure")
    parser.add_argument("--models", nargs="+", required=True, help="models of the family, reference first")
    parser.add_argument("--summary", type=Path, required=True, help="layers.csv")
    parser.add_argument("--changes", type=Path, required=True, help="layer-changes.csv")
    parser.add_argument("--rates", type=Path, required=True, help="rates of the reference model (parquet)")
    parser.add_argument("--title", default="", help="name of the domain")
    add_figure_files(parser)
    add_settings(parser, Settings)
    run_program(parser, main)
