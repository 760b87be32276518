"""Metrics of models over their training, with intervals over keywords, and over seeds if there are several.

Source: [RawCorpora, Secs. 4.2 and 4.3, App. A.6].

Keywords are drawn as for summaries, the same for all models of a benchmark. Each resample of the mean over
seeds has the same keywords for every seed, and an error of the seeds from Student's t. Few seeds that are
drawn with replacement vary too little.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fathom.config.models import Point
from fathom.config.scoring import Summary
from fathom.errors import InputError
from fathom.io.contracts.scoring import ATTRIBUTE_RATES, PERPLEXITY
from fathom.io.contracts.studies import ALL_SEEDS
from fathom.jobs.program import log
from fathom.jobs.signature import Tables
from fathom.models.loading import Pointer
from fathom.statistics import metrics, summaries
from fathom.statistics.aggregates import COMPARED, MEAN, STATISTICS
from fathom.statistics.baselines import check_same_items, read_baselines, resample_likelihood
from fathom.statistics.bootstrap import Resampled, draw_seed_errors
from fathom.statistics.clusters import choose_clusters
from fathom.statistics.left_out import Key, leave_out_overlap

Array = NDArray[np.float64]

Aggregates = Mapping[str, Sequence[str]]
"""Names of the statistics that sum up each metric of pairs."""

_COMPARED = [each.name for each in COMPARED]

JUDGED: Aggregates = {metrics.RANK.name: _COMPARED, metrics.LOG_PROBABILITY.name: [MEAN.name]}
"""Metrics of pairs that studies compare models by."""

NOISE_POINTS = 5
"""Number of points for the noise of a step; more follow the trend less well."""

CONTROLLED: Aggregates = {metrics.BITS.name: [MEAN.name], **JUDGED, metrics.RIVAL_RANK.name: _COMPARED}
"""Metrics of pairs for separating knowledge from style."""

DRAWN: Aggregates = {
    metrics.BITS.name: [MEAN.name],
    metrics.RANK.name: [*STATISTICS],
    metrics.PROBABILITY.name: [*STATISTICS],
    metrics.LOG_PROBABILITY.name: [MEAN.name],
    metrics.RIVAL_RANK.name: _COMPARED,
}
"""Metrics of pairs that are drawn over a training [RawCorpora, Figs. 5, 17, 19]."""


Place = tuple[str, str, str, str]
"""Domain, variant, metric, aggregate."""

Measured = dict[Place, dict[str, Resampled]]
"""Metrics by place and model."""


class MetricTables(NamedTuple):
    """Tables with their places."""

    scores: Tables
    pairs: Tables
    overlap: Tables
    perplexity: Tables
    attribute_rates: Tables


def measure_models(tables: MetricTables, settings: Summary, aggregates: Aggregates = JUDGED) -> Measured:
    """Read tables and measure all models by all metrics.

    Raise `InputError` if a table is invalid, or models were measured on different items.
    """
    scores = leave_out_overlap(read_ranks(tables.scores, tables.pairs), tables.overlap, settings)
    measured = measure_pairs(scores, settings, aggregates)
    measured |= measure_texts(read_baselines(tables.perplexity, PERPLEXITY), settings)
    return measured | measure_rates(read_baselines(tables.attribute_rates, ATTRIBUTE_RATES), settings)


def read_ranks(files: Tables, pairs: Tables = ()) -> dict[Key, pl.DataFrame]:
    """Read the columns of score tables that are followed, as `summaries.read_scores` does."""
    scores = {
        key: frame.sort("pair_id")
        for key, frame in summaries.read_scores(files, pairs, metrics.FOLLOWED).items()
    }
    for benchmark in sorted({key[:2] for key in scores}):
        models = {key[2]: frame for key, frame in scores.items() if key[:2] == benchmark}
        summaries.check_same_pairs(models, ", ".join(benchmark))
    return scores


def measure_pairs(
    scores: Mapping[Key, pl.DataFrame], settings: Summary, aggregates: Aggregates = JUDGED
) -> Measured:
    """Return metrics of pairs, summed up, of all models on all benchmarks.

    `settings`: the bootstrap draws keywords, or what stands in for them.
    """
    found: Measured = {}
    for (domain, variant, model), frame in scores.items():
        clusters = choose_clusters(frame).names
        for metric, names in aggregates.items():
            if metric not in frame.columns or not metrics.is_measured(metric, settings.lead):
                continue
            values, drawn = summaries.select_known(frame[metric].to_numpy(), clusters)
            summaries.tell_unknown(metric, frame, (model, domain, variant))
            if not len(values):
                continue
            resampled = summaries.resample_values(
                values, drawn, settings, names, metrics.METRICS[metric].fitted_on
            )
            for name, each in resampled.items():
                found.setdefault((domain, variant, metric, name), {})[model] = each
    return found


def measure_texts(scores: Mapping[tuple[str, str], pl.DataFrame], settings: Summary) -> Measured:
    """Return perplexity and bits per byte of all models on the held-out text of all domains.

    `settings`: the bootstrap draws documents.
    """
    check_same_items(scores, "doc_id", "documents")
    found: Measured = {}
    for (domain, model), frame in scores.items():
        for metric, each in resample_likelihood(frame.sort("doc_id"), settings).items():
            if math.isnan(each.value):
                log.info("%s: no held-out text of %s, %s left out", model, domain, metric)
                continue
            found.setdefault((domain, metrics.METRICS[metric].variant, metric, MEAN.name), {})[model] = each
    return found


def measure_rates(rates: Mapping[tuple[str, str], pl.DataFrame], settings: Summary) -> Measured:
    """Return the attribute rate of all models on the keywords of all domains.

    `rates`: frames under contract ATTRIBUTE_RATES. `settings`: the bootstrap draws keywords.
    """
    check_same_items(rates, "keyword", "keywords")
    found: Measured = {}
    for (domain, model), frame in rates.items():
        ordered = frame.sort("keyword")
        values, keywords = ordered["rate"].to_numpy(), ordered["keyword"].to_list()
        place = (domain, metrics.ATTRIBUTE_RATE.variant, metrics.ATTRIBUTE_RATE.name, MEAN.name)
        resampled = summaries.resample_values(values, keywords, settings, (MEAN.name,))
        found.setdefault(place, {})[model] = resampled[MEAN.name]
    return found


def follow_tracks(
    tracks: Mapping[str, Sequence[Point]], measured: Measured, settings: Summary
) -> list[dict[str, Any]]:
    """Return the rows of all tracks: each point, and the mean over seeds where there are several.

    Raise `InputError` if a model of a track was not measured on a benchmark. Returned: rows under contract
    FOLLOWING, by track, place and seed, in the order of the points.
    """
    rows: list[dict[str, Any]] = []
    for name, points in tracks.items():
        seeds = list(dict.fromkeys(point.seed for point in points))
        for place in sorted(measured):
            series = measured[place]
            for point in points:
                if point.model not in series:
                    raise InputError(
                        f"{point.model} was not measured", ", ".join(place), "score all models of a track"
                    )
                rows.append(_make_row(name, point, place, series[point.model], settings))
            if len(seeds) > 1:
                for step in dict.fromkeys(point.step for point in points):
                    same = [point for point in points if point.step == step]
                    mean = average_seeds([series[point.model] for point in same], settings)
                    point = same[0].model_copy(update={"seed": ALL_SEEDS})
                    rows.append(_make_row(name, point, place, mean, settings))
    return add_noise(rows)


def add_noise(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return rows of FOLLOWING, in order, with the noise of a step, and the change since the start in it."""
    series: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    found = [dict(row) for row in rows]
    for row in found:
        key = ("track", "seed", "domain", "variant", "metric", "aggregate")
        series.setdefault(tuple(row[name] for name in key), []).append(row)
    for points in series.values():
        for end, row in enumerate(points, start=1):
            # the end of a stage is the start of the next one
            stage = [each for each in points[:end] if each["stage"] in (row["stage"], row["stage"] - 1)]
            earlier = [place for place, each in enumerate(stage) if each["stage"] < row["stage"]]
            first = max(earlier, default=0)
            last = stage[first:][-NOISE_POINTS:]
            # models from elsewhere have tokens instead of steps
            times = np.array([each["step"] or each["tokens"] for each in last], dtype=float)
            row["noise"] = measure_noise(times, np.array([each["value"] for each in last]))
            moved = abs(row["value"] - points[0]["value"])
            row["signal_to_noise"] = moved / row["noise"] if row["noise"] > 0 else math.nan
    return found


def measure_noise(times: Array, values: Array) -> float:
    """Return the standard deviation of a score about its trend over the last points of a training.

    The trend is a straight line, so that ongoing learning does not count as noise [SignalAndNoise, Sec. 3].
    Returned: without bias for normal noise; NaN with fewer than three points, or at fewer than three times.
    """
    from scipy.special import gammaln

    freedom = len(times) - 2
    if freedom < 1 or len(set(times.tolist())) < 3:
        return math.nan
    centred = times - times.mean()
    apart = values - values.mean()
    rest = apart - centred * (centred @ apart) / (centred @ centred)
    # the root of a variance of few points is too small: 0.80 of the truth with one degree of freedom
    share = math.sqrt(2 / freedom) * math.exp(gammaln((freedom + 1) / 2) - gammaln(freedom / 2))
    return float(math.sqrt((rest @ rest) / freedom) / share)


def list_checkpoints(tracks: Mapping[str, Sequence[Point]]) -> list[tuple[Any, ...]]:
    """Return the models of each track in their order, under CHECKPOINTS; the base of several seeds once."""
    rows = (
        (name, point.model, point.stand_in, point.revision,
         find_number("stage", point.revision) or point.stage, point.domain,
         find_number("step", point.revision) or point.step, point.tokens)
        for name, points in tracks.items()
        for point in points
    )  # fmt: skip
    return list(dict.fromkeys(rows))


def find_number(name: str, revision: str) -> int:
    """Return the number of a stage or step in the name of a revision; 0 without one.

    Examples
    --------
    >>> [find_number(name, "stage2-ingredient1-step1000-tokens5B") for name in ("stage", "step")]
    [2, 1000]
    """
    found = re.search(rf"(?<![A-Za-z]){name}(\d+)", revision)
    return int(found[1]) if found else 0


def take_stand_ins(
    tracks: Mapping[str, Sequence[Point]], pointers: Mapping[str, Pointer]
) -> dict[str, list[Point]]:
    """Return tracks with the stand-ins' own tokens for corrupt checkpoints.

    A stand-in that is followed itself is not measured twice: the corrupt checkpoint is left out.
    """
    found: dict[str, list[Point]] = {}
    for name, points in tracks.items():
        followed = {point.model for point in points}
        kept = found.setdefault(name, [])
        for point in points:
            pointer = pointers.get(point.model)
            if pointer is None or not pointer.stand_in:
                kept.append(point)
            elif pointer.stand_in in followed:
                names = (name, point.model, pointer.stand_in)
                log.warning("%s: %s is corrupt and left out: %s is followed itself", *names)
            else:
                changed = {"stand_in": pointer.stand_in, "tokens": pointer.stand_in_tokens or point.tokens}
                kept.append(point.model_copy(update=changed))
                log.warning("%s: %s stands in for %s, corrupt", name, pointer.stand_in, point.model)
                followed.add(pointer.stand_in)
    return found


def average_seeds(series: Sequence[Resampled], settings: Summary) -> Resampled:
    """Return the mean over seeds; each resample has an error of it, the same for all sets of as many seeds.

    The error is a factor: no mean of ranks comes out below 0.
    """
    rows = np.stack([each.rows for each in series])
    mean = rows.mean(axis=0)
    apart = rows - mean  # spread of seeds, in the data and in each resample
    spread, drawn = (apart[:, 0] ** 2).sum(), np.nanmean(((apart - apart[:, :1]) ** 2).sum(axis=0)[1:])
    if mean[0] != 0 and spread > drawn:
        errors = draw_seed_errors(len(series), settings) @ apart[:, 0]
        mean = mean * np.exp(math.sqrt(1 - drawn / spread) * errors / mean[0])
    return replace(series[0], rows=mean, seeds=len(series))


def _make_row(name: str, point: Point, place: Place, series: Resampled, settings: Summary) -> dict[str, Any]:
    value, low, high = series.estimate(settings.confidence)
    domain, variant, metric, aggregate = place
    return {
        "track": name, "model": point.model, "stand_in": point.stand_in, "seed": point.seed,
        "stage": point.stage, "trained_on": point.domain, "step": point.step, "tokens": point.tokens,
        "domain": domain, "variant": variant, "metric": metric, "aggregate": aggregate, "value": value,
        "ci_low": low, "ci_high": high, "items": series.items,
    }  # fmt: skip
