"""What to do next with a run: what is not settled, what nobody knows, and where metrics disagree."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from fathom.errors import InputError
from fathom.explorer.run import NO_RANKING, SUMMARY, Benchmark, Row, Run
from fathom.explorer.subfields import Keywords, sum_keywords
from fathom.statistics.aggregates import GEOMETRIC_MEAN, LEADING
from fathom.statistics.clusters import choose_clusters
from fathom.statistics.metrics import BITS_PER_BYTE
from fathom.statistics.sizing import POWERS, count_keywords, estimate_variances

UNKNOWN_RANK = 100
"""A keyword is one that no model knows if its best geometric mean rank is above this."""

FEWEST_PAIRS = 3
"""Pairs of a keyword below which nothing is said about it."""

ERROR = 0.05
"""Chance that any two models of a benchmark are called different by mistake."""

TOO_MANY = 1_000_000
"""Pairs above which two models are better called equal."""


class Unsettled(NamedTuple):
    """Two models that are not significantly different, and what would settle it.

    Attributes
    ----------
    better, worse : str
    factor : float
        Ratio of their geometric mean ranks, the worse one's over the better one's.
    pairs : int or None
        Pairs that find a difference of this size in 80 % of such benchmarks; None where more than
        TOO_MANY, or where the pilot cannot say it.
    keywords : int or None
        Keywords that these pairs belong to, or documents where there are no two keywords.
    """

    better: str
    worse: str
    factor: float
    pairs: int | None
    keywords: int | None


class UnknownKeyword(NamedTuple):
    """A keyword whose targets no model ranks high."""

    keyword: str
    pairs: int
    model: str
    rank: float


class Disagreement(NamedTuple):
    """Two models that ranks and bits per byte order differently."""

    by_rank: str
    by_text: str
    bits: tuple[float, float]
    certain: bool


def find_unsettled(benchmark: Benchmark) -> list[Unsettled]:
    """Return every two models that are not apart by geometric mean rank, the cheapest to settle first."""
    import numpy as np

    kept = ~benchmark.left_out
    clusters = choose_clusters(benchmark.kept).names
    found = []
    comparisons = benchmark.rankings.get(GEOMETRIC_MEAN.name, NO_RANKING).comparisons
    for row in comparisons:
        pair = (row.better, row.worse)
        if row.apart or any(model not in benchmark.ranks for model in pair):
            continue
        better, worse = (np.log(benchmark.ranks[model][kept]) for model in pair)
        # the smallest p of all must reach this share of the error
        needed = _count_needed(worse - better, clusters, 1 - ERROR / len(comparisons))
        factor = math.exp(float((worse - better).mean()))
        found.append(Unsettled(*pair, factor, *needed))
    return sorted(found, key=lambda each: (each.pairs or math.inf, each.better, each.worse))


def _count_needed(
    differences: object, clusters: list[str], confidence: float
) -> tuple[int | None, int | None]:
    """Return pairs and clusters for a significant difference, with as many pairs a cluster as now."""
    import numpy as np

    values = np.asarray(differences, dtype=np.float64)
    try:
        pilot = estimate_variances(values, clusters)
    except InputError:  # one pair, or no cluster with two: nothing to plan with
        return None, None
    each = max(1, round(pilot.pairs / pilot.keywords))
    spread = pilot.between + pilot.within / each
    if not pilot.difference or not spread or spread / pilot.difference**2 * 8 * each > TOO_MANY:
        return None, None
    count = count_keywords(pilot, each, pilot.difference, POWERS[0], confidence)
    return count * each, count


def find_unknown_keywords(benchmark: Benchmark, keywords: Keywords) -> list[UnknownKeyword]:
    """Return keywords with enough pairs whose best rank is above UNKNOWN_RANK, the least known first."""
    if not benchmark.ranks:
        return []
    models = list(benchmark.ranks)
    found = []
    for name, pairs, ranks in zip(
        keywords.names, keywords.pairs.tolist(), keywords.ranks.tolist(), strict=True
    ):
        best = min(range(len(models)), key=ranks.__getitem__)
        if ranks[best] > UNKNOWN_RANK and pairs >= FEWEST_PAIRS:
            found.append(UnknownKeyword(name, pairs, models[best], ranks[best]))
    return sorted(found, key=lambda each: (-each.rank, each.keyword))


def find_disagreements(benchmark: Benchmark, summary: Sequence[Row]) -> list[Disagreement]:
    """Return pairs of models that are apart by rank and that bits per byte orders the other way round.

    It is certain where the intervals of the bits per byte, in the rows of summary.csv, do not overlap.
    """
    bits = {
        row["model"]: (row["value"], row["ci_low"], row["ci_high"])
        for row in summary
        if row["domain"] == benchmark.domain and row["metric"] == BITS_PER_BYTE.name
    }
    found = []
    for row in benchmark.rankings.get(LEADING.name, NO_RANKING).comparisons:
        if not row.apart or row.better not in bits or row.worse not in bits:
            continue
        better, worse = bits[row.better], bits[row.worse]
        if worse[0] < better[0]:
            found.append(Disagreement(row.better, row.worse, (better[0], worse[0]), worse[2] < better[1]))
    return found


def describe_advice(benchmark: Benchmark, keywords: Keywords, summary: Sequence[Row]) -> dict[str, Any]:
    """Return what to do next on one benchmark, as lists."""
    found: dict[str, Sequence[tuple[Any, ...]]] = {
        "unsettled": find_unsettled(benchmark),
        "unknown": find_unknown_keywords(benchmark, keywords),
        "disagreements": find_disagreements(benchmark, summary),
    }
    lists = {name: [list(each) for each in some] for name, some in found.items()}
    return {**lists, "clusters": choose_clusters(benchmark.kept).kind}


def advise(run: Run) -> list[str]:
    """Return what to do next in a few lines, for a terminal; nothing for a run without comparisons."""
    lines = []
    for benchmark in run.benchmarks:
        where = f"{benchmark.domain}, {benchmark.variant}"
        unsettled = find_unsettled(benchmark)
        planned = [each for each in unsettled if each.pairs]
        if unsettled:
            text = f"{where}: {_count(len(unsettled), 'comparison')} not settled"
            if planned:
                first = planned[0]
                text += (
                    f"; {first.better} and {first.worse} by about {first.pairs:,} pairs of"
                    f" {first.keywords:,} {choose_clusters(benchmark.kept).kind}"
                )
            lines.append(f"{text}.")
        unknown = find_unknown_keywords(benchmark, sum_keywords(benchmark))
        if unknown:
            names = ", ".join(each.keyword for each in unknown[:3])
            more = ", ..." if len(unknown) > 3 else ""
            lines.append(f"{where}: {_count(len(unknown), 'keyword')} that no model knows ({names}{more}).")
        lines += [
            f"{where}: {each.by_rank} is ahead by rank, {each.by_text} by bits per byte."
            for each in find_disagreements(benchmark, run.rows.get(SUMMARY, []))
        ]
    return lines


def _count(number: int, what: str) -> str:
    """Return `1 keyword` or `2 keywords`."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"
