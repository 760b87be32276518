"""Cases of models that are trained: seeds, controls, claims, stages."""

import math
from collections.abc import Iterator, Mapping
from functools import cache

import numpy as np
import polars as pl
from perf.calibration.case import FAMILY, SMALL, TEST, Case, Outcome, Shape, hold
from perf.calibration.of_statistics import Random, read
from perf.calibration.simulate import (
    MEAN,
    draw_clusters,
    draw_effects,
    find_truth,
    make_probabilities,
    make_ranks,
)

from fathom.config.benchmark import REFERENCE
from fathom.config.claims import Condition
from fathom.config.models import Point
from fathom.config.scoring import Summary
from fathom.io.contracts import studies as contracts
from fathom.statistics.aggregates import LEADING
from fathom.statistics.bootstrap import draw_enough
from fathom.statistics.correlations import ROW_STATISTICS
from fathom.studies.claim_verdicts import (
    UNCLEAR,
    Family,
    check_claims,
    correlate_metrics,
    count_checked,
    describe_conditions,
)
from fathom.studies.controls import compare_conditions, compare_shares, count_shares
from fathom.studies.following import JUDGED, Measured, follow_tracks, measure_pairs
from fathom.studies.stages import relate_stages

GAIN = 0.5
"""How much lower log ranks are after training on the domain."""
SEED = 0.1
"""Standard deviation of a training's seed, of log ranks: ranks differ by 10 %."""
ADAPTED = 0.9
"""Correlation of models that come from one base, pair by pair."""


def train(
    random: Random,
    shape: Shape,
    means: Mapping[str, float],
    settings: Summary,
    variants: tuple[str, ...] = ("tf",),
) -> Measured:
    """Measure models with these means of log ranks, up to their seeds, on benchmarks of the same keywords."""
    names = list(means)
    found: Measured = {}
    moves = SEED * random.normal(size=len(names))
    moves[0] = 0.0  # the base has no seed
    for variant in variants:
        clusters = draw_clusters(random, shape)
        effects = draw_effects(random, clusters, len(names), ADAPTED)
        keys = [f"keyword {code:04d}" for code in clusters.tolist()]
        ids = [f"{place:06d}" for place in range(len(keys))]
        scores = {
            ("domain", variant, name): pl.DataFrame({
                "pair_id": ids, "keyword": keys, "rank": make_ranks(means[name] + move + own),
                "log_probability": np.log(make_probabilities(means[name] + move + own))})
            for name, move, own in zip(names, moves, effects, strict=True)
        }  # fmt: skip
        found |= measure_pairs(scores, settings, {**JUDGED, "rank": (LEADING.name, "mean")})
    return {place: models for place, models in found.items() if place[2] == "rank"}


def follow(random: Random, shape: Shape, settings: Summary) -> Iterator[Outcome]:
    """Whether intervals of means over seeds hold the mean over all seeds that there could be."""
    for seeds in (3, 5):
        names = ["base", *(f"model@{seed}" for seed in range(seeds))]
        measured = train(random, shape, dict.fromkeys(names, MEAN), settings)
        points = [Point(model=name, seed=str(seed), step=1) for seed, name in enumerate(names[1:])]
        for row in follow_tracks({"track": points}, measured, settings):
            if row["seed"] == contracts.ALL_SEEDS and row["aggregate"] == LEADING.name:
                truth = find_truth("rank", LEADING.name) * math.exp(SEED**2 / 2)
                yield hold(f"rank, mean over {seeds} seeds", truth, (row["ci_low"], row["ci_high"]))


def contrast(random: Random, shape: Shape, settings: Summary) -> Iterator[Outcome]:
    """Whether gains hold, and contrasts are found, where what was read makes no difference."""
    settings = draw_enough(settings, count_shares())
    conditions = {
        name: f"track of {name}" for name in (contracts.AS_IS, contracts.EXCHANGED, contracts.ONLY, "far")
    }
    tracks = {
        track: [Point(model="base"),
                *(Point(model=f"{name}@{seed}", seed=str(seed), step=100) for seed in range(5))]
        for name, track in conditions.items()
    }  # fmt: skip
    names = ["base", *(point.model for points in tracks.values() for point in points[1:])]
    measured = train(random, shape, dict.fromkeys(names, MEAN), settings)
    gains, contrasts = compare_conditions("domain", conditions, tracks, measured, settings)
    for row in (dict(zip(contracts.CONTROLS.names, each, strict=True)) for each in gains):
        if row["aggregate"] == LEADING.name and row["condition"] == contracts.AS_IS:
            truth = find_truth("rank", LEADING.name) * math.exp(SEED**2 / 2)
            yield hold("rank, 5 seeds", truth, read(row["ci_low"], row["ci_high"]))
            yield hold("gain, 5 seeds", 0.0, read(row["gain_low"], row["gain_high"]))
    rows = [dict(zip(contracts.CONTRASTS.names, each, strict=True)) for each in contrasts]
    rows = [row for row in rows if row["aggregate"] == LEADING.name]
    verdicts = [row["verdict"] in ("ahead", "behind") for row in rows]
    yield Outcome("one contrast of equal conditions: p < 0.05", TEST, read(rows[0]["p"])[0] < 0.05)
    yield Outcome(f"{len(verdicts)} contrasts of equal conditions", FAMILY, any(verdicts))


def share(random: Random, shape: Shape, settings: Summary) -> Iterator[Outcome]:
    """Whether shares of a gain hold, and those of two benchmarks differ, where models keep half of it."""
    settings = draw_enough(settings, count_shares())
    gains = {contracts.AS_IS: GAIN, contracts.EXCHANGED: GAIN / 2, "far": 0.0}
    tracks = {
        name: [Point(model="base"),
               *(Point(model=f"{name}@{seed}", seed=str(seed), step=100) for seed in range(5))]
        for name in gains
    }  # fmt: skip
    means = {"base": MEAN} | {
        point.model: MEAN - gains[name] for name, points in tracks.items() for point in points[1:]
    }
    conditions = {name: name for name in gains}
    measured = train(random, shape, means, settings, ("tf", "tfidf"))
    base, whole, half = (find_truth("rank", LEADING.name, MEAN - gain) for gain in (0.0, GAIN, GAIN / 2))
    seeds = SEED**2 / 2  # of the mean over seeds
    truth = (math.log(base / half) - seeds) / (math.log(base / whole) - seeds)
    for row in compare_conditions("domain", conditions, tracks, measured, settings)[0]:
        line = dict(zip(contracts.CONTROLS.names, row, strict=True))
        if (line["condition"], line["aggregate"]) == (contracts.EXCHANGED, LEADING.name):
            yield hold(f"share, {line['variant']}", truth, read(line["share_low"], line["share_high"]))
    verdicts = []
    for row in compare_shares("domain", conditions, tracks, measured, settings):
        line = dict(zip(contracts.CONTROL_SHARES.names, row, strict=True))
        if line["condition"] != contracts.EXCHANGED:
            continue
        verdicts.append(line["verdict"] != "cannot be told")
        names = [value for name, value in line.items() if name.endswith("aggregate")]
        if set(names) == {LEADING.name}:
            yield hold("difference of shares", 0.0, read(line["ci_low"], line["ci_high"]))
            yield Outcome("one difference of equal shares: p < 0.05", TEST, read(line["p"])[0] < 0.05)
    yield Outcome(f"{len(verdicts)} differences of equal shares", FAMILY, any(verdicts))


def _list_conditions() -> list[Condition]:
    """Return a base and what was adapted from it, with five seeds each."""
    paths = ([], ["domain"], ["near"], ["far"], ["far", "domain"], ["domain", "far"])
    return [
        Condition(path=path, models=[f"{'+'.join(['base', *path])}@{seed}" for seed in range(count)])
        for path, count in ((each, 5 if each else 1) for each in paths)
    ]  # fmt: skip


_MEANS = ((0.0, -0.5, -0.3, 0.3, -0.4, 0.0), (0.0, -0.4, 0.0, 0.1, -0.3, -0.2))
"""Of log ranks on two benchmarks, less MEAN: a base and five adaptations."""


@cache
def _find_correlations() -> dict[str, float]:
    """Return how the ranks of these models go together over all seeds that there could be."""
    random, seeds = np.random.default_rng(0), 2000
    series = []
    for means in _MEANS:
        noise = SEED * random.normal(size=(len(means) - 1, seeds))
        series.append(np.concatenate([np.zeros(seeds // 5), (np.array(means[1:])[:, None] + noise).ravel()]))
    return {name: float(ROW_STATISTICS[name](*(np.exp(each)[None] for each in series))[0])
            for name in ("pearson", "spearman")}  # fmt: skip


def correlate_claims(random: Random, shape: Shape, settings: Summary) -> Iterator[Outcome]:
    """Whether correlations of two benchmarks over adapted models hold those of their true ranks."""
    settings = draw_enough(settings, count_checked(1))
    conditions, measured = _list_conditions(), {}
    for variant, means in zip(("tf", REFERENCE), _MEANS, strict=True):
        given = {name: MEAN + mean for each, mean in zip(conditions, means, strict=True)
                 for name in each.models}  # fmt: skip
        measured |= train(random, shape, given, settings, (variant,))
    family = Family("domain", conditions, ["near"], measured, settings)
    for row in correlate_metrics(family, [REFERENCE]):
        line = dict(zip(contracts.CLAIM_CORRELATIONS.names, row, strict=True))
        leading = {line["aggregate"], line["reference_aggregate"]} == {LEADING.name}
        if leading and line["statistic"] in _find_correlations():
            truth = _find_correlations()[line["statistic"]]
            yield hold(line["statistic"], truth, read(line["ci_low"], line["ci_high"]))


def claim(random: Random, shape: Shape, settings: Summary) -> Iterator[Outcome]:
    """Whether verdicts are given on claims that are neither true nor false: all trainings are alike."""
    settings = draw_enough(settings, count_checked(1))
    conditions = _list_conditions()
    names = [name for each in conditions for name in each.models]
    measured = train(random, shape, dict.fromkeys(names, MEAN), settings, ("tf", "tfidf", REFERENCE))
    family = Family("domain", conditions, ["near"], measured, settings)
    rows = [
        dict(zip(contracts.CLAIMS.names, each, strict=True)) for each in check_claims(family, [REFERENCE])
    ]
    rows = [row for row in rows if row["measured"].startswith("gain") and str(row["value"])]
    given = [row["verdict"] != UNCLEAR for row in rows]
    for row in rows[:1]:
        yield hold("difference of gains", 0.0, read(row["ci_low"], row["ci_high"]))
    yield Outcome("one claim without a difference: p < 0.05", TEST, read(rows[0]["p"])[0] < 0.05)
    yield Outcome(f"{len(given)} claims without a difference: a verdict", FAMILY, any(given))
    for row in describe_conditions(family):
        line = dict(zip(contracts.CLAIM_MODELS.names, row, strict=True))
        if line["role"] == "own" and line["variant"] == "tf" and line["aggregate"] == LEADING.name:
            yield hold("gain", 0.0, read(line["gain_low"], line["gain_high"]))


def relate(random: Random, shape: Shape, settings: Summary) -> Iterator[Outcome]:
    """Whether anything is found between similarities of stages and a metric that drifts on its own."""
    stages, similarity = np.arange(shape.clusters + 1), random.random(shape.clusters + 1)
    drift = np.cumsum(random.normal(size=shape.clusters + 1))
    for name, values in (("independent stages", random.normal(size=len(stages))), ("a random walk", drift)):
        before, after = np.roll(values, 1), np.roll(values, -1)
        low, high = (values < before) & (values < after), (values > before) & (values > after)
        kind = np.where(low, "minimum", np.where(high, "maximum", ""))
        kind[[0, -1]] = ""
        frame = pl.DataFrame({
            "track": "track", "domain": "domain", "variant": "tf", "metric": "rank",
            "aggregate": LEADING.name, "stage": stages, "value": values,
            "similarity": similarity, "extremum": kind})  # fmt: skip
        for row in relate_stages(frame, settings):
            line = dict(zip(contracts.RELATIONS.names, row, strict=True))
            if line["statistic"] in ("spearman", "kendall"):
                continue
            p = float(line["p"])
            what = f"{line['statistic']} of {name}"
            yield Outcome(f"{what}: p < 0.05", TEST, None if math.isnan(p) else p < 0.05)
            if line["statistic"] == "pearson":
                yield hold(what, 0.0, (line["ci_low"], line["ci_high"]))


_INTERVAL, _JUDGED = "ci_low", ("p", "verdict")
CASES = (
    Case("following.parquet", ((contracts.FOLLOWING, _INTERVAL),), follow, share=0.4),
    Case("controls.csv and control-contrasts.csv",
         (*((contracts.CONTROLS, name) for name in (_INTERVAL, "gain_low")),
          *((contracts.CONTRASTS, name) for name in (_INTERVAL, *_JUDGED))),
         contrast, shapes=SMALL, share=0.25),
    Case("claims.csv and claim-models.csv",
         (*((contracts.CLAIMS, name) for name in (_INTERVAL, *_JUDGED)),
          *((contracts.CLAIM_MODELS, name) for name in (_INTERVAL, "gain_low"))),
         claim, shapes=SMALL, share=0.12),
    Case("controls.csv and control-shares.csv",
         ((contracts.CONTROLS, "share_low"),
          *((contracts.CONTROL_SHARES, name) for name in (_INTERVAL, *_JUDGED))),
         share, shapes=SMALL, share=0.25),
    Case("claim-correlations.csv", ((contracts.CLAIM_CORRELATIONS, _INTERVAL),), correlate_claims,
         shapes=SMALL, share=0.25),
    Case("relations.csv", ((contracts.RELATIONS, _INTERVAL), (contracts.RELATIONS, "p")), relate, "stages",
         (Shape(10), Shape(20), Shape(50)), 0.5),
)  # fmt: skip
