"""Index a corpus: which part has the version of a document that is used; report on the join."""

import argparse
from pathlib import Path

from fathom.config.corpus import Selection
from fathom.io.files import read_json, write_atomically, write_json
from fathom.jobs.program import add_settings, log, read_settings, run_program


def main(arguments: argparse.Namespace) -> None:
    """Write the index and the join report."""
    from fathom.corpus.index import build_index
    from fathom.corpus.join_report import describe_join
    from fathom.io.contracts.corpus import INDEX
    from fathom.io.tables import read_table

    settings = read_settings(arguments.settings, Selection)
    paths = sorted(arguments.reports)
    if arguments.metadata_report is not None:
        paths.append(arguments.metadata_report)
    reports = [read_json(path) for path in paths]
    # if the report raises, no index is left
    with write_atomically(arguments.output) as temporary:
        counts = build_index(arguments.documents, temporary, arguments.splits)
        index = read_table(temporary, INDEX, ["characters", "date", "domains", "split"])
        report = describe_join(index, counts, reports, settings)
    if arguments.groups_report is not None:
        report["groups"] = read_json(arguments.groups_report)
    write_json(arguments.report, report)
    log.info(
        "%s documents, %s with full text; %s malformed lines, %s duplicates",
        f"{report['documents']:,}",
        f"{report['with_full_text']:,}",
        f"{report['malformed']['count']:,}",
        f"{sum(report['duplicates'].values()):,}",
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=Path, nargs="+", required=True, help="tables of documents")
    parser.add_argument("--reports", type=Path, nargs="+", required=True, help="reports on the same parts")
    parser.add_argument("--metadata-report", type=Path, help="report on the metadata (arXiv only)")
    parser.add_argument("--splits", type=Path, help="splits of documents that share text")
    parser.add_argument("--groups-report", type=Path, help="report on these, which the join report takes in")
    parser.add_argument("--output", type=Path, required=True, help="index to write (parquet)")
    parser.add_argument("--report", type=Path, required=True, help="join report to write (JSON)")
    add_settings(parser, Selection)
    run_program(parser, main)
