"""Write the arXiv records without full text as documents."""

import argparse
from pathlib import Path

from fathom.config.corpus import Selection
from fathom.errors import InputError
from fathom.io.files import write_json
from fathom.jobs.program import add_settings, log, read_settings, run_program


def main(arguments: argparse.Namespace) -> None:
    """Write the documents and the report of each part."""
    from fathom.corpus.arxiv_join import collect_abstracts

    if len(arguments.outputs) != len(arguments.reports):
        raise InputError("as many reports as outputs are needed", "--reports")
    settings = read_settings(arguments.settings, Selection)
    reports = collect_abstracts(
        arguments.metadata, arguments.joined, arguments.outputs, settings.corpus.require_fulltext
    )
    for path, report in zip(arguments.reports, reports, strict=True):
        write_json(path, report)
    log.info(
        "%s records without full text; %s documents in %s parts",
        f"{sum(report['metadata_only'] for report in reports):,}",
        f"{sum(report['documents'] for report in reports):,}",
        len(reports),
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--metadata", type=Path, required=True, help="table of records (parquet)")
    parser.add_argument(
        "--joined", type=Path, nargs="*", default=[], help="tables of documents of the joined shards"
    )
    parser.add_argument("--outputs", type=Path, nargs="+", required=True, help="tables of documents to write")
    parser.add_argument(
        "--reports", type=Path, nargs="+", required=True, help="one report to write for each output (JSON)"
    )
    add_settings(parser, Selection)
    run_program(parser, main)
