"""Contracts of the numbers beside figures that no other table has."""

from fathom.io.contracts import column
from fathom.io.contracts.column import Contract, count, number, numbers, text
from fathom.io.contracts.coverage import EXPANSION_MAP
from fathom.io.contracts.statistics import CUTOFF
from fathom.io.contracts.studies import FOLLOWING

STAGES_FIGURE = Contract(
    "figures/stages.{track}.{kind}.csv",
    "The points of the figure; see following.parquet.",
    *FOLLOWING,
    number("similarity", "similarity of the stage's domain to the target", column.ANY_OR_NAN),
    text("extremum", "minimum or maximum of the metric; or empty"),
)

_R = number(
    "{benchmarks}_r",
    "Pearson's correlation of ranks of models; empty with fewer than three",
    column.ANY_OR_NAN,
    ".10g",
)

MODEL_RANKS = Contract(
    "figures/{domain}.model-ranks.csv",
    "Ranks of models by benchmark; the correlations are those of the domain, the same in every line.",
    *(column.PLACE, column.MODEL),
    number(
        "{benchmark}_rank",
        "rank by the trimmed mean; `tf_geometric_rank`: by the geometric",
        column.ANY_OR_NAN,
        ".10g",
    ),
    number("{benchmark}_low", "lower end of its interval", column.ANY_OR_NAN, ".10g"),
    number("{benchmark}_high", "upper end", column.ANY_OR_NAN, ".10g"),
    count("{benchmark}_pairs", "number of pairs"),
    _R,
    number("{benchmarks}_p", "its two-sided p-value", column.ANY_OR_NAN, ".10g"),
)

METRIC_AGREEMENT = Contract(
    "figures/{domain}.adapted.{base}.{statistic}.csv, figures/{domain}.metrics.{group}.{statistic}.csv, "
    "figures/{domain}.base-and-chat.{statistic}.csv, figures/{domain}.references.{group}.{statistic}.csv",
    "Metrics of models; the correlation over models is that of the metric, the same for all that stand "
    "together.",
    *(column.METRIC, column.MODEL, *column.ESTIMATE),
    text("against", "metric that it is compared with; empty for that one itself"),
    *numbers("r", "r_low", "r_high", about="Pearson's correlation over models"),
    column.P,
)

KNOWLEDGE = Contract(
    "figures/{domain}.knowledge.csv",
    "Models' knowledge of a domain, in bits.",
    *(column.MODEL, column.VARIANT),
    *numbers("bits", "ci_low", "ci_high", about="knowledge, in bits"),
    column.PAIR_COUNT,
)

FLUENCY = Contract(
    "figures/{domain}.fluency.csv",
    "Models' knowledge of a domain, in bits on the TF benchmark, and their fluency in it.",
    column.MODEL,
    *numbers("bits", "bits_low", "bits_high", about="knowledge, in bits"),
    *numbers("bits_per_byte", "bytes_low", "bytes_high", about="bits per byte of held-out text"),
    column.PAIR_COUNT,
)

MODEL_SIZES = Contract(
    "figures/{domain}.sizes.csv",
    "Ranks of models by size, smallest first.",
    *(column.MODEL, column.FAMILY, column.KIND),
    count("parameters", "number of parameters"),
    count("tokens", "number of training tokens; empty: unknown", column.NOT_NEGATIVE_OR_NAN),
    *numbers("rank", "ci_low", "ci_high", about="the rank"),
    column.PAIR_COUNT,
)

DATES_FIGURE = Contract(
    "figures/{domain}.dates.csv",
    "Ranks on documents up to the last day of a model's training text, and on later ones.",
    *(column.MODEL, CUTOFF),
    text("part", "all, before or after the cut-off"),
    *numbers("value", "low", "high", about="the rank on them"),
    column.PAIR_COUNT,
)

CHAT_MODELS = Contract(
    "figures/chat-models.csv",
    "The rank of each chat model minus its base's.",
    *(column.DOMAIN, column.VARIANT, column.AGGREGATE, column.FAMILY),
    text("chat", "the chat model"),
    text("base", "its base model"),
    *numbers("difference", "ci_low", "ci_high", about="rank of the chat model minus its base's"),
    *(column.P, column.P_ADJUSTED, column.APART_OF_ALL, column.PAIR_COUNT),
)

LAYER_CURVES = Contract(
    "figures/{domain}.layers.{model}.{figure}.csv",
    "The curves of the figure.",
    text("panel", "title of the panel"),
    text("series", "label of the curve"),
    number("layer", "layer", column.ANY_OR_NAN),
    *numbers("value", "low", "high", about="the value there"),
)

LAYER_KEYWORDS = Contract(
    "figures/{domain}.layers.{model}.keywords.csv",
    "The attribute rate of keywords, per cent.",
    *(column.KEYWORD, number("layer {layer}", "rate at this layer", column.ANY_OR_NAN)),
)

BENCHMARKS_MAP = Contract(
    "figures/{domain}.benchmarks.csv",
    "Sentences of a domain and the pairs of its benchmarks, on one map.",
    text("variant", "that of the benchmark; empty for sentences, which are the domain's"),
    text("kind", "sentence of the domain, or pair of the benchmark"),
    text("id", "document and position of the sentence, or the pair's id"),
    number("x", "first principal component of the domain's embeddings", column.ANY_OR_NAN),
    number("y", "second principal component", column.ANY_OR_NAN),
)

EXPANSIONS_MAP = Contract(
    "figures/expansions.csv",
    "Where the sentences of all expansions lie, each on the map of its domain.",
    *(column.DOMAIN, *EXPANSION_MAP),
)

DRAWN = Contract(
    "docs/results/drawn.csv",
    "Which figures and tables of the papers were drawn, and from what.",
    text("file", "pattern of the file, as docs/figures.md names it"),
    text("source", "demo; sample: of real data; published: scores that others published"),
    text("run", "name of the run"),
    text("example", "one of the files that were found, below the folder of the run"),
)

REHEARSED = Contract(
    "docs/results/rehearsal.csv",
    "What rehearsals of the papers' configurations drew, see docs/rehearsal.md.",
    text("configuration", "name of the file in config/papers"),
    text("paper", "one of the papers"),
    text("number", "its figures or tables"),
    text("file", "pattern of the file, as docs/figures.md names it"),
    count("files", "files of that kind that were made; 0: none"),
    count("points", "rows of the numbers beside the first of them"),
    text("panels", "panels of the first of them, where its numbers name them"),
    text(
        "missing",
        "panels that others of these files have and it lacks, and those without a finite number in it;"
        " what all lack is not known",
        optional=True,
    ),
)
