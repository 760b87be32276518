"""The ranks of models on each domain, as figures and tables read them from `summary.csv`."""

import math
from dataclasses import dataclass, field
from pathlib import Path

from fathom.config.benchmark import REFERENCE, VARIANTS
from fathom.errors import InputError
from fathom.figures.style import VARIANT_SERIES
from fathom.io.contracts.statistics import SUMMARY
from fathom.io.delimited import scan_rows
from fathom.jobs.program import log
from fathom.statistics.aggregates import LEADING, Statistic
from fathom.statistics.metrics import RANK, Metric


@dataclass(frozen=True)
class Rank:
    """One statistic of ranks with its interval, and what this draws; NaN if it could not be estimated."""

    value: float
    low: float
    high: float
    pairs: int
    clusters: str = ""


@dataclass(frozen=True)
class ModelRanks:
    """One statistic of the ranks of one model on one domain, by variant; those without a score are absent."""

    model: str
    ranks: dict[str, Rank] = field(default_factory=dict)

    def order(self, sign: int) -> tuple[float, float, str]:
        """Return a sort key: value on the TF benchmark, then on TF-IDF, best first; then name."""
        tf, tfidf = (-sign * self.ranks[v].value if v in self.ranks else math.inf for v in VARIANTS)
        return tf, tfidf, self.model


def read_model_ranks(
    summary: Path | str, statistic: Statistic = LEADING, metric: Metric = RANK
) -> dict[str, list[ModelRanks]]:
    """Read one statistic of the ranks of every domain from `summary.csv`, best model first.

    Returns
    -------
    dict of str to list of ModelRanks
        By domain, in the order of the file; models by TF rank, then TF-IDF rank, then name. Empty if an
        older table lacks a statistic or metric other than the leading one.

    Raises
    ------
    InputError
        If a value is not a number, a row is duplicated, or there is no rank by the leading statistic.
    """
    found: dict[str, dict[str, dict[str, Rank]]] = {}
    for where, row in scan_rows(summary, SUMMARY):
        if (row["metric"], row["aggregate"]) != (metric.name, statistic.name):
            continue
        ranks = found.setdefault(row["domain"], {}).setdefault(row["model"], {})
        rank = Rank(row["value"], row["ci_low"], row["ci_high"], row["pairs"], row["clusters"])
        if math.isfinite(rank.value):
            ranks[row["variant"]] = rank
        else:
            log.info("%s: model %s has no rank on %s, left out", where, row["model"], row["variant"])
    if not found and (metric, statistic) == (RANK, LEADING):
        raise InputError(
            f"no {statistic.label} ranks in this table", str(summary), "score at least one model first"
        )
    return {
        domain: sorted(
            (ModelRanks(name, ranks) for name, ranks in models.items()),
            key=lambda model: model.order(metric.sign),
        )
        for domain, models in found.items()
    }


def select_domain(ranks: dict[str, list[ModelRanks]], domain: str, summary: Path | str) -> list[ModelRanks]:
    """Return the models of one domain that have a rank; log which have none."""
    if domain not in ranks:
        raise InputError(f"unknown domain {domain!r}", str(summary), f"known: {', '.join(sorted(ranks))}")
    models = [model for model in ranks[domain] if model.ranks]
    if not models:
        raise InputError(f"no model has a rank on domain {domain!r}", str(summary), "see the scores' reports")
    for variant in find_variants(models):
        without = [model.model for model in models if variant not in model.ranks]
        if without:
            label = VARIANT_SERIES[variant].label
            log.info("domain %s: no %s rank for %s", domain, label, ", ".join(without))
    return models


def find_variants(models: list[ModelRanks]) -> list[str]:
    """Return the variants to show: TF and TF-IDF, and the reference if a model has a rank on it."""
    return [*VARIANTS, *([REFERENCE] if any(REFERENCE in model.ranks for model in models) else [])]
