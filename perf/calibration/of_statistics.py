"""Cases of summaries, comparisons, letters and correlations."""

import math
from collections.abc import Iterator

import numpy as np
import polars as pl
from perf.calibration.case import FAMILY, SMALL, TEST, Case, Outcome, Shape, hold
from perf.calibration.simulate import MEAN, draw_scores, find_truth

from fathom.config.scoring import Summary
from fathom.io.contracts import statistics as contracts
from fathom.statistics.aggregates import COMPARED, LEADING
from fathom.statistics.baselines import summarize_attribute_rates, summarize_perplexity
from fathom.statistics.comparisons import resample_scores, tabulate_comparisons
from fathom.statistics.correlations import STATISTICS, tabulate_correlations
from fathom.statistics.summaries import split_ranks, summarize_scores

MODELS = 7
"""Of the demo."""
Random = np.random.Generator


def read(*texts: object) -> list[float]:
    """Return numbers of a row of a table; an empty field is NaN."""
    return [float(text) if text != "" else math.nan for text in map(str, texts)]


def summarize(random: Random, shape: Shape, settings: Summary) -> Iterator[Outcome]:
    """Whether the intervals of summary.csv hold the statistic over all pairs that there could be."""
    for row in summarize_scores(draw_scores(random, shape), settings):
        metric, aggregate = row[3:5]
        if metric == "rank" or aggregate in [each.name for each in COMPARED]:
            yield hold(f"{aggregate} {metric}", find_truth(metric, aggregate), read(*row[5:8]))


def summarize_text(random: Random, shape: Shape, settings: Summary) -> Iterator[Outcome]:
    """Whether those of held-out text do: a document's nats a token go with its length, as in the demo."""
    deviations = random.normal(size=(2, shape.clusters))
    tokens = np.maximum(20, np.exp(5 + 0.6 * deviations[0])).astype(np.int64)
    each = 5.6 + 0.28 * (0.25 * deviations[0] + math.sqrt(1 - 0.25**2) * deviations[1])
    numbers = {"tokens": tokens, "bytes": 4 * tokens, "nats": tokens * each}
    none = {f"{name}_{why}": 0 * value for name, value in numbers.items() for why in ("left_out", "overlap")}
    names = [f"{place:06d}" for place in range(shape.clusters)]
    frame = pl.DataFrame({"doc_id": names} | numbers | none)
    mean = 5.6 + 0.28 * 0.25 * 0.6  # weighted by tokens, whose logarithm has a deviation of 0.6
    truth = {"perplexity": math.exp(mean), "bits_per_byte": mean / 4 / math.log(2)}
    for row in summarize_perplexity({("domain", "model"): frame}, settings):
        yield hold(row[3], truth[row[3]], read(*row[5:8]))


def summarize_rates(random: Random, shape: Shape, settings: Summary) -> Iterator[Outcome]:
    """Whether those of attribute rates do: a keyword has a rate of 0.06, give or take 0.05."""
    rates = random.binomial(50, random.beta(1.3, 20, shape.clusters)) / 50
    names = [f"keyword {place:04d}" for place in range(shape.clusters)]
    frame = pl.DataFrame({"keyword": names, "rate": rates})
    for row in summarize_attribute_rates({("domain", "model"): frame}, settings):
        yield hold(row[3], 1.3 / 21.3, read(*row[5:8]))


def summarize_parts(random: Random, shape: Shape, settings: Summary) -> Iterator[Outcome]:
    """Whether intervals of parts of a benchmark do: each pair is in the part with a chance of a quarter."""
    scores = {key[2]: frame for key, frame in draw_scores(random, shape).items()}
    frame = next(iter(scores.values()))
    flagged = frame.filter(pl.Series(random.random(len(frame)) < 0.25))
    for row in split_ranks(scores, flagged, settings):
        if row[1] == LEADING.name:
            yield hold(f"{row[1]} rank, {row[2]}", find_truth("rank", row[1]), read(*row[3:6]))


def compare(random: Random, shape: Shape, settings: Summary) -> Iterator[Outcome]:
    """Whether intervals of differences hold, and what is found between models that are equal."""
    means = (*[MEAN] * MODELS, MEAN + 0.2)
    scores = draw_scores(random, shape, means)
    last = next(reversed(scores))
    unequal = {key: scores[key] for key in (next(iter(scores)), last)}
    equal = {key: frame for key, frame in scores.items() if key != last}
    differences, _ = tabulate_comparisons(resample_scores(unequal, settings), settings)
    for row in differences:
        metric, aggregate = row[2:4]
        truth = abs(find_truth(metric, aggregate, MEAN + 0.2) - find_truth(metric, aggregate))
        sign = 1 if (row[5] == last[2]) else -1
        yield hold(f"difference of {aggregate} {metric}", sign * truth, read(*row[7:9]))
    differences, groups = tabulate_comparisons(resample_scores(equal, settings), settings)
    for metric, aggregate in dict.fromkeys(row[2:4] for row in differences):
        rows = [row for row in differences if row[2:4] == (metric, aggregate)]
        one = next(row for row in rows if {row[4], row[5]} == {"model-000", "model-001"})
        yield Outcome(f"{aggregate} {metric}, two equal models: p < 0.05", TEST, read(one[9])[0] < 0.05)
        found = any(row[11] == "yes" for row in rows)
        yield Outcome(f"{aggregate} {metric}, {MODELS} equal models: any apart", FAMILY, found)
    for metric, aggregate in dict.fromkeys(row[2:4] for row in groups):
        letters = [set(row[7]) for row in groups if row[2:4] == (metric, aggregate)]
        found = not set.intersection(*letters)
        yield Outcome(f"letters, {MODELS} equal models, {aggregate} {metric}", FAMILY, found)


def correlate(random: Random, shape: Shape, settings: Summary) -> Iterator[Outcome]:
    """Whether correlations of 0.7 are held, and what is found in series that have nothing to do with another.

    The demo has eight series, of which 28 pairs make 84 rows.
    """
    names = [f"model-{place:03d}" for place in range(shape.clusters)]
    draw = random.normal(size=(8, shape.clusters))
    related = [draw[0], 0.7 * draw[0] + math.sqrt(1 - 0.49) * draw[1]]
    truth = dict(zip(STATISTICS, (0.7, 6 / math.pi * math.asin(0.35), 2 / math.pi * math.asin(0.7)),
                     strict=True))  # fmt: skip
    for row in _tabulate(names, related, settings):
        yield hold(f"{row[3]} of 0.7", truth[row[3]], read(*row[4:7]))
    # p is SciPy's: without intervals it takes less time
    rows = _tabulate(names, draw, settings.model_copy(update={"rounds": 1}))
    for statistic in STATISTICS:
        some = [read(*row[7:9]) for row in rows if row[3] == statistic]
        yield Outcome(f"{statistic}, two independent series: p < 0.05", TEST, some[0][0] < 0.05)
        found = min(adjusted for _, adjusted in some) < 0.05
        yield Outcome(f"{statistic}, 28 pairs of independent series: any p_adjusted < 0.05", FAMILY, found)


def _tabulate(names: list[str], series: list[np.ndarray] | np.ndarray, settings: Summary) -> list[tuple]:
    """Return the rows of correlations.csv of some series."""
    tables = {f"series {place}": dict(zip(names, each.tolist(), strict=True))
              for place, each in enumerate(series)}  # fmt: skip
    return tabulate_correlations({"domain": tables}, settings)


_INTERVAL = "ci_low"
_COMPARED = tuple((contracts.COMPARISONS, name) for name in (_INTERVAL, "p", "apart"))
CASES = (
    Case("summary.csv", ((contracts.SUMMARY, _INTERVAL),), summarize),
    Case("summary.csv, text", ((contracts.SUMMARY, _INTERVAL),), summarize_text, "documents", SMALL),
    Case("summary.csv, attribute rate", ((contracts.SUMMARY, _INTERVAL),), summarize_rates, shapes=SMALL),
    Case("parts.csv and dates.csv", ((contracts.PAIR_PARTS, _INTERVAL), (contracts.DATES, _INTERVAL)),
         summarize_parts, share=0.5),
    Case("comparisons.csv and groups.csv",
         (*_COMPARED, (contracts.GROUPS, "groups")), compare, shapes=(*SMALL, Shape(50, 10)), share=0.4),
    Case("correlations.csv", tuple((contracts.CORRELATIONS, name) for name in (_INTERVAL, "p")),
         correlate, "models", (Shape(7), *SMALL), 0.25),
)  # fmt: skip
