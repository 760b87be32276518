"""Split the benchmark documents of one slice into sentences and keep those that cleaning keeps.

Source: [RawCorpora, App. A.2].
"""

import argparse
from pathlib import Path

import polars as pl

from fathom.config.benchmark import Sentences
from fathom.io.contracts.corpus import INDEX, SENTENCES, SPLITS
from fathom.io.files import write_json
from fathom.io.row_groups import select_rows
from fathom.io.tables import write_table
from fathom.jobs.program import add_previous, add_settings, log, read_settings, run_program, show_progress


def main(arguments: argparse.Namespace) -> None:
    """Read documents of the fold `benchmark`, split and clean them, write tables and report."""
    from fathom.corpus.document_slices import take_slice
    from fathom.corpus.index import iterate_documents
    from fathom.corpus.reused_sentences import describe_splitting, find_known, report_splits
    from fathom.corpus.sentences import load_splitter, number_rows, split_documents

    settings = read_settings(arguments.settings, Sentences)
    splitter = load_splitter(settings.splitter)
    method = describe_splitting(settings, splitter)
    part = arguments.documents.name.removesuffix(".parquet")
    index = select_rows(
        arguments.index,
        [column.name for column in INDEX],
        (pl.col("part") == part)
        & (pl.col("fold") == "benchmark")
        & pl.col("domains").list.eval(pl.element().is_in(arguments.domains)).list.any(),
    )
    index = take_slice(arguments.documents, index, *arguments.slice)
    known = find_known(arguments.previous, index, method)
    new = index.join(known.splits, on="doc_id", how="anti")
    documents = show_progress(iterate_documents(arguments.documents, part, new), "documents", len(new))
    table, splits = split_documents(documents, settings, splitter)
    if len(known.splits):
        table = number_rows(pl.concat([known.sentences, table.drop("row")]))
        splits = pl.concat([known.splits, splits]).sort("doc_id")
    report = report_splits(table, splits, splitter, method, len(known.splits))
    dropped = {name: report[name] for name in splits.columns[4:] if report[name]}
    log.info("%s: %s of %s sentences kept; %s", part, f"{len(table):,}", f"{report['sentences']:,}", dropped)
    if arguments.previous is not None:
        log.info("%s of %s documents reused", f"{len(known.splits):,}", f"{len(splits):,}")
    write_table(arguments.output, table, SENTENCES)
    write_table(arguments.splits, splits, SPLITS)
    write_json(arguments.report, report)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=Path, required=True, help="table of the part's documents")
    parser.add_argument("--index", type=Path, required=True, help="index of the corpus")
    parser.add_argument(
        "--slice",
        type=int,
        nargs=2,
        default=(1, 1),
        metavar=("NUMBER", "COUNT"),
        help="the documents to split",
    )
    parser.add_argument("--domains", nargs="+", required=True, help="domains with a benchmark")
    add_previous(parser)
    add_settings(parser, Sentences)
    parser.add_argument("--output", type=Path, required=True, help="table of sentences to write")
    parser.add_argument("--splits", type=Path, required=True, help="table of split documents to write")
    parser.add_argument("--report", type=Path, required=True, help="counts to write (JSON)")
    run_program(parser, main)
