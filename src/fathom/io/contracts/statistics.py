"""Contracts of statistics of scores: summaries, comparisons, groups, correlations, ranks by date."""

from dataclasses import replace

from fathom.io import paths
from fathom.io.contracts.column import (
    AGGREGATE,
    ANY_MODEL,
    APART_OF_ALL,
    CLUSTERS,
    DOMAIN,
    ESTIMATE,
    INTERVAL,
    METRIC,
    MODEL,
    MODEL_COUNT,
    P_ADJUSTED,
    PAIR_COUNT,
    PLACE,
    STRING,
    VALUE,
    VARIANT,
    Column,
    Contract,
    P,
    describe_numbers,
)

SUMMARY = Contract(
    (paths.SUMMARY, paths.REFERENCES),
    "A line for each domain, variant, model, metric and aggregate.",
    (DOMAIN, VARIANT, MODEL, METRIC, AGGREGATE, *ESTIMATE, PAIR_COUNT, CLUSTERS),
    key=("domain", "variant", "model", "metric", "aggregate"),
)

_BETTER = Column("better", STRING, "the model that is ahead")
_WORSE = Column("worse", STRING, "the other one")
_DIFFERENCE = Column("difference", VALUE.type, "lead of the better one, never negative", VALUE.check)

COMPARISONS = Contract(
    paths.COMPARISONS,
    "A line for every two models on a benchmark, by metric and aggregate. Interval and `p` hold for the two "
    "alone, `p_adjusted` and `apart` for all models together.",
    (
        *(DOMAIN, VARIANT, METRIC, AGGREGATE, _BETTER, _WORSE, _DIFFERENCE, *INTERVAL, P, P_ADJUSTED),
        *(APART_OF_ALL, PAIR_COUNT, CLUSTERS),
    ),
    key=("domain", "variant", "metric", "aggregate", "better", "worse"),
)

GROUPS = Contract(
    paths.GROUPS,
    "A line for each model on a benchmark, metric and aggregate, best rank first.",
    (
        *(DOMAIN, VARIANT, replace(METRIC, about="rank or rival_rank; none: rank", optional=True)),
        *(AGGREGATE, MODEL, PLACE),
        Column("value", VALUE.type, "the rank that places are given by", VALUE.check),
        Column(
            "groups",
            STRING,
            "letters; models that share one are not significantly different, all compared together",
        ),
        *(PAIR_COUNT, CLUSTERS),
    ),
    key=("domain", "variant", "metric", "aggregate", "model"),
)

CORRELATIONS = Contract(
    paths.CORRELATIONS,
    "A line for every two variants or metrics of a domain, by statistic. Interval and `p` hold for the two "
    "alone, `p_adjusted` for all of a domain and statistic together.",
    (
        DOMAIN,
        Column("x", STRING, "such as `tf rank` (the trimmed mean), `tf rank (geometric mean)`, `perplexity`"),
        Column("y", STRING, "the other one"),
        Column("statistic", STRING, "pearson, spearman or kendall (tau-b)"),
        *(*ESTIMATE, P, P_ADJUSTED, MODEL_COUNT),
    ),
    key=("domain", "x", "y", "statistic"),
)

_PART = (
    Column("part", STRING, "the pairs that count: all, found or other; before or after the cut-off"),
    *describe_numbers("rank", "ci_low", "ci_high", about="the rank on them"),
    *(PAIR_COUNT, CLUSTERS),
)

PAIR_PARTS = Contract(
    "{pairs}.parts.csv",
    "Ranks on parts of a benchmark: all pairs, those found in a corpus, the others.",
    (ANY_MODEL, AGGREGATE, *_PART),
)

BEFORE, AFTER = "before", "after"
"""Parts of a benchmark by the date of a pair's document."""

CUTOFF = Column("cutoff", STRING, "last day of the model's training text")

DATES = Contract(
    paths.DATES,
    "Ranks on documents up to the last day of a model's training text, and on later ones.",
    (DOMAIN, VARIANT, MODEL, CUTOFF, AGGREGATE, *_PART),
)

RUN_CHANGES = Contract(
    "changes.csv of two runs compared",
    "A line for each model on each benchmark of two runs, by the pairs of both; `p_adjusted` and `apart` "
    "hold for all models of both runs together.",
    (
        *(DOMAIN, VARIANT, ANY_MODEL, METRIC, AGGREGATE),
        Column("first", VALUE.type, "the number in the first run", VALUE.check),
        Column("second", VALUE.type, "the number in the second run", VALUE.check),
        Column("difference", VALUE.type, "second minus first", VALUE.check),
        *(*INTERVAL, P, P_ADJUSTED, APART_OF_ALL),
        Column("first_groups", STRING, "its letters in the first run; see `groups`"),
        Column("second_groups", STRING, "its letters in the second run; those that share one do not differ"),
        *(PAIR_COUNT, CLUSTERS),
    ),
)
