"""Contracts of scores and headers of what they sum up to."""

from fathom.io.contracts.column import (
    BOOL,
    COSINE,
    DOC_ID,
    DOUBLE,
    FROM_ONE,
    INT32,
    INT64,
    KEYWORD,
    NOT_NEGATIVE,
    NOT_POSITIVE,
    SHARE,
    STRING,
    UNIQUE,
    Column,
    Contract,
)

SCORES: Contract = (
    Column("pair_id", STRING, "pair that was scored", UNIQUE),
    KEYWORD,
    Column("tokens", INT32, "number of the target's tokens that were scored", FROM_ONE),
    Column("rank", DOUBLE, "mean over target tokens of 1 + number of strictly larger logits", FROM_ONE),
    Column("rank_midpoint", DOUBLE, "the same with half of the tied entries counted as larger", FROM_ONE),
    Column("rank_first", INT64, "rank of the first target token", FROM_ONE),
    Column(
        "rank_share", DOUBLE, "rank divided by the number of entries that the model gives logits for", SHARE
    ),
    Column(
        "ties",
        INT64,
        "vocabulary entries other than the target with an equal logit, over all tokens",
        NOT_NEGATIVE,
    ),
    Column("probability", DOUBLE, "mean over target tokens of the probability under the full softmax", SHARE),
    Column("log_probability", DOUBLE, "sum over target tokens of the log-probability, in nats", NOT_POSITIVE),
    Column("backed_off", BOOL, "joint tokens did not begin with the prompt's, scored from a stable offset"),
)
"""Scores of one model on one benchmark, in the order of its pairs."""

PERPLEXITY: Contract = (
    DOC_ID,
    Column("tokens", INT64, "tokens that were predicted, each once", NOT_NEGATIVE),
    Column("bytes", INT64, "UTF-8 bytes of the text of these tokens", NOT_NEGATIVE),
    Column("nats", DOUBLE, "sum of their negative log-probabilities", NOT_NEGATIVE),
    Column(
        "tokens_left_out",
        INT64,
        "first tokens that nothing stands before: 0 after a BOS token",
        NOT_NEGATIVE,
    ),
    Column("bytes_left_out", INT64, "UTF-8 bytes of the text of those", NOT_NEGATIVE),
)
"""One model's likelihood of the held-out documents of one domain, by a hash of doc_id."""

TOKEN_LISTS: Contract = (
    KEYWORD,
    Column("token_id", INT32, "id in the model's tokenizer", NOT_NEGATIVE),
    Column("token", STRING, "text of the token, without the mark of a blank"),
    Column("count", INT64, "its uses in the keyword's clean sentences", FROM_ONE),
)
"""Tokens that belong to each keyword under one tokenizer, most frequent first."""

ATTRIBUTE_RATES: Contract = (
    KEYWORD,
    Column(
        "rate", DOUBLE, "share of the most likely next tokens that are in the keyword's token list", SHARE
    ),
    Column("hits", INT32, "number of those", NOT_NEGATIVE),
    Column("list_length", INT32, "length of the keyword's token list", NOT_NEGATIVE),
)
"""Last-layer attribute rate of one model by keyword."""

ALL_SEEDS = "all"
"""In FOLLOWING: the mean over several seeds."""

FOLLOWING: Contract = (
    Column("track", STRING, "what is followed: the last model of a path, or a name under models.follow"),
    Column("model", STRING, "model at this point; for the mean over seeds, that of the first seed"),
    Column(
        "stand_in", STRING, "model that was measured in its place, because its weights are corrupt; or empty"
    ),
    Column("seed", STRING, "seed of the training, `all` for the mean over seeds, empty for others' models"),
    Column("stage", INT32, "stage of the path, 0 for the model that it starts from", NOT_NEGATIVE),
    Column("trained_on", STRING, "domain of the stage; empty at the start and for others' models"),
    Column("step", INT64, "optimiser steps since the start of the path, 0 for others' models", NOT_NEGATIVE),
    Column(
        "tokens", INT64, "tokens read since the start of the path; in all, for others' models", NOT_NEGATIVE
    ),
    Column("domain", STRING, "domain that the model is measured on"),
    Column("variant", STRING, "that of the benchmark; text or keywords for the baselines"),
    Column("metric", STRING, "rank, log_probability, perplexity, bits_per_byte or attribute_rate"),
    Column("aggregate", STRING, "how pairs are summed up: trimmed_mean, geometric_mean, mean, median"),
    Column("value", DOUBLE, "the metric"),
    Column("ci_low", DOUBLE, "lower end of its interval, over keywords or documents, and over seeds"),
    Column("ci_high", DOUBLE, "upper end"),
    Column("items", INT64, "number of pairs, documents or keywords", FROM_ONE),
)
"""Metrics of models over their training."""

CHECKPOINT_COLUMNS = ("track", "model", "stand_in", "stage", "trained_on", "step", "tokens")
"""Header of checkpoints.csv: one line for each model of a track, as in FOLLOWING."""

TARGET_CHANGES: Contract = (
    Column("variant", STRING, "that of the benchmark"),
    Column("model", STRING, "model that is looked at"),
    Column("against", STRING, "model that it is compared with"),
    Column("target", STRING, "the target, without its blank"),
    Column("pairs", INT64, "pairs with this target", FROM_ONE),
    Column("probability_gain", DOUBLE, "mean over them of the model's probability less the other's"),
    Column("rank_gain", DOUBLE, "mean over them of the other's rank less the model's"),
    Column("score", DOUBLE, "both gains in standard deviations, averaged, times ln(1 + pairs)"),
    Column("similarity", DOUBLE, "cosine of target and domain phrase", COSINE),
    Column("group", STRING, "top, middle or bottom, by score"),
)
"""Targets of one domain, by variant and model, best score first."""

SUMMARY_COLUMNS = (
    "domain", "variant", "model", "metric", "aggregate", "value", "ci_low", "ci_high", "pairs",
)  # fmt: skip
"""Header of summary.csv: one line for each domain, variant, model, metric and aggregate.

The variant is that of a benchmark, `text` for perplexity and bits per byte, or `keywords` for the attribute
rate; `pairs` then counts documents or keywords.
"""

COMPARISON_COLUMNS = (
    "domain", "variant", "metric", "aggregate", "better", "worse", "difference", "ci_low", "ci_high", "p",
    "apart", "pairs",
)  # fmt: skip
"""Header of comparisons.csv: one line for every two models on a benchmark, by metric and aggregate."""

SPLIT_COLUMNS = ("model", "aggregate", "part", "rank", "ci_low", "ci_high", "pairs")
"""Header of what sums up ranks on parts of a benchmark: all, found and other pairs, or before and after."""

BEFORE, AFTER = "before", "after"
"""Parts of a benchmark by the date of a pair's document."""

DATE_COLUMNS = ("domain", "variant", "model", "cutoff", *SPLIT_COLUMNS[1:])
"""Header of dates.csv: ranks on documents up to the last day of a model's training text, and on later ones.
"""

GROUP_COLUMNS = ("domain", "variant", "aggregate", "model", "place", "value", "groups", "pairs")
"""Header of groups.csv: one line for each model on a benchmark and aggregate, best rank first."""

OLDER_COMPARISON_COLUMNS, OLDER_GROUP_COLUMNS = COMPARISON_COLUMNS[:-1], GROUP_COLUMNS[:-1]
"""What these tables have in every run, older ones too, that someone may look at."""

CORRELATION_COLUMNS = ("domain", "x", "y", "statistic", "value", "ci_low", "ci_high", "p", "models")
"""Header of correlations.csv: one line for every two variants or metrics of a domain, by statistic."""

TARGET_GROUP_COLUMNS = (
    "domain", "variant", "model", "against", "phrase", "targets", "in_group", "top", "bottom", "difference",
    "difference_low", "difference_high", "d", "d_low", "d_high", "t", "p", "pairs", "keywords",
)  # fmt: skip
"""Header of target-groups.csv: how near the best and the worst targets are to a domain's phrase."""

EXTREME_COLUMNS = ("variant", "model", "against", "place", "best", "worst")
"""Header of best-and-worst.csv: targets by their score from both ends; one column goes down, one up."""

RELATION_COLUMNS = (
    "track", "domain", "variant", "metric", "aggregate", "with", "statistic", "value", "ci_low", "ci_high",
    "p", "stages",
)  # fmt: skip
"""Header of {track}.relations.csv: how a metric goes with the similarity of the stage's domain to the
measured one, and with the reference rank; `stages` counts stages, or minima and maxima.
"""

CONTROL_COLUMNS = (
    "domain", "variant", "metric", "aggregate", "base", "condition", "seeds", "value", "ci_low",
    "ci_high", "gain", "gain_low", "gain_high", "share", "share_low", "share_high", "items",
)  # fmt: skip
"""Header of controls.csv: a metric of a model that read a domain's text, a control of it, or another."""

AS_IS, EXCHANGED, ONLY, BASE = "as-is", "terms-exchanged", "terms-only", "base"
"""Conditions in controls.csv, beside names of domains."""

CONTRAST_COLUMNS = (
    "domain", "variant", "metric", "aggregate", "base", "first", "second", "difference", "ci_low", "ci_high",
    "verdict",
)  # fmt: skip
"""Header of control-contrasts.csv: whether what keeps the knowledge is ahead of what does not."""

CLAIM_COLUMNS = (
    "domain", "base", "claim", "source", "says", "variant", "metric", "aggregate", "reference", "measured",
    "value", "ci_low", "ci_high", "claimed", "seeds", "verdict",
)  # fmt: skip
"""Header of claims.csv: what a paper says of a metric, the number that decides, and the verdict.

`claimed` is the side of a threshold on which the paper puts the number.
"""

HOLDS, FAILS, UNCLEAR = VERDICTS = ("holds", "does not", "cannot be told")
"""Verdicts in claims.csv."""

CLAIM_CORRELATION_COLUMNS = (
    "domain", "base", "reference", "reference_metric", "reference_aggregate", "variant", "metric",
    "aggregate", "statistic", "value", "ci_low", "ci_high", "models", "seeds",
)  # fmt: skip
"""Header of claim-correlations.csv: how a metric goes with a reference over models; 1 if both agree."""

CLAIM_MODEL_COLUMNS = (
    "domain", "base", "model", "role", "variant", "metric", "aggregate", "seeds", "value", "ci_low",
    "ci_high", "gain", "gain_low", "gain_high", "items",
)  # fmt: skip
"""Header of claim-models.csv: a metric of models that were adapted alike, in the mean over seeds."""

SETTLED_COLUMNS = (
    "domain", "variant", "look", "pairs", "pairs_in_all", "metric", "aggregate", "better", "worse",
    "difference", "ci_low", "ci_high", "p", "verdict",
)  # fmt: skip
"""Header of settled.csv: one line for every two models compared at a look, by metric and aggregate."""
