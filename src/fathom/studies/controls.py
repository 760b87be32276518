"""Knowledge or style: a metric of models that were adapted to a domain's text, and to controls of it.

Four adaptations of one model with the same number of steps: the text as it is; its terms exchanged (the style
stays, the knowledge goes); only the sentences with terms; a far domain. A metric of knowledge puts the first
and the third ahead of the second and the fourth. All are measured on the same items and with the same seeds,
so each resample has the same items and errors of seeds for all of them, and differences are paired.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, product
from math import comb
from typing import Any

import polars as pl

from fathom.config.benchmark import VARIANTS
from fathom.config.models import Point
from fathom.config.scoring import Summary
from fathom.errors import InputError
from fathom.io.contracts.benchmark import PAIRS
from fathom.io.contracts.studies import AS_IS, BASE, BOTH, ONLY
from fathom.io.tables import read_table
from fathom.jobs.program import log
from fathom.statistics.bootstrap import Resampled
from fathom.statistics.clustered_tests import correct_family
from fathom.statistics.left_out import Key
from fathom.statistics.metrics import ATTRIBUTE_RATE, BITS_PER_BYTE, METRICS, PERPLEXITY
from fathom.statistics.summaries import format_number
from fathom.studies.following import CONTROLLED, Measured, Place, average_seeds


def find_ends(tracks: Mapping[str, Sequence[Point]]) -> dict[str, list[str]]:
    """Return the models at the end of each track, one per seed."""
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
        named = ", ".join(f"{name}: {size}" for name, size in sizes.items())
        raise InputError(
            f"controls differ in steps, tokens or seeds ({named})", "models.adapt", "give all the same"
        )


def count_once(
    scores: Mapping[Key, pl.DataFrame], files: Iterable[tuple[str, str, str]]
) -> dict[Key, pl.DataFrame]:
    """Return scores on the pairs of TF and TF-IDF together, without duplicates.

    Most pairs are in both benchmarks, so two verdicts would be one counted twice. Returned: under variant
    BOTH, for domains with both benchmarks; a pair in both is taken from TF.
    """
    texts = {tuple(key): read_table(path, PAIRS, ["pair_id", "prompt", "target"]) for *key, path in files}
    found: dict[Key, pl.DataFrame] = {}
    for domain, variant, model in scores:
        keys = [(domain, each) for each in VARIANTS]
        if variant != VARIANTS[0] or not all(key in texts and (*key, model) in scores for key in keys):
            continue
        frames = [scores[*key, model].join(texts[key], on="pair_id", maintain_order="left") for key in keys]
        every = pl.concat(frames)
        once = every.unique(["prompt", "target"], keep="first", maintain_order=True)
        if (domain, BOTH) not in {key[:2] for key in found}:
            log.info(
                "%s: %s of %s TF pairs are also TF-IDF pairs and count once",
                domain, f"{len(every) - len(once):,}", f"{len(frames[0]):,}",
            )  # fmt: skip
        found[domain, BOTH, model] = once.drop("prompt", "target")
    return found


def list_compared(domain: str, measured: Measured) -> list[Place]:
    """Return the metrics of a domain to compare: TF and TF-IDF together if both exist."""
    places = [place for place in sorted(measured) if place[0] == domain]
    together = any(place[1] == BOTH for place in places)
    return [place for place in places if not (together and place[1] in VARIANTS)]


def count_shares() -> int:
    """Return how many differences :func:`compare_shares` has of a condition, all metrics measured."""
    others = (PERPLEXITY, BITS_PER_BYTE, ATTRIBUTE_RATE)
    return comb(sum(map(len, CONTROLLED.values())) + len(others), 2)


def compare_conditions(
    domain: str,
    conditions: Mapping[str, str],
    tracks: Mapping[str, Sequence[Point]],
    measured: Measured,
    settings: Summary,
) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """Return the gains by each metric of models that read the text, its controls, and other domains.

    Raise `InputError` if conditions differ in steps, tokens or seeds. `conditions`: track by condition:
    `as-is`, `terms-exchanged`, `terms-only`, or the name of a far domain.

    Returns
    -------
    gains, contrasts : list of tuple
        Rows under CONTROLS and CONTRASTS; numbers are text.
    """
    check_steps(conditions, tracks)
    ends = find_ends(tracks)
    base = tracks[next(iter(conditions.values()))][0].model
    gains: list[tuple[Any, ...]] = []
    contrasts: list[tuple[Any, ...]] = []
    compared = list_compared(domain, measured)
    for place in (each for each in sorted(measured) if each[0] == domain):
        models = measured[place]
        whole = {BASE: models[base]} | {
            condition: average_seeds([models[name] for name in ends[track]], settings)
            for condition, track in conditions.items()
        }
        measure_gain = METRICS[place[2]].measure_gain
        gained = {name: measure_gain(each, whole[BASE]) for name, each in whole.items()}
        for condition, each in whole.items():
            seeds = 1 if condition == BASE else len(ends[conditions[condition]])
            gain = gained[condition]
            shown = [each, gain, *([gain / gained[AS_IS]] if AS_IS in gained else [])]
            numbers = [number for some in shown for number in some.estimate(settings.confidence)]
            texts = [*map(format_number, numbers), *[""] * (9 - len(numbers))]
            gains.append((*place, base, condition, seeds, *texts, each.items))
        if place in compared:
            contrasts += _contrast(place, base, gained, settings)
    return gains, contrasts


def compare_shares(
    domain: str,
    conditions: Mapping[str, str],
    tracks: Mapping[str, Sequence[Point]],
    measured: Measured,
    settings: Summary,
) -> Iterator[tuple[Any, ...]]:
    """Yield the difference of every two metrics in the share of the gain that a control keeps.

    Rows are under CONTROL_SHARES; numbers are text. One significant metric beside one that is not does not
    mean that they differ; this tests it.
    """
    if AS_IS not in conditions:
        return
    ends = find_ends(tracks)
    base = tracks[next(iter(conditions.values()))][0].model
    places = list_compared(domain, measured)

    def measure_gain(place: Place, condition: str) -> Resampled:
        models = measured[place]
        mean = average_seeds([models[name] for name in ends[conditions[condition]]], settings)
        return METRICS[place[2]].measure_gain(mean, models[base])

    for condition in (name for name in conditions if name != AS_IS):
        shares = {place: measure_gain(place, condition) / measure_gain(place, AS_IS) for place in places}
        compared = list(combinations(places, 2))
        gaps = [shares[first] - shares[second] for first, second in compared]
        judged = _judge(gaps, ("larger", "smaller"), settings)
        for (first, second), verdict in zip(compared, judged, strict=True):
            yield (domain, base, condition, *first[1:], *second[1:], *verdict)


def _contrast(
    place: Place, base: str, gained: Mapping[str, Resampled], settings: Summary
) -> Iterator[tuple[Any, ...]]:
    """Yield, for each condition with knowledge and each without, which one is ahead."""
    with_knowledge = [name for name in (AS_IS, ONLY) if name in gained]
    without = [name for name in gained if name not in (BASE, AS_IS, ONLY)]
    compared = list(product(with_knowledge, without))
    gaps = [gained[first] - gained[second] for first, second in compared]
    for names, verdict in zip(compared, _judge(gaps, ("ahead", "behind"), settings), strict=True):
        yield (*place, base, *names, *verdict)


def _judge(
    gaps: Sequence[Resampled], verdicts: tuple[str, str], settings: Summary
) -> Iterator[tuple[str, ...]]:
    for gap, (p, adjusted) in zip(gaps, correct_family([(gap, 0.0) for gap in gaps]), strict=True):
        found = gap.estimate(settings.confidence)
        apart = found.apart and adjusted <= 1 - settings.confidence
        verdict = verdicts[found.value < 0] if apart else "cannot be told"
        yield (*map(format_number, (*found, p, adjusted)), verdict)
