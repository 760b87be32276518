"""Write tables of benchmarks, models, bits per byte and compute [TrainBeforeTest, Tables 1-4].

Each table is a CSV; one page of Markdown holds them all.
"""

import argparse
from pathlib import Path

from fathom.figures.ranking import RankingTables
from fathom.figures.ranking_tables import (
    render_markdown,
    tabulate_bits,
    tabulate_categories,
    tabulate_compute,
    tabulate_families,
)
from fathom.io.contracts.ranking import RANKED_SCORES, RANKING_TABLES
from fathom.io.delimited import write_rows
from fathom.io.files import write_text
from fathom.io.tables import read_table
from fathom.jobs.program import run_program
from fathom.ranking.table import PARTS


def main(arguments: argparse.Namespace) -> None:
    """Read the table of scores, write four tables and a page."""
    tables = RankingTables(arguments.tables)
    scores = read_table(arguments.tables / PARTS[0], RANKED_SCORES)
    found = [
        ("Benchmarks by category", arguments.categories, tabulate_categories(tables)),
        ("Models by family", arguments.families, tabulate_families(tables)),
        ("Scores on corpora", arguments.corpora, tabulate_bits(tables, scores)),
        ("Training compute", arguments.compute, tabulate_compute(tables)),
    ]
    for _, path, (columns, rows) in found:
        write_rows(path, rows, RANKING_TABLES, columns)
    write_text(arguments.output, "\n".join(render_markdown(title, *table) for title, _, table in found))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=Path, required=True, help="folder of the rankings' tables")
    parser.add_argument("--output", type=Path, required=True, help="all four tables (Markdown)")
    for name in ("categories", "families", "corpora", "compute"):
        parser.add_argument(f"--{name}", type=Path, required=True, help=f"the table of {name} (CSV)")
    run_program(parser, main)
