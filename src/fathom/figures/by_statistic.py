"""Figures that are drawn once for each way to sum up ranks, as programs take their files."""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from fathom.errors import InputError
from fathom.statistics.aggregates import STATISTICS


def add_figures(parser: argparse.ArgumentParser) -> None:
    """Add the option `--figure`: a statistic, and the files of its figure."""
    parser.add_argument(
        "--figure",
        nargs=4,
        action="append",
        required=True,
        metavar=("STATISTIC", "PDF", "PNG", "CSV"),
        help="statistic of the ranks, and files to write; repeat for each",
    )


def list_figures(figures: Sequence[Sequence[str]]) -> Iterator[tuple[str, tuple[Path, Path, Path]]]:
    """Yield each statistic with its files; raise `InputError` if a statistic is unknown."""
    for statistic, pdf, png, table in figures:
        if statistic not in STATISTICS:
            known = ", ".join(STATISTICS)
            raise InputError(f"unknown statistic {statistic!r}", "--figure", f"known: {known}")
        yield statistic, (Path(pdf), Path(png), Path(table))
