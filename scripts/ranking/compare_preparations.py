"""Compare the agreement of benchmarks after preparations of different cost.

Reads the reports of tunings with fewer examples or epochs, and of the whole ones; writes one line for each.
"""

import argparse
from pathlib import Path

from fathom.io.contracts.ranking import PREPARATION_COLUMNS
from fathom.io.files import read_json, write_delimited
from fathom.jobs.program import add_settings, add_tables, log, read_settings, run_program
from fathom.ranking.preparation import PreparationSettings, compare_preparations


def main(arguments: argparse.Namespace) -> None:
    """Read all reports, compare, write the table."""
    settings = read_settings(arguments.settings, PreparationSettings)
    reports = {(name, model, task): read_json(Path(path)) for name, model, task, path in arguments.reports}
    rows = compare_preparations(reports, settings)
    write_delimited(arguments.output, PREPARATION_COLUMNS, rows, ",")
    for name, _, _, tau, low, high, *_ in rows:
        log.info("%s: mean tau %s [%s, %s]", name, tau, low, high)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    places = ("PREPARATION", "MODEL", "TASK")
    add_tables(parser, "--reports", places, "report of a tuning (JSON)", required=True)
    parser.add_argument("--output", type=Path, required=True, help="mean tau by preparation (CSV)")
    add_settings(parser, PreparationSettings)
    run_program(parser, main)
