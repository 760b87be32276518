"""Gather the matches of all parts of a domain, each clean sentence once per keyword.

Source: [RawCorpora, App. A.2].
"""

import argparse
from pathlib import Path

from fathom.io.contracts.benchmark import MATCHES
from fathom.io.files import read_delimited, write_json
from fathom.io.tables import write_table_in_batches
from fathom.running.program import log, run_program


def main(arguments: argparse.Namespace) -> None:
    """Read the parts' matches side by side, drop duplicates, write table and report."""
    from fathom.benchmark.gathering import gather_matches

    keywords = [row["keyword"] for row in read_delimited(arguments.keywords)] if arguments.keywords else []
    with write_table_in_batches(arguments.output, MATCHES) as writer:
        report = gather_matches(arguments.matches, keywords, writer.write)
    log.info(
        "%s matches of %s keywords, %s duplicates dropped",
        f"{report['matches']:,}",
        report["keywords_with_matches"],
        f"{report['dropped_duplicates']:,}",
    )
    write_json(arguments.report, report)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--matches", type=Path, nargs="+", required=True, help="tables of all parts' matches")
    parser.add_argument("--keywords", type=Path, help="keywords.tsv, to name those without a match")
    parser.add_argument("--output", type=Path, required=True, help="table of matches")
    parser.add_argument("--report", type=Path, required=True, help="counts as JSON")
    run_program(parser, main)
