"""Contracts of what is measured layer by layer."""

from fathom.io import paths
from fathom.io.contracts.column import (
    ANY_OR_NAN,
    DOUBLE,
    ESTIMATE,
    FLOATS,
    FROM_ONE,
    INT32,
    INT64,
    INTS,
    KEYWORD,
    KEYWORD_COUNT,
    METRIC,
    MODEL,
    NOT_NEGATIVE,
    SHARE,
    STRING,
    Check,
    Column,
    Contract,
    describe_numbers,
)

LAYER = Column("layer", INT32, "0 is the embedding's output, l that of block l", NOT_NEGATIVE)

LAYER_TOKENS = Contract(
    paths.LAYER_TOKENS,
    "A model's predictions after each keyword if it stopped at a layer, by keyword, layer and projection.",
    (
        KEYWORD,
        LAYER,
        Column(
            "projection",
            STRING,
            "normed: with the final norm before the output layer; raw: without",
        ),
        Column("tokens", INTS, "ids of the most likely content tokens, best first", NOT_NEGATIVE),
        Column("probabilities", FLOATS, "their probabilities under the full softmax", SHARE),
        Column(
            "ranks",
            INTS,
            "their places among all tokens, from 1; 0 where that is beyond what is kept",
            NOT_NEGATIVE,
        ),
        Column(
            "places", INTS, "their places in the keyword's token list, from 1; 0: not in it", NOT_NEGATIVE
        ),
        Column(
            "others",
            INTS,
            "ids of those of the most likely tokens of any kind that are no content tokens",
            NOT_NEGATIVE,
        ),
        Column("other_probabilities", FLOATS, "their probabilities", SHARE),
        Column("other_ranks", INTS, "their places among all tokens, from 1", FROM_ONE),
    ),
)

LAYER_RATES = Contract(
    paths.LAYER_RATES,
    "Attribute rate of one model by keyword and layer, for every k and length of list.",
    (
        KEYWORD,
        LAYER,
        Column("projection", STRING, "normed, raw or geva"),
        Column("k", INT32, "most likely content tokens that are looked at", FROM_ONE),
        Column("list_length", INT32, "most frequent tokens of the keyword's list that count", FROM_ONE),
        Column("rate", DOUBLE, "share of the k tokens that are in the list", SHARE),
        Column("hits", INT32, "number of those", NOT_NEGATIVE),
        Column("inside", DOUBLE, "sum of their probabilities", NOT_NEGATIVE),
        Column("outside", DOUBLE, "sum of the probabilities of the others among the k", NOT_NEGATIVE),
        Column(
            "outside_any",
            DOUBLE,
            "the same among the k most likely tokens of any kind, stopwords included",
            NOT_NEGATIVE,
        ),
    ),
)

LAYER_TARGETS = Contract(
    paths.LAYER_TARGETS,
    "The true targets of one model by layer.",
    (
        Column("pair_id", STRING, "pair that was scored"),
        KEYWORD,
        Column("lens", STRING, "plain: the final norm alone; tuned: after the layer's own map"),
        LAYER,
        Column(
            "tokens", INT32, "number of the target's tokens; the columns below are means over them", FROM_ONE
        ),
        Column("rank", DOUBLE, "1 + number of strictly larger logits", FROM_ONE),
        Column("probability", DOUBLE, "probability under the full softmax", SHARE),
        Column("entropy", DOUBLE, "entropy of the layer's distribution, in nats"),
        Column(
            "agreement",
            DOUBLE,
            "share of positions where the most likely token is that of the last layer",
            SHARE,
        ),
        Column("divergence", DOUBLE, "Kullback-Leibler divergence of the layer from the last layer, in nats"),
    ),
)

LAYER_EXAMPLES = Contract(
    paths.LAYER_EXAMPLES,
    "A model's most likely next tokens, in and not in the keyword's token list.",
    (
        KEYWORD,
        Column("hits", INT64, "number of tokens in the list", NOT_NEGATIVE),
        Column("in_list", STRING, "those tokens, separated by blanks"),
        Column("not_in_list", STRING, "the others"),
    ),
)

_PROJECTION = Column("projection", STRING, "normed, raw or geva; or the lens, plain or tuned")
_LIMIT = Check(at_least=1, nan=True)
_REFERENCE = Column("reference", STRING, "model that it is compared with")
_CHANGE = describe_numbers("change", "ci_low", "ci_high", about="change against the reference, per cent")

LAYER_SUMMARY = Contract(
    paths.LAYERS,
    "A line for each model, projection or lens, layer and metric.",
    (
        *(MODEL, _PROJECTION),
        Column("k", INT64, "most likely tokens that are looked at; empty for targets", _LIMIT),
        Column("list_length", INT64, "tokens of the keyword's list that count; empty for targets", _LIMIT),
        *(LAYER, METRIC, *ESTIMATE, KEYWORD_COUNT),
    ),
    key=("model", "projection", "k", "list_length", "layer", "metric"),
)

LAYER_CHANGES = Contract(
    paths.LAYER_CHANGES,
    "Percentage change of a model against a reference, layer by layer. The interval is pointwise.",
    (
        *(MODEL, _REFERENCE, _PROJECTION, LAYER, METRIC, *_CHANGE),
        Column("band_low", DOUBLE, "lower end of the band that holds for all layers at once", ANY_OR_NAN),
        Column("band_high", DOUBLE, "upper end", ANY_OR_NAN),
        KEYWORD_COUNT,
    ),
)

LAYER_ONSETS = Contract(
    paths.LAYER_ONSETS,
    "Where changes begin, and how large they are in each third of the layers.",
    (
        *(MODEL, _REFERENCE, _PROJECTION, METRIC),
        Column(
            "part", STRING, "first: the first layer that changes; early, middle, late: thirds; late - middle"
        ),
        Column("layers", STRING, "the layers; of first, all whose interval excludes 0"),
        *_CHANGE,
        Column("interval", STRING, "simultaneous: holds for all layers at once; pointwise: by itself"),
        KEYWORD_COUNT,
    ),
)
