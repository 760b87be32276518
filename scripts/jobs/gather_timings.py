"""Summarise time and memory of a run's jobs by rule."""

from pathlib import Path
from typing import Annotated

from fathom.errors import InputError
from fathom.io.contracts.jobs import RESOURCES
from fathom.io.delimited import write_rows
from fathom.io.reports import Metadata, Part, read_report
from fathom.jobs.program import log
from fathom.jobs.resources import Sizes, gather_timings, measure_parts, measure_text
from fathom.jobs.signature import run


def main(
    *,
    folder: Annotated[Path, "folder of the run"],
    table: Annotated[Path, "table to write (CSV)"],
) -> None:
    """Read the timing of each job; write the table."""
    timings = folder / "timings"
    if not timings.is_dir():
        raise InputError("there is no such folder", str(timings), "give the folder of a run: results/RUN")
    lines = gather_timings(timings, measure_input(folder / "corpus"), ["gather_timings"])
    write_rows(table, lines, RESOURCES)
    log.info(
        "%s jobs of %s rules, %.2f hours", f"{sum(line[1] for line in lines):,}", len(lines),
        sum(line[2] for line in lines) / 3600,
    )  # fmt: skip


def measure_input(corpus: Path) -> Sizes:
    """Return the size of each part's text in MB, from the reports on the parts."""
    reports = {path.stem: read_report(path, Part) for path in sorted((corpus / "documents").glob("*.json"))}
    given = {name: report["input"] for name, report in reports.items() if "input" in report}
    shards = {name: measure_text(value["file"], value["bytes"]) for name, value in given.items()}
    whole = corpus / "metadata.json"
    metadata = read_report(whole, Metadata)["input"] if whole.is_file() else None
    size = measure_text(metadata["file"], metadata["bytes"]) if metadata else 0.0
    return measure_parts(shards, [name for name in reports if name not in given], size)


if __name__ == "__main__":
    run(main)
