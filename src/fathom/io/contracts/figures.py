"""Contracts of the numbers beside figures that no other table has."""

from fathom.io.contracts.column import (
    AGGREGATE,
    ANY_OR_NAN,
    APART_OF_ALL,
    DOMAIN,
    DOUBLE,
    ESTIMATE,
    FAMILY,
    INT64,
    KEYWORD,
    KIND,
    METRIC,
    MODEL,
    NOT_NEGATIVE,
    P_ADJUSTED,
    PAIR_COUNT,
    PLACE,
    STRING,
    VARIANT,
    Check,
    Column,
    Contract,
    P,
    describe_numbers,
)
from fathom.io.contracts.coverage import EXPANSION_MAP
from fathom.io.contracts.statistics import CUTOFF
from fathom.io.contracts.studies import FOLLOWING

STAGES_FIGURE = Contract(
    "figures/stages.{track}.{kind}.csv",
    "The points of the figure; see following.parquet.",
    (
        *FOLLOWING,
        Column("similarity", DOUBLE, "similarity of the stage's domain to the target", ANY_OR_NAN),
        Column("extremum", STRING, "minimum or maximum of the metric; or empty"),
    ),
)

_R = Column("{benchmarks}_r", DOUBLE, "Pearson's correlation of ranks of models; empty with fewer than three",
            ANY_OR_NAN, ".10g")  # fmt: skip

MODEL_RANKS = Contract(
    "figures/{domain}.model-ranks.csv",
    "Ranks of models by benchmark; the correlations are those of the domain, the same in every line.",
    (
        *(PLACE, MODEL),
        Column(
            "{benchmark}_rank",
            DOUBLE,
            "rank by the trimmed mean; `tf_geometric_rank`: by the geometric",
            ANY_OR_NAN,
            ".10g",
        ),
        Column("{benchmark}_low", DOUBLE, "lower end of its interval", ANY_OR_NAN, ".10g"),
        Column("{benchmark}_high", DOUBLE, "upper end", ANY_OR_NAN, ".10g"),
        Column("{benchmark}_pairs", INT64, "number of pairs", NOT_NEGATIVE),
        _R,
        Column("{benchmarks}_p", DOUBLE, "its two-sided p-value", ANY_OR_NAN, ".10g"),
    ),
)

METRIC_AGREEMENT = Contract(
    "figures/{domain}.adapted.{base}.{statistic}.csv, figures/{domain}.metrics.{group}.{statistic}.csv, "
    "figures/{domain}.base-and-chat.{statistic}.csv, figures/{domain}.references.{group}.{statistic}.csv",
    "Metrics of models; the correlation over models is that of the metric, the same for all that stand "
    "together.",
    (
        *(METRIC, MODEL, *ESTIMATE),
        Column("against", STRING, "metric that it is compared with; empty for that one itself"),
        *describe_numbers("r", "r_low", "r_high", about="Pearson's correlation over models"),
        P,
    ),
)

KNOWLEDGE = Contract(
    "figures/{domain}.knowledge.csv",
    "Models' knowledge of a domain, in bits.",
    (
        *(MODEL, VARIANT),
        *describe_numbers("bits", "ci_low", "ci_high", about="knowledge, in bits"),
        PAIR_COUNT,
    ),
)

FLUENCY = Contract(
    "figures/{domain}.fluency.csv",
    "Models' knowledge of a domain, in bits on the TF benchmark, and their fluency in it.",
    (
        MODEL,
        *describe_numbers("bits", "bits_low", "bits_high", about="knowledge, in bits"),
        *describe_numbers("bits_per_byte", "bytes_low", "bytes_high", about="bits per byte of held-out text"),
        PAIR_COUNT,
    ),
)

MODEL_SIZES = Contract(
    "figures/{domain}.sizes.csv",
    "Ranks of models by size, smallest first.",
    (
        *(MODEL, FAMILY, KIND),
        Column("parameters", INT64, "number of parameters", NOT_NEGATIVE),
        Column("tokens", INT64, "number of training tokens; empty: unknown", Check(at_least=0, nan=True)),
        *describe_numbers("rank", "ci_low", "ci_high", about="the rank"),
        PAIR_COUNT,
    ),
)

DATES_FIGURE = Contract(
    "figures/{domain}.dates.csv",
    "Ranks on documents up to the last day of a model's training text, and on later ones.",
    (
        *(MODEL, CUTOFF),
        Column("part", STRING, "all, before or after the cut-off"),
        *describe_numbers("value", "low", "high", about="the rank on them"),
        PAIR_COUNT,
    ),
)

CHAT_MODELS = Contract(
    "figures/chat-models.csv",
    "The rank of each chat model minus its base's.",
    (
        *(DOMAIN, VARIANT, AGGREGATE, FAMILY),
        Column("chat", STRING, "the chat model"),
        Column("base", STRING, "its base model"),
        *describe_numbers("difference", "ci_low", "ci_high", about="rank of the chat model minus its base's"),
        *(P, P_ADJUSTED, APART_OF_ALL, PAIR_COUNT),
    ),
)

LAYER_CURVES = Contract(
    "figures/{domain}.layers.{model}.{figure}.csv",
    "The curves of the figure.",
    (
        Column("panel", STRING, "title of the panel"),
        Column("series", STRING, "label of the curve"),
        Column("layer", DOUBLE, "layer", ANY_OR_NAN),
        *describe_numbers("value", "low", "high", about="the value there"),
    ),
)

LAYER_KEYWORDS = Contract(
    "figures/{domain}.layers.{model}.keywords.csv",
    "The attribute rate of keywords, per cent.",
    (KEYWORD, Column("layer {layer}", DOUBLE, "rate at this layer", ANY_OR_NAN)),
)

BENCHMARKS_MAP = Contract(
    "figures/{domain}.benchmarks.csv",
    "Sentences of a domain and the pairs of its benchmarks, on one map.",
    (
        Column("variant", STRING, "that of the benchmark; empty for sentences, which are the domain's"),
        Column("kind", STRING, "sentence of the domain, or pair of the benchmark"),
        Column("id", STRING, "document and position of the sentence, or the pair's id"),
        Column("x", DOUBLE, "first principal component of the domain's embeddings", ANY_OR_NAN),
        Column("y", DOUBLE, "second principal component", ANY_OR_NAN),
    ),
)

EXPANSIONS_MAP = Contract(
    "figures/expansions.csv",
    "Where the sentences of all expansions lie, each on the map of its domain.",
    (DOMAIN, *EXPANSION_MAP),
)

DRAWN = Contract(
    "docs/results/drawn.csv",
    "Which figures and tables of the papers were drawn, and from what.",
    (
        Column("file", STRING, "pattern of the file, as docs/figures.md names it"),
        Column("source", STRING, "demo; sample: of real data; published: scores that others published"),
        Column("run", STRING, "name of the run"),
        Column("example", STRING, "one of the files that were found, below the folder of the run"),
    ),
)

REHEARSED = Contract(
    "docs/results/rehearsal.csv",
    "What rehearsals of the papers' configurations drew, see docs/rehearsal.md.",
    (
        Column("configuration", STRING, "name of the file in config/papers"),
        Column("paper", STRING, "one of the papers"),
        Column("number", STRING, "its figures or tables"),
        Column("file", STRING, "pattern of the file, as docs/figures.md names it"),
        Column("files", INT64, "files of that kind that were made; 0: none"),
        Column("points", INT64, "rows of the numbers beside the first of them"),
        Column("panels", STRING, "panels of the first of them, where its numbers name them"),
        Column(
            "missing",
            STRING,
            "panels that others of these files have and it lacks, and those without a finite number in it;"
            " what all lack is not known",
            optional=True,
        ),
    ),
)
