"""Scores for tests: with given ranks, and of a model on a few pairs."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from fathom.config.scoring import Scoring
from fathom.io.contracts.scoring import SCORES
from fathom.io.tables import make_empty_table


def tabulate_scores(
    pairs: Sequence[str], keywords: Sequence[str], ranks: Sequence[float], **columns: Any
) -> pl.DataFrame:
    """Return scores under contract SCORES; whatever is not given follows from the ranks."""
    found, count = np.asarray(ranks, dtype=float), len(ranks)
    values = {
        "pair_id": pairs, "keyword": keywords, "tokens": [1] * count, "rank": found, "rank_midpoint": found,
        "rank_first": found.astype(int), "rank_share": found / 1e9, "ties": [0] * count,
        "probability": 1 / found, "log_probability": -np.log(found), "backed_off": [False] * count,
        "rival_rank": found, "rival": [""] * count, "bits": 8 - np.log2(found), "ceiling": [8.0] * count,
    }  # fmt: skip
    unknown = {column.name: [math.nan] * count for column in SCORES if column.optional}
    return pl.DataFrame(unknown | values | columns, schema=make_empty_table(SCORES).schema)


def score_pairs(
    model: Any,
    tokenizer: Any,
    pairs: pl.DataFrame,
    settings: Scoring | None = None,
    add_bos: bool | None = None,
    name: str = "the model",
    chat_template: bool = False,
) -> pl.DataFrame:
    """Score a model on pairs, of which only prompt and target are required."""
    from fathom.models.loading import Pointer
    from fathom.scoring.pair_files import complete_pairs
    from fathom.scoring.ranks import score_benchmarks

    pointer = Pointer(name, Path(), add_bos=add_bos, chat_template=chat_template)
    return score_benchmarks(model, tokenizer, [complete_pairs(pairs)], settings or Scoring(), pointer)[0]
