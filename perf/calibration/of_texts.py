"""Cases of bits per byte of any text, where files are few and of very different length."""

import math
from collections.abc import Iterator

import numpy as np
from perf.calibration.case import FAMILY, TEST, Case, Outcome, Shape, hold
from perf.calibration.of_statistics import MODELS, Random
from perf.calibration.simulate import name_models

from fathom.config.scoring import Summary
from fathom.io.contracts import scoring
from fathom.statistics.comparisons import compare_bits_per_byte

CONFIDENCE = 0.95
LENGTHS = (0.6, 1.0)
"""Standard deviations of the logarithm of a file's bytes: the demo's documents, and files of a folder."""
MEAN, SPREAD, WITH_LENGTH = 1.6, 0.1, 0.25
"""Of a file's bits per byte: mean, standard deviation, and correlation with the logarithm of its bytes."""
GAP, OWN = 0.04, 0.05
"""Of two models: bits per byte that one needs more, and the deviation between files of what is a model's own,
by Student's t with four degrees of freedom: some files suit a model."""
SKEWED = 4.0
"""Shape of a gamma distribution, whose skewness is 1: some files are hard for every model."""


def draw_bits(
    random: Random, files: int, length: float, more: tuple[float, ...], skewed: bool = False
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return bits by model and bytes of some files; a model needs so much more than the first."""
    place = random.normal(size=files)
    sizes = np.maximum(200, np.exp(9 + length * place)).astype(np.int64)
    deviations = (
        (random.gamma(SKEWED, size=files) - SKEWED) / math.sqrt(SKEWED)
        if skewed
        else random.normal(size=files)
    )
    common = WITH_LENGTH * place + math.sqrt(1 - WITH_LENGTH**2) * deviations
    own = random.standard_t(4, (len(more), files)) / math.sqrt(2)
    found = MEAN + np.array(more)[:, None] + SPREAD * common + OWN * own
    return dict(zip(name_models(len(more)), found * sizes, strict=True)), sizes


def find_mean(length: float) -> float:
    """Return bits per byte over all files that there could be: weighted by bytes, long ones count more."""
    return MEAN + SPREAD * WITH_LENGTH * length


def measure(random: Random, shape: Shape, settings: Summary) -> Iterator[Outcome]:
    """Whether intervals of a model and of a difference hold, and what is found between equal models."""
    files = [str(number) for number in range(shape.clusters)]
    for length in LENGTHS:
        bits, sizes = draw_bits(random, shape.clusters, length, (0.0, GAP))
        found = compare_bits_per_byte(bits, sizes, files, CONFIDENCE)
        yield hold(f"bits per byte, lengths {length}", find_mean(length), found.models["model-000"])
        (one,) = found.differences
        truth = GAP if one.worse == "model-001" else -GAP
        yield hold(f"difference, lengths {length}", truth, (one.low, one.high))
        bits, sizes = draw_bits(random, shape.clusters, length, (0.0,) * MODELS)
        equal = compare_bits_per_byte(bits, sizes, files, CONFIDENCE)
        two = next(each for each in equal.differences if {each.better, each.worse} == {*name_models(2)})
        yield Outcome(f"two equal models, lengths {length}: p < 0.05", TEST, two.p < 0.05)
        yield Outcome(
            f"{MODELS} equal models, lengths {length}: any apart",
            FAMILY,
            any(each.apart for each in equal.differences),
        )
    bits, sizes = draw_bits(random, shape.clusters, LENGTHS[0], (0.0,), skewed=True)
    found = compare_bits_per_byte(bits, sizes, files, CONFIDENCE)
    yield hold("bits per byte, skewed", find_mean(LENGTHS[0]), found.models["model-000"])


CASES = (
    Case(
        "bits.csv and differences.csv of fathom bits",
        (
            *((scoring.TEXT_BITS, name) for name in ("ci_low", "groups")),
            *((scoring.TEXT_DIFFERENCES, name) for name in ("ci_low", "p", "apart")),
        ),
        measure,
        "files",
        tuple(Shape(files) for files in (2, 3, 4, 5, 10, 20, 50)),
    ),
)
