"""Cases of models that are trained: seeds, controls, claims, stages."""

import math
from collections.abc import Iterator

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
from fathom.config.following import Point
from fathom.config.scoring import Summary
from fathom.io.contracts import studies as contracts
from fathom.statistics.aggregates import LEADING
from fathom.studies.claims import UNCLEAR, check_claims, describe_conditions
from fathom.studies.controls import compare_conditions
from fathom.studies.families import Family
from fathom.studies.following import JUDGED, Measured, follow_tracks, measure_pairs
from fathom.studies.stages import relate_stages

SEED = 0.1
"""Standard deviation of a training's seed, of log ranks: ranks differ by 10 %."""
ADAPTED = 0.9
"""Correlation of models that come from one base, pair by pair."""


def train(
    random: Random, shape: Shape, names: list[str], settings: Summary, variants: tuple[str, ...] = ("tf",)
) -> Measured:
    """Measure models that are equal but for their seeds, on benchmarks of the same keywords."""
    found: Measured = {}
    moves = SEED * random.normal(size=len(names))
    moves[0] = 0.0  # the base has no seed
    for variant in variants:
        clusters = draw_clusters(random, shape)
        effects = draw_effects(random, clusters, len(names), ADAPTED)
        keys = [f"keyword {code:04d}" for code in clusters.tolist()]
        scores = {
            ("domain", variant, name): pl.DataFrame({
                "keyword": keys, "rank": make_ranks(MEAN + move + own),
                "log_probability": np.log(make_probabilities(MEAN + move + own))})
            for name, move, own in zip(names, moves, effects, strict=True)
        }  # fmt: skip
        found |= measure_pairs(scores, settings, {**JUDGED, "rank": (LEADING.name, "mean")})
    return {place: models for place, models in found.items() if place[2] == "rank"}


def follow(random: Random, shape: Shape, settings: Summary) -> Iterator[Outcome]:
    """Whether intervals of means over seeds hold the mean over all seeds that there could be."""
    for seeds in (3, 5):
        names = ["base", *(f"model@{seed}" for seed in range(seeds))]
        measured = train(random, shape, names, settings)
        points = [Point(model=name, seed=str(seed), step=1) for seed, name in enumerate(names[1:])]
        for row in follow_tracks({"track": points}, measured, settings):
            if row["seed"] == contracts.ALL_SEEDS and row["aggregate"] == LEADING.name:
                truth = find_truth("rank", LEADING.name) * math.exp(SEED**2 / 2)
                yield hold(f"rank, mean over {seeds} seeds", truth, (row["ci_low"], row["ci_high"]))


def contrast(random: Random, shape: Shape, settings: Summary) -> Iterator[Outcome]:
    """Whether gains hold, and contrasts are found, where what was read makes no difference."""
    conditions = {
        name: f"track of {name}" for name in (contracts.AS_IS, contracts.EXCHANGED, contracts.ONLY, "far")
    }
    tracks = {
        track: [Point(model="base"),
                *(Point(model=f"{name}@{seed}", seed=str(seed), step=100) for seed in range(5))]
        for name, track in conditions.items()
    }  # fmt: skip
    names = ["base", *(point.model for points in tracks.values() for point in points[1:])]
    measured = train(random, shape, names, settings)
    gains, contrasts = compare_conditions("domain", conditions, tracks, measured, settings)
    for row in (dict(zip(contracts.CONTROLS.names, each, strict=True)) for each in gains):
        if row["aggregate"] == LEADING.name and row["condition"] == contracts.AS_IS:
            truth = find_truth("rank", LEADING.name) * math.exp(SEED**2 / 2)
            yield hold("rank, 5 seeds", truth, read(row["ci_low"], row["ci_high"]))
            yield hold("gain, 5 seeds", 0.0, read(row["gain_low"], row["gain_high"]))
    rows = [dict(zip(contracts.CONTRASTS.names, each, strict=True)) for each in contrasts]
    verdicts = [row["verdict"] in ("ahead", "behind") for row in rows if row["aggregate"] == LEADING.name]
    yield Outcome("one contrast of equal conditions", TEST, verdicts[0])
    yield Outcome(f"{len(verdicts)} contrasts of equal conditions", FAMILY, any(verdicts))


def claim(random: Random, shape: Shape, settings: Summary) -> Iterator[Outcome]:
    """Whether verdicts are given on claims that are neither true nor false: all trainings are alike."""
    paths = ([], ["domain"], ["near"], ["far"], ["far", "domain"], ["domain", "far"])
    conditions = [
        Condition(path=path, models=[f"{'+'.join(['base', *path])}@{seed}" for seed in range(count)])
        for path, count in ((each, 5 if each else 1) for each in paths)
    ]  # fmt: skip
    names = [name for each in conditions for name in each.models]
    measured = train(random, shape, names, settings, ("tf", "tfidf", REFERENCE))
    family = Family("domain", conditions, ["near"], measured, settings)
    rows = [
        dict(zip(contracts.CLAIMS.names, each, strict=True)) for each in check_claims(family, [REFERENCE])
    ]
    rows = [row for row in rows if row["measured"].startswith("gain") and str(row["value"])]
    given = [row["verdict"] != UNCLEAR for row in rows]
    for row in rows[:1]:
        yield hold("difference of gains", 0.0, read(row["ci_low"], row["ci_high"]))
    yield Outcome("one claim without a difference: a verdict", TEST, given[0])
    yield Outcome(f"{len(given)} claims without a difference: a verdict", FAMILY, any(given))
    for row in describe_conditions(family):
        told = dict(zip(contracts.CLAIM_MODELS.names, row, strict=True))
        if told["role"] == "own" and told["variant"] == "tf" and told["aggregate"] == LEADING.name:
            yield hold("gain", 0.0, read(told["gain_low"], told["gain_high"]))


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
            told = dict(zip(contracts.RELATIONS.names, row, strict=True))
            if told["statistic"] in ("spearman", "kendall"):
                continue
            p = float(told["p"])
            what = f"{told['statistic']} of {name}"
            yield Outcome(f"{what}: p < 0.05", TEST, None if math.isnan(p) else p < 0.05)
            if told["statistic"] == "pearson":
                yield hold(what, 0.0, (told["ci_low"], told["ci_high"]))


_INTERVAL = "ci_low"
CASES = (
    Case("following.parquet", ((contracts.FOLLOWING, _INTERVAL),), follow, share=0.4),
    Case("controls.csv and control-contrasts.csv",
         (*((contracts.CONTROLS, name) for name in (_INTERVAL, "gain_low")),
          *((contracts.CONTRASTS, name) for name in (_INTERVAL, "verdict"))),
         contrast, shapes=SMALL, share=0.25),
    Case("claims.csv and claim-models.csv",
         (*((contracts.CLAIMS, name) for name in (_INTERVAL, "verdict")),
          *((contracts.CLAIM_MODELS, name) for name in (_INTERVAL, "gain_low"))),
         claim, shapes=SMALL, share=0.12),
    Case("relations.csv", ((contracts.RELATIONS, _INTERVAL), (contracts.RELATIONS, "p")), relate, "stages",
         (Shape(10), Shape(20), Shape(50)), 0.5),
)  # fmt: skip
