"""Pairs that occur in training text."""

import json
import re
from collections.abc import Sequence

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.programs import run_program
from tests.tables import fill_table

from fathom.benchmark.overlap import (
    ENDING,
    Overlap,
    Rule,
    find_held_out_overlap,
    find_overlap,
    report_overlap,
)
from fathom.corpus.held_out import SPLIT
from fathom.io.contracts.benchmark import HELD_OUT_OVERLAP, MATCHES, OVERLAP, PAIRS, SENTENCE_OVERLAP
from fathom.io.contracts.corpus import TEXTS
from fathom.io.tables import check_table, read_table, write_table

TEXT = "We say first that the Agent, in each step, learns a good policy from what it sees.\n\nNothing else."
PLANTED = {
    "whole": ("The agent in each step learns a good", " policy"),
    "ending": ("Here an agent in each step learns a good", " policy"),
    "short": ("Nothing", " else"),
    "other": ("The agent in each step learns a good", " habit"),
    "across": ("We see first that the agent in each", " step"),
    "part of a word": ("The agent in each step learns a good", " polic"),
}


def _make_pairs(planted: dict[str, tuple[str, str]]) -> pl.DataFrame:
    """Return pairs under PAIRS, named as they are planted."""
    prompts, targets = zip(*planted.values(), strict=True)
    return fill_table(PAIRS, pair_id=list(planted), keyword="k", variant="tf", prompt=prompts, target=targets)


def test_planted_pairs_are_flagged():
    overlap = find_overlap(_make_pairs(PLANTED), ["An other text.", TEXT, ""])
    found = {name: (sentence, ending) for name, sentence, ending in overlap.iter_rows()}
    assert found == {
        "whole": (True, True), "ending": (False, True), "short": (True, True), "other": (False, False),
        "across": (False, True), "part of a word": (False, False),
    }  # fmt: skip


def test_the_last_six_words_are_looked_for():
    pairs = {
        "six": ("Of each step learns a good", " policy"),
        "five": ("Every step learns a good", " policy"),
    }
    found = find_overlap(_make_pairs(pairs), [TEXT])
    assert found["ending"].to_list() == [True, False] and not found["sentence"].any()


_WORDS = st.lists(st.sampled_from(["a", "b", "C"]), max_size=14)


@given(st.lists(_WORDS, min_size=1, max_size=4), st.lists(_WORDS, max_size=4))
def test_flags_are_those_of_a_plain_search(pairs, texts):
    planted = {f"p{n}": (" ".join(words), " a") for n, words in enumerate(pairs)}
    joined = [f" {' '.join(words).lower()} " for words in texts]
    found = find_overlap(_make_pairs(planted), [", ".join(words) for words in texts])
    for (prompt, target), (_, sentence, ending) in zip(planted.values(), found.iter_rows(), strict=True):
        words = re.findall(r"\w+", (prompt + target).lower())
        assert sentence == any(f" {' '.join(words)} " in text for text in joined)
        assert ending == any(f" {' '.join(words[-ENDING:])} " in text for text in joined)


@pytest.mark.parametrize(("splits_by", "hint"), [("id", "splits_by: content"), ("content", "min_words")])
def test_heavy_overlap_is_one_warning(splits_by, hint, caplog):
    overlap = find_overlap(_make_pairs(PLANTED), [TEXT])
    with caplog.at_level("INFO", logger="fathom"):
        report = report_overlap(overlap, splits_by)
        report_overlap(overlap.with_columns(sentence=False), splits_by)
    assert report == {"pairs": 6, "in_training_text": 2, "last_words_there": 4}
    warnings = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert len(warnings) == 1
    assert warnings[0].startswith("33 % of the pairs occur word for word in training text")
    assert hint in warnings[0]


def test_five_percent_are_no_heavy_overlap(caplog):
    pairs = _make_pairs({f"p{number}": PLANTED["other"] for number in range(19)} | {"p": PLANTED["whole"]})
    report = report_overlap(find_overlap(pairs, [TEXT]), "content")
    assert report["in_training_text"] == 1 and "are left out of summaries" not in caplog.text


def test_the_program_looks_at_what_models_are_trained_on(tmp_path):
    write_table(tmp_path / "pairs.parquet", _make_pairs(PLANTED), PAIRS)
    splits = {
        "held.parquet": ["adapt-valid", "adapt-test"],
        "train.parquet": ["adapt-train", "adapt-test"],
        "elsewhere.parquet": ["adapt-test", "adapt-train"],
    }
    for name, (first, second) in splits.items():
        rows = {"doc_id": ["d1", "d1"], "split": [first, second], "text": [TEXT, "Nothing more."]}
        write_table(tmp_path / name, pl.DataFrame(rows), TEXTS)

    def count(*names: str) -> int:
        run_program(
            "find_overlap", "--pairs", tmp_path / "pairs.parquet", "--texts", *(tmp_path / n for n in names),
            "--overlap", tmp_path / "overlap.parquet", "--report", tmp_path / "overlap.json",
        )  # fmt: skip
        table = read_table(tmp_path / "overlap.parquet", OVERLAP)
        assert table["pair_id"].to_list() == list(PLANTED)
        report = json.loads((tmp_path / "overlap.json").read_text())
        assert report["in_training_text"] == table["sentence"].sum()
        return int(table["sentence"].sum())

    assert count("held.parquet") == 0
    assert count("held.parquet", "train.parquet") == 2
    assert count("elsewhere.parquet") == 0
    assert count("elsewhere.parquet", "train.parquet") == 2  # another text under the same id


TRAINING = (
    "We say first: that the Agent, in each step, learns a good policy from what it sees.\n\nNothing else."
)
HELD_OUT_TEXT = "Here the agent in each step -- LEARNS a bad habit. Nothing else. Other words follow it"


def find(
    *texts: str, rule: Rule = "ending", sentences: Sequence[str] = (), training: Sequence[str] = (TRAINING,)
) -> Overlap:
    documents = {"doc_id": [f"d{number}" for number in range(len(texts))], "text": list(texts)}
    schema = {"doc_id": pl.String, "text": pl.String}
    return find_held_out_overlap(pl.DataFrame(documents, schema), sentences, training, rule)


def cut(text: str, found: Overlap) -> list[str]:
    return [text[start:end] for start, end in found.stretches.select("start", "end").iter_rows()]


def test_all_of_six_words_in_a_row_is_left_out_with_what_lies_between_them():
    found = find(HELD_OUT_TEXT, "the agent in each step learned")
    check_table(found.stretches.to_arrow(), HELD_OUT_OVERLAP)
    assert cut(HELD_OUT_TEXT, found) == [" the agent in each step -- LEARNS a"]
    assert found.stretches["doc_id"].to_list() == ["d0"]
    assert (found.report["words"], found.report["words_in_training_text"]) == (16 + 6, 7)


def test_whole_sentences_of_six_words_or_more_are_left_out_by_the_other_rule():
    text = "New. The agent in each step learns a lot. Nothing else. New words."
    training = ["Old words: the agent in each step learns a lot\n\nNothing else."]
    assert not len(find(HELD_OUT_TEXT, rule="sentence").stretches)
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
        find(HELD_OUT_TEXT)
        assert not caplog.records
        report = find(TRAINING).report
    assert report["words_in_training_text"] == report["words"] and "100 %" in caplog.text


_HELD_OUT_WORDS = st.lists(st.sampled_from(["a", "b", "C", "--", "a_b", "c,b"]), max_size=30)


@given(st.lists(_HELD_OUT_WORDS, min_size=1, max_size=3), st.lists(_HELD_OUT_WORDS, max_size=4))
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
            "text": [TRAINING, HELD_OUT_TEXT, TRAINING]}  # fmt: skip
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
