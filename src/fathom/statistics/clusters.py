"""What the bootstrap draws: keywords, or pairs where there are no two keywords."""

import polars as pl


def choose_clusters(pairs: pl.DataFrame) -> list[str]:
    """Return the cluster of each pair: its keyword, or the pair itself where there are no two keywords.

    Pairs of one keyword are alike, so they are drawn together. Drawing a single keyword would give the same
    pairs in every resample, and an interval without width.

    Parameters
    ----------
    pairs : DataFrame
        Columns pair_id and keyword, of shape (n_pairs, n_columns).
    """
    column = "keyword" if pairs["keyword"].n_unique() > 1 else "pair_id"
    return pairs[column].cast(pl.String).to_list()
