"""Pairs that summaries leave out: they occur in text that models are trained on."""

from collections.abc import Iterable, Mapping

import polars as pl

from fathom.config.scoring import Summary
from fathom.errors import InputError
from fathom.io.contracts.benchmark import OVERLAP
from fathom.io.tables import read_table
from fathom.jobs.program import log

Key = tuple[str, str, str]
"""Domain, variant, model."""


def leave_out_overlap(
    scores: Mapping[Key, pl.DataFrame], files: Iterable[tuple[str, str, str]], settings: Summary
) -> dict[Key, pl.DataFrame]:
    """Return scores without the pairs that occur in training text, the same pairs for all models.

    Raise `InputError` if no pair of a benchmark remains. `files`: tables under contract OVERLAP; benchmarks
    without one keep all pairs.
    """
    kept = dict(scores)
    for benchmark, flagged in read_flagged(files, settings).items():
        for key in (key for key in scores if key[:2] == benchmark):
            kept[key] = scores[key].filter(~pl.col("pair_id").is_in(flagged.implode()))
    return kept


def read_flagged(
    files: Iterable[tuple[str, str, str]], settings: Summary
) -> dict[tuple[str, str], pl.Series]:
    """Return the ids of pairs that summaries leave out, by domain and variant, if any.

    Raise `InputError` if no pair of a benchmark remains.
    """
    found: dict[tuple[str, str], pl.Series] = {}
    if settings.overlap == "keep":
        return found
    for domain, variant, path in files:
        overlap = read_table(path, OVERLAP)
        flagged = overlap.filter(pl.col(settings.overlap))["pair_id"]
        if not len(flagged):
            continue
        log.info(
            "%s, %s: %s of %s pairs are left out because they occur in training text",
            domain, variant, f"{len(flagged):,}", f"{len(overlap):,}",
        )  # fmt: skip
        if len(flagged) == len(overlap):
            raise InputError(
                "all pairs occur in training text",
                f"{domain}, {variant}",
                "set corpus.splits_by: content, train on other documents, or set summary.overlap: keep",
            )
        found[domain, variant] = flagged
    return found
