"""Contracts of documents, texts and sentences."""

import pyarrow as pa

from fathom.io.contracts.column import (
    ABSTRACT,
    CHARACTERS,
    DATE,
    DOC_ID,
    DOMAINS,
    FOLD,
    NOT_NEGATIVE,
    TEXT_HASH,
    TITLE,
    Column,
    Contract,
)

_STRING = pa.string()
_STRINGS = pa.list_(pa.string())
_INT32 = pa.int32()

RECORDS: Contract = (
    DOC_ID,
    TITLE,
    ABSTRACT,
    Column("categories", _STRINGS, "categories in the source's order, the first is the primary one"),
    DATE,
    DOMAINS,
    Column("fold", _STRING, "fold by a hash of doc_id alone; the index has the one that counts"),
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

SKETCHES: Contract = (
    Column("hash", pa.uint64(), "hash of a sentence, or of a band of the whole document's minimal hashes"),
    Column("document", _INT32, "row of the document in its part's table, from 0", NOT_NEGATIVE),
    Column("words", pa.int16(), "words of the sentence, at most 255; 0 for a band", NOT_NEGATIVE),
)
"""What tells whether documents share text: hashes of one part, in sorted runs."""

FOLDS: Contract = (
    DOC_ID,
    Column("group", _STRING, "smallest doc_id of the documents that belong together"),
    FOLD,
)
"""Documents that share text with others, sorted by doc_id; all others are in the fold of their own id."""

TEXTS: Contract = (
    DOC_ID,
    FOLD,
    Column("text", _STRING, "plain text that models are trained on, LaTeX taken out"),
)
"""Training and held-out text of one domain, without the benchmark fold, sorted by a hash of doc_id."""

SENTENCES: Contract = (
    DOC_ID,
    Column("position", _INT32, "index of the sentence in its document, from 0", NOT_NEGATIVE),
    Column("sentence", _STRING, "the sentence as it stands in the document: what is embedded"),
    Column("clean", _STRING, "the sentence after cleaning: what prompts are made of"),
    Column(
        "row",
        _INT32,
        "row of the sentence's embedding in the part's array; equal sentences share one",
        NOT_NEGATIVE,
    ),
)
"""Sentences of one slice's benchmark documents that survive cleaning, by doc_id and position."""

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
"""Documents of one slice that were split, by doc_id: what a later run needs to reuse their sentences."""

DRAWN: Contract = (
    DOC_ID,
    Column("domains", _STRINGS, "domains with a benchmark that it is drawn for"),
)
"""Documents that are drawn if `sentences.limit` is set, sorted by doc_id."""
