"""Contracts of the coverage of a domain."""

from fathom.io import paths
from fathom.io.contracts.column import (
    ANY_OR_NAN,
    BOOL,
    COSINE,
    COSINE_OR_NAN,
    DOC_ID,
    DOUBLE,
    FROM_ONE,
    INT32,
    INT64,
    NOT_NEGATIVE,
    STRING,
    Check,
    Column,
    Contract,
)

_X = Column("x", DOUBLE, "first principal component of the domain's embeddings, four decimals")
_Y = Column("y", DOUBLE, "second principal component, four decimals")
_POSITION = Column("position", INT32, "index of the sentence in its document, from 0", NOT_NEGATIVE)

COVERAGE_MAP = Contract(
    (paths.COVERAGE_MAP, "figures/{domain}.coverage.{variant}.csv"),
    "Where a domain's sentences and a benchmark's pairs lie: a map of both, and what it leaves uncovered.",
    (
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
    ),
)

OTHERS_MAP = Contract(
    (paths.OTHERS_MAP, "figures/{domain}.others.csv"),
    "Sentences of a domain and the questions of benchmarks that others made, on one map.",
    (
        Column("benchmark", STRING, "name of the benchmark; empty for sentences, which are the domain's"),
        Column("kind", STRING, "sentence of the domain, or question of the benchmark"),
        Column("id", STRING, "document and position of the sentence, or number of the question, from 1"),
        _X,
        _Y,
    ),
)

ROUND = Contract(
    "{domain}/coverage/rounds/round-{round}.parquet",
    "One round of an expansion, by subset.",
    (
        Column(
            "subset", INT32, "number of the subset, in the order in which they are looked at", NOT_NEGATIVE
        ),
        Column(
            "correlation",
            DOUBLE,
            "correlation of its density with that of the corpus, at points that are "
            "not its own; NaN for the first, and without two such points",
            COSINE_OR_NAN,
        ),
        Column("joined", BOOL, "whether it joined the corpus"),
    ),
)

EXPANSION = Contract(
    paths.EXPANSION,
    "Documents of a domain, by subset: which of them a corpus keeps.",
    (
        DOC_ID,
        Column("subset", INT32, "number of the subset that the document belongs to", NOT_NEGATIVE),
        Column("sentences", INT32, "sentences of the document", FROM_ONE),
        Column("round", INT32, "round in which it joined the corpus, from 1; 0: never", NOT_NEGATIVE),
        Column(
            "correlation",
            DOUBLE,
            "correlation of its subset's density with that of the corpus, when it was last looked at; NaN "
            "for the first, and for one that no round reached",
            COSINE_OR_NAN,
        ),
    ),
)

EXPANSION_MAP = Contract(
    (paths.EXPANSION_MAP, "figures/{domain}.expansion.csv"),
    "Where the sentences of an expansion lie, at which densities are compared.",
    (
        DOC_ID,
        _POSITION,
        _X,
        _Y,
        Column(
            "round", INT32, "round in which its document joined the corpus, from 1; 0: never", NOT_NEGATIVE
        ),
        Column("gap", BOOL, "the domain is denser here than the corpus at the end"),
    ),
)

_SHARE_OR_EMPTY = Check(at_least=0, at_most=1, nan=True)

CORRELATIONS_VARIED = Contract(
    (paths.THRESHOLDS, "figures/{domain}.thresholds.csv"),
    "The corpus with each t_c.",
    (
        Column("max_correlation", DOUBLE, "t_c: documents join below this", COSINE),
        Column("rounds", INT64, "number of rounds", NOT_NEGATIVE),
        Column("documents", INT64, "number of documents kept", NOT_NEGATIVE),
        Column("share_of_documents", DOUBLE, "their share of the domain", _SHARE_OR_EMPTY),
        Column("sentences", INT64, "number of sentences kept", NOT_NEGATIVE),
        Column("share_of_sentences", DOUBLE, "their share of the domain", _SHARE_OR_EMPTY),
        Column("coverage", DOUBLE, "share of the domain's sentences that they cover", _SHARE_OR_EMPTY),
        Column("coverage_at_random", DOUBLE, "that of as many documents at random", _SHARE_OR_EMPTY),
        Column("redundancy", DOUBLE, "share of pairs of sentences that are alike", _SHARE_OR_EMPTY),
        Column("redundancy_at_random", DOUBLE, "that of as many documents at random", _SHARE_OR_EMPTY),
        Column("redundancy_removed", DOUBLE, "share of the domain's redundancy that is gone", ANY_OR_NAN),
    ),
)
