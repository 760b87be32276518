"""Read documents from a table: any columns, found by their names or named in the configuration."""

from pathlib import Path
from typing import Annotated

from fathom.config.corpus import Selection
from fathom.jobs.signature import run


def main(
    *,
    shard: Annotated[Path, "table: JSON lines, CSV, TSV (plain, .gz, .zst) or parquet"],
    documents: Annotated[Path, "table of documents to write (parquet)"],
    report: Annotated[Path, "report to write: what was read and left out (JSON)"],
    settings: Selection,
) -> None:
    """Write the documents of the part, and its report."""
    from fathom.corpus.table_rows import read_table_documents, write_report

    counts = read_table_documents(shard, settings, documents)
    write_report(report, counts)


if __name__ == "__main__":
    run(main)
