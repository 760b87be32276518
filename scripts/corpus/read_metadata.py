"""Read arXiv's metadata (arxiv-metadata-oai-snapshot.json) as records [RawCorpora, Sec. 2.1]."""

from pathlib import Path
from typing import Annotated

from fathom.config.corpus import Selection
from fathom.io.files import write_json
from fathom.jobs.program import log
from fathom.jobs.signature import run


def main(
    *,
    metadata: Annotated[Path, "the snapshot, plain, .gz or .zst"],
    records: Annotated[Path, "table of records to write (parquet)"],
    report: Annotated[Path, "report to write: what was read and left out (JSON)"],
    settings: Selection,
) -> None:
    """Write the table of records, and its report."""
    from fathom.corpus.metadata import read_metadata

    counts = read_metadata(metadata, settings, records)
    write_json(report, counts)
    log.info(
        "%s lines; %s malformed, %s ids restored, %s duplicates, %s in no domain, %s selected",
        f"{counts['lines']:,}",
        f"{counts['malformed']['count']:,}",
        f"{counts['restored_ids']:,}",
        f"{counts['duplicates']:,}",
        f"{sum(counts['left_out'].values()):,}",
        f"{counts['selected']:,}",
    )


if __name__ == "__main__":
    run(main)
