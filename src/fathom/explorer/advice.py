"""What to do next with a run: what is not settled, what nobody knows, and where metrics disagree."""

import math
from typing import NamedTuple

from fathom.errors import InputError
from fathom.explorer.run_tables import Benchmark, Run
from fathom.explorer.subfields import Keywords, sum_keywords
from fathom.statistics.aggregates import GEOMETRIC_MEAN, LEADING
from fathom.statistics.sizing import POWERS, count_keywords, estimate_variances

UNKNOWN_RANK = 100
"""A keyword is one that no model knows if its best geometric mean rank is above this."""

FEWEST_PAIRS = 3
"""Pairs of a keyword below which nothing is said about it."""

TOO_MANY = 1_000_000
"""Pairs above which two models are better called equal."""


class Unsettled(NamedTuple):
    """Two models that cannot be told apart, and what would settle it.

    Attributes
    ----------
    domain, variant, better, worse : str
    factor : float
        Ratio of their geometric mean ranks, the worse one's over the better one's.
    pairs : int or None
        Pairs that find a difference of this size in 80 % of such benchmarks; None where more than
        TOO_MANY, or where the pilot cannot say it.
    keywords : int or None
        Keywords that these pairs belong to.
    pairs_now : int
        Pairs that the benchmark has.
    """

    domain: str
    variant: str
    better: str
    worse: str
    factor: float
    pairs: int | None
    keywords: int | None
    pairs_now: int


class UnknownKeyword(NamedTuple):
    """A keyword whose targets no model ranks high."""

    domain: str
    variant: str
    keyword: str
    pairs: int
    model: str
    rank: float


class Disagreement(NamedTuple):
    """Two models that ranks and bits per byte order differently."""

    domain: str
    variant: str
    by_rank: str
    by_text: str
    bits: tuple[float, float]
    certain: bool


def find_unsettled(run: Run, benchmark: Benchmark) -> list[Unsettled]:
    """Return every two models that are not apart by geometric mean rank, the cheapest to settle first."""
    import numpy as np

    kept = ~benchmark.left_out
    keywords = benchmark.pairs["keyword"].to_numpy()[kept].tolist()
    found = []
    for row in run.compare(benchmark, GEOMETRIC_MEAN.name):
        pair = (row["better"], row["worse"])
        if row["apart"] == "yes" or any(model not in benchmark.ranks for model in pair):
            continue
        better, worse = (np.log(benchmark.ranks[model][kept]) for model in pair)
        needed = _count_needed(worse - better, keywords)
        factor = math.exp(float((worse - better).mean()))
        place = (benchmark.domain, benchmark.variant)
        found.append(Unsettled(*place, *pair, factor, *needed, len(keywords)))
    return sorted(found, key=lambda each: (each.pairs or math.inf, each.better, each.worse))


def _count_needed(differences: object, keywords: list[str]) -> tuple[int | None, int | None]:
    """Return pairs and keywords that would tell two models apart, with as many pairs a keyword as now."""
    import numpy as np

    values = np.asarray(differences, dtype=np.float64)
    try:
        pilot = estimate_variances(values, keywords)
    except InputError:  # one keyword, or no keyword with two pairs: nothing to plan with
        return None, None
    each = max(1, round(pilot.pairs / pilot.keywords))
    spread = pilot.between + pilot.within / each
    if not pilot.difference or not spread or spread / pilot.difference**2 * 8 * each > TOO_MANY:
        return None, None
    count = count_keywords(pilot, each, pilot.difference, POWERS[0])
    return count * each, count


def find_unknown_keywords(benchmark: Benchmark, keywords: Keywords | None = None) -> list[UnknownKeyword]:
    """Return keywords with enough pairs whose best rank is above UNKNOWN_RANK, the least known first."""
    if not benchmark.ranks:
        return []
    summed = sum_keywords(benchmark) if keywords is None else keywords
    models = list(benchmark.ranks)
    found = []
    for name, pairs, ranks in zip(summed.names, summed.pairs.tolist(), summed.ranks.tolist(), strict=True):
        best = min(range(len(models)), key=ranks.__getitem__)
        if ranks[best] > UNKNOWN_RANK and pairs >= FEWEST_PAIRS:
            where = (benchmark.domain, benchmark.variant)
            found.append(UnknownKeyword(*where, name, pairs, models[best], ranks[best]))
    return sorted(found, key=lambda each: (-each.rank, each.keyword))


def find_disagreements(run: Run, benchmark: Benchmark) -> list[Disagreement]:
    """Return pairs of models that are apart by rank and that bits per byte orders the other way round.

    It is certain where the intervals of the bits per byte do not overlap.
    """
    bits = {
        row["model"]: tuple(float(row[name] or "nan") for name in ("value", "ci_low", "ci_high"))
        for row in run.summary
        if row["domain"] == benchmark.domain and row["metric"] == "bits_per_byte"
    }
    found = []
    for row in run.compare(benchmark, LEADING.name):
        better, worse = row["better"], row["worse"]
        if row["apart"] != "yes" or better not in bits or worse not in bits:
            continue
        if bits[worse][0] < bits[better][0]:
            values = (bits[better][0], bits[worse][0])
            certain = bits[worse][2] < bits[better][1]
            found.append(Disagreement(benchmark.domain, benchmark.variant, better, worse, values, certain))
    return found


def advise(run: Run) -> list[str]:
    """Return what to do next in a few lines, for a terminal; nothing for a run without comparisons."""
    lines = []
    for benchmark in run.benchmarks:
        where = f"{benchmark.domain}, {benchmark.variant}"
        unsettled = find_unsettled(run, benchmark)
        planned = [each for each in unsettled if each.pairs]
        if unsettled:
            text = f"{where}: {_count(len(unsettled), 'comparison')} not settled"
            if planned:
                first = planned[0]
                text += (
                    f"; {first.better} and {first.worse} by about {first.pairs:,} pairs of"
                    f" {first.keywords:,} keywords"
                )
            lines.append(f"{text}.")
        unknown = find_unknown_keywords(benchmark)
        if unknown:
            names = ", ".join(each.keyword for each in unknown[:3])
            more = ", ..." if len(unknown) > 3 else ""
            lines.append(f"{where}: {_count(len(unknown), 'keyword')} that no model knows ({names}{more}).")
        lines += [
            f"{where}: {each.by_rank} is ahead by rank, {each.by_text} by bits per byte."
            for each in find_disagreements(run, benchmark)
        ]
    return lines


def _count(number: int, what: str) -> str:
    """Return `1 keyword` or `2 keywords`."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"
