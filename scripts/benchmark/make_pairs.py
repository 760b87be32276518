"""Make the prompt-target pairs of one domain and variant [RawCorpora, Sec. 2.5]."""

import argparse
from collections.abc import Collection
from pathlib import Path

from fathom.config.benchmark import VARIANTS, Pairs
from fathom.config.claims import UNUSED
from fathom.io.contracts.benchmark import MATCHES
from fathom.io.files import write_json
from fathom.io.row_groups import scan_groups, select_rows
from fathom.jobs.program import add_settings, read_settings, run_program


def main(arguments: argparse.Namespace) -> None:
    """Read sentences, vocabulary, index and tokenizer; write pairs and report."""
    import polars as pl

    from fathom.benchmark.pairs import make_pairs, write_pairs
    from fathom.benchmark.set_aside import split_matches
    from fathom.benchmark.vocabulary import read_vocabulary
    from fathom.models.folders import fingerprint_folder, load_offsets

    def find_dates(documents: Collection[str]) -> dict[str, str]:
        wanted = pl.col("doc_id").is_in(pl.Series(sorted(documents), dtype=pl.String).implode())
        return dict(select_rows(arguments.index, ["doc_id", "date"], wanted).iter_rows())

    def read_groups() -> dict[str, str]:
        if not arguments.splits:
            return {}
        grouped = select_rows(arguments.splits, ["doc_id", "group"], pl.col("split") == "benchmark")
        return dict(grouped.iter_rows())

    matches = scan_groups(arguments.sentences, "keyword", [column.name for column in MATCHES])
    if arguments.set_aside:
        matches = split_matches(matches, arguments.set_aside, arguments.variant == UNUSED, read_groups())
    benchmark = make_pairs(
        matches,
        read_vocabulary(arguments.vocabulary),
        find_dates,
        arguments.variant,
        read_settings(arguments.settings, Pairs),
        load_offsets(arguments.tokenizer),
    )
    write_pairs(benchmark.pairs, arguments.output, arguments.json_lines)
    write_json(arguments.report, {**benchmark.report, "tokenizer": fingerprint_folder(arguments.tokenizer)})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sentences", type=Path, required=True, help="matched sentences of the domain")
    parser.add_argument("--vocabulary", type=Path, required=True, help="vocabulary.tsv of this variant")
    parser.add_argument("--index", type=Path, required=True, help="index of the corpus, for dates")
    parser.add_argument(
        "--tokenizer", type=Path, required=True, help="folder of the smallest model's tokenizer"
    )
    parser.add_argument(
        "--variant", choices=(*VARIANTS, UNUSED), required=True, help="variant of the benchmark"
    )
    parser.add_argument(
        "--set-aside",
        type=float,
        default=0.0,
        help="share of the documents that is set aside: unused takes pairs from them, others do not",
    )
    parser.add_argument(
        "--splits", type=Path, help="documents that share text: those of a group are set aside together"
    )
    parser.add_argument("--output", type=Path, required=True, help="pairs.parquet to write")
    parser.add_argument("--json-lines", type=Path, required=True, help="pairs.jsonl to write")
    parser.add_argument("--report", type=Path, required=True, help="pairs.json to write (counts)")
    add_settings(parser, Pairs)
    run_program(parser, main)
