"""Knowledge or style: a metric of models that were adapted to a domain's text, and to controls of it.

Four adaptations of one model with the same number of steps: the text as it is; its terms exchanged (the style
stays, the knowledge goes); only the sentences with terms; a far domain. A metric of knowledge puts the first
and the third ahead of the second and the fourth. All are measured on the same items and with the same seeds,
so each resample draws the same of both for all of them, and differences are paired.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from fathom.config.following import Point
from fathom.config.scoring import Summary
from fathom.errors import InputError
from fathom.io.contracts.scoring import AS_IS, BASE, ONLY
from fathom.statistics.aggregates import find_interval
from fathom.statistics.metrics import METRICS
from fathom.statistics.summaries import format_number
from fathom.studies.following import Measured, Place, Series, average_seeds


def measure_gain(metric: str, series: Series, base: Series) -> Series:
    """Return how much better a model is than its base, as ln of the factor or as difference."""
    sign = METRICS[metric].sign
    if METRICS[metric].is_factor:
        value = float(np.log(series.value / base.value))
        return Series(sign * value, sign * np.log(series.drawn / base.drawn), series.items)
    return Series(sign * (series.value - base.value), sign * (series.drawn - base.drawn), series.items)


def find_ends(tracks: Mapping[str, Sequence[Point]]) -> dict[str, list[str]]:
    """Return the models at the end of each track, one for each seed."""
    return {
        name: [point.model for point in points if point.step == max(each.step for each in points)]
        for name, points in tracks.items()
    }


def check_steps(conditions: Mapping[str, str], tracks: Mapping[str, Sequence[Point]]) -> None:
    """Raise `InputError` unless all conditions have as many steps, tokens and seeds."""
    sizes = {
        condition: (
            max(point.step for point in tracks[name]),
            max(point.tokens for point in tracks[name]),
            len({point.seed for point in tracks[name]}),
        )
        for condition, name in conditions.items()
    }
    if len(set(sizes.values())) > 1:
        told = ", ".join(f"{name}: {size}" for name, size in sizes.items())
        raise InputError(
            f"controls differ in steps, tokens or seeds ({told})", "models.adapt", "give all the same"
        )


def compare_conditions(
    domain: str,
    conditions: Mapping[str, str],
    tracks: Mapping[str, Sequence[Point]],
    measured: Measured,
    settings: Summary,
) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """Return what each metric says of models that read the text, its controls, and other domains.

    Parameters
    ----------
    domain : str
        That they are measured on.
    conditions : mapping of str to str
        Track by condition: `as-is`, `terms-exchanged`, `terms-only`, or the name of a far domain.
    tracks : mapping of str to sequence of Point
    measured : dict
        See :func:`fathom.studies.following.follow_tracks`.
    settings : Summary

    Returns
    -------
    gains, contrasts : list of tuple
        Rows under CONTROL_COLUMNS and CONTRAST_COLUMNS; numbers are text.

    Raises
    ------
    InputError
        If conditions differ in steps, tokens or seeds.
    """
    check_steps(conditions, tracks)
    ends = find_ends(tracks)
    base = tracks[next(iter(conditions.values()))][0].model
    gains: list[tuple[Any, ...]] = []
    contrasts: list[tuple[Any, ...]] = []
    for place in (each for each in sorted(measured) if each[0] == domain):
        models = measured[place]
        whole = {BASE: models[base]} | {
            condition: average_seeds([models[name] for name in ends[track]], settings)
            for condition, track in conditions.items()
        }
        gained = {name: measure_gain(place[2], each, whole[BASE]) for name, each in whole.items()}
        for condition, each in whole.items():
            seeds = 1 if condition == BASE else len(ends[conditions[condition]])
            gain = gained[condition]
            numbers = (*estimate_series(each, settings), *estimate_series(gain, settings))
            share = (
                estimate_series(_divide(gain, gained[AS_IS]), settings)
                if AS_IS in gained
                else [float("nan")] * 3
            )
            texts = map(format_number, (*numbers, *share))
            gains.append((*place, base, condition, seeds, *texts, each.items))
        contrasts += _contrast(place, base, gained, settings)
    return gains, contrasts


def _contrast(
    place: Place, base: str, gained: Mapping[str, Series], settings: Summary
) -> Iterator[tuple[Any, ...]]:
    """Yield, for each condition with knowledge and each without, which one is ahead."""
    with_knowledge = [name for name in (AS_IS, ONLY) if name in gained]
    without = [name for name in gained if name not in (BASE, AS_IS, ONLY)]
    for first in with_knowledge:
        for second in without:
            value, low, high = estimate_series(
                Series(
                    gained[first].value - gained[second].value, gained[first].drawn - gained[second].drawn, 0
                ),
                settings,
            )
            verdict = "ahead" if low > 0 else "behind" if high < 0 else "cannot be told"
            yield (*place, base, first, second, *map(format_number, (value, low, high)), verdict)


def _divide(gain: Series, whole: Series) -> Series:
    """Return which share of a gain another one is; NaN where that is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        drawn = np.divide(gain.drawn, whole.drawn)
    value = gain.value / whole.value if whole.value else float("nan")
    return Series(value, np.where(np.isfinite(drawn), drawn, np.nan), gain.items)


def estimate_series(series: Series, settings: Summary) -> tuple[float, float, float]:
    """Return a value with its interval, NaN if most resamples have none."""
    drawn = series.drawn[~np.isnan(series.drawn)]
    if len(drawn) < len(series.drawn) / 2:
        return series.value, float("nan"), float("nan")
    low, high = find_interval(drawn, settings.confidence)
    return series.value, float(low), float(high)
