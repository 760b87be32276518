"""Contracts of studies of training: models followed, controls, claims, stages, targets."""

from fathom.io import paths
from fathom.io.contracts import column
from fathom.io.contracts.column import Check, Contract, count, count32, number, numbers, text

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
    text("track", "track: the last model of a path, or a name under models.follow"),
    text("model", "model at this point; for the mean over seeds, that of the first seed"),
    text("stand_in", "model that was measured in its place, because its weights are corrupt; or empty"),
    text("seed", "seed of the training, `all` for the mean over seeds, empty for others' models"),
    count32("stage", "stage of the path, 0 for the model that it starts from"),
    text("trained_on", "domain of the stage; empty at the start and for others' models"),
    count("step", "optimiser steps since the start of the path, 0 for others' models"),
    count("tokens", "tokens read since the start of the path; in all, for others' models"),
    text("domain", "domain that the model is measured on"),
    text("variant", "that of the benchmark; text or keywords for the baselines"),
    text("metric", "rank, probability, log_probability, perplexity, bits_per_byte or attribute_rate"),
    text("aggregate", "how pairs are summed up: trimmed_mean, geometric_mean, mean, median"),
    number("value", "the metric"),
    number("ci_low", "lower end of its interval, over keywords or documents, and over seeds"),
    number("ci_high", "upper end"),
    count("items", "number of pairs, documents or keywords", column.FROM_ONE),
    number(
        "noise",
        "standard deviation of the value by the noise of a step: about a straight line through this "
        "point and up to four before it in its stage; NaN with fewer than three",
        column.NOT_NEGATIVE_OR_NAN,
        optional=True,
    ),
    number(
        "signal_to_noise",
        "change of the value since the first point, without its sign, in such deviations",
        Check(at_least=0, nan=True, infinite=True),
        optional=True,
    ),
)

WATCHED = Contract(
    "keywords.csv in the folder of a watch",
    "Results of the last look of `fathom watch` for each keyword, forgotten ones first.",
    text("keyword", "keyword; `(no keyword)` for pairs without one"),
    count("sentences", "documents with pairs of it; sentences if no documents are known", column.FROM_ONE),
    count("targets", "how many different targets it has; forms of one word are one", column.FROM_ONE),
    number("change", "mean over sentences of the bits (--by: log-probability) less that of the reference"),
    number("error", "its standard error, with the noise of both checkpoints", column.ANY_OR_NAN),
    column.P,
    number(
        "p_adjusted",
        "p for all keywords and looks together: by Holm's method, times j (j + 1) at tested look j",
        column.SHARE_OR_NAN,
    ),
    text(
        "verdict",
        "learned or forgotten: p_adjusted is at most 0.05 at this look and the one before; or empty,"
        " always so with fewer than three different targets, or one that most pairs share",
    ),
    text("since", "checkpoint from which on it has had its verdict; or empty"),
)

_OF_TRACK = {column.name: column for column in FOLLOWING}

CHECKPOINTS = Contract(
    paths.FOLLOWED_MODELS,
    "A line for each model of a track, in the order of its training.",
    *(_OF_TRACK[name] for name in ("track", "model", "stand_in")),
    text("revision", "its revision on the hub; empty for models that are trained here"),
    count32(
        "stage", "stage of the path, or of others' training by the revision's name, such as stage1-step150"
    ),
    _OF_TRACK["trained_on"],
    count("step", "optimiser steps since the start of the path, or in others' stage by the revision's name"),
    _OF_TRACK["tokens"],
)

TARGET_CHANGES = Contract(
    (paths.TARGET_CHANGES, "figures/{domain}.targets.{model}.csv"),
    "Targets of one domain, by variant and model, best score first.",
    text("variant", "that of the benchmark"),
    text("model", "model with the targets"),
    text("against", "model that it is compared with"),
    text("target", "the target, without its blank"),
    count("pairs", "pairs with this target", column.FROM_ONE),
    number("probability_gain", "mean over them of the model's probability less the other's"),
    number("rank_gain", "mean over them of the other's rank less the model's"),
    number("score", "both gains in standard deviations, averaged, times ln(1 + pairs)"),
    number("similarity", "cosine of target and domain phrase", column.COSINE),
    text("group", "top, middle or bottom, by score"),
)


_AGAINST = text("against", "model that it is compared with")

TARGET_GROUPS = Contract(
    paths.TARGET_GROUPS,
    "Nearness of the best and the worst targets to a domain's phrase; a line for each model and benchmark.",
    *(column.DOMAIN, column.VARIANT, column.MODEL, _AGAINST),
    text("phrase", "phrase that targets are near to or far from"),
    count("targets", "number of targets"),
    count("in_group", "number of targets in each group"),
    *numbers("top", about="mean cosine of the best targets with the phrase"),
    *numbers("bottom", about="mean cosine of the worst ones"),
    *numbers("difference", "difference_low", "difference_high", about="of both means"),
    *numbers("d", "d_low", "d_high", about="Cohen's d of both groups"),
    *numbers("t", about="Student's t; targets are taken as independent for it and p alone"),
    *(column.P, column.PAIR_COUNT, column.KEYWORD_COUNT),
)

EXTREMES = Contract(
    paths.BEST_AND_WORST,
    "Targets by their score from both ends, for people to read.",
    text("benchmark", "what the benchmark is called"),
    text("model", "what the model with the targets is called"),
    text("against", "what the model that it is compared with is called"),
    column.PLACE,
    text("best", "the target at this place"),
    text("worst", "the target at this place from the other end"),
)

RELATIONS = Contract(
    paths.RELATIONS,
    "Correlation of a metric with the similarity of the stage's domain to the target, and with metrics on "
    "the reference.",
    text("track", "the training"),
    *(column.DOMAIN, column.VARIANT, column.METRIC, column.AGGREGATE),
    text("with", "similarity, or reference: a metric on the reference benchmark"),
    text("with_metric", "that metric; empty for similarity"),
    text("with_aggregate", "how it is summed up; empty for similarity"),
    text(
        "statistic",
        "pearson, spearman, kendall; minima_minus_maxima: similarity at the metric's minima minus at its "
        "maxima",
    ),
    *(*column.ESTIMATE, column.P),
    count("stages", "number of stages, or of minima and maxima"),
)

_GAIN = numbers(
    "gain",
    "gain_low",
    "gain_high",
    about="over the base, positive is better: ln of the factor for ranks and perplexity, else the difference",
)

CONTROLS = Contract(
    (paths.CONTROLS, "figures/{domain}.controls.csv"),
    "A metric of a model that read a domain's text, a control of it, or another; a line for each condition. "
    "Variant both: TF and TF-IDF pairs together, the same prompt and target once.",
    *(column.DOMAIN, column.VARIANT, column.METRIC, column.AGGREGATE, column.BASE_MODEL),
    text("condition", "base, as-is, terms-exchanged, terms-only, or another domain"),
    *(column.SEEDS, *column.ESTIMATE, *_GAIN),
    *numbers("share", "share_low", "share_high", about="gain divided by that of as-is"),
    column.ITEMS,
)

AS_IS, EXCHANGED, ONLY, BASE = "as-is", "terms-exchanged", "terms-only", "base"
"""Conditions in controls.csv, beside names of domains."""

BOTH = "both"
"""Variant in tables of controls: TF and TF-IDF pairs together, those that stand in both once."""

CONTRASTS = Contract(
    paths.CONTROL_CONTRASTS,
    "Whether what keeps the knowledge is ahead of what does not; by TF and TF-IDF pairs together. Interval "
    "and `p` hold for one difference, `p_adjusted` and verdict for all of a metric together.",
    *(column.DOMAIN, column.VARIANT, column.METRIC, column.AGGREGATE, column.BASE_MODEL),
    text("first", "a condition with knowledge"),
    text("second", "one without"),
    *numbers("difference", about="of their gains"),
    *(*column.INTERVAL, column.P, column.P_ADJUSTED),
    text("verdict", "first is ahead, behind, or cannot be told"),
)

CONTROL_SHARES = Contract(
    paths.CONTROL_SHARES,
    "Whether two metrics differ in how much of the gain a control keeps; every two on one domain, of TF and "
    "TF-IDF pairs together. Interval and `p` hold for the two alone, `p_adjusted` and verdict for all of a "
    "condition together.",
    *(column.DOMAIN, column.BASE_MODEL),
    text("condition", "terms-exchanged, terms-only, or another domain"),
    *(column.VARIANT, column.METRIC, column.AGGREGATE),
    text("other_variant", "what the other metric is measured on"),
    text("other_metric", "the other metric"),
    text("other_aggregate", "how it is summed up"),
    *numbers("difference", about="of their shares of the gain, in the same resamples"),
    *(*column.INTERVAL, column.P, column.P_ADJUSTED),
    text("verdict", "the first share is larger, smaller, or cannot be told from the other"),
)

CLAIMS = Contract(
    (paths.CLAIMS, "figures/{domain}.claims.csv"),
    "What a paper says of a metric, the number that decides, and the verdict. Interval and `p`, of a "
    "difference from the threshold, hold for one claim, `p_adjusted` and verdict for all of a base together, "
    "those of bits by themselves.",
    *(column.DOMAIN, column.BASE_MODEL),
    text("claim", "name of the claim"),
    text("source", "where the paper makes it"),
    text("says", "what it says"),
    *(column.VARIANT, column.METRIC, column.AGGREGATE),
    text("reference", "variant that the metric is compared with; empty for claims without one"),
    text("measured", "what the number is"),
    *(*column.ESTIMATE, column.P, column.P_ADJUSTED),
    text("claimed", "side of a threshold on which the paper puts the number"),
    column.SEEDS,
    text("verdict", "holds, does not, cannot be told"),
)

HOLDS, FAILS, UNCLEAR = VERDICTS = ("holds", "does not", "cannot be told")
"""Verdicts in claims.csv."""

CLAIM_CORRELATIONS = Contract(
    paths.CLAIM_CORRELATIONS,
    "Correlation of a metric with a reference over models; positive if both agree.",
    *(column.DOMAIN, column.BASE_MODEL),
    text("reference", "variant of the reference"),
    text("reference_metric", "its metric"),
    text("reference_aggregate", "its aggregate"),
    *(column.VARIANT, column.METRIC, column.AGGREGATE),
    text("statistic", "pearson, spearman or kendall"),
    *(*column.ESTIMATE, column.MODEL_COUNT, column.SEEDS),
)

CLAIM_MODELS = Contract(
    paths.CLAIM_MODELS,
    "A metric of models adapted alike, as mean over seeds.",
    *(column.DOMAIN, column.BASE_MODEL),
    text("model", "model of the first seed"),
    text("role", "its role; empty for other paths and checkpoints of them"),
    *(column.VARIANT, column.METRIC, column.AGGREGATE, column.SEEDS, *column.ESTIMATE, *_GAIN, column.ITEMS),
)
