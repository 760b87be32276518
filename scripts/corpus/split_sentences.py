"""Split the benchmark documents of one slice into sentences and clean them.

Source: [RawCorpora, App. A.2].
"""

from pathlib import Path
from typing import Annotated, Literal

import polars as pl

from fathom.config.benchmark import Sentences
from fathom.errors import InputError
from fathom.io.contracts.corpus import INDEX, SENTENCE_COUNTS, SENTENCES
from fathom.io.files import write_json
from fathom.io.row_groups import select_rows
from fathom.io.tables import write_table
from fathom.jobs.program import log, show_progress
from fathom.jobs.signature import Previous, run

_FEWEST_KEPT = 0.9
"""Share of kept sentences below which to warn."""


def main(
    *,
    documents: Annotated[Path, "table of the part's documents"],
    index: Annotated[Path, "index of the corpus"],
    slice: Annotated[list[int], "which slice of the documents to split, of how many"] = (1, 1),
    domains: Annotated[list[str], "domains with a benchmark"],
    markup: Annotated[Literal["latex", "plain", "auto"], "what texts are"] = "latex",
    pipeline: Annotated[
        Path | None, "folder of the spaCy pipeline, in place of the one that settings name"
    ] = None,
    previous: Previous = None,
    sentences: Annotated[Path, "table of sentences to write"],
    sentence_counts: Annotated[Path, "counts by document to write"],
    report: Annotated[Path, "counts to write (JSON)"],
    settings: Sentences,
) -> None:
    """Read documents of the split `benchmark`, split and clean them, write tables and report."""
    from fathom.corpus.index import iterate_documents, take_slice
    from fathom.corpus.reused_sentences import describe_splitting, find_known, report_splits
    from fathom.corpus.sentences import load_splitter, number_rows, split_documents

    if len(slice) != 2:
        raise InputError("a number and a count are needed", "--slice")
    splitter = load_splitter(str(pipeline or settings.splitter))
    method = describe_splitting(settings, splitter, markup)
    part = documents.name.removesuffix(".parquet")
    rows = select_rows(
        index,
        INDEX.names,
        (pl.col("part") == part)
        & (pl.col("split") == "benchmark")
        & pl.col("domains").list.eval(pl.element().is_in(domains)).list.any(),
    )
    rows = take_slice(documents, rows, *slice)
    known = find_known(previous, rows, method)
    new = rows.join(known.sentence_counts, on="doc_id", how="anti")
    read = show_progress(iterate_documents(documents, part, new), "documents", len(new))
    examples: dict[str, list[str]] = {}
    table, counts = split_documents(read, settings, splitter, markup, examples)
    if len(known.sentence_counts):
        table = number_rows(pl.concat([known.sentences, table.drop("row")]))
        counts = pl.concat([known.sentence_counts, counts]).sort("doc_id")
    totals = report_splits(table, counts, splitter, method, len(known.sentence_counts), examples)
    dropped = {name: totals[name] for name in counts.columns[4:] if totals[name]}
    log.info("%s: %s of %s sentences kept; %s", part, f"{len(table):,}", f"{totals['sentences']:,}", dropped)
    if totals["kept"] < _FEWEST_KEPT * totals["sentences"]:
        log.warning(
            "%s: %.0f %% of its sentences are left out: %s",
            part,
            100 - 100 * totals["kept"] / totals["sentences"],
            "; ".join(f"{reason}: {found[0]}" for reason, found in sorted(examples.items())),
        )
    if previous is not None:
        log.info("%s of %s documents reused", f"{len(known.sentence_counts):,}", f"{len(counts):,}")
    write_table(sentences, table, SENTENCES)
    write_table(sentence_counts, counts, SENTENCE_COUNTS)
    write_json(report, totals)


if __name__ == "__main__":
    run(main)
