"""Time the log-density of embeddings against scikit-learn's KernelDensity, and check it against float64.

The embeddings are drawn in clusters, of a length such that the paper's bandwidth suits them. scikit-learn's
time is proportional to the number of points: it is measured on a few of them and scaled up. Runs on one
thread.
"""

import argparse
import sys
from functools import partial

import numpy as np
import numpy.typing as npt
from perf.turns import clock, measure_memory, measure_peak, note, print_table
from scipy.special import logsumexp

from fathom.coverage.density import measure_log_density
from fathom.jobs.program import run_program

Vectors = npt.NDArray[np.float32]


def draw_vectors(count: int, dimension: int, length: float, seed: int) -> Vectors:
    """Return vectors in 50 clusters, all of one length."""
    clusters = np.random.default_rng(0).normal(size=(50, dimension)).astype(np.float32)
    generator = np.random.default_rng(seed)
    vectors = clusters[generator.integers(50, size=count)] + 0.5
    vectors += generator.standard_normal(vectors.shape, dtype=np.float32)
    unit: Vectors = length * vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


def compute_exactly(points: Vectors, centres: Vectors, bandwidth: float) -> npt.NDArray[np.float64]:
    """Return log-densities from differences in float64, one point at a time."""
    exact = centres.astype(np.float64)
    found = []
    for point in points.astype(np.float64):
        differences = exact - point
        exponents = -np.einsum("ij,ij->i", differences, differences) / (2 * bandwidth**2)
        found.append(logsumexp(exponents) - np.log(len(centres)))
    return np.array(found)


def time_scikit_learn(
    points: Vectors, centres: Vectors, bandwidth: float, total: int
) -> tuple[float, npt.NDArray[np.float64]]:
    """Return scikit-learn's seconds for `total` points, and log-densities without their constant."""
    from sklearn.neighbors import KernelDensity

    building, peer = clock(lambda: KernelDensity(bandwidth=bandwidth).fit(centres))
    looking, found = clock(lambda: peer.score_samples(points))
    constant = centres.shape[1] * np.log(bandwidth * np.sqrt(2 * np.pi))
    return building + looking * total / len(points), found + constant


def main(arguments: argparse.Namespace) -> None:
    """Measure; print the table."""
    size, dimension, bandwidth = arguments.size, arguments.dimension, arguments.bandwidth
    points, centres = (draw_vectors(size, dimension, arguments.length, seed) for seed in (1, 2))
    ours = partial(measure_log_density, points, centres, bandwidth, threads=1)
    if arguments.only_ours:
        ours()
        return
    some = points[: arguments.peer_points]
    ours_seconds, found = min((clock(ours) for _ in range(arguments.rounds)), key=lambda each: each[0])
    peer_seconds, peer = time_scikit_learn(some, centres, bandwidth, size)
    exact = compute_exactly(some, centres, bandwidth)
    peak = measure_peak()
    operations = 2 * size * size * dimension
    ratio, error = peer_seconds / ours_seconds, np.abs(found[: len(some)] - exact).max()
    share = f"{operations / peak / ours_seconds:.0%}"
    note(
        f"density, {size:,} x {size:,} x {dimension}", "scikit-learn's KernelDensity", f"{ratio:.0f}",
        ">= 100, within 1e-3 nats", bool(ratio >= 100 and error <= 1e-3),
        exact=f"{error:.1g} nats", share=share,
    )  # fmt: skip
    print(f"{size:,} points, {size:,} centres, {dimension} dimensions, h = {bandwidth:g}")
    print(f"scikit-learn: measured on {len(some):,} points, scaled to {size:,}")
    print(f"float32 matrix product: {peak / 1e9:.0f} GFLOP/s on one thread\n")
    print_table(
        ["way", "seconds", "ratio", "largest error, nats", "share of the limit"],
        [
            ["KernelDensity", f"{peer_seconds:.1f}", "1.0", f"{np.abs(peer - exact).max():.2g}", ""],
            [
                "ours", f"{ours_seconds:.1f}", f"{ratio:.0f}", f"{error:.2g}", share,
            ],
        ],
    )  # fmt: skip
    inputs = (points.nbytes + centres.nbytes) >> 20
    memory = measure_memory(*sys.argv[1:], "--only-ours")
    print(f"\npeak memory of ours: {memory} MB, of which embeddings {inputs} MB")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=25_000, help="points, and centres")
    parser.add_argument("--dimension", type=int, default=1024)
    parser.add_argument("--bandwidth", type=float, default=5.0)
    parser.add_argument("--length", type=float, default=20.0, help="length of all vectors")
    parser.add_argument("--peer-points", type=int, default=100, help="points that scikit-learn looks at")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--only-ours", action="store_true", help=argparse.SUPPRESS)
    run_program(parser, main)
