"""An order of texts in which any first part covers as much as it can: each next one fills the largest gap."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from fathom.errors import InputError

Values = npt.NDArray[np.float64]


def order_by_gaps(density: Values, kernel: Callable[[int], Values]) -> npt.NDArray[np.int64]:
    """Return texts in an order: the densest place first, then where what was taken is thinnest beside it.

    The gap at a text is the log-density of what is to be covered less that of the texts taken so far, as in
    [CompComp, Sec. 3.3]; here the largest one is filled, by the text itself, until none is left.

    Parameters
    ----------
    density : ndarray of shape (n_texts,), float64
        Log-density, at each text, of what is to be covered.
    kernel : callable
        Takes the number of a text; returns its kernel's logarithm at every text, of shape (n_texts,).

    Returns
    -------
    ndarray of shape (n_texts,), int64
        Numbers of texts; of equal gaps, the first one is filled first.

    Raises
    ------
    InputError
        If there are no texts, or a density is not finite.
    """
    if not len(density):
        raise InputError("there is nothing to order", "texts", "give one or more")
    if not np.isfinite(density).all():
        raise InputError("a density is not finite", "density", "check embeddings and bandwidth")
    gaps, taken, order = density.copy(), np.full(len(density), -np.inf), []
    left = np.ones(len(density), dtype=bool)
    for _ in range(len(density)):
        chosen = int(np.argmax(np.where(left, gaps, -np.inf)))
        order.append(chosen)
        left[chosen] = False
        taken = np.logaddexp(taken, kernel(chosen))
        gaps = density - taken
    return np.array(order, dtype=np.int64)


def measure_kernels(vectors: npt.NDArray[np.float32], bandwidth: float) -> Values:
    """Return the logarithms of Gaussian kernels, of shape (n_texts, n_texts).

    Parameters
    ----------
    vectors : ndarray of shape (n_texts, dimension), float32
    bandwidth : float
        h, in the units of the vectors.
    """
    inputs = vectors.astype(np.float64)
    lengths = np.einsum("ij,ij->i", inputs, inputs)
    squares = lengths[:, None] + lengths[None, :] - 2 * inputs @ inputs.T
    return np.asarray(np.minimum(-squares / (2 * bandwidth**2), 0.0))
