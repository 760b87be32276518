"""Sub-fields of a domain: groups of keywords by meaning, and how each model does on them.

Keywords are grouped by Ward's method on the unit vectors that the run embedded them with. A model's strength
on a sub-field is what is left of its mean log rank there once its own mean and the sub-field's mean over all
models are taken away: how many times better it ranks the targets than its rank on the whole benchmark and the
difficulty of the sub-field would let expect.
"""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from fathom.config.scoring import Summary
from fathom.explorer.run import Benchmark, Run
from fathom.statistics.bootstrap import draw_resamples

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

MOST = 16
"""Sub-fields of a domain at most: more do not fit on a screen."""


class Keywords(NamedTuple):
    """Keywords of a benchmark with the geometric mean ranks of every model.

    Attributes
    ----------
    names : list of str
        Sorted, shape (n_keywords,).
    pairs : ndarray of shape (n_keywords,), int64
        Pairs that count.
    logs : ndarray of shape (n_keywords, n_models), float64
        Sums of log ranks over those pairs; models by name.
    """

    names: list[str]
    pairs: "NDArray[np.int64]"
    logs: "Array"

    @property
    def ranks(self) -> "Array":
        """Geometric mean ranks, shape (n_keywords, n_models)."""
        import numpy as np

        return np.asarray(np.exp(self.logs / self.pairs[:, None]))


class Strengths(NamedTuple):
    """How each model does on each sub-field.

    Attributes
    ----------
    rank : ndarray of shape (n_subfields, n_models), float64
        Geometric mean rank.
    factor, low, high : ndarray of shape (n_subfields, n_models), float64
        How many times better than expected, with the interval over keywords; above 1 is strong.
    """

    rank: "Array"
    factor: "Array"
    low: "Array"
    high: "Array"


def sum_keywords(benchmark: Benchmark) -> Keywords:
    """Sum up the log ranks of every keyword; only pairs that count."""
    import numpy as np

    kept = ~benchmark.left_out
    names, codes = np.unique(benchmark.pairs["keyword"].to_numpy()[kept], return_inverse=True)
    pairs = np.bincount(codes, minlength=len(names))
    logs = [
        np.bincount(codes, np.log(ranks[kept]), minlength=len(names)) for ranks in benchmark.ranks.values()
    ]
    shape = (len(names), len(logs))
    return Keywords([str(name) for name in names], pairs, np.array(logs, dtype=np.float64).T.reshape(shape))


def group_keywords(vectors: "Array", names: Sequence[str]) -> tuple[list[str], "NDArray[np.int64]"]:
    """Group keywords by meaning.

    Parameters
    ----------
    vectors : ndarray of shape (n_keywords, n_dimensions), float64
        Unit vectors.
    names : sequence of str
        The keywords.

    Returns
    -------
    labels : list of str
        What each sub-field is called: its two keywords nearest to its mean.
    codes : ndarray of shape (n_keywords,), int64
        The sub-field of each keyword; larger sub-fields come first.
    """
    import numpy as np
    from scipy.cluster.hierarchy import fcluster, linkage

    count = min(MOST, max(1, round(len(names) ** 0.5)))
    if len(names) < 4 or count == 1:
        return ["all keywords"], np.zeros(len(names), dtype=np.int64)
    found = fcluster(linkage(vectors, "ward"), count, "maxclust")
    groups = [np.flatnonzero(found == code) for code in np.unique(found)]
    groups.sort(key=lambda group: (-len(group), names[int(group[0])]))
    labels, codes = [], np.zeros(len(names), dtype=np.int64)
    for code, group in enumerate(groups):
        codes[group] = code
        near = vectors[group] @ vectors[group].mean(axis=0)
        nearest = sorted(
            (-round(float(value), 9), names[int(place)]) for value, place in zip(near, group, strict=True)
        )
        labels.append(", ".join(name for _, name in nearest[:2]))
    return labels, codes


def group_domains(run: Run) -> dict[str, tuple[list[str], dict[str, int]]]:
    """Return the sub-fields of each domain and those of its keywords, the same for all its benchmarks."""
    import numpy as np

    found = {}
    for domain, vectors in run.vectors.items():
        names = {
            keyword
            for benchmark in run.benchmarks
            if benchmark.domain == domain
            for keyword in benchmark.kept["keyword"].unique().to_list()
        }
        known = sorted(names & set(vectors))
        if known:
            labels, codes = group_keywords(np.array([vectors[name] for name in known]), known)
            found[domain] = labels, dict(zip(known, codes.tolist(), strict=True))
    return found


def describe_keywords(
    keywords: Keywords, subfields: tuple[list[str], Mapping[str, int]], settings: Summary
) -> dict[str, Any]:
    """Return keywords with ranks, and sub-fields with strengths if every keyword belongs to one."""
    found: dict[str, Any] = {"keywords": [], "pairs": [], "ranks": [], "codes": [], "subfields": []}
    if not keywords.logs.size:
        return found
    labels, codes = subfields
    found |= {"keywords": keywords.names, "pairs": keywords.pairs.tolist(), "ranks": _round(keywords.ranks)}
    if all(name in codes for name in keywords.names):
        used = sorted({codes[name] for name in keywords.names})
        found["codes"] = [used.index(codes[name]) for name in keywords.names]
        columns = [_round(each) for each in measure_strengths(keywords, found["codes"], settings)]
        found["subfields"] = [
            [labels[code], *(column[place] for column in columns)] for place, code in enumerate(used)
        ]
    return found


def _round(values: "Array") -> list[list[float | None]]:
    """Return numbers with five significant digits, None for what is not finite."""
    return [
        [float(f"{value:.5g}") if math.isfinite(value) else None for value in row] for row in values.tolist()
    ]


def measure_strengths(keywords: Keywords, codes: Sequence[int], settings: Summary) -> Strengths:
    """Measure how each model does on each sub-field, with intervals from a bootstrap over keywords.

    Parameters
    ----------
    keywords : Keywords
    codes : sequence of int
        The sub-field of each keyword.
    settings : Summary

    Returns
    -------
    Strengths
        Ends of an interval are NaN where a resample rarely has a keyword of the sub-field.
    """
    import numpy as np

    member = np.zeros((max(codes) + 1, len(codes)))
    member[list(codes), range(len(codes))] = 1.0
    once = np.ones((1, len(codes)))
    rank, residual = _take_residuals(once, member, keywords)
    drawn = draw_resamples(len(codes), settings).astype(np.float64)
    # sub-field by sub-field: all resamples of all at once would be large
    ends = []
    residuals = _take_residuals(drawn, member, keywords)[1]
    tail = (1 - settings.confidence) / 2
    enough = np.isfinite(residuals[:, :, :1]).mean(axis=0) > 0.9
    with np.errstate(all="ignore"):
        filled = np.where(np.isfinite(residuals), residuals, np.nan)
        for share in (tail, 1 - tail):
            end = np.nanquantile(np.where(enough, filled, 0.0), share, axis=0)
            ends.append(np.where(enough, end, np.nan))
    # a residual below 0 is a lower, better rank: the factor turns round
    return Strengths(np.exp(rank[0]), np.exp(-residual[0]), np.exp(-ends[1]), np.exp(-ends[0]))


def _take_residuals(drawn: "Array", member: "Array", keywords: Keywords) -> tuple["Array", "Array"]:
    """Return mean log ranks and their residuals by resample, sub-field and model.

    Parameters
    ----------
    drawn : ndarray of shape (n_resamples, n_keywords), float64
    member : ndarray of shape (n_subfields, n_keywords), float64
    keywords : Keywords
    """
    import numpy as np

    pairs = keywords.pairs.astype(np.float64)
    shape = (len(drawn), len(member), keywords.logs.shape[1])
    sums = np.empty(shape)
    counts = np.empty(shape[:2])
    for place, row in enumerate(member):
        sums[:, place] = (drawn * row) @ keywords.logs
        counts[:, place] = (drawn * row) @ pairs
    with np.errstate(invalid="ignore", divide="ignore"):
        means = sums / counts[:, :, None]
    overall = (drawn @ keywords.logs) / (drawn @ pairs)[:, None]
    expected = overall[:, None, :] + means.mean(axis=2, keepdims=True) - overall.mean(axis=1)[:, None, None]
    return means, means - expected
