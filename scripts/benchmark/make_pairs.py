"""Make the prompt-target pairs of one domain and variant [RawCorpora, Sec. 2.5]."""

from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Literal

from fathom.config.benchmark import Pairs
from fathom.config.claims import UNUSED
from fathom.io.contracts.benchmark import ASSOCIATIONS, MATCHES
from fathom.io.files import write_json
from fathom.io.row_groups import scan_smallest_first, select_rows
from fathom.io.tables import read_table
from fathom.jobs.signature import run


def main(
    *,
    sentences: Annotated[Path, "matched sentences of the domain"],
    vocabulary: Annotated[Path, "vocabulary.tsv of this variant"],
    index: Annotated[Path, "index of the corpus, for dates"],
    tokenizer: Annotated[Path, "folder of the smallest model's tokenizer"],
    associations: Annotated[Path, "associations of the sentences' terms"],
    variant: Annotated[Literal["tf", "tfidf", "unused"], "variant of the benchmark"],
    set_aside: Annotated[
        float, "share of the documents that is set aside: unused takes pairs from them, others do not"
    ] = 0.0,
    splits: Annotated[
        Path | None, "documents that share text: those of a group are set aside together"
    ] = None,
    pairs: Annotated[Path, "pairs.parquet to write"],
    lines: Annotated[Path, "pairs.jsonl to write"],
    report: Annotated[Path, "pairs.json to write (counts)"],
    settings: Pairs,
) -> None:
    """Read sentences, vocabulary, index and tokenizer; write pairs and report."""
    import polars as pl

    from fathom.benchmark.association import Associations
    from fathom.benchmark.pairs import make_pairs, split_matches, write_pairs
    from fathom.benchmark.vocabulary import read_vocabulary
    from fathom.models.folders import fingerprint_folder, load_offsets

    def find_dates(documents: Collection[str]) -> dict[str, str]:
        wanted = pl.col("doc_id").is_in(pl.Series(sorted(documents), dtype=pl.String).implode())
        return dict(select_rows(index, ["doc_id", "date"], wanted).iter_rows())

    def read_groups() -> dict[str, str]:
        if not splits:
            return {}
        grouped = select_rows(splits, ["doc_id", "group"], pl.col("split") == "benchmark")
        return dict(grouped.iter_rows())

    matches = scan_smallest_first(sentences, "keyword", MATCHES.names)
    if set_aside:
        matches = split_matches(matches, set_aside, variant == UNUSED, read_groups())
    benchmark = make_pairs(
        matches,
        read_vocabulary(vocabulary),
        find_dates,
        variant,
        settings,
        load_offsets(tokenizer),
        Associations(read_table(associations, ASSOCIATIONS)),
    )
    write_pairs(benchmark.pairs, pairs, lines)
    write_json(report, {**benchmark.report, "tokenizer": fingerprint_folder(tokenizer)})


if __name__ == "__main__":
    run(main)
