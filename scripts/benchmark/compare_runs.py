"""Compare two runs: which input files, documents, keywords and pairs are new, changed, gone or kept."""

from pathlib import Path
from typing import Annotated

from fathom.io.contracts.benchmark import CHANGES, KEYWORD_CHANGES
from fathom.io.delimited import write_rows
from fathom.io.files import write_text
from fathom.jobs.program import log
from fathom.jobs.signature import run


def main(
    *,
    earlier: Annotated[Path, "folder of the earlier run"],
    later: Annotated[Path, "folder of the later run"],
    domains: Annotated[list[str], "domains that have a benchmark"],
    changes: Annotated[Path, "counts (CSV)"],
    keyword_changes: Annotated[Path, "keywords gained, lost and kept (CSV)"],
    page: Annotated[Path, "both, as a page to read (Markdown)"],
) -> None:
    """Read the results of both runs; write two tables and a page."""
    from fathom.benchmark import run_changes as comparison
    from fathom.corpus.previous import require_index

    for folder in (earlier, later):
        require_index(folder)
    found = [comparison.compare_inputs(earlier, later)]
    found += comparison.compare_documents(earlier, later, domains)
    keywords: list[list[object]] = []
    for domain in domains:
        change, lines = comparison.compare_keywords(earlier, later, domain)
        found += [change, *comparison.compare_pairs(earlier, later, domain)]
        keywords += lines
    reuse = comparison.count_reuse(later)
    rows = [change.values() for change in (*found, *reuse)]
    write_rows(changes, rows, CHANGES)
    write_rows(keyword_changes, keywords, KEYWORD_CHANGES)
    write_text(page, comparison.describe_changes(earlier.name, later.name, found, reuse, keywords))
    for change in reuse:
        log.info("%s: %s of %s reused", change.what, f"{change.kept:,}", f"{change.now:,}")


if __name__ == "__main__":
    run(main)
