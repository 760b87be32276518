"""How metrics after each stage of continual pretraining relate to its domain and to the reference.

Source: [RawCorpora, Sec. 4.3, Figs. 6, 17-19], [BeyondBenchmarks, Sec. 3.1.2, Fig. 4].

Correlations are over stages. These follow each other in one training, so their intervals, from a bootstrap
that takes stages for independent, are narrower than they should be.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fathom.config.benchmark import REFERENCE, VARIANTS
from fathom.config.scoring import Summary
from fathom.errors import InputError
from fathom.io.contracts.studies import ALL_SEEDS
from fathom.statistics.aggregates import LEADING
from fathom.statistics.bootstrap import start_random
from fathom.statistics.correlations import correlate_series
from fathom.statistics.metrics import RANK

Array = NDArray[np.float64]

SIMILARITY = "similarity"
EXTREMA = "minima_minus_maxima"
"""Statistic: mean similarity of the domains after which the metric has a minimum, less that of maxima."""
_PLACE = ("variant", "metric", "aggregate")
BY_SIMILARITY = (SIMILARITY, "", "")
"""What a metric goes with: columns `with`, `with_metric` and `with_aggregate`."""


def select_stages(rows: pl.DataFrame, order: pl.DataFrame) -> pl.DataFrame:
    """Return the rows at the start and at each stage's end, with similarities and extrema.

    Raise `InputError` if the order lacks a domain of the training. `rows`: of one track on one domain, under
    contract FOLLOWING; the mean over seeds where there are several. Returned: the columns of FOLLOWING;
    `similarity` of the stage's domain with the evaluation domain, null at the start; `extremum`: minimum,
    maximum or empty, by comparison with the stages before and after.
    """
    seed = ALL_SEEDS if ALL_SEEDS in rows["seed"] else rows["seed"][0]
    ends = (
        rows.filter(seed=seed)
        .sort(*_PLACE, "stage", "step")
        .unique([*_PLACE, "stage"], keep="last", maintain_order=True)
    )
    names = order.select(pl.col("domain").alias("trained_on"), SIMILARITY)
    found = ends.join(names, on="trained_on", how="left", maintain_order="left")
    missing = found.filter(pl.col(SIMILARITY).is_null() & (pl.col("stage") > 0))
    if not missing.is_empty():
        raise InputError(f"the order of domains lacks {missing['trained_on'][0]!r}", "", "make it again")
    before, after = (pl.col("value").shift(step).over(_PLACE) for step in (1, -1))
    value = pl.col("value")
    kind = (
        pl.when((value < before) & (value < after)).then(pl.lit("minimum"))
        .when((value > before) & (value > after)).then(pl.lit("maximum"))
        .otherwise(pl.lit(""))
    )  # fmt: skip
    return found.with_columns(kind.alias("extremum"))


def relate_stages(stages: pl.DataFrame, settings: Summary) -> list[tuple[Any, ...]]:
    """Return how each metric goes with the similarity of the stage's domain, and with the reference.

    Returned: under RELATIONS. Similarity is over all stages but the start; the reference over the start too.
    A metric of pairs goes with the same metric of the reference and with its rank, both of the same aggregate
    where there is one; what is measured on text or keywords with every metric of the reference.
    """
    found: list[tuple[Any, ...]] = []
    track, domain = stages["track"][0], stages["domain"][0]
    for place, some in stages.group_by(_PLACE, maintain_order=True):
        for other, one, two in _pair_series(stages, some, *map(str, place)):
            relations = correlate_series(one, two, settings)
            found += [(track, domain, *place, *other, *each, len(one)) for each in relations]
        found.append((track, domain, *place, *BY_SIMILARITY, EXTREMA, *_compare_extrema(some, settings)))
    return found


def _pair_series(
    stages: pl.DataFrame, some: pl.DataFrame, variant: str, metric: str, aggregate: str
) -> Iterator[tuple[tuple[str, str, str], Array, Array]]:
    """Yield what a metric goes with, as columns `with` to `with_aggregate`, and the values of both."""
    trained = some.filter(pl.col("stage") > 0)
    yield BY_SIMILARITY, trained["value"].to_numpy(), trained[SIMILARITY].to_numpy()
    references = stages.filter(variant=REFERENCE).partition_by("metric", "aggregate", as_dict=True)
    same = (RANK.name, aggregate if metric == RANK.name else LEADING.name)
    wanted = [same, (metric, aggregate)] if variant in (REFERENCE, *VARIANTS) else [*references]
    for other in dict.fromkeys(wanted):
        if other not in references or (variant, metric, aggregate) == (REFERENCE, *other):
            continue
        reference = references[other].select("stage", other="value")
        both = some.join(reference, on="stage", maintain_order="left")
        found = (REFERENCE, str(other[0]), str(other[1]))
        yield found, both["value"].to_numpy(), both["other"].to_numpy()


def _compare_extrema(some: pl.DataFrame, settings: Summary) -> tuple[Any, ...]:
    """Return the difference in similarity of minima and maxima, p by permutation, and their number."""
    trained = some.filter(pl.col("stage") > 0)
    similarity = trained[SIMILARITY].to_numpy()
    low, high = ((trained["extremum"] == kind).to_numpy() for kind in ("minimum", "maximum"))
    count, nan = int(low.sum() + high.sum()), float("nan")
    if not low.any() or not high.any():
        return nan, nan, nan, nan, count
    drawn = start_random("extrema", settings).permuted(np.tile(similarity, (settings.rounds, 1)), axis=1)
    value = similarity[low].mean() - similarity[high].mean()
    chance = drawn[:, low].mean(axis=1) - drawn[:, high].mean(axis=1)
    p = (1 + int((np.abs(chance) >= abs(value) - 1e-12).sum())) / (1 + len(chance))
    return float(value), nan, nan, p, count
