"""Contracts of matches and pairs."""

from fathom.io.contracts.column import (
    BOOL,
    COSINE,
    COSINE_OR_NAN,
    DATE,
    DOC_ID,
    DOUBLE,
    FROM_ONE,
    INT32,
    INT64,
    KEYWORD,
    NOT_NEGATIVE,
    SHARE,
    STRING,
    UNIQUE,
    Column,
    Contract,
)

MATCHES: Contract = (
    KEYWORD,
    DOC_ID,
    Column("position", INT32, "index of the sentence in its document, from 0", NOT_NEGATIVE),
    Column("clean", STRING, "the cleaned sentence"),
    Column("cosine", DOUBLE, "cosine of keyword and raw sentence, three decimals", COSINE),
)
"""Matches of keywords and sentences in one domain."""

CANDIDATES: Contract = (
    *MATCHES[:-1],
    Column(
        "cosine",
        DOUBLE,
        "cosine of keyword and raw sentence, three decimals; if uncertain, the float32 result",
    ),
    Column("uncertain", STRING, "the raw sentence if rounding errors could decide, else empty"),
)
"""Matches of one slice; uncertain ones are decided when all slices are gathered."""

OVERLAP: Contract = (
    Column("pair_id", STRING, "pair that was looked for", UNIQUE),
    Column("sentence", BOOL, "prompt and target occur word for word in text that models are trained on"),
    Column("ending", BOOL, "the last six words of prompt and target occur there"),
)
"""Which pairs of a benchmark occur in training text, in the order of the pairs."""

CONTAMINATION: Contract = (
    Column("pair_id", STRING, "pair that was looked for", UNIQUE),
    Column("words", INT64, "its words, prompt and target together", NOT_NEGATIVE),
    Column("exact", INT64, "its sequences of 13 words that occur in the corpus; 0: none", NOT_NEGATIVE),
    Column(
        "near",
        DOUBLE,
        "largest share of its sequences of three words in one passage; 0: below the threshold",
        SHARE,
    ),
    Column("source", STRING, "text with the best passage, or else the first exact match; empty: none"),
)
"""Which pairs of a benchmark occur in a corpus, exactly or nearly, in the order of the pairs."""

PAIRS: Contract = (
    Column("pair_id", STRING, "hash of keyword, variant, prompt and target", UNIQUE),
    KEYWORD,
    Column(
        "variant",
        STRING,
        "tf or tfidf, the vocabulary that the target comes from; reference; unused or clozes",
    ),
    Column("prompt", STRING, "the sentence up to the target, no blank at its end"),
    Column("target", STRING, "one blank and the term"),
    DOC_ID,
    DATE,
    Column(
        "cosine", DOUBLE, "cosine of keyword and sentence, three decimals; NaN in a reference", COSINE_OR_NAN
    ),
    Column("target_in_prompt", BOOL, "the target already occurs in the prompt as a word"),
    Column("target_in_keyword", BOOL, "the target is a word of the keyword, whatever its case"),
)
"""Prompt-target pairs of one benchmark, by keyword and pair_id."""

DOMAIN_ORDERS: Contract = (
    Column("evaluation_domain", STRING, "domain that the others are compared with"),
    Column("domain", STRING, "name of the domain", UNIQUE),
    Column("similarity", DOUBLE, "cosine of the mean embeddings of its and that domain's abstracts", COSINE),
    Column("place", INT32, "place by similarity, from 1, the least similar first", FROM_ONE),
    Column("chosen", BOOL, "whether it is one of the domains at even distances"),
    Column("stage", INT32, "stage of the training that it is, 0 for none", NOT_NEGATIVE),
)
"""Domains that a study of continual pretraining compares with its evaluation domain, by place."""
