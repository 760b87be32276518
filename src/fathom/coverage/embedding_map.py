"""A map of embeddings: two principal components."""

import numpy as np

from fathom.coverage.density import Values, Vectors

_DECIMALS = 4


def project(points: Vectors, others: Vectors | None = None) -> tuple[Values, float]:
    """Return where vectors lie on a plane: the first two principal components of some of them.

    Parameters
    ----------
    points : array of shape (n_points, dimension)
        What the components are computed from.
    others : array of shape (n_others, dimension), optional
        Vectors that are only placed.

    Returns
    -------
    places : array of float64 of shape (n_points + n_others, 2)
        Rounded to four decimals, far above what the number of cores could change.
    explained : float
        Share of the variance of `points` that the plane shows.
    """
    from sklearn.decomposition import PCA

    every = points if others is None else np.concatenate([points, others])
    plane = PCA(n_components=min(2, *points.shape), svd_solver="covariance_eigh")
    plane.fit(points.astype(np.float64))
    found = plane.transform(every.astype(np.float64))
    places = np.zeros((len(every), 2))
    places[:, : found.shape[1]] = np.round(found, _DECIMALS)
    return places + 0.0, float(plane.explained_variance_ratio_.sum())
