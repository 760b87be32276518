"""Read the docstrings of an installed package as documents."""

from pathlib import Path
from typing import Annotated

from fathom.config.corpus import Selection
from fathom.io.files import write_json
from fathom.jobs.program import log
from fathom.jobs.signature import run


def main(
    *,
    part: Annotated[str, "name of an installed package"],
    documents: Annotated[Path, "table of documents to write (parquet)"],
    report: Annotated[Path, "report to write: what was read and left out (JSON)"],
    settings: Selection,
) -> None:
    """Write the documents of the part, and its report."""
    from fathom.corpus.docstrings import read_docstrings

    counts = read_docstrings(part, settings, documents)
    write_json(report, counts)
    log.info(
        "%s: %s documents; %s too short, %s repeated, %s modules could not be imported",
        part,
        f"{counts['documents']:,}",
        f"{counts['short']:,}",
        f"{counts['duplicates']:,}",
        len(counts["import_errors"]),
    )


if __name__ == "__main__":
    run(main)
