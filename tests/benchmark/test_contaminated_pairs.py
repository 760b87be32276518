"""Pairs of a benchmark that occur in a corpus: planted copies, edited copies, and nothing else."""

import random

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fathom.benchmark.contaminated_pairs import (
    EXACT,
    FEWEST,
    NEAR,
    find_contamination,
    flag_contamination,
    report_contamination,
)

WORDS = [f"{first}{second}{third}" for first in "bdfgklmn" for second in "aeiou" for third in "lmnrst"]


def make_sentence(random_: random.Random, length: int) -> list[str]:
    return [random_.choice(WORDS) for _ in range(length)]


def make_pairs(sentences):
    return pl.DataFrame({
        "pair_id": [f"p{number}" for number in range(len(sentences))],
        "prompt": [" ".join(words[:-1]) for words in sentences],
        "target": [" " + words[-1] for words in sentences],
    })  # fmt: skip


def edit(random_: random.Random, words: list[str], every: int) -> list[str]:
    """Exchange, drop or add a word in every so many."""
    edited = list(words)
    for place in range(every // 2, len(words), every):
        kind = random_.randrange(3)
        edited[place] = [["other"], [], [words[place], "more"]][kind]
    return [word for each in edited for word in (each if isinstance(each, list) else [each])]


@pytest.fixture(scope="module")
def planted():
    """Return 400 pairs; texts with 5 % of them, half word for word and half with a word in ten changed."""
    random_ = random.Random(0)
    sentences = [make_sentence(random_, random_.randrange(14, 40)) for _ in range(400)]
    exact, near = range(0, 400, 40), range(20, 400, 40)
    texts = []
    for number in range(100):
        passages = [make_sentence(random_, 200), make_sentence(random_, 200)]
        if number < 20:
            copied = sentences[[*exact, *near][number]]
            copied = copied if number < 10 else edit(random_, copied, 10)
            passages.insert(1, copied)
        texts.append((", ".join(" ".join(words).capitalize() for words in passages) + ".", f"text {number}"))
    return make_pairs(sentences), texts, {f"p{n}" for n in exact}, {f"p{n}" for n in near}


def test_planted_copies_are_found_in_full_and_nothing_else(planted):
    pairs, texts, exact, near = planted
    table = find_contamination(pairs, texts)
    assert set(table.filter(pl.col("exact") > 0)["pair_id"]) >= exact
    assert set(flag_contamination(table)["pair_id"]) == exact | near
    assert set(table.filter(pl.col("near") == 1)["pair_id"]) == exact
    edited = table.filter(pl.col("pair_id").is_in(list(near)))
    assert ((edited["near"] >= 0.5) & (edited["near"] < 1)).all()
    sources = dict(table.filter(pl.col("source") != "").select("pair_id", "source").iter_rows())
    assert sources["p0"] == "text 0" and len(set(sources.values())) == 20
    report = report_contamination(table, len(texts))
    assert (report["pairs"], report["either"], report["too_short"]) == (400, 20, 0)


def test_a_disjoint_corpus_gives_no_alarm(planted):
    pairs, texts, *_ = planted
    clean = find_contamination(pairs, texts[20:])
    assert flag_contamination(clean).is_empty() and set(clean["source"]) == {""}


def test_sequences_that_many_pairs_share_say_nothing():
    shared = ["in", "this", "paper", "we", "show", "that"]
    random_ = random.Random(1)
    pairs = make_pairs([shared + make_sentence(random_, 6) for _ in range(1000)])
    table = find_contamination(pairs, [("In this paper we show that nothing else is true of it.", "a")])
    assert flag_contamination(table).is_empty()


def test_short_pairs_need_all_their_words():
    pairs = make_pairs([["a"] * (FEWEST - 1), ["one", "two", "three", "four", "five", "six", "seven"]])
    found = find_contamination(pairs, [("A a a a a a a. One, two three four FIVE six seven!", "t")])
    assert found["exact"].to_list() == [0, 1] and found["near"].to_list() == [0, 1]
    assert report_contamination(found, 1)["too_short"] == 1
    other = find_contamination(pairs, [("one two three four six seven eight", "t")])
    assert other["exact"].to_list() == [0, 0]


TEXT = st.lists(st.sampled_from("abcd"), max_size=40)


@settings(max_examples=60)
@given(st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=18), min_size=1, max_size=4),
       st.lists(TEXT, max_size=4))  # fmt: skip
def test_exact_and_near_are_those_of_a_plain_search(sentences, texts):
    table = find_contamination(make_pairs(sentences), [(" ".join(text), "t") for text in texts], 0.5)
    for words, row in zip(sentences, table.iter_rows(named=True), strict=True):
        size = min(EXACT, len(words))
        there = {tuple(text[i : i + size]) for text in texts for i in range(len(text) - size + 1)}
        own = {tuple(words[i : i + size]) for i in range(len(words) - size + 1)}
        assert row["exact"] == (len(own & there) if len(words) >= FEWEST else 0)
        # all pairs' sequences count here, for there are fewer than ten pairs
        short = {tuple(words[i : i + NEAR]) for i in range(len(words) - NEAR + 1)}
        length = int(1.25 * len(words))
        passages = [
            {tuple(text[i : i + NEAR]) for i in range(start, min(start + length, len(text) - NEAR + 1))}
            for text in texts
            for start in range(len(text))
        ]
        best = max((len(short & passage) / len(short) for passage in passages if short), default=0.0)
        wanted = best if len(words) >= FEWEST and best >= 0.5 else 0.0
        assert row["near"] == pytest.approx(wanted)
