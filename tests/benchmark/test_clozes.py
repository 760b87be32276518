"""Clozes of held-out text, and pairs from documents set aside."""

import re

import polars as pl
import pytest
from tests.refusals import refuses

from fathom.benchmark import clozes
from fathom.benchmark.clozes import ClozeRules, draw_clozes
from fathom.benchmark.pairs import is_set_aside, split_matches
from fathom.config.benchmark import Pairs, Sentences
from fathom.corpus.sentences import load_splitter
from fathom.io.contracts.benchmark import MATCHES, PAIRS
from fathom.io.tables import make_empty_table, write_table

PAIRS_SETTINGS = Pairs(tokenizer="any", min_tokens=4, min_characters=20, max_tokens=12)
LIMITS = ClozeRules(frozenset({"the", "with", "were"}), Sentences(), PAIRS_SETTINGS)
TEXTS = pl.DataFrame({
    "doc_id": ["a", "b", "c"],
    "text": [
        "One two three four the with were it 5th k-means user's. Too short here.",  # no word
        "Alpha beta gamma delta the regression was fitted quickly. Trees were grown with great care.",
        "Alpha beta gamma delta the regression was fitted quickly. "  # occurs in b already
        "Very late words come after one two three four five six seven eight nine ten kernels.",
    ],
})  # fmt: skip


def encode(sentences):
    """Return the words of sentences as tokens."""
    return [[match.span() for match in re.finditer(r"\S+", sentence)] for sentence in sentences]


@pytest.fixture(scope="module")
def splitter():
    return load_splitter("rules")


def test_a_cloze_is_a_content_word_after_enough_of_its_sentence(splitter, tmp_path):
    found = draw_clozes(TEXTS, 10, LIMITS, splitter, encode)
    rows = found.pairs.rows(named=True)
    assert {row["doc_id"] for row in rows} == {"b", "c"} and len(rows) == found.report["pairs"] == 3
    sentences = " ".join(TEXTS["text"])
    for row in rows:
        assert row["prompt"] + row["target"] in sentences
        assert re.fullmatch(" [A-Za-z]{3,}", row["target"]) and row["target"][1:] not in LIMITS.function_words
        assert 4 <= len(row["prompt"].split()) <= 11
        assert row["keyword"] == row["doc_id"] and not row["target_in_keyword"]
        assert (row["variant"], row["date"]) == ("clozes", "")
    assert found.report["left_out"] == {"no_word": 1, "same_sentence": 1, "too_few_characters": 1}
    write_table(tmp_path / "pairs.parquet", found.pairs, PAIRS)


def test_clozes_do_not_depend_on_the_order_of_documents_and_few_are_among_many(splitter):
    found = draw_clozes(TEXTS, 10, LIMITS, splitter, encode).pairs
    assert draw_clozes(TEXTS.reverse(), 10, LIMITS, splitter, encode).pairs.equals(found)
    few = draw_clozes(TEXTS, 2, LIMITS, splitter, encode)
    assert len(few.pairs) == 2 and set(few.pairs["pair_id"]) < set(found["pair_id"])
    assert few.report["left_out"]["count_reached"] >= 1


def test_a_count_that_is_reached_early_leaves_the_same_out(splitter, monkeypatch):
    found = draw_clozes(TEXTS, 1, LIMITS, splitter, encode)
    monkeypatch.setattr(clozes, "_CHUNK", 1)
    again = draw_clozes(TEXTS, 1, LIMITS, splitter, encode)
    assert again.pairs.equals(found.pairs) and again.report == found.report
    assert found.report["pairs"] + sum(found.report["left_out"].values()) == 6


def test_three_letters_are_a_word_and_two_are_none(splitter):
    texts = TEXTS.head(1).with_columns(text=pl.lit("The with were the with were the with net of it."))
    assert draw_clozes(texts, 1, LIMITS, splitter, encode).pairs["target"].to_list() == [" net"]


def test_a_cloze_has_all_tokens_before_its_first_letter(splitter):
    sentence = "The with were the with were the with net of it."
    texts = TEXTS.head(1).with_columns(text=pl.lit(sentence))
    before = sentence.index("net")  # each character is a token

    def draw(**changes):
        pairs = PAIRS_SETTINGS.model_copy(update={"max_tokens": 99, **changes})
        letters = [[(place, place + 1) for place in range(len(sentence))]]
        return draw_clozes(texts, 1, LIMITS._replace(pairs=pairs), splitter, lambda _: letters).pairs

    assert len(draw(min_tokens=before)) == len(draw(max_tokens=before + 3)) == 1
    for changes in ({"min_tokens": before + 1}, {"max_tokens": before + 2}):
        with refuses("cloze"):
            draw(**changes)


def test_every_sentence_left_out_is_counted(splitter):
    long = "Long sentences of {} words that go on and on and on beyond what is allowed here are left out."
    text = " ".join(["Too short.", "Short too.", *(long.format(word) for word in ("many", "more", "most"))])
    texts = pl.concat([TEXTS, pl.DataFrame({"doc_id": ["d"], "text": [text]})])
    limits = LIMITS._replace(sentences=Sentences(max_characters=90))
    left_out = {"no_word": 1, "same_sentence": 1, "too_few_characters": 3, "too_long": 3}
    assert draw_clozes(texts, 10, limits, splitter, encode).report["left_out"] == left_out


def test_clozes_are_in_the_order_of_documents(splitter):
    text = "Model reads alpha beta gamma delta epsilon {}."
    texts = pl.DataFrame({"doc_id": [*"abcdefgh"], "text": [text.format(sign * 5) for sign in "stuvwxyz"]})
    assert draw_clozes(texts, 8, LIMITS, splitter, encode).pairs["keyword"].to_list() == [*"abcdefgh"]


def test_words_are_drawn_not_always_the_same_place(splitter):
    text = " ".join(
        f"Model {sign * 5} reads alpha beta gamma delta epsilon." for sign in "abcdefghijklmnopqrst"
    )
    texts = TEXTS.head(1).with_columns(text=pl.lit(text))
    found = draw_clozes(texts, 50, LIMITS, splitter, encode).pairs
    assert len(found["target"].unique()) > 2 and found["pair_id"].is_unique().all() and len(found) == 20
    seeds = [LIMITS._replace(pairs=PAIRS_SETTINGS.model_copy(update={"seed": seed})) for seed in (1, 2)]
    few = [draw_clozes(texts, 5, limits, splitter, encode) for limits in seeds]
    words = [
        {
            row["prompt"][:11]: row["target"]
            for row in draw_clozes(texts, 20, limits, splitter, encode).pairs.to_dicts()
        }
        for limits in seeds
    ]
    assert words[0].keys() == words[1].keys() and words[0] != words[1], "the seed decides which word"
    sentences = [{prompt[:11] for prompt in found.pairs["prompt"]} for found in few]
    assert sentences[0] != sentences[1], "the seed decides which sentences are drawn"


def test_no_held_out_text_is_refused(splitter):
    with refuses("0 documents"):
        draw_clozes(TEXTS.head(0), 10, LIMITS, splitter, encode)


def make_matches(rows):
    schema = make_empty_table(MATCHES).schema
    return pl.DataFrame([("k", doc, 0, clean, 0.6) for doc, clean in rows], schema, orient="row")


def test_documents_set_aside_share_neither_documents_nor_sentences_with_the_others():
    names = [f"doc{number}" for number in range(200)]
    aside = [name for name in names if is_set_aside(name, 0.25)]
    assert 30 < len(aside) < 70 and set(aside) <= {name for name in names if is_set_aside(name, 0.5)}
    rest = sorted(set(names) - set(aside))
    rows = [(name, f"sentence of {name}") for name in names] + [(aside[0], "shared"), (rest[0], "shared")]
    matches = [("k", make_matches(rows))]
    ((_, unused),) = split_matches(matches, 0.25, True, {})
    ((_, others),) = split_matches(matches, 0.25, False, {})
    assert set(unused["doc_id"]) == set(aside) and set(others["doc_id"]) == set(rest)
    assert "shared" not in unused["clean"] and "shared" in others["clean"]
    assert len(unused) + len(others) == len(rows) - 1


def test_documents_that_share_text_are_set_aside_together():
    names = [f"doc{number}" for number in range(40)]
    aside = [name for name in names if is_set_aside(name, 0.25)]
    rest = sorted(set(names) - set(aside))
    groups = {aside[0]: rest[0], rest[0]: rest[0], aside[1]: aside[1], rest[1]: aside[1]}
    matches = [("k", make_matches([(name, f"sentence of {name}") for name in names]))]
    ((_, unused),) = split_matches(matches, 0.25, True, groups)
    ((_, others),) = split_matches(matches, 0.25, False, groups)
    assert set(unused["doc_id"]) == {*aside[1:], rest[1]}
    assert set(others["doc_id"]) == {aside[0], rest[0], *rest[2:]}
