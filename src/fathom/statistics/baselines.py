"""Summaries of the baselines for ranks: perplexity, bits per byte, attribute rate.

Rows have the columns of SUMMARY. Text and keywords of a domain do not depend on the variant of its
benchmark: column `variant` is text or keywords, `aggregate` is mean, `pairs` counts documents or keywords.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import polars as pl

from fathom.config.scoring import Summary
from fathom.errors import InputError
from fathom.io.contracts.column import Contract
from fathom.io.tables import read_table
from fathom.jobs.program import log
from fathom.statistics.bootstrap import Estimate, Resampled, draw_resamples
from fathom.statistics.clusters import DOCUMENTS, KEYWORDS
from fathom.statistics.likelihood import Likelihood, sum_likelihoods
from fathom.statistics.metrics import ATTRIBUTE_RATE, OF_TEXT
from fathom.statistics.summaries import format_number, summarize_values

Key = tuple[str, str]
"""Domain, model."""


def read_baselines(files: Iterable[tuple[str, str, str]], contract: Contract) -> dict[Key, pl.DataFrame]:
    """Read tables of perplexity or of attribute rates.

    Raise `InputError` if a model is given twice for one domain, or a file does not follow the contract.

    Parameters
    ----------
    files : iterable of (domain, model, path)
    """
    tables: dict[Key, pl.DataFrame] = {}
    for domain, model, path in files:
        if (domain, model) in tables:
            raise InputError(f"duplicate table of {model} on {domain}", path, "give each once")
        tables[domain, model] = read_table(path, contract)
    return tables


def summarize_perplexity(scores: Mapping[Key, pl.DataFrame], settings: Summary) -> list[tuple[Any, ...]]:
    """Summarize the likelihood of held-out text for all models and domains.

    Raise `InputError` if models were scored on different documents of a domain. Returned: a row for each
    metric of text by model and domain; none without held-out text.
    """
    rows: list[tuple[Any, ...]] = []
    check_same_items(scores, "doc_id", "documents")
    for (domain, model), frame in sorted(scores.items(), key=lambda item: item[0]):
        ordered = frame.sort("doc_id")
        if not sum_likelihoods(ordered).tokens:
            log.info("%s: no held-out text of %s, perplexity left out of the summary", model, domain)
            continue
        for metric, each in sorted(resample_likelihood(ordered, settings).items()):
            place = (domain, "text", model, metric)
            rows.append(_format_row(place, each.estimate(settings.confidence), (each.items, DOCUMENTS)))
    return rows


def resample_likelihood(scores: pl.DataFrame, settings: Summary) -> dict[str, Resampled]:
    """Return perplexity and bits per byte, and those of every bootstrap resample of the documents.

    Both are ratios of sums, in every resample too: long documents weigh more than short ones. `scores`: under
    contract PERPLEXITY, sorted by document. Returned: by name of the metric; NaN where a resample has no
    token. Items are documents with a token.
    """
    items = int((scores["tokens"] > 0).sum())
    # documents without one are drawn too, as that depends on the tokenizer
    counts = draw_resamples(len(scores), settings)
    tokens, size, nats = (counts @ scores[column].to_numpy() for column in ("tokens", "bytes", "nats"))
    rows = zip(tokens.tolist(), size.tolist(), nats.tolist(), strict=True)
    drawn = [sum_likelihoods(scores), *(Likelihood(*row) for row in rows)]
    return {
        each.name: Resampled(np.array([each.measure(some) for some in drawn]), items, max(1, items - 1))
        for each in OF_TEXT
        if each.measure
    }


def summarize_attribute_rates(rates: Mapping[Key, pl.DataFrame], settings: Summary) -> list[tuple[Any, ...]]:
    """Summarize the attribute rates of all models on the keywords of all domains.

    Raise `InputError` if models were measured on different keywords of a domain. Returned: one row per model
    and domain, metric attribute_rate.
    """
    check_same_items(rates, "keyword", "keywords")
    rows: list[tuple[Any, ...]] = []
    for (domain, model), frame in sorted(rates.items(), key=lambda item: item[0]):
        ordered = frame.sort("keyword")
        found = summarize_values(ordered["rate"].to_numpy(), ordered["keyword"].to_list(), settings)
        place = (domain, ATTRIBUTE_RATE.variant, model, ATTRIBUTE_RATE.name)
        rows.append(_format_row(place, found["mean"], (len(ordered), KEYWORDS)))
    return rows


def check_same_items(tables: Mapping[Key, pl.DataFrame], column: str, what: str) -> None:
    """Raise `InputError` unless all models of a domain have one row for each of the same items."""
    first: dict[str, tuple[str, list[str]]] = {}
    for (domain, model), frame in sorted(tables.items(), key=lambda item: item[0]):
        names = sorted(frame[column].to_list())
        other, known = first.setdefault(domain, (model, names))
        if names != known:
            differ = len(set(names) ^ set(known))
            raise InputError(
                f"{other} and {model} were scored on different {what} ({differ:,} are not shared)",
                domain,
                f"score both models on the same {what}",
            )


def _format_row(key: tuple[str, str, str, str], found: Estimate, drawn: tuple[int, str]) -> tuple[Any, ...]:
    return (*key, "mean", *(format_number(number) for number in found), *drawn)
