"""Simulate what `target_changes` and `layer_changes` say of data whose truth is known; print both tables.

Targets: how often the interval of the contrast between best and worst targets leaves out its truth. Design
`similarities`: those of targets are drawn apart from their gains. `signs`: a keyword's gains change sign at
random, and its targets resemble each other. Effects: gains follow the similarity, without and with likeness
of a keyword's targets; the truth is the mean contrast of such data.

Layers: how often two equal models have a first layer, by single intervals and by the band, and how often the
band finds the loss of a model that begins at the middle layer.
"""

import argparse
import math
from collections.abc import Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fathom.config.layers import Layers
from fathom.config.scoring import Summary, Targets
from fathom.jobs.program import run_program
from fathom.layers.layer_changes import LayerCurve, compare_layers, find_onsets, list_changes
from fathom.studies.target_changes import contrast_groups

Array = NDArray[np.float64]
CLUSTERS = (20, 50, 74, 200)
DESIGNS = ("similarities", "signs", "effect", "effect of keywords")


def simulate_gains(
    random: np.random.Generator, keywords: int, design: str
) -> tuple[pl.DataFrame, dict[str, float]]:
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


def simulate_layers(
    random: np.random.Generator, keywords: int, layers: int, metric: str, loss: float = 0.0
) -> dict[tuple[str, str, int | None, int | None, str], LayerCurve]:
    """Return a base model and one that is equal up to chance, or loses a share from the middle layer on.

    Neighbouring layers correlate by 0.7. Rates are normal, ranks log-normal.
    """
    curves = {}
    shared = _draw_layers(random, keywords, layers)
    sizes = (50, 1200) if metric == "rate" else (None, None)
    for model in ("base", "moved"):
        noise = shared + 0.35 * _draw_layers(random, keywords, layers)
        values = np.clip(0.3 + 0.1 * noise, 0, 1) if metric == "rate" else np.exp(5 + noise)
        if model == "moved":
            values[:, layers // 2 :] *= 1 - loss
        names = tuple(f"k{number:05d}" for number in range(keywords))
        curves[model, "normed", *sizes, metric] = LayerCurve(names, values, np.ones(keywords))
    return curves


def _draw_layers(random: np.random.Generator, keywords: int, layers: int) -> Array:
    noise = random.normal(size=(keywords, layers))
    for layer in range(1, layers):
        noise[:, layer] = 0.7 * noise[:, layer - 1] + math.sqrt(1 - 0.7**2) * noise[:, layer]
    return noise


def find_firsts(
    random: np.random.Generator, keywords: int, layers: int, metric: str, loss: float, settings: Summary
) -> tuple[bool, str]:
    """Return whether a single interval leaves out 0, and the layers where the band does."""
    curves = simulate_layers(random, keywords, layers, metric, loss)
    changes = compare_layers(curves, [("moved", "base")], Layers(), settings)
    apart = [float(row[6]) > 0 or float(row[7]) < 0 for row in list_changes(changes, settings)]
    return any(apart), find_onsets(changes, settings)[0][5]


def calibrate_targets(rounds: int) -> Iterator[str]:
    """Yield a line for each design and number of keywords."""
    yield "| keywords | design | truth of d | misses, difference | misses, d |\n|--:|---|--:|--:|--:|"
    for keywords in CLUSTERS:
        for place, design in enumerate(DESIGNS):
            random = np.random.default_rng([keywords, place])
            truth = np.zeros(2)
            if design.startswith("effect"):
                one = Summary(rounds=1)
                drawn = [contrast_groups(*simulate_gains(random, keywords, design), Targets(), one)[0]
                         for _ in range(2000)]  # fmt: skip
                truth = np.mean([each[2:] for each in drawn], axis=0)
            missed = np.zeros(2)
            for seed in range(rounds):
                some = simulate_gains(random, keywords, design)
                _, low, high = contrast_groups(*some, Targets(), Summary(rounds=500, seed=seed))
                missed += (np.array(low[2:]) > truth) | (np.array(high[2:]) < truth)
            shown = " | ".join(_show(each / rounds, rounds) for each in missed)
            yield f"| {keywords} | {design} | {truth[1]:.2f} | {shown} |"


def calibrate_layers(rounds: int) -> Iterator[str]:
    """Yield a line for each number of keywords and layers: equal models, then a loss."""
    yield "| metric | keywords | layers | equal: single | equal: band | loss of 5 % | of 10 % | of 20 % |"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|"
    for metric in ("rate", "rank"):
        for keywords in (20, 50, 100, 200):
            for layers in (13, 49):
                shares = []
                for loss in (0.0, 0.05, 0.1, 0.2):
                    random = np.random.default_rng([keywords, layers])
                    count = rounds if loss == 0 else rounds // 4
                    found = [
                        find_firsts(random, keywords, layers, metric, loss, Summary(rounds=500, seed=seed))
                        for seed in range(count)
                    ]
                    if loss == 0:
                        shares.append(_show(float(np.mean([single for single, _ in found])), count))
                    shares.append(_show(float(np.mean([bool(band) for _, band in found])), count))
                yield f"| {metric} | {keywords} | {layers} | {' | '.join(shares)} |"


def _show(share: float, rounds: int) -> str:
    """Return a share in per cent with the standard error of the simulation."""
    return f"{100 * share:.1f} ± {100 * math.sqrt(share * (1 - share) / rounds):.1f}"


def main(arguments: argparse.Namespace) -> None:
    """Simulate and print."""
    for name, calibrate in (("targets", calibrate_targets), ("layers", calibrate_layers)):
        if arguments.only in (None, name):
            for line in calibrate(arguments.rounds):
                print(line, flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=500, help="simulations of each shape")
    parser.add_argument("--only", choices=("targets", "layers"))
    run_program(parser, main)
