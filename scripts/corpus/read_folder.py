"""Read documents from a folder of files: HTML, PDF, DOCX, EPUB, Markdown, reStructuredText, text, LaTeX."""

from pathlib import Path
from typing import Annotated

from fathom.config.corpus import Selection
from fathom.io.files import write_json
from fathom.jobs.program import log
from fathom.jobs.signature import run


def main(
    *,
    part: Annotated[str, "which part of the files, such as files-1-of-4"],
    files: Annotated[list[str], "folders of documents, and single files"],
    kept: Annotated[Path, "cache of contents, so that only changed files are read again"],
    documents: Annotated[Path, "table of documents to write (parquet)"],
    report: Annotated[Path, "report to write: what was read and left out (JSON)"],
    settings: Selection,
) -> None:
    """Write the documents of the part, and its report."""
    from fathom.corpus.folder import read_folder

    counts = read_folder(part, files, settings, documents, kept)
    write_json(report, counts)
    log.info(
        "%s: %s documents of %s files, of which %s are unchanged; %s files left out",
        part,
        f"{counts['documents']:,}",
        f"{counts['files']['read']:,}",
        f"{counts['files']['reused']:,}",
        f"{sum(each['count'] for each in counts['files']['skipped'].values()):,}",
    )


if __name__ == "__main__":
    run(main)
