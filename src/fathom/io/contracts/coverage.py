"""Contracts of how texts cover a domain."""

from fathom.io.contracts.column import (
    ANY_OR_NAN,
    BOOL,
    COSINE_OR_NAN,
    DOC_ID,
    DOUBLE,
    FROM_ONE,
    INT32,
    NOT_NEGATIVE,
    STRING,
    Column,
    Contract,
)

_X = Column("x", DOUBLE, "first principal component of the domain's embeddings, four decimals")
_Y = Column("y", DOUBLE, "second principal component, four decimals")
_POSITION = Column("position", INT32, "index of the sentence in its document, from 0", NOT_NEGATIVE)

COVERAGE_MAP: Contract = (
    Column("kind", STRING, "sentence of the domain, or pair of the benchmark"),
    Column("id", STRING, "document and position of the sentence, or the pair's id"),
    _X,
    _Y,
    Column(
        "difference",
        DOUBLE,
        "log-density of the domain less that of the benchmark, in nats; NaN for pairs",
        ANY_OR_NAN,
    ),
    Column("gap", BOOL, "the domain is denser here than the benchmark"),
    Column("large", BOOL, "a gap above the percentile t_d of all differences"),
)
"""Where a domain's sentences and a benchmark's pairs lie: a map of both, and what it leaves uncovered."""

ROUND: Contract = (
    Column("subset", INT32, "number of the subset, in the order in which they are looked at", NOT_NEGATIVE),
    Column("correlation", DOUBLE, "correlation of its density with that of the corpus, at points that are "
           "not its own; NaN for the first, and without two such points", COSINE_OR_NAN),
    Column("joined", BOOL, "whether it joined the corpus"),
)  # fmt: skip
"""What one round of an expansion looked at, by subset."""

EXPANSION: Contract = (
    DOC_ID,
    Column("subset", INT32, "number of the subset that the document belongs to", NOT_NEGATIVE),
    Column("sentences", INT32, "sentences of the document", FROM_ONE),
    Column("round", INT32, "round in which it joined the corpus, from 1; 0: never", NOT_NEGATIVE),
    Column(
        "correlation",
        DOUBLE,
        "correlation of its subset's density with that of the corpus, when it was last looked at; NaN for "
        "the first, and for one that no round reached",
        COSINE_OR_NAN,
    ),
)
"""Documents of a domain, by subset: which of them a corpus keeps."""

EXPANSION_MAP: Contract = (
    DOC_ID,
    _POSITION,
    _X,
    _Y,
    Column("round", INT32, "round in which its document joined the corpus, from 1; 0: never", NOT_NEGATIVE),
    Column("gap", BOOL, "the domain is denser here than the corpus at the end"),
)
"""Where the sentences of an expansion lie, at which densities are compared."""

CORRELATION_COLUMNS = (
    "max_correlation", "rounds", "documents", "share_of_documents", "sentences", "share_of_sentences",
    "coverage", "coverage_at_random", "redundancy", "redundancy_at_random", "redundancy_removed",
)  # fmt: skip
"""Header of correlations.csv: what a corpus is with each t_c; shares are of the domain."""
