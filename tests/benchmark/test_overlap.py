"""Pairs that occur in training text."""

import json
import re

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.programs import run_program
from tests.tables import fill_table

from fathom.benchmark.overlap import ENDING, find_overlap, report_overlap
from fathom.io.contracts.benchmark import OVERLAP, PAIRS
from fathom.io.contracts.corpus import TEXTS
from fathom.io.tables import read_table, write_table

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
