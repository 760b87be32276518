"""Held-out text and matched sentences that occur in training text."""

import json
import re
from collections.abc import Sequence

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.programs import run_program
from tests.tables import fill_table

from fathom.benchmark.overlap import ENDING, Overlap, Rule, find_held_out_overlap
from fathom.corpus.held_out import SPLIT
from fathom.io.contracts.benchmark import HELD_OUT_OVERLAP, MATCHES, SENTENCE_OVERLAP
from fathom.io.contracts.corpus import TEXTS
from fathom.io.tables import check_table, read_table, write_table

TRAINING = (
    "We say first: that the Agent, in each step, learns a good policy from what it sees.\n\nNothing else."
)
TEXT = "Here the agent in each step -- LEARNS a bad habit. Nothing else. Other words follow it"


def find(
    *texts: str, rule: Rule = "ending", sentences: Sequence[str] = (), training: Sequence[str] = (TRAINING,)
) -> Overlap:
    documents = {"doc_id": [f"d{number}" for number in range(len(texts))], "text": list(texts)}
    schema = {"doc_id": pl.String, "text": pl.String}
    return find_held_out_overlap(pl.DataFrame(documents, schema), sentences, training, rule)


def cut(text: str, found: Overlap) -> list[str]:
    return [text[start:end] for start, end in found.stretches.select("start", "end").iter_rows()]


def test_all_of_six_words_in_a_row_is_left_out_with_what_lies_between_them():
    found = find(TEXT, "the agent in each step learned")
    check_table(found.stretches.to_arrow(), HELD_OUT_OVERLAP)
    assert cut(TEXT, found) == [" the agent in each step -- LEARNS a"]
    assert found.stretches["doc_id"].to_list() == ["d0"]
    assert (found.report["words"], found.report["words_in_training_text"]) == (16 + 6, 7)


def test_whole_sentences_of_six_words_or_more_are_left_out_by_the_other_rule():
    text = "New. The agent in each step learns a lot. Nothing else. New words."
    training = ["Old words: the agent in each step learns a lot\n\nNothing else."]
    assert not len(find(TEXT, rule="sentence").stretches)
    assert cut(text, find(text, rule="sentence", training=training)) == [
        " The agent in each step learns a lot."
    ]


def test_matched_sentences_follow_the_rule_of_pairs():
    ending, whole = "Here an agent in each step learns a good policy", "That the agent in each step learns"
    found = find(sentences=[ending, "Here nothing is found at all", whole])
    check_table(found.sentences.to_arrow(), SENTENCE_OVERLAP)
    assert found.sentences["clean"].to_list() == [ending, whole]
    assert find(sentences=[ending, whole], rule="sentence").sentences["clean"].to_list() == [whole]


def test_most_text_in_training_text_is_a_warning(caplog):
    with caplog.at_level("WARNING", logger="fathom"):
        find(TEXT)
        assert not caplog.records
        report = find(TRAINING).report
    assert report["words_in_training_text"] == report["words"] and "100 %" in caplog.text


_WORDS = st.lists(st.sampled_from(["a", "b", "C", "--", "a_b", "c,b"]), max_size=30)


@given(st.lists(_WORDS, min_size=1, max_size=3), st.lists(_WORDS, max_size=4))
def test_stretches_are_those_of_a_plain_search(documents, texts):
    training = [f" {' '.join(re.findall('[a-z]', ' '.join(words).lower()))} " for words in texts]
    found = find(*map(" ".join, documents), training=[", ".join(words) for words in texts])
    for number, pieces in enumerate(documents):
        owner = [place for place, piece in enumerate(pieces) for _ in re.findall("[a-z]", piece.lower())]
        words = re.findall("[a-z]", " ".join(pieces).lower())
        expected: set[int] = set()
        for start in range(len(words) - ENDING + 1):
            if any(f" {' '.join(words[start : start + ENDING])} " in text for text in training):
                expected |= set(range(owner[start], owner[start + ENDING - 1] + 1))
        text, marked = " ".join(pieces), set()
        for start, end in found.stretches.filter(doc_id=f"d{number}").select("start", "end").iter_rows():
            first = len(text[:start].split())
            marked |= set(range(first, first + len(text[start:end].split())))
        assert marked == expected


@pytest.mark.parametrize("held_out", [True, False])
def test_the_program(held_out, tmp_path):
    rows = {"doc_id": ["a", "b", "c"], "split": ["adapt-train", SPLIT, "adapt-valid"],
            "text": [TRAINING, TEXT, TRAINING]}  # fmt: skip
    write_table(tmp_path / "texts.parquet", pl.DataFrame(rows), TEXTS)
    sentences = ["That the agent in each step learns", "Here nothing is found at all"]
    matched = fill_table(MATCHES, keyword=["k", "l"], doc_id=["x", "y"], clean=sentences)
    write_table(tmp_path / "sentences.parquet", matched, MATCHES)
    run_program(
        "find_held_out_overlap", *(["--held-out", tmp_path / "texts.parquet"] if held_out else []),
        "--sentences", tmp_path / "sentences.parquet", "--texts", tmp_path / "texts.parquet",
        "--stretches", tmp_path / "stretches.parquet", "--matched", tmp_path / "matched.parquet",
        "--report", tmp_path / "report.json",
    )  # fmt: skip
    found = read_table(tmp_path / "stretches.parquet", HELD_OUT_OVERLAP)
    assert found["doc_id"].to_list() == (["b"] if held_out else [])
    assert read_table(tmp_path / "matched.parquet", SENTENCE_OVERLAP)["clean"].to_list() == sentences[:1]
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["words_in_training_text"] == (7 if held_out else 0)
