"""Matches that tests of pairs share."""

import random

import polars as pl
import pytest
from tests.benchmark.made_pairs import KEYWORD, matches, sentence_with


@pytest.fixture(scope="module")
def many() -> pl.DataFrame:
    """Return 600 matches of two keywords, most of them with one of four terms."""
    choice = random.Random(3)
    words = ["edges"] * 30 + ["node"] * 5 + ["pooling", "Laplacian"]
    rows = [
        (keyword, f"d{choice.randrange(40)}", sentence_with(choice.choice(words), choice.randrange(10_000)))
        for keyword in (KEYWORD, "node embeddings")
        for _ in range(300)
    ]
    return matches(*rows)
