"""Matches and pairs made for tests of how pairs are drawn."""

import re

import polars as pl

from fathom.benchmark.gathered_matches import divide_by_keyword
from fathom.benchmark.pairs import make_pairs
from fathom.config.benchmark import Pairs

KEYWORD = "graph neural networks"


def encode_offsets(sentences: list[str]) -> list[list[tuple[int, int]]]:
    return [[match.span() for match in re.finditer(r"\S+", sentence)] for sentence in sentences]


def sentence_with(target: str, number: int = 0) -> str:
    return f"We saw that in the year {number} people wrote much about {target} and more."


def matches(*rows: tuple[str, str, str]) -> pl.DataFrame:
    values = [
        {"keyword": keyword, "doc_id": doc_id, "position": place, "clean": clean, "cosine": 0.625}
        for place, (keyword, doc_id, clean) in enumerate(rows)
    ]
    return pl.DataFrame(values, schema_overrides={"position": pl.Int32})


def make(frame: pl.DataFrame, *words: str, encode=encode_offsets, associations=None, **values):
    # the sentences of these tests differ by a word
    settings = Pairs(**{"tokenizer": "any", "near_copies": True, "max_target_share": 1.0, **values})
    dates = dict.fromkeys(frame["doc_id"], "2024-01-02")
    vocabulary = {keyword: frozenset(words) for keyword in frame["keyword"].unique()}
    groups = sorted(divide_by_keyword(frame), key=lambda each: len(each[1]))
    return make_pairs(groups, vocabulary, lambda _: dates, "tf", settings, encode, associations)


TERMS = ("edges", "node", "pooling", "Laplacian")
