"""Plot how near the targets that a model predicts better or worse are to the domain [RawCorpora, Fig. 15].

Reads the tables of compare_targets; writes the figure as PDF and PNG, and its numbers as CSV.
"""

import argparse
from pathlib import Path

from fathom.config.scoring import Summary
from fathom.figures.target_changes import plot_changes, read_changes
from fathom.jobs.program import add_figure_files, add_settings, log, read_settings, run_program


def main(arguments: argparse.Namespace) -> None:
    """Read the tables, draw one model, write figure and numbers."""
    settings = read_settings(arguments.settings, Summary)
    targets, groups = read_changes(arguments.targets, arguments.groups, arguments.model)
    files = (arguments.output, arguments.png, arguments.table)
    plot_changes(targets, groups, arguments.title or groups[0]["domain"], files, settings)
    log.info("%s: %s targets drawn", arguments.model, f"{len(targets):,}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--targets", type=Path, required=True, help="targets with their gains (parquet)")
    parser.add_argument("--groups", type=Path, required=True, help="best against worst (CSV)")
    parser.add_argument("--model", required=True, help="model of the tables")
    parser.add_argument("--title", default="", help="title of the figure; default: the domain's name")
    add_figure_files(parser)
    add_settings(parser, Summary)
    run_program(parser, main)
