"""Contracts of statistics of scores: summaries, comparisons, groups, correlations, ranks by date."""

from dataclasses import replace

from fathom.io import paths
from fathom.io.contracts import column
from fathom.io.contracts.column import Column, Contract, numbers, text

SUMMARY = Contract(
    (paths.SUMMARY, paths.REFERENCES),
    "A line for each domain, variant, model, metric and aggregate.",
    *(
        column.DOMAIN,
        column.VARIANT,
        column.MODEL,
        column.METRIC,
        column.AGGREGATE,
        *column.ESTIMATE,
        column.PAIR_COUNT,
        column.CLUSTERS,
    ),
    key=("domain", "variant", "model", "metric", "aggregate"),
)

_BETTER = text("better", "the model that is ahead")
_WORSE = text("worse", "the other one")
_DIFFERENCE = Column(
    "difference", column.VALUE.type, "lead of the better one, never negative", column.VALUE.check
)

COMPARISONS = Contract(
    paths.COMPARISONS,
    "A line for every two models on a benchmark, by metric and aggregate. Interval and `p` hold for the two "
    "alone, `p_adjusted` and `apart` for all models together.",
    *(
        column.DOMAIN,
        column.VARIANT,
        column.METRIC,
        column.AGGREGATE,
        _BETTER,
        _WORSE,
        _DIFFERENCE,
        *column.INTERVAL,
        column.P,
        column.P_ADJUSTED,
    ),
    *(column.APART_OF_ALL, column.PAIR_COUNT, column.CLUSTERS),
    key=("domain", "variant", "metric", "aggregate", "better", "worse"),
)

GROUPS = Contract(
    paths.GROUPS,
    "A line for each model on a benchmark, metric and aggregate, best first.",
    *(
        column.DOMAIN,
        column.VARIANT,
        replace(column.METRIC, about="bits, rank or rival_rank; none: rank", optional=True),
    ),
    *(column.AGGREGATE, column.MODEL, column.PLACE),
    Column("value", column.VALUE.type, "what places are given by", column.VALUE.check),
    text("groups", "letters; models that share one are not significantly different, all compared together"),
    *(column.PAIR_COUNT, column.CLUSTERS),
    key=("domain", "variant", "metric", "aggregate", "model"),
)

CORRELATIONS = Contract(
    paths.CORRELATIONS,
    "A line for every two variants or metrics of a domain, by statistic. Interval and `p` hold for the two "
    "alone, `p_adjusted` for all of a domain and statistic together.",
    column.DOMAIN,
    text("x", "such as `tf rank` (the trimmed mean), `tf rank (geometric mean)`, `perplexity`"),
    text("y", "the other one"),
    text("statistic", "pearson, spearman or kendall (tau-b)"),
    *(*column.ESTIMATE, column.P, column.P_ADJUSTED, column.MODEL_COUNT),
    key=("domain", "x", "y", "statistic"),
)

_PART = (
    text("part", "the pairs that count: all, found or other; before or after the cut-off"),
    *numbers("rank", "ci_low", "ci_high", about="the rank on them"),
    *(column.PAIR_COUNT, column.CLUSTERS),
)

PAIR_PARTS = Contract(
    "{pairs}.parts.csv",
    "Ranks on parts of a benchmark: all pairs, those found in a corpus, the others.",
    *(column.ANY_MODEL, column.AGGREGATE, *_PART),
)

BEFORE, AFTER = "before", "after"
"""Parts of a benchmark by the date of a pair's document."""

CUTOFF = text("cutoff", "last day of the model's training text")

DATES = Contract(
    paths.DATES,
    "Ranks on documents up to the last day of a model's training text, and on later ones.",
    *(column.DOMAIN, column.VARIANT, column.MODEL, CUTOFF, column.AGGREGATE, *_PART),
)

RUN_CHANGES = Contract(
    "changes.csv of two runs compared",
    "A line for each model on each benchmark of two runs, by the pairs of both; `p_adjusted` and `apart` "
    "hold for all models of both runs together.",
    *(column.DOMAIN, column.VARIANT, column.ANY_MODEL, column.METRIC, column.AGGREGATE),
    Column("first", column.VALUE.type, "the number in the first run", column.VALUE.check),
    Column("second", column.VALUE.type, "the number in the second run", column.VALUE.check),
    Column("difference", column.VALUE.type, "second minus first", column.VALUE.check),
    *(*column.INTERVAL, column.P, column.P_ADJUSTED, column.APART_OF_ALL),
    text("first_groups", "its letters in the first run; see `groups`"),
    text("second_groups", "its letters in the second run; those that share one do not differ"),
    *(column.PAIR_COUNT, column.CLUSTERS),
)
