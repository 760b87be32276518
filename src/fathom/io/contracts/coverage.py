"""Contracts of the coverage of a domain."""

from fathom.io import paths
from fathom.io.contracts import column
from fathom.io.contracts.column import Contract, count, count32, flag, number, text

_X = number("x", "first principal component of the domain's embeddings, four decimals")
_Y = number("y", "second principal component, four decimals")
_POSITION = count32("position", "index of the sentence in its document, from 0")

COVERAGE_MAP = Contract(
    (paths.COVERAGE_MAP, "figures/{domain}.coverage.{variant}.csv"),
    "Where a domain's sentences and a benchmark's pairs lie: a map of both, and what it leaves uncovered.",
    text("kind", "sentence of the domain, or pair of the benchmark"),
    text("id", "document and position of the sentence, or the pair's id"),
    *(_X, _Y),
    number(
        "difference",
        "log-density of the domain less that of the benchmark, in nats; NaN for pairs",
        column.ANY_OR_NAN,
    ),
    flag("gap", "the domain is denser here than the benchmark"),
    flag("large", "a gap above the percentile t_d of all differences"),
)

OTHERS_MAP = Contract(
    (paths.OTHERS_MAP, "figures/{domain}.others.csv"),
    "Sentences of a domain and the questions of benchmarks that others made, on one map.",
    text("benchmark", "name of the benchmark; empty for sentences, which are the domain's"),
    text("kind", "sentence of the domain, or question of the benchmark"),
    text("id", "document and position of the sentence, or number of the question, from 1"),
    *(_X, _Y),
)

ROUND = Contract(
    "{domain}/coverage/rounds/round-{round}.parquet",
    "One round of an expansion, by subset.",
    count32("subset", "number of the subset, in the order in which they are looked at"),
    number(
        "correlation",
        "correlation of its density with that of the corpus, at points that are "
        "not its own; NaN for the first, and without two such points",
        column.COSINE_OR_NAN,
    ),
    flag("joined", "whether it joined the corpus"),
)

EXPANSION = Contract(
    paths.EXPANSION,
    "Documents of a domain, by subset: which of them a corpus keeps.",
    column.DOC_ID,
    count32("subset", "number of the subset that the document belongs to"),
    count32("sentences", "sentences of the document", column.FROM_ONE),
    count32("round", "round in which it joined the corpus, from 1; 0: never"),
    number(
        "correlation",
        "correlation of its subset's density with that of the corpus, when it was last looked at; NaN "
        "for the first, and for one that no round reached",
        column.COSINE_OR_NAN,
    ),
)

EXPANSION_MAP = Contract(
    (paths.EXPANSION_MAP, "figures/{domain}.expansion.csv"),
    "Where the sentences of an expansion lie, at which densities are compared.",
    *(column.DOC_ID, _POSITION, _X, _Y),
    count32("round", "round in which its document joined the corpus, from 1; 0: never"),
    flag("gap", "the domain is denser here than the corpus at the end"),
)


CORRELATIONS_VARIED = Contract(
    (paths.THRESHOLDS, "figures/{domain}.thresholds.csv"),
    "The corpus with each t_c.",
    number("max_correlation", "t_c: documents join below this", column.COSINE),
    count("rounds", "number of rounds"),
    count("documents", "number of documents kept"),
    number("share_of_documents", "their share of the domain", column.SHARE_OR_NAN),
    count("sentences", "number of sentences kept"),
    number("share_of_sentences", "their share of the domain", column.SHARE_OR_NAN),
    number("coverage", "share of the domain's sentences that they cover", column.SHARE_OR_NAN),
    number("coverage_at_random", "that of as many documents at random", column.SHARE_OR_NAN),
    number("redundancy", "share of pairs of sentences that are alike", column.SHARE_OR_NAN),
    number("redundancy_at_random", "that of as many documents at random", column.SHARE_OR_NAN),
    number("redundancy_removed", "share of the domain's redundancy that is gone", column.ANY_OR_NAN),
)
