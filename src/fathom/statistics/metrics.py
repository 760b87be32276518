"""The metrics of models, with their names and the good ends of their scales."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from fathom.statistics.aggregates import COMPARED, MEAN, STATISTICS, NamedValues, Statistic
from fathom.statistics.bootstrap import Resampled
from fathom.statistics.likelihood import Likelihood


class Metric(NamedTuple):
    """A metric of a model.

    `is_factor`: whether models differ by a factor, whose logarithm is taken, rather than by a difference.
    `variant`: what it is measured on if not a benchmark: text, or keywords. In tables, column `variant`.
    `measure`: returns it for held-out text, from the sums over documents. `statistics`, `compared`:
    statistics that aggregate it, and those to compare models by, the leading one first. `fitted_on`: share of
    the pairs on which a number in it was fitted, for each pair; 0: not fitted.
    """

    name: str
    label: str
    low_is_best: bool = False
    is_factor: bool = False
    least: float = 0.0
    most: float = 1.0
    unit: str = ""
    variant: str = ""
    measure: Callable[[Likelihood], float] | None = None
    statistics: tuple[Statistic, ...] = tuple(STATISTICS.values())
    compared: tuple[Statistic, ...] = COMPARED
    fitted_on: float = 0.0

    @property
    def sign(self) -> int:
        """Factor that makes high values good: 1 or -1."""
        return -1 if self.low_is_best else 1

    def is_better(self, one: float, other: float) -> bool:
        """Return whether one value is better than another."""
        return self.sign * one > self.sign * other

    def measure_gain(self, one: Resampled, base: Resampled) -> Resampled:
        """Return how much better one value is than another, as ln of the factor or as difference."""
        rows = np.log(one.rows / base.rows) if self.is_factor else one.rows - base.rows
        return one.combine(base, self.sign * rows)

    def describe(self, statistic: Statistic) -> str:
        """Return its label with a statistic's, such as `mean rank`, if there are several statistics."""
        one = self.variant or len(self.statistics) == 1
        return self.label if one else f"{statistic.label} {self.label}"


BITS = Metric(
    "bits", "knowledge (bits)", least=-math.inf, most=math.inf, unit="bits", statistics=(MEAN,),
    compared=(MEAN,), fitted_on=0.8,
)  # fmt: skip
RANK = Metric("rank", "rank", True, True, 1.0, math.inf, "rank")
PROBABILITY = Metric("probability", "probability", unit="proportion")
LOG_PROBABILITY = Metric("log_probability", "log-probability (nats)", least=-math.inf, most=0.0, unit="nats")
RIVAL_RANK = Metric("rival_rank", "rank among rivals", True, True, 1.0, math.inf, "rank")
PERPLEXITY = Metric(
    "perplexity", "perplexity", True, True, 1.0, math.inf, "points", "text", lambda total: total.perplexity
)
BITS_PER_BYTE = Metric(
    "bits_per_byte", "bits per byte", True, False, 0.0, math.inf, "bits", "text",
    lambda total: total.bits_per_byte,
)  # fmt: skip
ATTRIBUTE_RATE = Metric("attribute_rate", "attribute rate", unit="proportion", variant="keywords")
TRIMMED_MEAN_RANK = Metric(
    "trimmed_mean_rank", "trimmed mean rank of the target", True, True, 1.0, math.inf, "rank"
)

_OF_TASKS = (
    TRIMMED_MEAN_RANK,
    *(Metric(name, name) for name in ("accuracy", "precision", "recall")),
    Metric("acc", "accuracy"),
    Metric("acc_norm", "accuracy, by length"),
    Metric("mcc", "Matthews correlation"),
    Metric("exact_match", "exact match"),
    Metric("f1", "F1"),
    Metric("bleu_2", "BLEU-2"),
    Metric("bleu_4", "BLEU-4"),
    Metric("loss", "loss", True),
    Metric("byte_perplexity", "perplexity of bytes", True, variant="text"),
    Metric("word_perplexity", "perplexity of words", True, variant="text"),
    *(Metric(name, name, True) for name in ("brier_score", "ter", "wer", "cer", "mse", "rmse", "mae")),
    *(Metric(name, name) for name in ("acc_mutual_info", "em", "bleu", "chrf", "rouge1", "rouge2", "rougeL",
                                      "r@1", "pass@1", "mrr", "mc1", "mc2")),
)  # fmt: skip
"""Metrics of tasks, many of them as lm-evaluation-harness names them."""

METRICS = NamedValues("metric", {
    each.name: each
    for each in (
        BITS, RANK, PROBABILITY, LOG_PROBABILITY, RIVAL_RANK, PERPLEXITY, BITS_PER_BYTE, ATTRIBUTE_RATE,
        *_OF_TASKS,
    )
})  # fmt: skip
"""All metrics by name."""

SUMMARIZED = (BITS.name, PROBABILITY.name, RANK.name, RIVAL_RANK.name)
"""Metrics of pairs, columns of SCORES, for summaries and comparisons; sorted."""


def is_measured(name: str, lead: str) -> bool:
    """Return whether a run has a metric of pairs: bits, unless the papers' rank leads."""
    return name != BITS.name or lead == BITS.name


RANKS = (RANK, RIVAL_RANK)
RANKED = (BITS, *RANKS)
"""Metrics of pairs that order models, with letters; the first one leads."""

FOLLOWED = (BITS.name, RANK.name, PROBABILITY.name, LOG_PROBABILITY.name, RIVAL_RANK.name)
"""Metrics of pairs, columns of SCORES, measured over a training."""

OF_TEXT = tuple(each for each in METRICS.values() if each.measure)
BASELINES = (*OF_TEXT, ATTRIBUTE_RATE)
"""Baselines for ranks."""
