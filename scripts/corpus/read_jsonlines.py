"""Read documents from JSON lines: id, and any of title, abstract, text, categories, date."""

from pathlib import Path
from typing import Annotated

from fathom.config.corpus import Selection
from fathom.io.files import write_json
from fathom.jobs.program import log
from fathom.jobs.signature import run


def main(
    *,
    shard: Annotated[Path, "JSON lines, plain, .gz or .zst"],
    documents: Annotated[Path, "table of documents to write (parquet)"],
    report: Annotated[Path, "report to write: what was read and left out (JSON)"],
    settings: Selection,
) -> None:
    """Write the documents of the part, and its report."""
    from fathom.corpus.jsonlines import read_jsonlines

    counts = read_jsonlines(shard, settings, documents)
    write_json(report, counts)
    log.info(
        "%s: %s documents of %s lines; %s malformed, %s left out",
        shard.name,
        f"{counts['documents']:,}",
        f"{counts['lines']:,}",
        f"{counts['malformed']['count']:,}",
        f"{sum(counts['left_out'].values()):,}",
    )


if __name__ == "__main__":
    run(main)
