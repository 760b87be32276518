"""Contracts of studies of training: models followed, controls, claims, stages, targets."""

from fathom.io import paths
from fathom.io.contracts.column import (
    AGGREGATE,
    ANY_OR_NAN,
    BASE_MODEL,
    COSINE,
    DOMAIN,
    DOUBLE,
    ESTIMATE,
    FROM_ONE,
    INT32,
    INT64,
    INTERVAL,
    ITEMS,
    KEYWORD_COUNT,
    METRIC,
    MODEL,
    MODEL_COUNT,
    NOT_NEGATIVE,
    P_ADJUSTED,
    PAIR_COUNT,
    PLACE,
    SEEDS,
    STRING,
    VARIANT,
    Check,
    Column,
    Contract,
    P,
    describe_numbers,
)

ALL_SEEDS = "all"
"""In FOLLOWING: the mean over several seeds."""

FOLLOWING = Contract(
    (
        paths.FOLLOWING,
        "figures/{domain}.following.{track}.csv",
        "figures/{domain}.checkpoints.{statistic}.csv",
        "figures/{domain}.paths.{base}.{statistic}.csv",
    ),
    "Metrics of models over their training.",
    (
        Column("track", STRING, "track: the last model of a path, or a name under models.follow"),
        Column("model", STRING, "model at this point; for the mean over seeds, that of the first seed"),
        Column(
            "stand_in",
            STRING,
            "model that was measured in its place, because its weights are corrupt; or empty",
        ),
        Column(
            "seed", STRING, "seed of the training, `all` for the mean over seeds, empty for others' models"
        ),
        Column("stage", INT32, "stage of the path, 0 for the model that it starts from", NOT_NEGATIVE),
        Column("trained_on", STRING, "domain of the stage; empty at the start and for others' models"),
        Column(
            "step", INT64, "optimiser steps since the start of the path, 0 for others' models", NOT_NEGATIVE
        ),
        Column(
            "tokens",
            INT64,
            "tokens read since the start of the path; in all, for others' models",
            NOT_NEGATIVE,
        ),
        Column("domain", STRING, "domain that the model is measured on"),
        Column("variant", STRING, "that of the benchmark; text or keywords for the baselines"),
        Column(
            "metric",
            STRING,
            "rank, probability, log_probability, perplexity, bits_per_byte or attribute_rate",
        ),
        Column("aggregate", STRING, "how pairs are summed up: trimmed_mean, geometric_mean, mean, median"),
        Column("value", DOUBLE, "the metric"),
        Column("ci_low", DOUBLE, "lower end of its interval, over keywords or documents, and over seeds"),
        Column("ci_high", DOUBLE, "upper end"),
        Column("items", INT64, "number of pairs, documents or keywords", FROM_ONE),
        Column(
            "noise",
            DOUBLE,
            "standard deviation of the value by the noise of a step: about a straight line through this "
            "point and up to four before it in its stage; NaN with fewer than three",
            Check(at_least=0, nan=True),
            optional=True,
        ),
        Column(
            "signal_to_noise",
            DOUBLE,
            "change of the value since the first point, without its sign, in such deviations",
            Check(at_least=0, nan=True, infinite=True),
            optional=True,
        ),
    ),
)

WATCHED = Contract(
    "keywords.csv in the folder of a watch",
    "Results of the last look of `fathom watch` for each keyword, forgotten ones first.",
    (
        Column("keyword", STRING, "keyword; `(no keyword)` for pairs without one"),
        Column(
            "sentences", INT64, "documents with pairs of it; sentences if no documents are known", FROM_ONE
        ),
        Column("targets", INT64, "how many different targets it has; forms of one word are one", FROM_ONE),
        Column(
            "change",
            DOUBLE,
            "mean over sentences of the bits (--by: log-probability) less that of the reference",
        ),
        Column("error", DOUBLE, "its standard error, with the noise of both checkpoints", ANY_OR_NAN),
        P,
        Column(
            "p_adjusted",
            DOUBLE,
            "p for all keywords and looks together: by Holm's method, times j (j + 1) at tested look j",
            P.check,
        ),
        Column(
            "verdict",
            STRING,
            "learned or forgotten: p_adjusted is at most 0.05 at this look and the one before; or empty,"
            " always so with fewer than three different targets, or one that most pairs share",
        ),
        Column("since", STRING, "checkpoint from which on it has had its verdict; or empty"),
    ),
)

_OF_TRACK = {column.name: column for column in FOLLOWING}

CHECKPOINTS = Contract(
    paths.FOLLOWED_MODELS,
    "A line for each model of a track, in the order of its training.",
    tuple(
        _OF_TRACK[name] for name in ("track", "model", "stand_in", "stage", "trained_on", "step", "tokens")
    ),
)

TARGET_CHANGES = Contract(
    (paths.TARGET_CHANGES, "figures/{domain}.targets.{model}.csv"),
    "Targets of one domain, by variant and model, best score first.",
    (
        Column("variant", STRING, "that of the benchmark"),
        Column("model", STRING, "model with the targets"),
        Column("against", STRING, "model that it is compared with"),
        Column("target", STRING, "the target, without its blank"),
        Column("pairs", INT64, "pairs with this target", FROM_ONE),
        Column("probability_gain", DOUBLE, "mean over them of the model's probability less the other's"),
        Column("rank_gain", DOUBLE, "mean over them of the other's rank less the model's"),
        Column("score", DOUBLE, "both gains in standard deviations, averaged, times ln(1 + pairs)"),
        Column("similarity", DOUBLE, "cosine of target and domain phrase", COSINE),
        Column("group", STRING, "top, middle or bottom, by score"),
    ),
)


_AGAINST = Column("against", STRING, "model that it is compared with")

TARGET_GROUPS = Contract(
    paths.TARGET_GROUPS,
    "Nearness of the best and the worst targets to a domain's phrase; a line for each model and benchmark.",
    (
        *(DOMAIN, VARIANT, MODEL, _AGAINST),
        Column("phrase", STRING, "phrase that targets are near to or far from"),
        Column("targets", INT64, "number of targets", NOT_NEGATIVE),
        Column("in_group", INT64, "number of targets in each group", NOT_NEGATIVE),
        *describe_numbers("top", about="mean cosine of the best targets with the phrase"),
        *describe_numbers("bottom", about="mean cosine of the worst ones"),
        *describe_numbers("difference", "difference_low", "difference_high", about="of both means"),
        *describe_numbers("d", "d_low", "d_high", about="Cohen's d of both groups"),
        *describe_numbers("t", about="Student's t; targets are taken as independent for it and p alone"),
        *(P, PAIR_COUNT, KEYWORD_COUNT),
    ),
)

EXTREMES = Contract(
    paths.BEST_AND_WORST,
    "Targets by their score from both ends.",
    (
        *(VARIANT, MODEL, _AGAINST, PLACE),
        Column("best", STRING, "the target at this place"),
        Column("worst", STRING, "the target at this place from the other end"),
    ),
)

RELATIONS = Contract(
    paths.RELATIONS,
    "Correlation of a metric with the similarity of the stage's domain to the target, and with the "
    "reference rank.",
    (
        Column("track", STRING, "the training"),
        *(DOMAIN, VARIANT, METRIC, AGGREGATE),
        Column("with", STRING, "similarity, or reference: the rank on the reference benchmark"),
        Column(
            "statistic",
            STRING,
            "pearson, spearman, kendall; minima_minus_maxima: similarity at the metric's minima minus at its "
            "maxima",
        ),
        *(*ESTIMATE, P),
        Column("stages", INT64, "number of stages, or of minima and maxima", NOT_NEGATIVE),
    ),
)

_GAIN = describe_numbers(
    "gain",
    "gain_low",
    "gain_high",
    about="over the base, positive is better: ln of the factor for ranks and perplexity, else the difference",
)

CONTROLS = Contract(
    (paths.CONTROLS, "figures/{domain}.controls.csv"),
    "A metric of a model that read a domain's text, a control of it, or another; a line for each condition. "
    "Variant both: TF and TF-IDF pairs together, the same prompt and target once.",
    (
        *(DOMAIN, VARIANT, METRIC, AGGREGATE, BASE_MODEL),
        Column("condition", STRING, "base, as-is, terms-exchanged, terms-only, or another domain"),
        *(SEEDS, *ESTIMATE, *_GAIN),
        *describe_numbers("share", "share_low", "share_high", about="gain divided by that of as-is"),
        ITEMS,
    ),
)

AS_IS, EXCHANGED, ONLY, BASE = "as-is", "terms-exchanged", "terms-only", "base"
"""Conditions in controls.csv, beside names of domains."""

BOTH = "both"
"""Variant in tables of controls: TF and TF-IDF pairs together, those that stand in both once."""

CONTRASTS = Contract(
    paths.CONTROL_CONTRASTS,
    "Whether what keeps the knowledge is ahead of what does not; by TF and TF-IDF pairs together. Interval "
    "and `p` hold for one difference, `p_adjusted` and verdict for all of a metric together.",
    (
        *(DOMAIN, VARIANT, METRIC, AGGREGATE, BASE_MODEL),
        Column("first", STRING, "a condition with knowledge"),
        Column("second", STRING, "one without"),
        *describe_numbers("difference", about="of their gains"),
        *(*INTERVAL, P, P_ADJUSTED),
        Column("verdict", STRING, "first is ahead, behind, or cannot be told"),
    ),
)

CONTROL_SHARES = Contract(
    paths.CONTROL_SHARES,
    "Whether two metrics differ in how much of the gain a control keeps; every two on one domain, of TF and "
    "TF-IDF pairs together. Interval and `p` hold for the two alone, `p_adjusted` and verdict for all of a "
    "condition together.",
    (
        *(DOMAIN, BASE_MODEL),
        Column("condition", STRING, "terms-exchanged, terms-only, or another domain"),
        *(VARIANT, METRIC, AGGREGATE),
        Column("other_variant", STRING, "what the other metric is measured on"),
        Column("other_metric", STRING, "the other metric"),
        Column("other_aggregate", STRING, "how it is summed up"),
        *describe_numbers("difference", about="of their shares of the gain, in the same resamples"),
        *(*INTERVAL, P, P_ADJUSTED),
        Column("verdict", STRING, "the first share is larger, smaller, or cannot be told from the other"),
    ),
)

CLAIMS = Contract(
    (paths.CLAIMS, "figures/{domain}.claims.csv"),
    "What a paper says of a metric, the number that decides, and the verdict. Interval and `p`, of a "
    "difference from the threshold, hold for one claim, `p_adjusted` and verdict for all of a base together, "
    "those of bits by themselves.",
    (
        *(DOMAIN, BASE_MODEL),
        Column("claim", STRING, "name of the claim"),
        Column("source", STRING, "where the paper makes it"),
        Column("says", STRING, "what it says"),
        *(VARIANT, METRIC, AGGREGATE),
        Column("reference", STRING, "variant that the metric is compared with; empty for claims without one"),
        Column("measured", STRING, "what the number is"),
        *(*ESTIMATE, P, P_ADJUSTED),
        Column("claimed", STRING, "side of a threshold on which the paper puts the number"),
        SEEDS,
        Column("verdict", STRING, "holds, does not, cannot be told"),
    ),
)

HOLDS, FAILS, UNCLEAR = VERDICTS = ("holds", "does not", "cannot be told")
"""Verdicts in claims.csv."""

CLAIM_CORRELATIONS = Contract(
    paths.CLAIM_CORRELATIONS,
    "Correlation of a metric with a reference over models; positive if both agree.",
    (
        *(DOMAIN, BASE_MODEL),
        Column("reference", STRING, "variant of the reference"),
        Column("reference_metric", STRING, "its metric"),
        Column("reference_aggregate", STRING, "its aggregate"),
        *(VARIANT, METRIC, AGGREGATE),
        Column("statistic", STRING, "pearson, spearman or kendall"),
        *(*ESTIMATE, MODEL_COUNT, SEEDS),
    ),
)

CLAIM_MODELS = Contract(
    paths.CLAIM_MODELS,
    "A metric of models adapted alike, as mean over seeds.",
    (
        *(DOMAIN, BASE_MODEL),
        Column("model", STRING, "model of the first seed"),
        Column("role", STRING, "its role; empty for other paths and checkpoints of them"),
        *(VARIANT, METRIC, AGGREGATE, SEEDS, *ESTIMATE, *_GAIN, ITEMS),
    ),
)
