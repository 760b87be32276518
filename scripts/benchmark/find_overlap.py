"""Find the pairs of a benchmark that stand in the text that models are trained on."""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from fathom.io.contracts.benchmark import OVERLAP, PAIRS
from fathom.io.files import hash_text, write_json
from fathom.io.tables import read_table, write_table
from fathom.jobs.program import run_program, show_progress


def main(arguments: argparse.Namespace) -> None:
    """Read pairs and training texts; write the flags of all pairs and their counts."""
    from fathom.benchmark.overlap import find_overlap, report_overlap

    pairs = read_table(arguments.pairs, PAIRS, ["pair_id", "prompt", "target"])
    overlap = find_overlap(pairs, show_progress(_read_texts(arguments.texts), "documents"))
    report = report_overlap(overlap, arguments.splits_by)
    write_table(arguments.output, overlap, OVERLAP)
    write_json(arguments.report, report)


def _read_texts(paths: Sequence[Path]) -> Iterator[str]:
    """Yield the texts that models are trained on, each document once."""
    import polars as pl

    from fathom.corpus.texts import TRAIN
    from fathom.io.row_groups import scan_table

    seen: set[tuple[str, str]] = set()  # text from elsewhere may have the same ids
    for path in paths:
        for frame in scan_table(path, ["doc_id", "split", "text"]):
            for doc_id, text in frame.filter(pl.col("split") == TRAIN).select("doc_id", "text").iter_rows():
                key = doc_id, hash_text(text)
                if key not in seen:
                    seen.add(key)
                    yield text


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=Path, required=True, help="pairs.parquet")
    parser.add_argument(
        "--texts", type=Path, nargs="+", required=True, help="texts of the domains trained on"
    )
    parser.add_argument(
        "--splits-by", choices=("content", "id"), default="content", help="what decides a document's split"
    )
    parser.add_argument("--output", type=Path, required=True, help="flags of all pairs to write (parquet)")
    parser.add_argument("--report", type=Path, required=True, help="counts to write (JSON)")
    run_program(parser, main)
