"""Index a corpus: which part has the version of a document that is used; report on the join."""

from pathlib import Path
from typing import Annotated

from fathom.config.corpus import Selection
from fathom.io.files import write_atomically, write_json
from fathom.io.reports import Groups, Part, read_report
from fathom.jobs.program import log
from fathom.jobs.signature import run


def main(
    *,
    documents: Annotated[list[Path], "tables of documents"],
    reports: Annotated[list[Path], "reports on the same parts"],
    metadata: Annotated[Path | None, "report on the metadata (arXiv only)"] = None,
    splits: Annotated[Path | None, "splits of documents that share text"] = None,
    groups: Annotated[Path | None, "report on these, which the join report takes in"] = None,
    index: Annotated[Path, "index to write (parquet)"],
    report: Annotated[Path, "join report to write (JSON)"],
    settings: Selection,
) -> None:
    """Write the index and the join report."""
    from fathom.corpus.index import build_index
    from fathom.corpus.join_report import describe_join, describe_reading
    from fathom.io.contracts.corpus import INDEX
    from fathom.io.tables import read_table

    found = [read_report(path, Part) for path in [*sorted(reports), *([metadata] if metadata else [])]]
    # if the report raises, no index is left
    with write_atomically(index) as temporary:
        counts = build_index(documents, temporary, splits)
        table = read_table(temporary, INDEX, ["characters", "date", "domains", "split"])
        joined = describe_join(table, counts, found, settings)
    if groups is not None:
        joined["groups"] = read_report(groups, Groups)
    write_json(report, joined)
    for line in describe_reading(joined):
        log.info("%s", line)
    log.info(
        "%s documents, %s with full text; %s malformed lines, %s duplicates",
        f"{joined['documents']:,}",
        f"{joined['with_full_text']:,}",
        f"{joined['malformed']['count']:,}",
        f"{sum(joined['duplicates'].values()):,}",
    )


if __name__ == "__main__":
    run(main)
