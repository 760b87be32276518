"""Compare the agreement of benchmarks after preparations of different cost.

Reads the reports of tunings with fewer examples or epochs, and of the whole ones; writes one line for each.
"""

from pathlib import Path
from typing import Annotated

from fathom.io import paths
from fathom.io.contracts.ranking import PREPARATION
from fathom.io.delimited import write_rows
from fathom.io.reports import Prepared, read_report
from fathom.jobs.program import log
from fathom.jobs.signature import Tables, run
from fathom.ranking.benchmark_agreement import PreparationSettings, compare_preparations


def main(
    *,
    reports: Annotated[Tables, paths.PREPARED.ending(".json"), "report of a tuning"],
    table: Annotated[Path, "mean tau by preparation to write (CSV)"],
    settings: PreparationSettings,
) -> None:
    """Read all reports, compare, write the table."""
    found = {tuple(places): read_report(path, Prepared) for *places, path in reports}
    rows = compare_preparations(found, settings)
    write_rows(table, rows, PREPARATION)
    for name, _, _, tau, low, high, *_ in rows:
        log.info("%s: mean tau %s [%s, %s]", name, tau, low, high)


if __name__ == "__main__":
    run(main)
