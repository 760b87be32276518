"""Contracts of matches and pairs."""

import pyarrow as pa

from fathom.io.contracts.column import (
    COSINE,
    COSINE_OR_NAN,
    DATE,
    DOC_ID,
    FROM_ONE,
    KEYWORD,
    NOT_NEGATIVE,
    SHARE,
    UNIQUE,
    Column,
    Contract,
)

_STRING = pa.string()
_BOOL = pa.bool_()
_INT32 = pa.int32()
_INT64 = pa.int64()
_DOUBLE = pa.float64()

MATCHES: Contract = (
    KEYWORD,
    DOC_ID,
    Column("position", _INT32, "index of the sentence in its document, from 0", NOT_NEGATIVE),
    Column("clean", _STRING, "the cleaned sentence"),
    Column("cosine", _DOUBLE, "cosine of keyword and raw sentence, three decimals", COSINE),
)
"""Matches of keywords and sentences in one domain."""

CANDIDATES: Contract = (
    *MATCHES[:-1],
    Column(
        "cosine",
        _DOUBLE,
        "cosine of keyword and raw sentence, three decimals; if uncertain, the float32 result",
    ),
    Column("uncertain", _STRING, "the raw sentence if rounding errors could decide, else empty"),
)
"""Matches of one slice; uncertain ones are decided when all slices are gathered."""

OVERLAP: Contract = (
    Column("pair_id", _STRING, "pair that was looked for", UNIQUE),
    Column("sentence", _BOOL, "prompt and target stand word for word in text that models are trained on"),
    Column("ending", _BOOL, "the last six words of prompt and target stand there"),
)
"""Which pairs of a benchmark stand in training text, in the order of the pairs."""

CONTAMINATION: Contract = (
    Column("pair_id", _STRING, "pair that was looked for", UNIQUE),
    Column("words", _INT64, "its words, prompt and target together", NOT_NEGATIVE),
    Column("exact", _INT64, "its sequences of 13 words that stand in the corpus; 0: none", NOT_NEGATIVE),
    Column(
        "near",
        _DOUBLE,
        "largest share of its sequences of three words in one passage; 0: below the threshold",
        SHARE,
    ),
    Column("source", _STRING, "text with the best passage, or else the first exact match; empty: none"),
)
"""Which pairs of a benchmark stand in a corpus, exactly or nearly, in the order of the pairs."""

PAIRS: Contract = (
    Column("pair_id", _STRING, "hash of keyword, variant, prompt and target", UNIQUE),
    KEYWORD,
    Column(
        "variant",
        _STRING,
        "tf or tfidf, the vocabulary that the target comes from; reference; unused or clozes",
    ),
    Column("prompt", _STRING, "the sentence up to the target, no blank at its end"),
    Column("target", _STRING, "one blank and the term"),
    DOC_ID,
    DATE,
    Column(
        "cosine", _DOUBLE, "cosine of keyword and sentence, three decimals; NaN in a reference", COSINE_OR_NAN
    ),
    Column("target_in_prompt", _BOOL, "the target already stands in the prompt as a word"),
    Column("target_in_keyword", _BOOL, "the target is a word of the keyword, whatever its case"),
)
"""Prompt-target pairs of one benchmark, by keyword and pair_id."""

DOMAIN_ORDERS: Contract = (
    Column("target", _STRING, "domain that the others are compared with"),
    Column("domain", _STRING, "name of the domain", UNIQUE),
    Column("similarity", _DOUBLE, "cosine of the mean embeddings of its and the target's abstracts", COSINE),
    Column("place", _INT32, "place by similarity, from 1, the least similar first", FROM_ONE),
    Column("chosen", _BOOL, "whether it is one of the domains at even distances"),
    Column("stage", _INT32, "stage of the training that it is, 0 for none", NOT_NEGATIVE),
)
"""Domains that a study of continual pretraining compares with its target, by place."""
