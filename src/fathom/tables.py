"""Contracts of the tables that rules hand to each other, checked when a table is written.

A contract is a tuple of columns, each with its Arrow type and a line on what it holds. A table that breaks
its contract is an error of ours, never of a user, and raises `ValueError` before anything is written.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from fathom.errors import InputError
from fathom.files import require_file, write_atomically

_STRING, _STRINGS, _BOOL = pa.string(), pa.list_(pa.string()), pa.bool_()
_INT32, _INT64, _DOUBLE = pa.int32(), pa.int64(), pa.float64()


@dataclass(frozen=True)
class Column:
    """One column of a contract: its name, Arrow type, and a line on what it holds."""

    name: str
    type: pa.DataType
    about: str


Contract = tuple[Column, ...]

DOC_ID = Column("doc_id", _STRING, "canonical id of a document, unique in a corpus")
TITLE = Column("title", _STRING, "title on one line, may be empty")
ABSTRACT = Column("abstract", _STRING, "abstract or first paragraph, white space collapsed, may be empty")
DATE = Column("date", _STRING, "day of the first version, YYYY-MM-DD, or empty when unknown")
DOMAINS = Column("domains", _STRINGS, "names of the configured domains that hold the document, sorted")
FOLD = Column("fold", _STRING, "benchmark, adapt-train, adapt-valid or adapt-test, by a hash of doc_id")
TEXT_HASH = Column("text_hash", _STRING, "sha256 of the full text; tells versions of one document apart")
CHARACTERS = Column("characters", _INT64, "length of the full text, 0 where there is none")
KEYWORD = Column("keyword", _STRING, "keyword in lower case, words separated by one blank")

RECORDS: Contract = (
    DOC_ID,
    TITLE,
    ABSTRACT,
    Column("categories", _STRINGS, "categories in the source's order, the first is the primary one"),
    DATE,
    DOMAINS,
    FOLD,
)
"""One row for each record of a corpus's metadata; those of no domain have no domains, title, abstract."""

DOCUMENTS: Contract = (
    *RECORDS,
    Column("text", _STRING, "full text as it came (LaTeX or plain), empty where there is none"),
    TEXT_HASH,
    CHARACTERS,
)
"""Documents of one part (input shard), in its order; a doc_id may repeat: the index says which row counts."""

INDEX: Contract = (
    DOC_ID,
    Column("part", _STRING, "name of the part whose version of the document is used"),
    TITLE,
    ABSTRACT,
    DATE,
    DOMAINS,
    FOLD,
    TEXT_HASH,
    CHARACTERS,
)
"""One row for each document of the corpus, sorted by doc_id: which part holds the version that counts."""

TEXTS: Contract = (
    DOC_ID,
    FOLD,
    Column("text", _STRING, "plain text that models are trained on, LaTeX taken out"),
)
"""Training and held-out text of one domain, without the benchmark fold, sorted by a hash of doc_id."""

SENTENCES: Contract = (
    DOC_ID,
    Column("position", _INT32, "index of the sentence in its document, from 0"),
    Column("sentence", _STRING, "the sentence as it stands in the document: what is embedded"),
    Column("clean", _STRING, "the sentence after cleaning: what prompts are made of"),
    Column("row", _INT32, "row of the sentence's embedding in the part's array; equal sentences share one"),
)
"""Sentences of one part's benchmark documents that survive cleaning, by doc_id and position."""

SPLITS: Contract = (
    DOC_ID,
    Column("content", _STRING, "hash of title, abstract and text: equal content has equal sentences"),
    Column("sentences", _INT32, "sentences of the document"),
    Column("kept", _INT32, "those in the table of sentences"),
    Column("dropped_too_long", _INT32, "left out: over sentences.max_characters"),
    Column("dropped_characters", _INT32, "left out: a character that prompts may not have"),
    Column("dropped_empty", _INT32, "left out: nothing is left after cleaning"),
    Column("dropped_long_words", _INT32, "words taken out that are data"),
    Column("latex_failed", _INT32, "sentences whose LaTeX could not be converted"),
    Column("latex_too_slow", _INT32, "sentences whose conversion was stopped"),
    Column("latex_too_long", _INT32, "sentences too long to convert"),
    Column("latex_bad_result", _INT32, "sentences whose conversion gave no text"),
)
"""Documents of one part that were split, by doc_id: what a later run needs to take their sentences over."""

MATCHES: Contract = (
    KEYWORD,
    DOC_ID,
    Column("position", _INT32, "index of the sentence in its document, from 0"),
    Column("clean", _STRING, "the cleaned sentence"),
    Column("cosine", _DOUBLE, "cosine of keyword and raw sentence, three decimals"),
)
"""Matches of keywords and sentences in one part or one domain."""

PAIRS: Contract = (
    Column("pair_id", _STRING, "hash of keyword, variant, prompt and target"),
    KEYWORD,
    Column("variant", _STRING, "tf or tfidf, the vocabulary that the target comes from, or reference"),
    Column("prompt", _STRING, "the sentence up to the target, no blank at its end"),
    Column("target", _STRING, "one blank and the term"),
    DOC_ID,
    DATE,
    Column("cosine", _DOUBLE, "cosine of keyword and sentence, three decimals; NaN in a reference"),
    Column("target_in_prompt", _BOOL, "the target already stands in the prompt as a word"),
    Column("target_in_keyword", _BOOL, "the target is a word of the keyword, whatever its case"),
)
"""Prompt-target pairs of one benchmark, by keyword and pair_id."""

SCORES: Contract = (
    Column("pair_id", _STRING, "pair that was scored"),
    KEYWORD,
    Column("tokens", _INT32, "number of the target's tokens that were scored"),
    Column("rank", _DOUBLE, "mean over target tokens of 1 + number of strictly larger logits"),
    Column("rank_midpoint", _DOUBLE, "the same with half of the tied entries counted as larger"),
    Column("rank_first", _INT64, "rank of the first target token"),
    Column("rank_share", _DOUBLE, "rank divided by the number of entries that the model gives logits for"),
    Column("ties", _INT64, "vocabulary entries other than the target with an equal logit, over all tokens"),
    Column("probability", _DOUBLE, "mean over target tokens of the probability under the full softmax"),
    Column("log_probability", _DOUBLE, "sum over target tokens of the log-probability, in nats"),
    Column("backed_off", _BOOL, "joint tokens did not begin with the prompt's, scored from a stable offset"),
)
"""Scores of one model on one benchmark, in the order of its pairs."""

PERPLEXITY: Contract = (
    DOC_ID,
    Column("tokens", _INT64, "tokens that were predicted, each once"),
    Column("bytes", _INT64, "UTF-8 bytes of the text of these tokens"),
    Column("nats", _DOUBLE, "sum of their negative log-probabilities"),
    Column("tokens_left_out", _INT64, "first tokens that nothing stands before: 0 after a BOS token"),
    Column("bytes_left_out", _INT64, "UTF-8 bytes of the text of those"),
)
"""One model's likelihood of the held-out documents of one domain, by a hash of doc_id."""

TOKEN_LISTS: Contract = (
    KEYWORD,
    Column("token_id", _INT32, "id in the model's tokenizer"),
    Column("token", _STRING, "text of the token, without the mark of a blank"),
    Column("count", _INT64, "its uses in the keyword's clean sentences"),
)
"""Tokens that belong to each keyword under one tokenizer, most frequent first."""

ATTRIBUTE_RATES: Contract = (
    KEYWORD,
    Column("rate", _DOUBLE, "share of the most likely next tokens that are in the keyword's token list"),
    Column("hits", _INT32, "number of those"),
    Column("list_length", _INT32, "length of the keyword's token list"),
)
"""Last-layer attribute rate of one model by keyword."""

SUMMARY_COLUMNS = (
    "domain", "variant", "model", "metric", "aggregate", "value", "ci_low", "ci_high", "pairs",
)  # fmt: skip
"""Header of summary.csv: one line for each domain, variant, model, metric and aggregate.

The variant is that of a benchmark, `text` for perplexity and bits per byte, or `keywords` for the attribute
rate; `pairs` then counts documents or keywords.
"""

COMPARISON_COLUMNS = (
    "domain", "variant", "metric", "aggregate", "better", "worse", "difference", "ci_low", "ci_high", "p",
    "apart",
)  # fmt: skip
"""Header of comparisons.csv: one line for every two models on a benchmark, by metric."""

GROUP_COLUMNS = ("domain", "variant", "model", "place", "value", "groups")
"""Header of groups.csv: one line for each model on a benchmark, best rank first."""

CORRELATION_COLUMNS = ("domain", "x", "y", "statistic", "value", "ci_low", "ci_high", "p", "models")
"""Header of correlations.csv: one line for every two variants or metrics of a domain, by statistic."""


def arrow_schema(contract: Contract) -> pa.Schema:
    """Return the Arrow schema of a contract; columns are never null, and carry their description."""
    fields = [pa.field(c.name, c.type, nullable=False, metadata={"about": c.about}) for c in contract]
    return pa.schema(fields)


def make_empty_table(contract: Contract) -> pl.DataFrame:
    """Return a frame with a contract's columns and types, and no rows."""
    frame = pl.from_arrow(arrow_schema(contract).empty_table())
    if not isinstance(frame, pl.DataFrame):
        raise TypeError("an Arrow table did not give a frame")
    return frame


def check_table(table: pa.Table, contract: Contract) -> pa.Table:
    """Return `table` in the contract's column order and types.

    Raises
    ------
    ValueError
        If a column is missing, unknown, of a type that cannot be cast, or holds nulls.
    """
    expected = [column.name for column in contract]
    if sorted(table.column_names) != sorted(expected):
        raise ValueError(f"columns {sorted(table.column_names)} where the contract has {sorted(expected)}")
    table = table.select(expected)
    for column in contract:
        if table[column.name].null_count:
            raise ValueError(f"column {column.name} holds {table[column.name].null_count} nulls")
    return table.cast(arrow_schema(contract))


def write_table(path: Path | str, frame: pl.DataFrame, contract: Contract) -> None:
    """Check a frame against its contract and write it as parquet (zstd), atomically."""
    with write_table_in_batches(path, contract) as writer:
        writer.write(frame)


class TableWriter:
    """Appends checked frames to one open parquet file; see :func:`write_table_in_batches`."""

    def __init__(self, writer: pq.ParquetWriter, contract: Contract) -> None:
        self._writer, self._contract = writer, contract
        self.rows = 0

    def write(self, frame: pl.DataFrame | Sequence[dict[str, Any]]) -> None:
        """Append a frame, or a list of rows as dictionaries."""
        if isinstance(frame, pl.DataFrame):
            table = check_table(frame.to_arrow(), self._contract)
        else:
            table = pa.Table.from_pylist(list(frame), schema=arrow_schema(self._contract))
            table = check_table(table, self._contract)
        self._writer.write_table(table)
        self.rows += table.num_rows


@contextmanager
def write_table_in_batches(path: Path | str, contract: Contract) -> Iterator[TableWriter]:
    """Open a parquet file (zstd) for appending batches; it takes its final name when the block ends well.

    Parameters
    ----------
    path : Path or str
        The final name.
    contract : Contract
        What every batch is checked against.
    """
    with write_atomically(path) as temporary:
        writer = pq.ParquetWriter(temporary, arrow_schema(contract), compression="zstd")
        try:
            yield TableWriter(writer, contract)
        finally:
            writer.close()


def read_table(path: Path | str, contract: Contract, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Read a parquet file that was written under `contract`, all columns or some.

    Raises
    ------
    InputError
        If the file is missing, no parquet, or lacks a column of the contract.
    """
    names = [column.name for column in contract] if columns is None else list(columns)
    try:
        table = pq.ParquetFile(require_file(path)).read(columns=names)
    except pa.ArrowInvalid as error:
        raise InputError(f"this is no complete parquet file: {error}", str(path), "make it again") from error
    missing = sorted(set(names) - set(table.column_names))
    if missing:
        raise InputError(f"columns are missing: {', '.join(missing)}", str(path), "make it again")
    frame = pl.from_arrow(table.select(names))
    if not isinstance(frame, pl.DataFrame):
        raise TypeError(f"{path} did not give a table")
    return frame
