"""The papers' claims about metrics of adapted models, one by one: holds, does not, or undecided.

Source: [RawCorpora, Sec. 4.1, Apps. A.5, A.6], [BeyondBenchmarks, Secs. 3.1.1, 3.1.3].

Every claim is a number that lies above, or below, a threshold: a correlation over models, a difference of
two, or a gain over the base. A claim holds if the number lies on the side that it names, does not if it lies
on the other, both significantly, all claims of a base taken together. Otherwise, or with fewer than
FEWEST_SEEDS seeds, it cannot be told. Claims about ranks are also tested for bits, as a separate family.

A family is a base and the models adapted from it, as every metric sees them. Each resample draws items
(keywords or documents). Correlations draw seeds, too, gains have an error of the seeds; both are the same for
all models and metrics.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from fathom.config.benchmark import REFERENCE
from fathom.config.claims import Condition
from fathom.config.scoring import Summary
from fathom.errors import InputError
from fathom.io.contracts.studies import BASE, FAILS, HOLDS, UNCLEAR
from fathom.statistics.aggregates import GEOMETRIC_MEAN, MEAN, TRIMMED_MEAN
from fathom.statistics.bootstrap import NOTHING, Estimate, Resampled, draw_seeds
from fathom.statistics.clustered_tests import correct_family
from fathom.statistics.correlations import MIN_MODELS_FOR_INTERVAL, ROW_STATISTICS, correlate_rows
from fathom.statistics.metrics import BITS, METRICS
from fathom.statistics.summaries import format_number
from fathom.studies.following import Measured, average_seeds

OWN, NEAR, FAR = "own", "near", "far"
OWN_LAST, OWN_FIRST = f"{FAR}, then {OWN}", f"{OWN}, then {FAR}"
ROLES = (BASE, OWN, NEAR, FAR, OWN_LAST, OWN_FIRST)
"""Kinds of adaptation: to the domain measured on, or to others."""
EXPECTED = {OWN: 3, NEAR: 3, OWN_LAST: 2, BASE: 1, FAR: 0}
"""The order that is expected of models [BeyondBenchmarks, Sec. 3.1.1], the best with the highest number."""

Metric = tuple[str, str, str]
"""Variant, metric, aggregate."""


class Family:
    """A base and the models adapted from it, as every metric of one domain sees them.

    Raise `InputError` if conditions have different numbers of seeds. `conditions`: the base first.
    """

    def __init__(
        self,
        domain: str,
        conditions: Sequence[Condition],
        near: Sequence[str],
        measured: Measured,
        settings: Summary,
    ) -> None:
        self.domain, self.conditions, self.settings = domain, list(conditions), settings
        self._near, self._measured = near, measured
        counts = {len(each.models) for each in self.conditions if each.path}
        if len(counts) != 1:
            seeds = ", ".join(
                f"{'+'.join(each.path)}: {len(each.models)}" for each in self.conditions if each.path
            )
            raise InputError(
                f"{self.base}: its adapted models differ in their number of seeds ({seeds})",
                "models.adapt",
                "give all entries with this base the same seeds",
            )
        self.seeds = counts.pop()
        self._chosen = draw_seeds(self.seeds, settings)

    @property
    def base(self) -> str:
        """The base of all others."""
        return self.conditions[0].models[0]

    @property
    def metrics(self) -> list[Metric]:
        """Metrics measured on this domain."""
        return [place[1:] for place in sorted(self._measured) if place[0] == self.domain]

    def find_role(self, condition: Condition) -> str:
        """Return the role of a path, of ROLES; nothing for other paths."""
        kinds = [
            OWN if name == self.domain else NEAR if name in self._near else FAR for name in condition.path
        ]
        role = ", then ".join(kinds) or BASE
        return role if role in ROLES else ""

    def find_series(self, metric: Metric) -> Mapping[str, Resampled] | None:
        """Return a metric of all models; None where it was not measured."""
        return self._measured.get((self.domain, *metric))

    def list_points(self, metric: Metric, ends: bool = False) -> Resampled | None:
        """Return a metric of all models, the base once, high where it is good; None if not measured.

        `ends`: without what has no place in the expected order, such as checkpoints.
        """
        series = self.find_series(metric)
        if series is None:
            return None
        rows = []
        for condition in self._list_ends() if ends else self.conditions:
            own = np.stack([series[name].rows for name in condition.models])
            chosen = self._chosen if condition.path else np.zeros((own.shape[1], 1), dtype=np.int64)
            rows.append(own[chosen, np.arange(own.shape[1])[:, None]])
        found = METRICS[metric[1]].sign * np.concatenate(rows, axis=1)
        return replace(series[self.base], rows=found, seeds=self.seeds)

    def _list_ends(self) -> list[Condition]:
        return [each for each in self.conditions if each.is_end and self.find_role(each) in EXPECTED]

    def correlate(self, metric: Metric, other: Metric, statistic: str = "spearman") -> Resampled | None:
        """Return the agreement of two metrics over models: 1 if they agree on which models are better."""
        one, two = self.list_points(metric), self.list_points(other)
        if one is None or two is None or len(self.conditions) < MIN_MODELS_FOR_INTERVAL:
            return None
        return one.combine(two, correlate_rows(statistic, one.rows, two.rows))

    def follow_order(self, metric: Metric) -> Resampled | None:
        """Return how well a metric follows the expected order of models, as Somers' D; 1 if it does for all.

        Of the pairs of models with different expected places, it is the share in that order less the share in
        the opposite one. None if a place has no model.
        """
        points, ends = self.list_points(metric, ends=True), self._list_ends()
        levels = np.array([EXPECTED[self.find_role(each)] for each in ends for _ in each.models])
        if points is None or len(np.unique(levels)) < len(set(EXPECTED.values())):
            return None
        better, worse = np.nonzero(levels[:, None] > levels[None])
        return replace(points, rows=np.sign(points.rows[:, better] - points.rows[:, worse]).mean(axis=1))

    def gain(self, metric: Metric, role: str) -> Resampled | None:
        """Return how much better models with a role are than the base, in the mean over them and over seeds.

        Ranks and perplexity by ln of the factor, others by the difference.
        """
        series = self.find_series(metric)
        same = [
            each for each in self.conditions if each.is_end and each.path and self.find_role(each) == role
        ]
        if series is None or not same:
            return None
        means = [average_seeds([series[name] for name in each.models], self.settings) for each in same]
        gains = [METRICS[metric[1]].measure_gain(mean, series[self.base]) for mean in means]
        return replace(gains[0], rows=np.mean([each.rows for each in gains], axis=0))


FEWEST_SEEDS = 3
STRONG, WEAK = 0.7, 0.3
"""Thresholds: a strong correlation is above the first, none below the second."""
RANKS = (TRIMMED_MEAN.name, GEOMETRIC_MEAN.name, MEAN.name)
"""Aggregate of ranks used here."""

TF, TFIDF = (("tf", "rank", TRIMMED_MEAN.name), ("tfidf", "rank", TRIMMED_MEAN.name))
MEAN_TF = ("tf", "rank", MEAN.name)
IN_BITS = {metric: (metric[0], BITS.name, MEAN.name) for metric in (TF, TFIDF)}
"""Replacement of the papers' ranks if knowledge is measured in bits."""
PERPLEXITY, ATTRIBUTE_RATE = ("text", "perplexity", "mean"), ("keywords", "attribute_rate", "mean")
_EVERY = (TF, TFIDF, PERPLEXITY, ATTRIBUTE_RATE)


class Claim(NamedTuple):
    """A paper's claim, its metrics, and the number that decides.

    `says` has the places {metric} and {other}: the same on TF-IDF pairs. `measured`: description of the
    number, for readers. `measure` returns the number from a family, a metric and the name of a reference;
    None without such models.
    """

    name: str
    source: str
    says: str
    metrics: tuple[Metric, ...]
    measured: str
    measure: Callable[[Family, Metric, str], Resampled | None]
    threshold: float = 0.0
    above: bool = True


def _rank(reference: str) -> Metric:
    return (reference, "rank", TRIMMED_MEAN.name)


def _agree(family: Family, metric: Metric, reference: str) -> Resampled | None:
    return family.correlate(metric, _rank(reference))


def _agree_across(family: Family, metric: Metric, _: str) -> Resampled | None:
    """Return the agreement of a metric on TF pairs with the same on TF-IDF pairs."""
    return family.correlate(metric, _by_tfidf(metric))


def _by_tfidf(metric: Metric) -> Metric:
    return (TFIDF[0], *metric[1:])


def _agree_less(family: Family, metric: Metric, reference: str) -> Resampled | None:
    return _subtract(_agree(family, TF, reference), _agree(family, metric, reference))


def _order_less(family: Family, metric: Metric, _: str) -> Resampled | None:
    return _subtract(family.follow_order(TF), family.follow_order(metric))


def _compare(first: str, second: str) -> Callable[[Family, Metric, str], Resampled | None]:
    """Return a function that measures the lead of models with one role over another."""
    return lambda family, metric, _: _subtract(family.gain(metric, first), family.gain(metric, second))


def _subtract(first: Resampled | None, second: Resampled | None) -> Resampled | None:
    return first - second if first and second else None


_RHO, _D, _GAIN = "Spearman's rho", "Somers' D with the expected order", "gain over the base"
AGREEMENT = (
    Claim("goes with the reference", "RawCorpora, Sec. 4.1",
          "{metric} correlates strongly with the reference", (TF, TFIDF), _RHO, _agree, STRONG),
    Claim("goes with it untrimmed", "RawCorpora, Fig. 10",
          "so does {metric}, outliers included", (MEAN_TF,), _RHO, _agree, STRONG),
    Claim("perplexity goes less", "RawCorpora, Sec. 4.1, Fig. 8",
          "{metric} correlates less with it than the TF rank", (PERPLEXITY,), f"{_RHO}, difference",
          _agree_less),
    Claim("attribute rate does not", "RawCorpora, Sec. 4.1; BeyondBenchmarks, Fig. 8",
          "{metric} does not correlate with it", (ATTRIBUTE_RATE,), _RHO, _agree, WEAK, False),
)  # fmt: skip
"""Claims about a metric and a reference."""
_BOTH = "RawCorpora, App. A.6; BeyondBenchmarks, Fig. 5"
ORDER = (
    Claim("TF and TF-IDF agree", "RawCorpora, App. A.6", "{metric} and {other} say the same",
          (TF,), _RHO, _agree_across, STRONG),
    Claim("near before far", "RawCorpora, Sec. 4.1",
          "{metric} is better after training on a near domain than on far ones",
          (TF, TFIDF), f"{_GAIN}, difference", _compare(NEAR, FAR)),
    Claim("far is worse than the base", "RawCorpora, App. A.5",
          "training on unrelated domains makes {metric} worse",
          (TF, TFIDF), _GAIN, lambda family, metric, _: family.gain(metric, FAR), 0.0, False),
    Claim("own before near", "RawCorpora, App. A.6",
          "{metric} is best after training on the own domain, near domains come second",
          _EVERY, f"{_GAIN}, difference", _compare(OWN, NEAR)),
    Claim("last domain decides", _BOTH,
          "for {metric}, the last domain weighs more than the first",
          _EVERY, f"{_GAIN}, difference", _compare(OWN_LAST, OWN_FIRST)),
    Claim("first domain is heard", _BOTH,
          "of models that end at a far domain, one that began with the own domain is better by {metric}",
          _EVERY, f"{_GAIN}, difference", _compare(OWN_FIRST, FAR)),
    Claim("expected order", "BeyondBenchmarks, Sec. 3.1.1",
          "{metric} orders models as expected",
          (TF, TFIDF), _D, lambda family, metric, _: family.follow_order(metric), STRONG),
    Claim("others order worse", "RawCorpora, Fig. 8",
          "{metric} follows the expected order less than the TF rank",
          (PERPLEXITY, ATTRIBUTE_RATE), f"{_D}, difference", _order_less),
)  # fmt: skip
"""Claims about a metric alone."""

NAMES = {TF: "the TF rank", TFIDF: "the TF-IDF rank", MEAN_TF: "the plain mean TF rank",
         PERPLEXITY: "perplexity", ATTRIBUTE_RATE: "the attribute rate",
         IN_BITS[TF]: "knowledge in bits by TF pairs",
         IN_BITS[TFIDF]: "knowledge in bits by TF-IDF pairs"}  # fmt: skip


def judge(estimate: Estimate, threshold: float, above: bool, decided: bool) -> str:
    """Return the verdict on a claim: one of VERDICTS.

    `decided`: whether the number differs from the threshold significantly, all claims together, by enough
    seeds.
    """
    _, low, high = estimate
    if not decided or np.isnan([low, high]).any():
        return UNCLEAR
    on_side, on_other = (low > threshold, high < threshold) if above else (high < threshold, low > threshold)
    return HOLDS if on_side else FAILS if on_other else UNCLEAR


def count_checked(references: int) -> int:
    """Return how many rows of the papers' metrics :func:`check_claims` has, by the number of references."""
    return sum(
        len(claim.metrics) * (references if claim in AGREEMENT else 1) for claim in (*AGREEMENT, *ORDER)
    )


def check_claims(family: Family, references: Sequence[str]) -> list[tuple[Any, ...]]:
    """Return a row for each claim, metric and reference, under CLAIMS; numbers are text.

    A claim about missing models has no number, and is undecided. Claims about ranks are also tested for
    measured bits, after the papers' own lines, and corrected separately, so that a paper's verdict does not
    depend on a metric that it lacks.
    """
    asked = [(claim, metric) for claim in (*AGREEMENT, *ORDER) for metric in claim.metrics]
    in_bits = [(claim, IN_BITS[metric]) for claim, metric in asked if metric in IN_BITS]
    known = [each for each in in_bits if family.find_series(each[1])]
    return [*_check_together(family, references, asked), *_check_together(family, references, known)]


def _check_together(
    family: Family, references: Sequence[str], asked: Sequence[tuple[Claim, Metric]]
) -> list[tuple[Any, ...]]:
    """Return the rows of claims about metrics, which are corrected together."""
    made = [
        (claim, metric, reference, claim.measure(family, metric, reference))
        for claim, metric in asked
        for reference in (references if claim in AGREEMENT else [""])
    ]
    corrected = correct_family([(found, claim.threshold) for claim, _, _, found in made])
    rows = []
    for (claim, metric, reference, found), (p, adjusted) in zip(made, corrected, strict=True):
        numbers = found.estimate(family.settings.confidence) if found else NOTHING
        decided = family.seeds >= FEWEST_SEEDS and adjusted <= 1 - family.settings.confidence
        verdict = judge(numbers, claim.threshold, claim.above, decided)
        says = claim.says.format(metric=NAMES[metric], other=NAMES.get(_by_tfidf(metric)))
        side = f"{'above' if claim.above else 'below'} {claim.threshold:g}"
        rows.append(
            (family.domain, family.base, claim.name, claim.source, says, *metric, reference, claim.measured,
             *map(format_number, (*numbers, p, adjusted)), side, family.seeds, verdict)
        )  # fmt: skip
    return rows


def correlate_metrics(family: Family, references: Sequence[str]) -> list[tuple[Any, ...]]:
    """Return correlations of metrics with references, under CLAIM_CORRELATIONS; numbers are text."""
    rows = []
    count = sum(len(each.models) for each in family.conditions)
    for other in (metric for metric in family.metrics if metric[0] in references):
        for metric in (each for each in family.metrics if each[0] not in references):
            for statistic in ROW_STATISTICS:
                agreement = family.correlate(metric, other, statistic)
                found = agreement.estimate(family.settings.confidence) if agreement else NOTHING
                rows.append(
                    (family.domain, family.base, *other, *metric, statistic, *map(format_number, found),
                     count, family.seeds)
                )  # fmt: skip
    return rows


def describe_conditions(family: Family) -> Iterator[tuple[Any, ...]]:
    """Yield each metric after each training, under CLAIM_MODELS: mean over seeds, and gain."""
    for metric in family.metrics:
        series = family.find_series(metric) or {}
        for each in family.conditions:
            mean = average_seeds([series[name] for name in each.models], family.settings)
            gain = METRICS[metric[1]].measure_gain(mean, series[family.base])
            confidence = family.settings.confidence
            numbers = (*mean.estimate(confidence), *gain.estimate(confidence))
            yield (family.domain, family.base, each.models[0], family.find_role(each), *metric,
                   len(each.models), *map(format_number, numbers), mean.items)  # fmt: skip


def list_references(measured: Measured, domain: str, names: Sequence[str]) -> list[str]:
    """Return the references of a domain: those of the claims, and the written one."""
    known = {place[1] for place in measured if place[0] == domain}
    return [name for name in (*names, REFERENCE) if name in known]
