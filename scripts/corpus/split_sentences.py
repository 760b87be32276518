"""Split the benchmark documents of one slice into sentences and keep those that cleaning keeps.

Source: [RawCorpora, App. A.2].
"""

import argparse
from pathlib import Path

import polars as pl

from fathom.config.benchmark import Sentences
from fathom.io.contracts.corpus import INDEX, SENTENCE_COUNTS, SENTENCES
from fathom.io.files import write_json
from fathom.io.row_groups import select_rows
from fathom.io.tables import write_table
from fathom.jobs.program import add_previous, add_settings, log, read_settings, run_program, show_progress


def main(arguments: argparse.Namespace) -> None:
    """Read documents of the split `benchmark`, split and clean them, write tables and report."""
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
        & (pl.col("split") == "benchmark")
        & pl.col("domains").list.eval(pl.element().is_in(arguments.domains)).list.any(),
    )
    index = take_slice(arguments.documents, index, *arguments.slice)
    known = find_known(arguments.previous, index, method)
    new = index.join(known.sentence_counts, on="doc_id", how="anti")
    documents = show_progress(iterate_documents(arguments.documents, part, new), "documents", len(new))
    table, sentence_counts = split_documents(documents, settings, splitter)
    if len(known.sentence_counts):
        table = number_rows(pl.concat([known.sentences, table.drop("row")]))
        sentence_counts = pl.concat([known.sentence_counts, sentence_counts]).sort("doc_id")
    report = report_splits(table, sentence_counts, splitter, method, len(known.sentence_counts))
    dropped = {name: report[name] for name in sentence_counts.columns[4:] if report[name]}
    log.info("%s: %s of %s sentences kept; %s", part, f"{len(table):,}", f"{report['sentences']:,}", dropped)
    if arguments.previous is not None:
        log.info("%s of %s documents reused", f"{len(known.sentence_counts):,}", f"{len(sentence_counts):,}")
    write_table(arguments.output, table, SENTENCES)
    write_table(arguments.sentence_counts, sentence_counts, SENTENCE_COUNTS)
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
    parser.add_argument("--sentence-counts", type=Path, required=True, help="counts by document to write")
    parser.add_argument("--report", type=Path, required=True, help="counts to write (JSON)")
    run_program(parser, main)
