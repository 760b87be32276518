"""Reuse the sentences of documents that an earlier run has split, by content.

Sentences are reused if splitting would give the same: same title, abstract and text, code, settings and
packages. The document may have moved to another shard.
"""

from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from fathom.config.benchmark import Sentences
from fathom.corpus import sentences as module
from fathom.corpus.latex import Markup
from fathom.corpus.previous import find_previous_slices
from fathom.corpus.sentences import Examples, Splitter, hash_content
from fathom.errors import InputError
from fathom.io import paths
from fathom.io.contracts.corpus import SENTENCE_COUNTS, SENTENCES
from fathom.io.files import hash_folder
from fathom.io.reports import Reuse, read_report
from fathom.io.row_groups import scan_table
from fathom.io.tables import make_empty_table, read_table
from fathom.jobs.program import log
from fathom.jobs.program_modules import describe_method

_PACKAGES = ("pylatexenc", "spacy")


class KnownSentences(NamedTuple):
    """Sentences and counts of documents, from an earlier run."""

    sentences: pl.DataFrame
    sentence_counts: pl.DataFrame


def describe_splitting(settings: Sentences, splitter: Splitter, markup: Markup = "latex") -> dict[str, Any]:
    """Describe everything that a document's sentences depend on besides the document itself."""
    folder = Path(settings.splitter)
    return {
        **describe_method(Path(module.__file__), _PACKAGES),
        "settings": {
            "max_characters": settings.max_characters,
            "characters": settings.characters,
            "markup": markup,
            "titles": settings.titles,
        },
        "splitter": splitter.name,
        "splitter_files": hash_folder(folder) if folder.is_dir() else "",
    }


def find_known(previous: Path | None, index: pl.DataFrame, method: dict[str, Any]) -> KnownSentences:
    """Find the sentences of documents that an earlier run split with equal content and method."""
    sentences, sentence_counts = (
        [make_empty_table(SENTENCES).drop("row")],
        [make_empty_table(SENTENCE_COUNTS)],
    )
    if previous is None:
        return KnownSentences(sentences[0], sentence_counts[0])
    contents = [hash_content(row) for row in index.iter_rows(named=True)]
    wanted = index.select("doc_id").with_columns(pl.Series("content", contents, dtype=pl.String))
    others: Counter[str] = Counter()
    for name, doc_ids in find_previous_slices(previous, index["doc_id"]).items():
        path, report, table = (
            Path(each.of(slice=name).under(previous))
            for each in (paths.SENTENCES, paths.SENTENCES.ending(".json"), paths.SENTENCE_COUNTS)
        )
        if not report.is_file() or not table.is_file():
            others["not finished"] += len(doc_ids)
        elif read_report(report, Reuse).get("method") != method:
            others["made by other code, settings or packages"] += len(doc_ids)
        else:
            same = read_table(table, SENTENCE_COUNTS).join(wanted, on=["doc_id", "content"], how="semi")
            sentence_counts.append(same)
            sentences.append(_read_sentences(path, same))
    for reason, count in sorted(others.items()):
        log.info("sentences of %s documents of the earlier run are not reused: %s", f"{count:,}", reason)
    return KnownSentences(pl.concat(sentences), pl.concat(sentence_counts))


def _read_sentences(path: Path, sentence_counts: pl.DataFrame) -> pl.DataFrame:
    """Return the sentences of documents of an earlier slice; raise `InputError` if any are missing."""
    wanted = sentence_counts["doc_id"].implode()
    columns = [column.name for column in SENTENCES if column.name != "row"]
    pieces = scan_table(path, columns) if len(sentence_counts) else iter(())
    # converting to Arrow copies: a filtered frame would keep the whole piece in memory
    found = [
        pl.DataFrame(
            piece.filter(pl.col("doc_id").is_in(wanted)).to_arrow(compat_level=pl.CompatLevel.oldest())
        )
        for piece in pieces
    ]
    table = pl.concat([make_empty_table(SENTENCES).drop("row"), *found])
    kept = int(sentence_counts["kept"].sum())
    if len(table) != kept:
        hint = "this file of the earlier run was changed: make it again, or leave out `previous`"
        raise InputError(f"{len(table):,} sentences, but {kept:,} were counted", str(path), hint)
    return table


def report_splits(
    sentences: pl.DataFrame,
    sentence_counts: pl.DataFrame,
    splitter: Splitter,
    method: dict[str, Any],
    reused: int,
    examples: Examples | None = None,
) -> dict[str, Any]:
    """Return the report on one slice: counts over its documents, examples, the splitter, and the method."""
    counts = {column.name: int(sentence_counts[column.name].sum()) for column in SENTENCE_COUNTS.columns[2:]}
    return {
        "documents": len(sentence_counts),
        "reused_documents": reused,
        **counts,
        "distinct": sentences["row"].n_unique(),
        "examples": examples or {},
        "splitter": splitter.name,
        "method": method,
    }
