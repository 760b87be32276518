"""Contracts of documents, texts and sentences."""

from fathom.io import paths
from fathom.io.contracts import column
from fathom.io.contracts.column import Column, Contract, count32, text

RECORDS = Contract(
    paths.METADATA,
    "One row for each record of a corpus's metadata; those of no domain have no domains, title, abstract.",
    *(column.DOC_ID, column.TITLE, column.ABSTRACT),
    Column("categories", column.STRINGS, "categories in the source's order, the first is the primary one"),
    *(column.DATE, column.DOMAINS),
    text("split", "split by a hash of doc_id alone; the index has the one that counts"),
)

DOCUMENTS = Contract(
    paths.DOCUMENTS,
    "Documents of one part (input shard), in its order; doc_id may repeat: the index says which row counts.",
    *RECORDS,
    text("text", "full text as it came (LaTeX or plain), empty where there is none"),
    *(column.TEXT_HASH, column.CHARACTERS),
)

INDEX = Contract(
    paths.INDEX,
    "One row for each document of the corpus, sorted by doc_id: which part holds the version that counts.",
    column.DOC_ID,
    text("part", "name of the part whose version of the document is used"),
    *(column.TITLE, column.ABSTRACT, column.DATE, column.DOMAINS, column.SPLIT, column.TEXT_HASH),
    column.CHARACTERS,
)

SKETCHES = Contract(
    paths.SKETCHES,
    "What tells whether documents share text: hashes of one part, in sorted runs.",
    Column("hash", column.UINT64, "hash of a sentence, or of a band of the whole document's minimal hashes"),
    count32("document", "row of the document in its part's table, from 0"),
    Column("words", column.INT16, "words of the sentence, at most 255; 0 for a band", column.NOT_NEGATIVE),
)

SPLITS = Contract(
    paths.SPLITS,
    "Documents that share text with others, sorted by doc_id; all others are in the split of their own id.",
    column.DOC_ID,
    text("group", "smallest doc_id of the documents that belong together"),
    column.SPLIT,
    text("copy_of", "document that says the same, or most of it, so that this one is left out; else empty"),
)

TEXTS = Contract(
    (paths.TEXTS, paths.TRAINING_TEXTS, paths.HELD_OUT_TEXTS, paths.CHANGED_TEXTS, paths.QUESTION_TEXTS),
    "Training and held-out text of one domain, without the benchmark split, sorted by a hash of doc_id.",
    *(column.DOC_ID, column.SPLIT),
    text("text", "plain text that models are trained on, LaTeX taken out"),
)

SENTENCES = Contract(
    (paths.SENTENCES, paths.NAMED),
    "Sentences of one slice's benchmark documents that survive cleaning, by doc_id and position; in the "
    "second table those that name a keyword.",
    column.DOC_ID,
    count32("position", "index of the sentence in its document, from 0"),
    text(
        "sentence",
        "the sentence as in the document, of LaTeX as plain text unless sentences.characters is ascii; "
        "this is what is embedded",
    ),
    text("clean", "the sentence after cleaning: what prompts are made of"),
    count32("row", "row of the sentence's embedding in the part's array; equal sentences share one"),
)

SENTENCE_COUNTS = Contract(
    paths.SENTENCE_COUNTS,
    "Documents of one slice that were split, by doc_id: what a later run needs to reuse their sentences.",
    column.DOC_ID,
    text("content", "hash of title, abstract and text: equal content has equal sentences"),
    count32("sentences", "sentences of the document"),
    count32("kept", "those in the table of sentences"),
    count32("dropped_too_long", "left out: over sentences.max_characters"),
    count32("dropped_characters", "left out: a character beyond ASCII (sentences.characters: ascii)"),
    count32("dropped_script", "left out: letters of a script that is not Latin"),
    count32("dropped_unreadable", "left out: a letter that its font or encoding does not name"),
    count32("dropped_symbols", "left out: symbols, gaps or single letters in place of words"),
    count32("dropped_empty", "left out: nothing is left after cleaning"),
    count32("dropped_long_words", "words taken out that are data"),
    count32("latex_failed", "sentences whose LaTeX could not be converted"),
    count32("latex_too_slow", "sentences whose conversion was stopped"),
    count32("latex_too_long", "sentences too long to convert"),
    count32("latex_bad_result", "sentences whose conversion gave no text"),
    count32("gaps", "marks in LaTeX's sentences for what is not text: formulas, references, macros"),
    count32("references", "paragraphs left out below a heading such as References"),
)

DRAWN = Contract(
    paths.DRAWN,
    "Documents that are drawn if `sentences.limit` is set, sorted by doc_id.",
    column.DOC_ID,
    Column("domains", column.STRINGS, "domains with a benchmark that it is drawn for"),
)
