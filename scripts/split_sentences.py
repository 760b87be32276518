"""Split one part's benchmark documents into sentences and keep those that cleaning keeps (spec 1.3)."""

import argparse
from pathlib import Path

import polars as pl

from fathom.config.benchmark import Sentences
from fathom.files import write_json
from fathom.program import add_settings, log, read_settings, run_program, show_progress
from fathom.scans import select_rows
from fathom.tables import INDEX, SENTENCES, write_table


def main(arguments: argparse.Namespace) -> None:
    """Read the part's documents of the fold `benchmark`, split and clean them, write table and report."""
    from fathom.corpus.index import iterate_documents
    from fathom.corpus.sentences import split_documents

    settings = read_settings(arguments.settings, Sentences)
    part = arguments.documents.name.removesuffix(".parquet")
    index = select_rows(
        arguments.index,
        [column.name for column in INDEX],
        (pl.col("part") == part)
        & (pl.col("fold") == "benchmark")
        & pl.col("domains").list.eval(pl.element().is_in(arguments.domains)).list.any(),
    )
    documents = show_progress(iterate_documents(arguments.documents, part, index), "documents", len(index))
    table, report = split_documents(documents, settings)
    dropped = {name: count for name, count in report.items() if "_" in name and count}
    log.info("%s: %s of %s sentences kept; %s", part, f"{len(table):,}", f"{report['sentences']:,}", dropped)
    write_table(arguments.output, table, SENTENCES)
    write_json(arguments.report, report)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=Path, required=True, help="table of one part's documents")
    parser.add_argument("--index", type=Path, required=True, help="the corpus's index")
    parser.add_argument("--domains", nargs="+", required=True, help="domains that have a benchmark")
    add_settings(parser, Sentences)
    parser.add_argument("--output", type=Path, required=True, help="table of sentences")
    parser.add_argument("--report", type=Path, required=True, help="counts as JSON")
    run_program(parser, main)
