"""Contracts of what is measured layer by layer, and headers of its summaries."""

from fathom.io.contracts.column import (
    DOUBLE,
    FLOATS,
    FROM_ONE,
    INT32,
    INTS,
    KEYWORD,
    NOT_NEGATIVE,
    SHARE,
    STRING,
    Column,
    Contract,
)

LAYER = Column("layer", INT32, "0 is the embedding's output, l that of block l", NOT_NEGATIVE)

LAYER_TOKENS: Contract = (
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
    Column("places", INTS, "their places in the keyword's token list, from 1; 0: not in it", NOT_NEGATIVE),
    Column(
        "others",
        INTS,
        "ids of those of the most likely tokens of any kind that are no content tokens",
        NOT_NEGATIVE,
    ),
    Column("other_probabilities", FLOATS, "their probabilities", SHARE),
    Column("other_ranks", INTS, "their places among all tokens, from 1", FROM_ONE),
)
"""What a model would say after each keyword if it stopped at a layer, by keyword, layer and projection."""

LAYER_RATES: Contract = (
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
)
"""Attribute rate of one model by keyword and layer, for every k and length of list."""

LAYER_TARGETS: Contract = (
    Column("pair_id", STRING, "pair that was scored"),
    KEYWORD,
    Column("lens", STRING, "plain: the final norm alone; tuned: after the layer's own map"),
    LAYER,
    Column("tokens", INT32, "number of the target's tokens; the columns below are means over them", FROM_ONE),
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
)
"""The true targets of one model by layer."""

LAYER_EXAMPLE_COLUMNS = ("keyword", "hits", "in_list", "not_in_list")
"""Header of a model's examples.tsv: its most likely next tokens, in and not in the keyword's token list."""

LAYER_SUMMARY_COLUMNS = (
    "model", "projection", "k", "list_length", "layer", "metric", "value", "ci_low", "ci_high", "keywords",
)  # fmt: skip
"""Header of layers.csv: one line for each model, projection or lens, layer and metric."""

LAYER_CHANGE_COLUMNS = (
    "model", "reference", "projection", "layer", "metric", "change", "ci_low", "ci_high", "keywords",
)  # fmt: skip
"""Header of layer-changes.csv: percentage change of a model against a reference, layer by layer."""

LAYER_ONSET_COLUMNS = (
    "model", "reference", "projection", "metric", "part", "layers", "change", "ci_low", "ci_high", "keywords",
)  # fmt: skip
"""Header of layer-onsets.csv: where changes begin, and how large they are in each third of the layers."""
