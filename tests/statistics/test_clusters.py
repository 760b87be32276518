"""What the bootstrap draws where keywords are missing."""

import polars as pl
import pytest

from fathom.statistics.clusters import choose_clusters


@pytest.mark.parametrize(
    ("keywords", "names"), [(["b", "a", "b"], ["b", "a", "b"]), (["a"] * 3, ["1", "2", "3"])]
)
def test_keywords_are_drawn_or_else_pairs(keywords: list[str], names: list[str]) -> None:
    assert choose_clusters(pl.DataFrame({"pair_id": ["1", "2", "3"], "keyword": keywords})) == names
