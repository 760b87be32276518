"""Join one shard of arXiv full texts with the metadata [RawCorpora, Sec. 2.1]."""

from pathlib import Path
from typing import Annotated

from fathom.config.corpus import Selection
from fathom.io.files import write_json
from fathom.jobs.program import log
from fathom.jobs.signature import run


def main(
    *,
    metadata: Annotated[Path, "table of records (parquet)"],
    shard: Annotated[Path, "shard of full texts, plain, .gz or .zst"],
    documents: Annotated[Path, "table of documents to write (parquet)"],
    report: Annotated[Path, "report to write: what was read and left out (JSON)"],
    settings: Selection,
) -> None:
    """Write the documents of the shard, and its report."""
    from fathom.corpus.arxiv_join import join_shard

    counts = join_shard(metadata, shard, settings.corpus, documents)
    write_json(report, counts)
    log.info(
        "%s: %s documents of %s lines; %s malformed, %s not in the metadata, %s left out",
        shard.name,
        f"{counts['documents']:,}",
        f"{counts['lines']:,}",
        f"{counts['malformed']['count']:,}",
        f"{counts['fulltext_only']:,}",
        f"{sum(counts['left_out'].values()):,}",
    )


if __name__ == "__main__":
    run(main)
