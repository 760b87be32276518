"""Contracts of scores and of their totals."""

from fathom.io import paths
from fathom.io.contracts.column import (
    ANY_MODEL,
    ANY_OR_NAN,
    APART_OF_ALL,
    BOOL,
    DOC_ID,
    DOUBLE,
    FINITE,
    FROM_ONE,
    INT32,
    INT64,
    INTERVAL,
    KEYWORD,
    NOT_NEGATIVE,
    NOT_POSITIVE,
    P_ADJUSTED,
    PLACE,
    SHARE,
    STRING,
    UNIQUE,
    Check,
    Column,
    Contract,
    P,
)

_TOKENS = Column("tokens", INT32, "number of the target's tokens that were scored", FROM_ONE)
_LIKELIHOOD = (
    Column("probability", DOUBLE, "mean over target tokens of the probability under the full softmax", SHARE),
    Column("log_probability", DOUBLE, "sum over target tokens of the log-probability, in nats", NOT_POSITIVE),
    Column("backed_off", BOOL, "joint tokens did not begin with the prompt's, scored from a stable offset"),
)

SCORES = Contract(
    paths.SCORES,
    "Scores of one model on one benchmark, in the order of its pairs.",
    (
        Column("pair_id", STRING, "pair that was scored", UNIQUE),
        KEYWORD,
        _TOKENS,
        Column("rank", DOUBLE, "mean over target tokens of 1 + number of strictly larger logits", FROM_ONE),
        Column("rank_midpoint", DOUBLE, "the same with half of the tied entries counted as larger", FROM_ONE),
        Column("rank_first", INT64, "rank of the first target token", FROM_ONE),
        Column(
            "rank_share",
            DOUBLE,
            "rank divided by the number of entries that the model gives logits for",
            SHARE,
        ),
        Column(
            "ties",
            INT64,
            "vocabulary entries other than the target with an equal logit, over all tokens",
            NOT_NEGATIVE,
        ),
        *_LIKELIHOOD,
        Column(
            "rival_rank",
            DOUBLE,
            "1 + number of the benchmark's other targets that the prompt favours more, by the first token's"
            " log-probability less its mean over all prompts, ties half; NaN: none, or the server gives too"
            " little",
            Check(at_least=1, nan=True),
            optional=True,
        ),
        Column(
            "rival",
            STRING,
            "the one that it favours most; empty: the target, or not known",
            optional=True,
        ),
        Column(
            "bits",
            DOUBLE,
            "what the prompt tells the model of the target among the benchmark's other targets: 0: nothing;"
            " NaN: not known, as rival_rank",
            ANY_OR_NAN,
            optional=True,
        ),
        Column(
            "ceiling",
            DOUBLE,
            "the most that bits can be: log2 of the number of candidates; NaN as bits",
            Check(at_least=0, nan=True),
            optional=True,
        ),
    ),
)

TOP_SCORES = Contract(
    "PAIRS.MODEL.parquet of `fathom score`",
    "Scores by a server that gives only the most likely tokens: ranks below these are unknown.",
    (
        Column("pair_id", STRING, "pair that was scored", UNIQUE),
        KEYWORD,
        _TOKENS,
        Column(
            "rank",
            DOUBLE,
            "mean over target tokens of 1 + number of more likely ones; infinite: above the rank_limit",
            Check(at_least=1, infinite=True),
        ),
        *_LIKELIHOOD,
    ),
)

PERPLEXITY = Contract(
    paths.PERPLEXITY,
    "One model's likelihood of the held-out documents of one domain, by a hash of doc_id.",
    (
        DOC_ID,
        Column("tokens", INT64, "tokens that were predicted, each once, and count", NOT_NEGATIVE),
        Column("bytes", INT64, "UTF-8 bytes of the text of these tokens", NOT_NEGATIVE),
        Column("nats", DOUBLE, "sum of their negative log-probabilities", NOT_NEGATIVE),
        Column(
            "tokens_left_out",
            INT64,
            "first tokens of texts, which have no context; 0 with a BOS token",
            NOT_NEGATIVE,
        ),
        Column("bytes_left_out", INT64, "UTF-8 bytes of the text of these tokens", NOT_NEGATIVE),
        Column(
            "tokens_overlap",
            INT64,
            "tokens that were predicted but do not count, as they occur in training text",
            NOT_NEGATIVE,
        ),
        Column("bytes_overlap", INT64, "UTF-8 bytes of the text of these tokens", NOT_NEGATIVE),
        Column("nats_overlap", DOUBLE, "sum of their negative log-probabilities", NOT_NEGATIVE),
    ),
)

TOKEN_LISTS = Contract(
    (paths.TOKEN_LISTS, paths.LAYER_LISTS),
    "Tokens that belong to each keyword under one tokenizer, most frequent first.",
    (
        KEYWORD,
        Column("token_id", INT32, "id in the model's tokenizer", NOT_NEGATIVE),
        Column("token", STRING, "text of the token, without the mark of a blank"),
        Column("count", INT64, "its uses in the keyword's clean sentences", FROM_ONE),
    ),
)

ATTRIBUTE_RATES = Contract(
    paths.RATES,
    "Last-layer attribute rate of one model by keyword.",
    (
        KEYWORD,
        Column(
            "rate", DOUBLE, "share of the most likely next tokens that are in the keyword's token list", SHARE
        ),
        Column("hits", INT32, "number of those", NOT_NEGATIVE),
        Column("list_length", INT32, "length of the keyword's token list", NOT_NEGATIVE),
    ),
)

_TEXT_BYTES = Column("bytes", INT64, "UTF-8 bytes of text that all models predicted", FROM_ONE)
_TEXT_DOCUMENTS = Column("documents", INT64, "number of documents with such text", FROM_ONE)
_BEST, _OTHER = (
    Column("best", STRING, "the model that needs the fewest bits for all text"),
    Column("other", STRING, "another one"),
)
_GAP = Column("bits", DOUBLE, "bits of the other one less those of the best, summed up", FINITE)
_OF_BITS = "of the folder of `fathom bits`"

TEXT_BITS = Contract(
    f"bits.csv {_OF_BITS}",
    "A line for each model on the same text, fewest bits first; intervals are over files.",
    (
        ANY_MODEL,
        PLACE,
        Column("bits_per_byte", DOUBLE, "bits that it needs for a UTF-8 byte of the text", NOT_NEGATIVE),
        *INTERVAL,
        Column("groups", STRING, "letters; models that share one are not significantly different"),
        _TEXT_DOCUMENTS,
        _TEXT_BYTES,
        Column("tokens", INT64, "its tokens of all text", FROM_ONE),
    ),
)

TEXT_DIFFERENCES = Contract(
    f"differences.csv {_OF_BITS}",
    "A line for every two models; `p_adjusted` and `apart` hold for all together.",
    (
        Column("better", STRING, "the model that needs fewer bits"),
        Column("worse", STRING, "the other one"),
        Column("difference", DOUBLE, "bits per byte that the worse one needs more", NOT_NEGATIVE),
        *(*INTERVAL, P, P_ADJUSTED, APART_OF_ALL),
    ),
)

TEXT_DOCUMENTS = Contract(
    f"documents.csv {_OF_BITS}",
    "A line for each model and document.",
    (ANY_MODEL, DOC_ID, _TEXT_BYTES, Column("bits", DOUBLE, "that the model needs for it", NOT_NEGATIVE)),
)

TEXT_WORDS = Contract(
    f"words.csv {_OF_BITS}",
    "Words in which the best model and another differ most, both ways; a blank belongs to the word after it.",
    (_BEST, _OTHER, Column("word", STRING, "word or sign"), Column("count", INT64, "uses", FROM_ONE), _GAP),
)

TEXT_PASSAGES = Contract(
    f"passages.csv {_OF_BITS}",
    "Passages in which the best model and another differ most, both ways.",
    (
        *(_BEST, _OTHER, DOC_ID),
        Column("start", INT64, "first character in the document, from 0", NOT_NEGATIVE),
        *(_TEXT_BYTES, _GAP, Column("text", STRING, "the passage")),
    ),
)
