"""Compare two runs: which input files, documents, keywords and pairs are new, changed, gone or kept."""

import argparse
from pathlib import Path

from fathom.io.files import write_delimited, write_text
from fathom.jobs.program import log, run_program


def main(arguments: argparse.Namespace) -> None:
    """Read the results of both runs; write two tables and a page."""
    from fathom.benchmark import run_changes as comparison
    from fathom.corpus.previous import require_index

    previous, run = arguments.previous, arguments.run
    for folder in (previous, run):
        require_index(folder / "corpus")
    changes = [comparison.compare_inputs(previous, run)]
    changes += comparison.compare_documents(previous, run, arguments.domains)
    keywords: list[list[str]] = []
    for domain in arguments.domains:
        change, lines = comparison.compare_keywords(previous, run, domain)
        changes += [change, *comparison.compare_pairs(previous, run, domain)]
        keywords += lines
    reuse = comparison.count_reuse(run)
    rows = [change.values() for change in (*changes, *reuse)]
    write_delimited(arguments.output, comparison.CHANGE_COLUMNS, rows, ",")
    write_delimited(arguments.keywords, comparison.KEYWORD_COLUMNS, keywords, ",")
    write_text(arguments.page, comparison.describe_changes(previous.name, run.name, changes, reuse, keywords))
    for change in reuse:
        log.info("%s: %s of %s reused", change.what, f"{change.kept:,}", f"{change.now:,}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--previous", type=Path, required=True, help="folder of the earlier run")
    parser.add_argument("--run", type=Path, required=True, help="folder of the later run")
    parser.add_argument("--domains", nargs="+", required=True, help="domains that have a benchmark")
    parser.add_argument("--output", type=Path, required=True, help="counts (CSV)")
    parser.add_argument("--keywords", type=Path, required=True, help="keywords gained, lost and kept (CSV)")
    parser.add_argument("--page", type=Path, required=True, help="both, as a page to read (Markdown)")
    run_program(parser, main)
