"""Cases of changes of one model against another: best and worst targets, layers; and which model is best."""

import math
from collections.abc import Iterator
from functools import cache

import numpy as np
import polars as pl
from perf.calibration.case import FAMILY, INTERVAL, SMALL, TEST, Case, Outcome, Shape, hold
from perf.calibration.of_statistics import MODELS, Random, read
from perf.calibration.simulate import MEAN, draw_clusters, draw_scores
from perf.studies.best_model import run_study

from fathom.config.layers import Layers
from fathom.config.scoring import Summary, Targets
from fathom.io.contracts import layers as layer_contracts
from fathom.io.contracts import studies as contracts
from fathom.layers.layer_changes import (
    Key,
    LayerCurve,
    compare_layers,
    find_onsets,
    list_changes,
    summarize_layers,
)
from fathom.scoring.best_model import order_pairs
from fathom.studies.target_changes import compare_similarities, contrast_groups, score_targets

DESIGNS = ("similarities", "signs", "effect", "effect of keywords")
"""How gains go with similarities: apart from them; by keywords, whose gains change sign at random and whose
targets are alike; with them; with them, and targets of a keyword are alike."""
LAYERS = (13, 49)
ALIKE = 0.7
"""Correlation of a keyword's changes at layers next to each other."""


def simulate_gains(
    random: Random, keywords: int, design: str
) -> tuple[pl.DataFrame, dict[str, float]]:  # fmt: skip
    """Return gains on pairs and similarities of targets, in the shape of the demo.

    There a keyword has eight pairs with three targets, and two targets of three belong to one keyword alone.

    Parameters
    ----------
    random : Generator
    keywords : int
    design : str
        One of DESIGNS.

    Returns
    -------
    pairs : DataFrame
        As :func:`fathom.studies.target_changes.join_pairs` returns them.
    similarities : dict of str to float
    """
    shared = max(2, keywords // 2)
    own = np.arange(shared, shared + 2 * keywords).reshape(keywords, 2)
    cells = np.column_stack([own, random.integers(shared, size=(keywords, 2))])
    chosen = cells[np.arange(keywords)[:, None], random.integers(4, size=(keywords, 8))].ravel()
    owner = np.repeat(np.arange(keywords), 8)
    targets = np.unique(chosen, return_inverse=True)[1]
    count = int(targets.max()) + 1
    alike = design in ("signs", "effect of keywords")
    topic = random.normal(size=keywords) if alike else np.zeros(keywords)
    near = np.bincount(targets, topic[owner], count) / np.bincount(targets, minlength=count)
    near = near * math.sqrt(0.5) + random.normal(size=count) * math.sqrt(0.5 if alike else 1)
    signal = 0.5 * random.normal(size=keywords)[owner] + 0.5 * random.normal(size=count)[targets]
    signal = signal + (0.5 * near[targets] if design.startswith("effect") else 0)
    gains = signal + random.normal(size=(2, len(owner)))
    if design == "signs":
        gains = (gains + 0.9) * random.choice([-1, 1], keywords)[owner]
    names = [f"t{number:05d}" for number in range(count)]
    pairs = pl.DataFrame({
        "keyword": [f"k{number:05d}" for number in owner], "target": [names[number] for number in targets],
        "probability_gain": gains[0], "rank_gain": gains[1],
    })  # fmt: skip
    return pairs, dict(zip(names, near.tolist(), strict=True))


@cache
def _find_contrast(keywords: int, design: str) -> tuple[float, float]:
    """Return the mean difference and d of best and worst targets over data of a design."""
    if not design.startswith("effect"):
        return 0.0, 0.0
    random, one = np.random.default_rng([keywords, DESIGNS.index(design)]), Summary(rounds=1)
    drawn = [contrast_groups(*simulate_gains(random, keywords, design), Targets(), one)[0]
             for _ in range(1000)]  # fmt: skip
    difference, d = np.mean([each[2:] for each in drawn], axis=0)
    return float(difference), float(d)


def target(random: Random, shape: Shape, settings: Summary) -> Iterator[Outcome]:
    """Whether intervals hold the contrast of best and worst targets, and the test finds one by chance."""
    for design in DESIGNS:
        pairs, similarities = simulate_gains(random, shape.clusters, design)
        _, low, high = contrast_groups(pairs, similarities, Targets(), settings)
        truth = _find_contrast(shape.clusters, design)
        yield hold(f"difference, {design}", truth[0], (low.difference, high.difference))
        yield hold(f"d, {design}", truth[1], (low.d, high.d))
        if not any(truth):
            p = compare_similarities(score_targets(pairs, similarities, Targets()))[1]
            yield Outcome(f"p < 0.05, {design}", TEST, None if math.isnan(p) else p < 0.05)


def _draw_curves(random: Random, shape: Shape, layers: int) -> dict[Key, LayerCurve]:
    """Return ranks by layer of two equal models."""
    clusters = draw_clusters(random, shape)
    count, keep = shape.clusters, math.sqrt(1 - ALIKE**2)
    sizes = np.bincount(clusters).astype(np.float64)
    steps = random.normal(size=(3, count, layers)) / np.sqrt(1 + 9 / sizes)[None, :, None]
    for layer in range(1, layers):
        steps[:, :, layer] = ALIKE * steps[:, :, layer - 1] + keep * steps[:, :, layer]
    values = np.exp(5 + 0.5 * (0.9 * steps[0] + math.sqrt(1 - 0.81) * steps[1:]))
    names = tuple(f"{code:04d}" for code in range(count))
    return {
        (model, "normed", None, None, "rank"): LayerCurve(names, own * sizes[:, None], sizes)
        for model, own in zip(("model", "base"), values, strict=True)
    }


def compare_by_layer(random: Random, shape: Shape, settings: Summary) -> Iterator[Outcome]:
    """Whether a layer is named where two models are equal, and intervals hold layer by layer."""
    rates = random.binomial(50, random.beta(1.3, 20, shape.clusters)) / 50
    names = tuple(f"{code:04d}" for code in range(shape.clusters))
    curve = LayerCurve(names, rates[:, None], np.ones(shape.clusters))
    row = summarize_layers({("model", "normed", 50, 1200, "rate"): curve}, settings)[0]
    line = dict(zip(layer_contracts.LAYER_SUMMARY.names, row, strict=True))
    yield hold("layers.csv: rate", 1.3 / 21.3, read(line["ci_low"], line["ci_high"]))
    for layers in LAYERS:
        changes = compare_layers(_draw_curves(random, shape, layers), [("model", "base")], Layers(), settings)
        inside = []
        for row in list_changes(changes, settings):
            line = dict(zip(layer_contracts.LAYER_CHANGES.names, row, strict=True))
            low, high = read(line["band_low"], line["band_high"])
            inside.append(low <= 0 <= high)
            if line["layer"] == layers // 2 and layers == LAYERS[0]:
                yield hold("change at one layer", 0.0, read(line["ci_low"], line["ci_high"]))
        yield Outcome(f"band of all {layers} layers", INTERVAL, all(inside))
        for row in find_onsets(changes, settings):
            line = dict(zip(layer_contracts.LAYER_ONSETS.names, row, strict=True))
            if line["part"] == "first":
                yield Outcome(f"first of {layers} layers of equal models", FAMILY, bool(line["layers"]))
            elif layers == LAYERS[0]:
                ends = read(line["ci_low"], line["ci_high"])
                yield hold(f"mean change, {line['part']}", 0.0, ends)


def find_best(random: Random, shape: Shape, settings: Summary) -> Iterator[Outcome]:
    """Whether `fathom best --by rank` calls an equal model worse, or decides otherwise than all pairs."""
    for what, step in (("equal", 0.0), ("unequal", 0.15)):
        means = [MEAN + step * place for place in range(MODELS)]
        scores = {key[2]: frame for key, frame in draw_scores(random, shape, means).items()}
        first = next(iter(scores.values()))
        prompts = [f"{name} begins a prompt" for name in first["pair_id"]]
        ordered, order = order_pairs(first.select("pair_id", "keyword", prompt=pl.Series(prompts)))
        rows = ordered["pair_id"].cast(pl.Int64).to_numpy()
        losses = np.log(np.stack([frame["rank"].to_numpy()[rows] for frame in scores.values()]))
        found = run_study([*scores], order, lambda place, end, drawn=losses: drawn[place, :end])
        if not step:
            yield Outcome(f"{MODELS} equal models: any worse", FAMILY, bool(found.worse))
        yield Outcome(f"{MODELS} {what} models: otherwise than all pairs", FAMILY, found.otherwise)


_CI = "ci_low"
CASES = (
    Case("target-groups.csv", tuple((contracts.TARGET_GROUPS, name)
         for name in ("difference_low", "d_low", "t", "p")), target,
         shapes=(Shape(20), Shape(50), Shape(74), Shape(200)), share=0.2),
    Case("layers.csv, layer-changes.csv and layer-onsets.csv",
         ((layer_contracts.LAYER_SUMMARY, _CI), (layer_contracts.LAYER_CHANGES, _CI),
          (layer_contracts.LAYER_CHANGES, "band_low"), (layer_contracts.LAYER_ONSETS, _CI)),
         compare_by_layer, shapes=SMALL),
    Case("fathom best --by rank", (), find_best),
)  # fmt: skip
