"""Contracts of scores and of their totals."""

from fathom.io import paths
from fathom.io.contracts import column
from fathom.io.contracts.column import Check, Contract, count, count32, flag, number, text

_TOKENS = count32("tokens", "number of the target's tokens that were scored", column.FROM_ONE)
_LIKELIHOOD = (
    number("probability", "mean over target tokens of the probability under the full softmax", column.SHARE),
    number("log_probability", "sum over target tokens of the log-probability, in nats", column.NOT_POSITIVE),
    flag("backed_off", "joint tokens did not begin with the prompt's, scored from a stable offset"),
)

SCORES = Contract(
    paths.SCORES,
    "Scores of one model on one benchmark, in the order of its pairs.",
    text("pair_id", "pair that was scored", column.UNIQUE),
    *(column.KEYWORD, _TOKENS),
    number("rank", "mean over target tokens of 1 + number of strictly larger logits", column.FROM_ONE),
    number("rank_midpoint", "the same with half of the tied entries counted as larger", column.FROM_ONE),
    count("rank_first", "rank of the first target token", column.FROM_ONE),
    number(
        "rank_share", "rank divided by the number of entries that the model gives logits for", column.SHARE
    ),
    count("ties", "vocabulary entries other than the target with an equal logit, over all tokens"),
    *_LIKELIHOOD,
    number(
        "rival_rank",
        "1 + number of the benchmark's other targets that the prompt favours more, by the first token's"
        " log-probability less its mean over all prompts, ties half; NaN: none, or the server gives too"
        " little",
        column.FROM_ONE_OR_NAN,
        optional=True,
    ),
    text("rival", "the one that it favours most; empty: the target, or not known", optional=True),
    number(
        "bits",
        "what the prompt tells the model of the target among the benchmark's other targets: 0: nothing;"
        " NaN: not known, as rival_rank",
        column.ANY_OR_NAN,
        optional=True,
    ),
    number(
        "ceiling",
        "the most that bits can be: log2 of the number of candidates; NaN as bits",
        column.NOT_NEGATIVE_OR_NAN,
        optional=True,
    ),
)

TOP_SCORES = Contract(
    "PAIRS.MODEL.parquet of `fathom score`",
    "Scores by a server that gives only the most likely tokens: ranks below these are unknown.",
    text("pair_id", "pair that was scored", column.UNIQUE),
    *(column.KEYWORD, _TOKENS),
    number(
        "rank",
        "mean over target tokens of 1 + number of more likely ones; infinite: above the rank_limit",
        Check(at_least=1, infinite=True),
    ),
    *_LIKELIHOOD,
)

PERPLEXITY = Contract(
    paths.PERPLEXITY,
    "One model's likelihood of the held-out documents of one domain, by a hash of doc_id.",
    column.DOC_ID,
    count("tokens", "tokens that were predicted, each once, and count"),
    count("bytes", "UTF-8 bytes of the text of these tokens"),
    number("nats", "sum of their negative log-probabilities", column.NOT_NEGATIVE),
    count("tokens_left_out", "first tokens of texts, which have no context; 0 with a BOS token"),
    count("bytes_left_out", "UTF-8 bytes of the text of these tokens"),
    count("tokens_overlap", "tokens that were predicted but do not count, as they occur in training text"),
    count("bytes_overlap", "UTF-8 bytes of the text of these tokens"),
    number("nats_overlap", "sum of their negative log-probabilities", column.NOT_NEGATIVE),
)

TOKEN_LISTS = Contract(
    (paths.TOKEN_LISTS, paths.LAYER_LISTS),
    "Tokens that belong to each keyword under one tokenizer, most frequent first.",
    column.KEYWORD,
    count32("token_id", "id in the model's tokenizer"),
    text("token", "text of the token, without the mark of a blank"),
    count("count", "its uses in the keyword's clean sentences", column.FROM_ONE),
)

ATTRIBUTE_RATES = Contract(
    paths.RATES,
    "Last-layer attribute rate of one model by keyword.",
    column.KEYWORD,
    number("rate", "share of the most likely next tokens that are in the keyword's token list", column.SHARE),
    count32("hits", "number of those"),
    count32("list_length", "length of the keyword's token list"),
)

_TEXT_BYTES = count("bytes", "UTF-8 bytes of text that all models predicted", column.FROM_ONE)
_TEXT_DOCUMENTS = count("documents", "number of documents with such text", column.FROM_ONE)
_BEST, _OTHER = (
    text("best", "the model that needs the fewest bits for all text"),
    text("other", "another one"),
)
_GAP = number("bits", "bits of the other one less those of the best, summed up")
_OF_BITS = "of the folder of `fathom bits`"

TEXT_BITS = Contract(
    f"bits.csv {_OF_BITS}",
    "A line for each model on the same text, fewest bits first; intervals are over files.",
    *(column.ANY_MODEL, column.PLACE),
    number("bits_per_byte", "bits that it needs for a UTF-8 byte of the text", column.NOT_NEGATIVE),
    *column.INTERVAL,
    text("groups", "letters; models that share one are not significantly different"),
    *(_TEXT_DOCUMENTS, _TEXT_BYTES),
    count("tokens", "its tokens of all text", column.FROM_ONE),
)

TEXT_DIFFERENCES = Contract(
    f"differences.csv {_OF_BITS}",
    "A line for every two models; `p_adjusted` and `apart` hold for all together.",
    text("better", "the model that needs fewer bits"),
    text("worse", "the other one"),
    number("difference", "bits per byte that the worse one needs more", column.NOT_NEGATIVE),
    *(*column.INTERVAL, column.P, column.P_ADJUSTED, column.APART_OF_ALL),
)

TEXT_DOCUMENTS = Contract(
    f"documents.csv {_OF_BITS}",
    "A line for each model and document.",
    *(
        column.ANY_MODEL,
        column.DOC_ID,
        _TEXT_BYTES,
        number("bits", "that the model needs for it", column.NOT_NEGATIVE),
    ),
)

TEXT_WORDS = Contract(
    f"words.csv {_OF_BITS}",
    "Words in which the best model and another differ most, both ways; a blank belongs to the word after it.",
    *(_BEST, _OTHER, text("word", "word or sign"), count("count", "uses", column.FROM_ONE), _GAP),
)

TEXT_PASSAGES = Contract(
    f"passages.csv {_OF_BITS}",
    "Passages in which the best model and another differ most, both ways.",
    *(_BEST, _OTHER, column.DOC_ID),
    count("start", "first character in the document, from 0"),
    *(_TEXT_BYTES, _GAP, text("text", "the passage")),
)
