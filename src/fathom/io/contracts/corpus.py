"""Contracts of documents, texts and sentences."""

from fathom.io import paths
from fathom.io.contracts.column import (
    ABSTRACT,
    CHARACTERS,
    DATE,
    DOC_ID,
    DOMAINS,
    INT16,
    INT32,
    NOT_NEGATIVE,
    SPLIT,
    STRING,
    STRINGS,
    TEXT_HASH,
    TITLE,
    UINT64,
    Column,
    Contract,
)

RECORDS = Contract(
    paths.METADATA,
    "One row for each record of a corpus's metadata; those of no domain have no domains, title, abstract.",
    (
        DOC_ID,
        TITLE,
        ABSTRACT,
        Column("categories", STRINGS, "categories in the source's order, the first is the primary one"),
        DATE,
        DOMAINS,
        Column("split", STRING, "split by a hash of doc_id alone; the index has the one that counts"),
    ),
)

DOCUMENTS = Contract(
    paths.DOCUMENTS,
    "Documents of one part (input shard), in its order; doc_id may repeat: the index says which row counts.",
    (
        *RECORDS,
        Column("text", STRING, "full text as it came (LaTeX or plain), empty where there is none"),
        TEXT_HASH,
        CHARACTERS,
    ),
)

INDEX = Contract(
    paths.INDEX,
    "One row for each document of the corpus, sorted by doc_id: which part holds the version that counts.",
    (
        DOC_ID,
        Column("part", STRING, "name of the part whose version of the document is used"),
        TITLE,
        ABSTRACT,
        DATE,
        DOMAINS,
        SPLIT,
        TEXT_HASH,
        CHARACTERS,
    ),
)

SKETCHES = Contract(
    paths.SKETCHES,
    "What tells whether documents share text: hashes of one part, in sorted runs.",
    (
        Column("hash", UINT64, "hash of a sentence, or of a band of the whole document's minimal hashes"),
        Column("document", INT32, "row of the document in its part's table, from 0", NOT_NEGATIVE),
        Column("words", INT16, "words of the sentence, at most 255; 0 for a band", NOT_NEGATIVE),
    ),
)

SPLITS = Contract(
    paths.SPLITS,
    "Documents that share text with others, sorted by doc_id; all others are in the split of their own id.",
    (
        DOC_ID,
        Column("group", STRING, "smallest doc_id of the documents that belong together"),
        SPLIT,
        Column(
            "copy_of",
            STRING,
            "document that says the same, or most of it, so that this one is left out; else empty",
        ),
    ),
)

TEXTS = Contract(
    (paths.TEXTS, paths.TRAINING_TEXTS, paths.HELD_OUT_TEXTS, paths.CHANGED_TEXTS, paths.QUESTION_TEXTS),
    "Training and held-out text of one domain, without the benchmark split, sorted by a hash of doc_id.",
    (
        DOC_ID,
        SPLIT,
        Column("text", STRING, "plain text that models are trained on, LaTeX taken out"),
    ),
)

SENTENCES = Contract(
    (paths.SENTENCES, paths.NAMED),
    "Sentences of one slice's benchmark documents that survive cleaning, by doc_id and position; in the "
    "second table those that name a keyword.",
    (
        DOC_ID,
        Column("position", INT32, "index of the sentence in its document, from 0", NOT_NEGATIVE),
        Column(
            "sentence",
            STRING,
            "the sentence as in the document, of LaTeX as plain text unless sentences.characters is ascii; "
            "this is what is embedded",
        ),
        Column("clean", STRING, "the sentence after cleaning: what prompts are made of"),
        Column(
            "row",
            INT32,
            "row of the sentence's embedding in the part's array; equal sentences share one",
            NOT_NEGATIVE,
        ),
    ),
)

SENTENCE_COUNTS = Contract(
    paths.SENTENCE_COUNTS,
    "Documents of one slice that were split, by doc_id: what a later run needs to reuse their sentences.",
    (
        DOC_ID,
        Column("content", STRING, "hash of title, abstract and text: equal content has equal sentences"),
        Column("sentences", INT32, "sentences of the document"),
        Column("kept", INT32, "those in the table of sentences"),
        Column("dropped_too_long", INT32, "left out: over sentences.max_characters"),
        Column(
            "dropped_characters", INT32, "left out: a character beyond ASCII (sentences.characters: ascii)"
        ),
        Column("dropped_script", INT32, "left out: letters of a script that is not Latin"),
        Column("dropped_unreadable", INT32, "left out: a letter that its font or encoding does not name"),
        Column("dropped_symbols", INT32, "left out: symbols, gaps or single letters in place of words"),
        Column("dropped_empty", INT32, "left out: nothing is left after cleaning"),
        Column("dropped_long_words", INT32, "words taken out that are data"),
        Column("latex_failed", INT32, "sentences whose LaTeX could not be converted"),
        Column("latex_too_slow", INT32, "sentences whose conversion was stopped"),
        Column("latex_too_long", INT32, "sentences too long to convert"),
        Column("latex_bad_result", INT32, "sentences whose conversion gave no text"),
        Column(
            "gaps", INT32, "marks in LaTeX's sentences for what is not text: formulas, references, macros"
        ),
        Column("references", INT32, "paragraphs left out below a heading such as References"),
    ),
)

DRAWN = Contract(
    paths.DRAWN,
    "Documents that are drawn if `sentences.limit` is set, sorted by doc_id.",
    (
        DOC_ID,
        Column("domains", STRINGS, "domains with a benchmark that it is drawn for"),
    ),
)
