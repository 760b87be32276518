"""What the bootstrap draws: keywords; without two keywords, documents; else pairs."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

KEYWORDS, DOCUMENTS, PAIRS = "keywords", "documents", "pairs"
"""Kinds of clusters."""

_EXPLAINED = {
    DOCUMENTS: "Intervals come from a bootstrap over documents, as the pairs do not have two keywords.",
    PAIRS: "Intervals come from a bootstrap over pairs, as these have neither two keywords nor two "
    "documents.",
}


class Clusters(NamedTuple):
    """The clusters of some pairs: KEYWORDS, DOCUMENTS or PAIRS, and the cluster of each pair."""

    kind: str
    names: list[str]


def choose_clusters(pairs: pl.DataFrame) -> Clusters:
    """Return the cluster of each pair: its keyword, its document, or the pair itself.

    Pairs of one keyword, or of one document, are alike, so they are drawn together. Documents count where
    there are no two keywords, pairs where there are no two documents: drawing a single cluster would give
    the same pairs in every resample, and an interval without width. `pairs`: columns pair_id, keyword and,
    if documents are known, doc_id, of shape (n_pairs, n_columns). A pair with an empty keyword or document
    is its own cluster.
    """
    alone = pl.concat_str(pl.lit(" "), pl.col("pair_id"))  # no name begins with a blank
    for kind, column in ((KEYWORDS, "keyword"), (DOCUMENTS, "doc_id")):
        if column in pairs.columns and pairs[column].filter(pairs[column] != "").n_unique() > 1:
            names = pl.when(pl.col(column) == "").then(alone).otherwise(pl.col(column).cast(pl.String))
            return Clusters(kind, pairs.select(names.alias(column))[column].to_list())
    return Clusters(PAIRS, pairs["pair_id"].cast(pl.String).to_list())


def number_clusters(names: Sequence[str]) -> NDArray[np.int64]:
    """Return the number of each item's cluster, given their names.

    An item without a name is its own cluster, and so is every item if there are no two names.
    """
    if len(set(names) - {""}) < 2:
        return np.arange(len(names))
    known = [name or f" {place}" for place, name in enumerate(names)]  # no name begins with a blank
    return np.unique(np.array(known), return_inverse=True)[1]


def explain_clusters(kind: str) -> str:
    """Return a sentence on clusters that are not keywords; nothing for keywords."""
    return _EXPLAINED.get(kind, "")
