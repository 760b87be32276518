"""Write the arXiv records without full text as documents."""

from pathlib import Path
from typing import Annotated

from fathom.config.corpus import Selection
from fathom.errors import InputError
from fathom.io.files import write_json
from fathom.jobs.program import log
from fathom.jobs.signature import run


def main(
    *,
    metadata: Annotated[Path, "table of records (parquet)"],
    joined: Annotated[list[Path], "tables of documents of the joined shards"] = (),
    documents: Annotated[list[Path], "tables of documents to write"],
    reports: Annotated[list[Path], "one report to write for each table (JSON)"],
    settings: Selection,
) -> None:
    """Write the documents and the report of each part."""
    from fathom.corpus.arxiv_join import collect_abstracts

    if len(documents) != len(reports):
        raise InputError("as many reports as tables of documents are needed", "--reports")
    found = collect_abstracts(metadata, joined, documents, settings.corpus.require_fulltext)
    for path, report in zip(reports, found, strict=True):
        write_json(path, report)
    log.info(
        "%s records without full text; %s documents in %s parts",
        f"{sum(report['metadata_only'] for report in found):,}",
        f"{sum(report['documents'] for report in found):,}",
        len(found),
    )


if __name__ == "__main__":
    run(main)
