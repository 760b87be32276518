"""Principal components of standardised scores, and how the first one follows training compute.

Source: [TrainBeforeTest, Sec. 3.4].
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fathom.jobs.program import log
from fathom.ranking.resampled_scores import ALL, ResampledScores, Statistic
from fathom.ranking.table import FEWEST_MODELS
from fathom.statistics.correlations import spread_left_out
from fathom.statistics.summaries import format_number

Array = NDArray[np.float64]

FEWEST_POINTS = 3
"""Models of known compute from which there is a correlation with it."""

_CELLS = 1_000_000  # numbers worked on at once


@dataclass(frozen=True)
class Components:
    """Principal components of a table and of its resamples.

    Attributes
    ----------
    shares : ndarray of shape (n_rounds, n_components)
        Share of the variance that each component explains; in a `Spectrum` of shape
        (1 + n_models, n_components), see :func:`fathom.statistics.correlations.spread_left_out`.
    scores : ndarray of shape (n_rounds, n_models)
        Scores of all models on the first component, drawn or not; higher is better.
    """

    shares: Array
    scores: Array
    benchmarks: NDArray[np.bool_]


def find_components(scores: Array, counts: Array, number: int) -> Components:
    """Return the principal components of standardised scores.

    Each column is scaled to mean 0 and standard deviation 1 over the models of a resample, so that every
    benchmark counts alike, whatever its unit.

    Parameters
    ----------
    counts : ndarray of shape (n_rounds, n_models)
        Number of times each model was drawn in each resample.
    number : int
        Number of components to return; NaN beyond those that exist.
    """
    varies = _vary(scores)
    scores = scores[:, varies]
    if not varies.any():
        empty = np.full((len(counts), number), np.nan)
        return Components(empty, np.full(counts.shape, np.nan), varies)
    # shifting by the mean first keeps the weighted squares from cancelling
    scores = (scores - scores.mean(axis=0)) / scores.std(axis=0)
    rows = max(1, _CELLS // scores.size)
    parts = [_decompose(scores, counts[at : at + rows], number) for at in range(0, len(counts), rows)]
    shares, places = (np.concatenate([part[which] for part in parts]) for which in (0, 1))
    return Components(shares, places, varies)


def _decompose(scores: Array, counts: Array, number: int) -> tuple[Array, Array]:
    """Return shares of the variance and scores on the first component, of each resample."""
    total = counts.sum(axis=1)[:, None]
    means = counts @ scores / total
    spread = np.sqrt(np.maximum(counts @ scores**2 / total - means**2, 0.0))
    # a benchmark on which the drawn models are alike adds nothing in that round
    scale = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 1e-9)
    standard = (scores[None] - means[:, None, :]) * scale[:, None, :]
    table = np.swapaxes(standard, 1, 2) @ (standard * (counts / total)[:, :, None])
    values, vectors = np.linalg.eigh(table)
    values = np.maximum(values[:, ::-1], 0.0)
    shares = np.full((len(counts), number), np.nan)
    kept = min(number, values.shape[1])
    total = values.sum(axis=1, keepdims=True)
    np.divide(values[:, :kept], total, out=shares[:, :kept], where=total > 0)
    first = vectors[:, :, -1] * np.where(vectors[:, :, -1].sum(axis=1) < 0, -1.0, 1.0)[:, None]
    return shares, np.einsum("rmb,rb->rm", standard, first)


def _vary(scores: Array) -> NDArray[np.bool_]:
    size = np.abs(scores).max(axis=0)
    return np.asarray(np.ptp(scores, axis=0) > 1e-12 * np.where(size > 0, size, 1.0))


def correlate_weighted(first: Array, second: Array, counts: Array) -> Array:
    """Return Pearson's r, (n_rounds,), of two series over the models of each resample.

    NaN with fewer than three different models, or if a series is constant; a count of 0 leaves a model out.
    """
    second = np.broadcast_to(second, first.shape)
    total = np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    centred = [values - (counts * values).sum(axis=1, keepdims=True) / total for values in (first, second)]
    above = (counts * centred[0] * centred[1]).sum(axis=1)
    below = np.sqrt((counts * centred[0] ** 2).sum(axis=1) * (counts * centred[1] ** 2).sum(axis=1))
    usable = (below > 1e-12) & ((counts > 0).sum(axis=1) >= FEWEST_POINTS)
    return np.asarray(np.divide(above, below, out=np.full(above.shape, np.nan), where=usable))


@dataclass(frozen=True)
class Spectrum:
    """Principal components of one condition over one group of models.

    `models`: their rows in the table.
    """

    condition: str
    group: str
    components: Components
    counts: Array
    models: list[int]


def find_spectra(resampled: ResampledScores) -> list[Spectrum]:
    """Return the components in each condition, over all models and over the configured family.

    Models without a score on some benchmark are left out, and benchmarks on which all models are equal; both
    are logged.
    """
    table, family = resampled.table, resampled.settings.ranking.one_family
    downstream = table.downstream
    complete = np.asarray(~np.isnan(table.scores[:, :, downstream]).any(axis=(0, 2)))
    if not complete.all():
        left = [model.title for model, whole in zip(table.models, complete, strict=True) if not whole]
        log.info("components: %s models lack a score and are left out: %s", len(left), ", ".join(left))
    found = []
    for group in [ALL, *([family] if family else [])]:
        chosen = complete & resampled.choose_models(group)
        models = np.flatnonzero(chosen)
        if len(models) < FEWEST_MODELS:
            log.info("components of %s: %s models are too few", group, len(models))
            continue
        counts = resampled.draw_models(chosen)[:, models]
        for place, condition in enumerate(table.conditions):
            scores = resampled.oriented[place][models][:, downstream]
            components = _find_with_jackknife(scores, counts, resampled.settings.ranking.components)
            if not components.benchmarks.all():
                flat = [table.benchmarks[column].name for column, varies
                        in zip(downstream, components.benchmarks, strict=True) if not varies]  # fmt: skip
                log.info("components of %s, %s: the same for all models, left out: %s", group, condition,
                         ", ".join(flat))  # fmt: skip
            found.append(Spectrum(condition, group, components, counts, models.tolist()))
    return found


def _find_with_jackknife(scores: Array, counts: Array, number: int) -> Components:
    """Return the components of a table and of its resamples, with the jackknife's rows for the shares.

    Copies of models make the standard deviation of a share over resamples smaller than its standard error.
    """
    found = find_components(scores, np.concatenate([counts, 1 - np.eye(len(scores))]), number)
    rows = spread_left_out(found.shares[0], found.shares[len(counts) :])
    return Components(rows, found.scores[: len(counts)], found.benchmarks)


def _name_share(spectrum: Spectrum, name: str, values: Array) -> Statistic:
    return Statistic(spectrum.condition, name, values, least=0.0, models=len(spectrum.models), odds=True)


def tabulate_shares(spectra: list[Spectrum], resampled: ResampledScores) -> list[tuple[Any, ...]]:
    """Return the rows of pca.csv."""
    rows = []
    for each in spectra:
        size = (len(each.models), int(each.components.benchmarks.sum()))
        shares = each.components.shares
        columns = {f"PC{number}": column for number, column in enumerate(shares.T, start=1)}
        for name, values in (columns | {f"PC1 to PC{len(columns)}": _add_up(shares)}).items():
            numbers = resampled.format_statistic(_name_share(each, name, values))
            rows.append((each.condition, each.group, name, *numbers, *size))
    return rows


def _add_up(shares: Array) -> Array:
    """Return the sum of shares; a table of few benchmarks has fewer components."""
    return np.where(np.isnan(shares[:, 0]), np.nan, np.nansum(shares, axis=1))


def tabulate_first(spectra: list[Spectrum], resampled: ResampledScores) -> list[tuple[Any, ...]]:
    """Return the rows of pc1.csv: each model's score on the first component, best first."""
    rows = []
    for each in spectra:
        scores = each.components.scores
        for column in np.argsort(-scores[0], kind="stable").tolist():
            model = resampled.table.models[each.models[column]]
            compute = "" if model.compute is None else format_number(float(np.log10(model.compute)))
            numbers = resampled.format(scores[:, column], -math.inf, math.inf)
            rows.append((each.condition, each.group, model.name, *numbers, compute))
    return rows


def summarize_components(spectra: list[Spectrum], resampled: ResampledScores) -> list[Statistic]:
    """Return the variance that the first components explain, and how the first one follows compute."""
    found: list[Statistic] = []
    for each in spectra:
        end = "" if each.group == ALL else f"_{each.group}"
        shares = each.components.shares
        found.append(_name_share(each, f"pc1_share{end}", shares[:, 0]))
        name = f"first_{shares.shape[1]}_components_share{end}"
        found.append(_name_share(each, name, _add_up(shares)))
        found.extend(_compare_compute(each, end, resampled))
    return found


def _compare_compute(spectrum: Spectrum, end: str, resampled: ResampledScores) -> Iterator[Statistic]:
    """Yield Pearson's r and tau-b of the first component with the logarithm of training compute."""
    compute = [resampled.table.models[place].compute for place in spectrum.models]
    known = np.array([value is not None for value in compute])
    if known.sum() < FEWEST_POINTS:
        return
    logs = np.log10(np.array([value or 1.0 for value in compute]))
    counts = spectrum.counts * known
    scores = spectrum.components.scores
    yield Statistic(spectrum.condition, f"pc1_compute_pearson{end}", correlate_weighted(scores, logs, counts))
    yield Statistic(spectrum.condition, f"pc1_compute_tau{end}", _measure_tau_of_rounds(scores, logs, counts))


def _measure_tau_of_rounds(first: Array, second: Array, counts: Array) -> Array:
    """Return tau-b of one series per round, of shape (n_rounds, n_models), with a fixed series."""
    upper = np.triu_indices(len(second), 1)
    weights = counts[:, upper[0]] * counts[:, upper[1]]
    signs = [np.sign(values[..., upper[0]] - values[..., upper[1]]) for values in (first, second)]
    below = np.sqrt((weights * signs[0] ** 2).sum(axis=1) * (weights * signs[1] ** 2).sum(axis=1))
    above = (weights * signs[0] * signs[1]).sum(axis=1)
    return np.asarray(np.divide(above, below, out=np.full(above.shape, np.nan), where=below > 0))
