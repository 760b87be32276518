"""Cases of trainings that are watched: false alarms of whole watches.

`python -m perf.calibration.of_watching` prints how often planted keywords are found, and how far the noise of
a step is estimated from its truth.
"""

import sys
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from perf.calibration.case import FAMILY, TEST, Case, Outcome, Shape
from perf.calibration.of_statistics import Random

from fathom.config.scoring import Summary
from fathom.io.contracts import studies as contracts
from fathom.statistics.forgetting import FIRST, confirm, look_at
from fathom.studies.following import measure_noise

Array = NDArray[np.float64]

LOOKS = 50
"""Looks of a watch after its first checkpoint."""
MOST = 50
"""Sentences of a keyword: 5 to so many."""


def draw_errors(random: Random, size: tuple[int, ...], kind: str) -> Array:
    """Return errors of mean 0 and variance 1: normal, with heavy tails (t of 4 degrees), or one-sided."""
    if kind == "heavy":
        return np.asarray(random.standard_t(4, size) / np.sqrt(2))
    return np.asarray(random.exponential(size=size) - 1 if kind == "skewed" else random.normal(size=size))


def draw_watch(
    random: Random,
    keywords: int,
    kind: str = "normal",
    noise: float = 0.0,
    sizes: tuple[int, int] = (5, MOST),
) -> tuple[Array, NDArray[np.int64]]:
    """Return scores of sentences at all looks of a model that learns and forgets nothing, and their keywords.

    Each sentence drifts on its own and has an error of its own at each checkpoint; keywords differ in how
    much. `noise`: of a checkpoint, of all keywords together, and of each of them.
    """
    counts = random.integers(sizes[0], sizes[1] + 1, keywords)
    codes = np.repeat(np.arange(keywords), counts)
    spread = np.exp(0.5 * random.normal(size=keywords))[codes]
    drift = 0.3 * spread * draw_errors(random, (LOOKS + 1, len(codes)), kind)
    drift[0] = 0
    scores = np.cumsum(drift, axis=0)
    scores += 0.3 * spread * draw_errors(random, (LOOKS + 1, len(codes)), kind)
    scores += noise * random.normal(size=(LOOKS + 1, keywords))[:, codes]
    scores += noise * random.normal(size=(LOOKS + 1, 1))
    return scores, codes


def follow_watch(scores: Array, codes: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Return what is confirmed at each look."""
    found: list[NDArray[np.int64]] = []
    confirmed = []
    for end in range(1, len(scores) + 1):
        found.append(look_at(scores[:end], codes).found)
        confirmed.append(confirm(found[-2:]))
    return confirmed


def watch(random: Random, shape: Shape, settings: Summary) -> Iterator[Outcome]:
    """Whether a watch of 50 looks names any keyword of a model that learns and forgets nothing."""
    for kind, noise in (("normal", 0.0), ("heavy", 0.0), ("skewed", 0.0), ("normal", 0.2)):
        scores, codes = draw_watch(random, shape.clusters, kind, noise)
        alarm = any(each.any() for each in follow_watch(scores, codes))
        what = f"{kind} drift{', noisy checkpoints' if noise else ''}: any keyword, {LOOKS} looks"
        yield Outcome(what, FAMILY, alarm)
    scores, codes = draw_watch(random, shape.clusters, sizes=(1, 10))
    found = follow_watch(scores, codes)
    yield Outcome(f"1 to 10 sentences: any keyword, {LOOKS} looks", FAMILY, any(each.any() for each in found))
    yield Outcome(
        "one keyword at one look: p < 0.05", TEST, bool(look_at(scores[: FIRST + 5], codes).p[0] < 0.05)
    )


CASES = (
    Case("keywords.csv of a watch", tuple((contracts.WATCHED, name) for name in ("error", "p", "verdict")),
         watch, shapes=(Shape(20), Shape(50)), share=1.0),
)  # fmt: skip


def find_power(loss: float, sentences: int, rounds: int) -> tuple[float, float, float]:
    """Return the share of planted keywords that is found, the looks it takes, and watches with a false alarm.

    A tenth of 50 keywords loses `loss` (in nats) over ten looks, from the fifth look on.
    """
    seen, delays, wrong = 0, [], 0
    for number in range(rounds):
        scores, codes = draw_watch(
            np.random.default_rng([number, sentences]), 50, sizes=(sentences, sentences)
        )
        part = np.clip((np.arange(LOOKS + 1) - 5) / 10, 0, 1)[:, None]
        confirmed = np.stack(follow_watch(scores - loss * part * (codes < 5), codes))
        wrong += bool(confirmed[:, 5:].any())
        for keyword in range(5):
            looks = np.flatnonzero(confirmed[:, keyword] == -1)
            seen += len(looks) > 0
            delays += [looks[0] - 5] if len(looks) else []
    return seen / (5 * rounds), float(np.median(delays)) if delays else np.nan, wrong / rounds


def judge_noise(points: int, rounds: int) -> tuple[float, float]:
    """Return mean and standard deviation of the noise of a step, estimated beside a trend; the truth is 1."""
    random, times = np.random.default_rng(points), np.arange(points) * 25.0
    found = [measure_noise(times, 0.1 * times + random.normal(size=points)) for _ in range(rounds)]
    return float(np.mean(found)), float(np.std(found))


def main() -> None:
    """Print both tables."""
    for loss in (0.5, 1.0, 2.0):
        for sentences in (5, 10, 20, 50):
            share, delay, wrong = find_power(loss, sentences, 40)
            sys.stdout.write(
                f"{loss} nats, {sentences} sentences: {share:.0%}, {delay:.0f} looks, {wrong:.1%}\n"
            )
    for points in (3, 4, 5, 10):
        sys.stdout.write("{} points: {:.2f} ± {:.2f}\n".format(points, *judge_noise(points, 4000)))


if __name__ == "__main__":
    main()
