"""Contracts of what is measured layer by layer."""

from fathom.io import paths
from fathom.io.contracts import column
from fathom.io.contracts.column import Column, Contract, count, count32, number, numbers, text

LAYER = count32("layer", "0 is the embedding's output, l that of block l")

LAYER_TOKENS = Contract(
    paths.LAYER_TOKENS,
    "A model's predictions after each keyword if it stopped at a layer, by keyword, layer and projection.",
    *(column.KEYWORD, LAYER),
    text("projection", "normed: with the final norm before the output layer; raw: without"),
    Column("tokens", column.INTS, "ids of the most likely content tokens, best first", column.NOT_NEGATIVE),
    Column("probabilities", column.FLOATS, "their probabilities under the full softmax", column.SHARE),
    Column(
        "ranks",
        column.INTS,
        "their places among all tokens, from 1; 0 where that is beyond what is kept",
        column.NOT_NEGATIVE,
    ),
    Column(
        "places",
        column.INTS,
        "their places in the keyword's token list, from 1; 0: not in it",
        column.NOT_NEGATIVE,
    ),
    Column(
        "others",
        column.INTS,
        "ids of those of the most likely tokens of any kind that are no content tokens",
        column.NOT_NEGATIVE,
    ),
    Column("other_probabilities", column.FLOATS, "their probabilities", column.SHARE),
    Column("other_ranks", column.INTS, "their places among all tokens, from 1", column.FROM_ONE),
)

LAYER_RATES = Contract(
    paths.LAYER_RATES,
    "Attribute rate of one model by keyword and layer, for every k and length of list.",
    *(column.KEYWORD, LAYER),
    text("projection", "normed, raw or geva"),
    count32("k", "most likely content tokens that are looked at", column.FROM_ONE),
    count32("list_length", "most frequent tokens of the keyword's list that count", column.FROM_ONE),
    number("rate", "share of the k tokens that are in the list", column.SHARE),
    count32("hits", "number of those"),
    number("inside", "sum of their probabilities", column.NOT_NEGATIVE),
    number("outside", "sum of the probabilities of the others among the k", column.NOT_NEGATIVE),
    number(
        "outside_any",
        "the same among the k most likely tokens of any kind, stopwords included",
        column.NOT_NEGATIVE,
    ),
)

LAYER_TARGETS = Contract(
    paths.LAYER_TARGETS,
    "The true targets of one model by layer.",
    text("pair_id", "pair that was scored"),
    column.KEYWORD,
    text("lens", "plain: the final norm alone; tuned: after the layer's own map"),
    LAYER,
    count32(
        "tokens", "number of the target's tokens; the columns below are means over them", column.FROM_ONE
    ),
    number("rank", "1 + number of strictly larger logits", column.FROM_ONE),
    number("probability", "probability under the full softmax", column.SHARE),
    number("entropy", "entropy of the layer's distribution, in nats"),
    number(
        "agreement", "share of positions where the most likely token is that of the last layer", column.SHARE
    ),
    number("divergence", "Kullback-Leibler divergence of the layer from the last layer, in nats"),
)

LAYER_EXAMPLES = Contract(
    paths.LAYER_EXAMPLES,
    "A model's most likely next tokens, in and not in the keyword's token list.",
    column.KEYWORD,
    count("hits", "number of tokens in the list"),
    text(
        "in_list",
        "those tokens, separated by blanks; `␣` is a blank, `<0xE2>` a byte of a part of a character",
    ),
    text("not_in_list", "the others"),
)

_PROJECTION = text("projection", "normed, raw or geva; or the lens, plain or tuned")
_REFERENCE = text("reference", "model that it is compared with")
_CHANGE = numbers("change", "ci_low", "ci_high", about="change against the reference, per cent")

LAYER_SUMMARY = Contract(
    paths.LAYERS,
    "A line for each model, projection or lens, layer and metric.",
    *(column.MODEL, _PROJECTION),
    count("k", "most likely tokens that are looked at; empty for targets", column.FROM_ONE_OR_NAN),
    count(
        "list_length", "tokens of the keyword's list that count; empty for targets", column.FROM_ONE_OR_NAN
    ),
    *(LAYER, column.METRIC, *column.ESTIMATE, column.KEYWORD_COUNT),
    key=("model", "projection", "k", "list_length", "layer", "metric"),
)

LAYER_CHANGES = Contract(
    paths.LAYER_CHANGES,
    "Percentage change of a model against a reference, layer by layer. The interval is pointwise.",
    *(column.MODEL, _REFERENCE, _PROJECTION, LAYER, column.METRIC, *_CHANGE),
    number("band_low", "lower end of the band that holds for all layers at once", column.ANY_OR_NAN),
    number("band_high", "upper end", column.ANY_OR_NAN),
    column.KEYWORD_COUNT,
)

LAYER_ONSETS = Contract(
    paths.LAYER_ONSETS,
    "Where changes begin, and how large they are in each third of the layers.",
    *(column.MODEL, _REFERENCE, _PROJECTION, column.METRIC),
    text("part", "first: the first layer that changes; early, middle, late: thirds; late - middle"),
    text("layers", "the layers; of first, all whose interval excludes 0"),
    *_CHANGE,
    text("interval", "simultaneous: holds for all layers at once; pointwise: by itself"),
    column.KEYWORD_COUNT,
)
