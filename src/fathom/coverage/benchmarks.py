"""Coverage of a domain by a benchmark, and its gaps [CompComp, Secs. 3.1 and 3.3]."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from fathom.config.coverage import Coverage
from fathom.coverage import density
from fathom.coverage.density import Values
from fathom.coverage.sets import Space, Vectors, draw_rows, resolve_bandwidth
from fathom.errors import InputError
from fathom.jobs.program import log

FLAT = 0.01
"""Standard deviation of log-densities, in nats, below which a bandwidth hardly shows differences."""


class Found(NamedTuple):
    """Coverage of a benchmark: numbers, and a table under COVERAGE_MAP."""

    report: dict[str, Any]
    map: pl.DataFrame


def measure_benchmark(
    space: Space, pairs: Vectors, names: pl.Series, settings: Coverage, device: str = "cpu", threads: int = 1
) -> Found:
    """Measure how far pairs cover the sentences of their domain.

    Raise `InputError` if all sentences have the same embedding. `pairs` (array of float32 of shape (n_pairs,
    dimension)): embeddings of the pairs, scaled as those of the sentences.
    """
    bandwidth = resolve_bandwidth(space, settings)
    points = space.vectors[space.points]
    of_space = density.measure_log_density(points, space.vectors, bandwidth, device, threads)
    of_pairs = density.measure_log_density(points, pairs, bandwidth, device, threads)
    check_spread(of_space, settings)
    drawn = space.vectors[draw_rows(space.sentences, len(pairs), "random")]
    of_drawn = density.measure_log_density(points, drawn, bandwidth, device, threads)
    gaps = density.find_gaps(of_space, of_pairs)
    large = density.find_gaps(of_space, of_pairs, settings.gap_percentile)
    places, explained = project(points, pairs)
    report = {
        **space.report,
        **describe_kernel(bandwidth, settings, of_space),
        "pairs": len(pairs),
        "coverage": float(1 - gaps.mean()),
        "coverage_at_random": float(1 - density.find_gaps(of_space, of_drawn).mean()),
        "gaps": int(gaps.sum()),
        "large_gaps": int(large.sum()),
        "correlation": density.replace_nan(density.correlate_densities(of_pairs, of_space)),
        "redundancy_of_pairs": density.replace_nan(density.measure_redundancy(pairs, device, threads)),
        "redundancy_of_domain": density.replace_nan(density.measure_redundancy(points, device, threads)),
        "explained_by_map": explained,
    }
    names = pl.concat([name_points(space), names])
    table = _tabulate(names, places, of_space - of_pairs, np.stack([gaps, large]))
    return Found(report, table)


def _tabulate(
    names: pl.Series, places: Values, differences: Values, marks: npt.NDArray[np.bool_]
) -> pl.DataFrame:
    """Return the table of a map; rows beyond those of `differences` are pairs."""
    pairs = len(names) - len(differences)
    return pl.DataFrame(
        {
            "kind": ["sentence"] * len(differences) + ["pair"] * pairs,
            "id": names,
            "x": places[:, 0],
            "y": places[:, 1],
            "difference": np.append(differences, np.full(pairs, np.nan)),
            "gap": np.append(marks[0], np.zeros(pairs, bool)),
            "large": np.append(marks[1], np.zeros(pairs, bool)),
        }
    )


def name_points(space: Space) -> pl.Series:
    """Return document and position of the sentences at which densities are compared."""
    table = space.sentences[space.points.tolist()]
    names: pl.Series = table.select(id=pl.format("{}:{}", "doc_id", "position"))["id"]
    return names


def check_spread(log_density: Values, settings: Coverage) -> None:
    """Raise `InputError` if a density is the same at every point; warn if nearly."""
    spread = float(log_density.std())
    where = f"coverage.bandwidth = {settings.bandwidth}, coverage.length = {settings.length:g}"
    if not spread > 0:
        raise InputError(
            "the density is the same at every point: embeddings are all the same, or the bandwidth is far "
            "too wide",
            where,
            "check the texts, or give a smaller bandwidth",
        )
    if spread < FLAT:
        log.info("log-densities differ by %.2g nats only: the bandwidth is wide (%s)", spread, where)


def describe_kernel(bandwidth: float, settings: Coverage, log_density: Values) -> dict[str, Any]:
    """Return the kernel of densities, and how much they differ between points, in nats."""
    return {
        "bandwidth": bandwidth,
        "bandwidth_rule": "scott" if settings.bandwidth == "scott" else "given",
        "length": settings.length,
        "spread": float(log_density.std()),
    }


_DECIMALS = 4


def project(points: Vectors, others: Vectors | None = None) -> tuple[Values, float]:
    """Project vectors on a plane: the first two principal components of some of them.

    Parameters
    ----------
    points : array of shape (n_points, dimension)
        What the components are computed from.
    others : array of shape (n_others, dimension), optional
        Vectors that are only placed.

    Returns
    -------
    places : array of float64 of shape (n_points + n_others, 2)
        Rounded to four decimals.
    explained : float
        Share of the variance of `points` that the plane shows.
    """
    from sklearn.decomposition import PCA
    from threadpoolctl import threadpool_limits

    every = points if others is None else np.concatenate([points, others])
    plane = PCA(n_components=min(2, *points.shape), svd_solver="covariance_eigh")
    with threadpool_limits(
        1, "blas"
    ):  # on several threads sums have a different order, and different last digits
        plane.fit(points.astype(np.float64))
        found = plane.transform(every.astype(np.float64))
    places = np.zeros((len(every), 2))
    places[:, : found.shape[1]] = np.round(found, _DECIMALS)
    return places + 0.0, float(plane.explained_variance_ratio_.sum())
