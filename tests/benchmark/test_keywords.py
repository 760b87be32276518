"""Keyword selection: quotas, merging, refilling, truncated phrases, and determinism."""

import gzip
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.refusals import refuses

from fathom.benchmark.keywords import extract_keywords, merge_similar, name_length, select_keywords, share_out
from fathom.benchmark.wordlists import WordLists, read_word_lists
from fathom.config.benchmark import Keywords
from fathom.io.files import hash_text

ROOT = Path(__file__).resolve().parents[2]
SHARES = Keywords().shares
FUNCTION = ["of", "in", "with"]


def encode(phrases: list[str]) -> NDArray[np.float64]:
    """Return unit vectors by hash; phrases that differ only by a plural s are nearly the same."""
    rows = []
    for phrase in phrases:
        stem = " ".join(word.rstrip("s") for word in phrase.split())
        generator = np.random.default_rng(int(hash_text(stem)[:8], 16))
        row = generator.normal(size=32) + (0.01 if stem != phrase else 0.0)
        rows.append(row / np.linalg.norm(row))
    return np.array(rows)


@pytest.fixture(scope="module")
def wordlists() -> WordLists:
    return read_word_lists(ROOT / "config" / "wordlists")


def make_abstracts() -> dict[str, str]:
    """Return abstracts in which some phrases recur."""
    choose = random.Random(3)
    phrases = [
        "neural networks", "neural network", "random walk", "monte carlo methods", "community detection",
        "graph neural networks", "opinion dynamics", "publicly available", "markov chain",
    ]  # fmt: skip
    filler = ["".join(choose.choices("bcdfgklmnprtv", k=4)) + end for end in "aoui" for _ in range(800)]
    return {
        f"0704.{number:04d}": ". ".join(
            # function words follow: what always precedes other words would be a modifier
            " ".join(choose.choice(words) for words in (filler, phrases, FUNCTION, filler))
            for _ in range(8)
        )
        for number in range(120)
    }


@pytest.mark.parametrize(("available", "expected"), [
    ({"2": 900, "3": 900, "4": 900, "5+": 900}, {"2": 150, "3": 90, "4": 45, "5+": 15}),
    ({"2": 900, "3": 900, "4": 0, "5+": 0}, {"2": 187, "3": 113, "4": 0, "5+": 0}),
    ({"2": 900, "3": 10}, {"2": 290, "3": 10, "4": 0, "5+": 0}),
    ({"2": 20, "3": 7}, {"2": 20, "3": 7, "4": 0, "5+": 0}),
    ({}, {"2": 0, "3": 0, "4": 0, "5+": 0}),
])  # fmt: skip
def test_quotas_shift_in_proportion(available, expected):
    quotas = share_out(300, SHARES, available)
    assert all(abs(quotas[name] - expected[name]) <= 1 for name in SHARES)
    assert sum(quotas.values()) == sum(expected.values())


def test_what_is_left_goes_to_the_largest_remainders():
    plenty = dict.fromkeys("abcd", 99)
    assert share_out(2, {"a": 0.1, "b": 0.2, "c": 0.3, "d": 0.4}, plenty) == {"a": 0, "b": 0, "c": 1, "d": 1}
    assert share_out(10, {"a": 0.16, "b": 0.165, "c": 0.675}, plenty) == {"a": 1, "b": 2, "c": 7}


@given(
    st.integers(1, 500),
    st.fixed_dictionaries({name: st.integers(0, 300) for name in SHARES}),
    st.fixed_dictionaries({name: st.floats(0.01, 1) for name in SHARES}),
)
def test_quotas_use_what_there_is(target, available, shares):
    quotas = share_out(target, shares, available)
    assert all(0 <= quotas[name] <= available[name] for name in shares)
    assert sum(quotas.values()) == min(target, sum(available.values()))


def unit(*degrees: float) -> NDArray[np.float64]:
    """Return unit vectors in the plane."""
    return np.array([[np.cos(np.radians(d)), np.sin(np.radians(d))] for d in degrees])


@pytest.mark.parametrize(("phrases", "degrees", "threshold", "kept"), [
    # the shorter phrase stays
    (["complex networks", "complex network", "far"], (0, 1, 90), 0.85,
     {"complex network": ["complex networks"], "far": []}),
    # of equally long ones the more central: bb is nearer to the rest, which lies on its side
    (["aa", "bb", "long one", "long other"], (0, 20, 60, 70), 0.93,
     {"bb": ["aa"], "long one": ["long other"]}),
    # no chain
    (["a a", "b bb", "c ccc"], (0, 25, 50), np.cos(np.radians(30)), {"a a": ["b bb"], "c ccc": []}),
])  # fmt: skip
def test_phrases_above_the_threshold_are_merged(phrases, degrees, threshold, kept):
    assert merge_similar(phrases, unit(*degrees), threshold) == kept


def test_cosine_at_the_threshold_is_not_above_it():
    vectors = np.array([[1.0, 0.0], [0.85, np.sqrt(1 - 0.85**2)]])
    assert merge_similar(["a", "bb"], vectors, 0.85) == {"a": [], "bb": []}


@given(st.permutations(range(8)))
def test_merging_does_not_depend_on_order(order):
    phrases = ["aa", "bb", "cc", "ddd", "eee", "ffff", "gggg", "hhhhh"]
    vectors = unit(0, 20, 35, 50, 64, 80, 90, 120)
    expected = merge_similar(phrases, vectors, 0.95)
    found = merge_similar([phrases[i] for i in order], vectors[order], 0.95)
    assert {phrase: set(others) for phrase, others in found.items()} == {
        phrase: set(others) for phrase, others in expected.items()
    }


def test_merged_places_are_refilled():
    ranked = {"2": ["x graphs", "x graph", "y graphs", "y graph", "z path", "w tree"]}
    selected = select_keywords(ranked, Keywords(count=4), encode)
    assert selected.keywords == ["x graph", "y graph", "z path", "w tree"]
    assert selected.merged == {"x graph": ["x graphs"], "y graph": ["y graphs"]}


def test_what_merging_brings_back_beyond_the_quota_is_surplus():
    # the short "f f" takes "kk kk", into which two others were merged that are not near "f f"
    side, far = np.cos(np.radians(25)), np.sin(np.radians(25))
    vectors = {
        "kk kk": (1, 0, 0), "ppp one": (side, far, 0), "ppp two": (side, -far, 0), "f f": (side, 0, far),
        "a b c": (0, 0, 1),
    }  # fmt: skip
    ranked = {"2": list(vectors)[:4], "3": ["a b c"]}
    settings = Keywords(count=3, merge_above=0.85)
    selected = select_keywords(ranked, settings, lambda phrases: np.array([vectors[one] for one in phrases]))
    assert selected.keywords == ["ppp one", "ppp two", "a b c"]
    assert selected.surplus == ["f f"] and selected.merged == {}


def test_shortage_of_one_length_goes_to_others():
    ranked = {"2": [f"bi w{letter}" for letter in "abcdefghij"], "3": ["tri one two"]}
    selected = select_keywords(ranked, Keywords(count=8), encode)
    assert len(selected.keywords) == 8
    assert selected.quotas == {"2": 7, "3": 1, "4": 0, "5+": 0}


def test_lengths_are_two_three_four_and_more():
    names = [name_length(" ".join("abcdefg"[:words])) for words in range(2, 8)]
    assert names == ["2", "3", "4", "5+", "5+", "5+"]


def test_the_phrases_of_most_documents_are_taken(wordlists):
    whole, few = (
        extract_keywords(make_abstracts(), Keywords(count=count, merge_above=1.0), wordlists, encode).rows
        for count in (300, 4)
    )
    order = sorted((row for row in whole if row[1] == 2), key=lambda row: (-row[2], -row[3], row[0]))
    taken = [row for row in few if row[1] == 2]
    assert len(few) == 4 < len(whole) and 0 < len(taken) < len(order)
    assert sorted(taken) == sorted(order[: len(taken)])


def test_truncated_phrases_can_stay(wordlists):
    abstracts = {f"a{number}": f"v{number} graph neural networks w{number}" for number in range(30)}
    abstracts |= {f"x{number}": f"w{number} of v{number}" for number in range(2000)}
    settings = Keywords(complete=None, drop_truncated=None, drop_modifiers=None, merge_above=1.0)
    off, *_ = extract_keywords(abstracts, settings, wordlists, encode)
    settings = Keywords(complete=None, drop_truncated=0.9, drop_modifiers=None, merge_above=1.0)
    on, _, report = extract_keywords(abstracts, settings, wordlists, encode)
    assert {row[0] for row in off} - {row[0] for row in on} == set(report["dropped"]["truncated"]["examples"])
    assert "graph neural networks" in {row[0] for row in on}
    assert len(off) > len(on)


def test_what_one_document_alone_says_is_no_keyword(wordlists):
    text = ". ".join(f"v{number} prisoner dilemma {FUNCTION[number % 3]} w{number}" for number in range(30))
    abstracts = {**make_abstracts(), "alone": text}
    rows, _, report = extract_keywords(abstracts, Keywords(), wordlists, encode)
    assert "prisoner dilemma" not in {row[0] for row in rows}
    assert report["dropped"]["rare"] == {"count": 1, "examples": ["prisoner dilemma"]}
    rows, *_ = extract_keywords(abstracts, Keywords(min_documents=1), wordlists, encode)
    assert ("prisoner dilemma", 2, 1, 30) in {row[:4] for row in rows}


def test_rows_and_report(wordlists):
    abstracts = {**make_abstracts(), "empty": "  "}
    rows, vectors, report = extract_keywords(abstracts, Keywords(), wordlists, encode)
    assert np.array_equal(vectors, encode([row[0] for row in rows]))
    keywords = {row[0]: row for row in rows}
    assert {"neural network", "random walk", "opinion dynamics", "markov chain"} <= set(keywords)
    assert "publicly available" not in keywords
    assert "neural networks (" in keywords["neural network"][4]
    assert [row[2] for row in rows] == sorted((row[2] for row in rows), reverse=True)
    assert all(row[1] == len(row[0].split()) for row in rows)
    assert report["abstracts"] == 120
    assert report["abstracts_empty"] == 1
    assert report["asked"] == 300
    assert report["found"] == len(rows)
    for name, found in report["lengths"].items():
        assert found["found"] == sum(name_length(row[0]) == name for row in rows) <= found["candidates"]
    assert "publicly available" in report["dropped"]["function"]["examples"]


def test_fewer_than_asked_is_said(wordlists, caplog):
    with caplog.at_level("INFO", logger="fathom"):
        rows, *_ = extract_keywords(make_abstracts(), Keywords(), wordlists, encode)
    assert any(f"{len(rows)} of 300 keywords" in each and "min_count" in each for each in caplog.messages)


def test_no_keyword_is_an_error(wordlists):
    for abstracts in ({}, {"a": ""}, {"a": "one short text"}):
        with refuses("keyword"):
            extract_keywords(abstracts, Keywords(), wordlists, encode)


def test_a_field_whose_terms_are_single_words_has_no_keyword(wordlists):
    terms = ["entropy", "polymer", "plasma", "genome", "lattice", "neuron", "graphene", "turbulence"]
    draw = random.Random(1)
    abstracts = {f"d{number}": ", ".join(draw.sample(terms, 6)) for number in range(60)}
    with refuses("no keyword in 60 abstracts"):
        extract_keywords(abstracts, Keywords(), wordlists, encode)


def test_order_of_documents_does_not_matter(wordlists):
    abstracts = make_abstracts()
    shuffled = dict(random.Random(5).sample(sorted(abstracts.items()), len(abstracts)))
    one, other = (extract_keywords(each, Keywords(), wordlists, encode) for each in (abstracts, shuffled))
    assert (one.rows, one.report) == (other.rows, other.report)
    assert np.array_equal(one.vectors, other.vectors)


def test_hash_seed_does_not_matter():
    words = frozenset({"publicly", "of a", *FUNCTION})
    program = (
        "import importlib.util, json; from pathlib import Path\n"
        f"spec = importlib.util.spec_from_file_location('this', {str(Path(__file__))!r})\n"
        "this = importlib.util.module_from_spec(spec); spec.loader.exec_module(this)\n"
        f"lists = this.WordLists({{'function': frozenset({sorted(words)})}}, frozenset(), {{}})\n"
        "abstracts = this.make_abstracts()\n"
        "found = this.extract_keywords(abstracts, this.Keywords(), lists, this.encode)\n"
        "print(json.dumps([found.rows, found.vectors.tolist(), found.report]))\n"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "4711", "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-c", program]
    other = subprocess.run(command, env=environment, capture_output=True, check=True).stdout
    lists = WordLists({"function": words}, frozenset(), {})
    found = extract_keywords(make_abstracts(), Keywords(), lists, encode)
    assert json.loads(other) == json.loads(json.dumps([found.rows, found.vectors.tolist(), found.report]))
    assert b"neural network" in other


def read_abstracts(shared: Path, category: str, limit: int) -> dict[str, str]:
    """Return abstracts of real records of one category."""
    abstracts: dict[str, str] = {}
    with gzip.open(shared / "arxiv" / "arxiv-metadata-oai-snapshot.json.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            if category in line and category in (record := json.loads(line))["categories"].split():
                abstracts[record["id"]] = record["abstract"]
                if len(abstracts) == limit:
                    break
    return abstracts


def test_real_abstracts_give_the_papers_keywords(shared, wordlists):
    economics, outside = (read_abstracts(shared, field, 2000) for field in ("econ.GN", "cond-mat"))
    rows, *_ = extract_keywords(economics, Keywords(), wordlists, encode, outside)
    names = {row[0] for row in rows} | {other.split(" (")[0] for row in rows for other in row[4].split("; ")}
    table_4 = {"economic growth", "monetary policy", "labor market", "nash equilibrium", "climate change",
               "international trade", "income inequality", "fiscal policy", "unemployment rate"}  # fmt: skip
    assert table_4 <= names
    assert not names & {"publicly available", "experimental results", "case study"}
