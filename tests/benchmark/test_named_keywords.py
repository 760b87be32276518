"""Sentences that name keywords."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.programs import run_program
from tests.tables import fill_table, tabulate_sentences, write_delimited

from fathom.benchmark import named_keywords as module
from fathom.benchmark.matches import match_sentences
from fathom.benchmark.named_keywords import find_named, keep_named, select_named
from fathom.benchmark.normalise import split_into_runs
from fathom.io.contracts.benchmark import DOMAIN_KEYWORDS, MATCHES
from fathom.io.contracts.corpus import INDEX, SENTENCES
from fathom.io.files import read_json
from fathom.io.tables import read_table, write_table

WORDS = ["models", "model", "graph", "graphs", "neural", "of"]


def name(sentence: str, *keywords: str) -> list[str]:
    return find_named(pl.Series([sentence]), keywords)["keyword"].to_list()


@pytest.mark.parametrize(
    ("sentence", "keyword"),
    [
        ("Graph-neural Networks are used.", "graph neural network"),
        ("Both populations have a basic reproductive ratio above one.", "basic reproductive ratios"),
        ("The Schrödinger equation holds.", "schrodinger equation"),
        ("Schrödinger's equation holds.", "schrodinger equation"),
        ("We tune fine tuned models.", "fine-tuned models"),
        ("Of all theories, game theories", "game theory"),
        ("a b a b c", "a b c"),
        ("Enzymes", "enzyme"),
    ],
)
def test_a_keyword_is_found_in_any_form(sentence, keyword):
    assert name(sentence, keyword) == [keyword]


@pytest.mark.parametrize(
    ("sentence", "keyword"),
    [
        ("The sex ratio is one.", "basic reproductive ratio"),
        ("This is about graphs, neural networks and more.", "graph neural network"),
        ("A network of neural graphs.", "graph neural network"),
        ("It ends with graph neural", "graph neural network"),
        ("The neural cortex is a map.", "neural network"),
        ("photographs neurally networked", "graph neural network"),
        ("", "graph neural network"),
    ],
)
def test_a_part_or_another_order_of_its_words_is_not_enough(sentence, keyword):
    assert name(sentence, keyword) == []


def test_each_keyword_of_a_sentence_is_found_once_and_no_other_sentence_lends_words():
    sentences = pl.Series(["A deep neural network is a neural network.", "deep", "neural networks", ""])
    found = find_named(sentences, ["neural network", "deep neural network", "quantum dot"])
    assert found.rows() == [(0, "deep neural network"), (0, "neural network"), (2, "neural network")]


def test_pieces_change_nothing(monkeypatch):
    sentences = pl.Series([f"About quantum dots {n} and spin." if n % 3 else "spin glass" for n in range(20)])
    whole = find_named(sentences, ["quantum dot", "spin glass"])
    monkeypatch.setattr(module, "_PIECE", 3)
    assert find_named(sentences, ["quantum dot", "spin glass"]).equals(whole)


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6))
def test_a_sentence_names_what_keywords_are_extracted_from_it(words):
    sentence = " ".join(words)
    (run,) = split_into_runs(sentence)
    keyword = " ".join(run[:3])
    assert name(sentence, keyword) == [keyword]


def test_only_sentences_that_name_a_keyword_of_their_own_domain_are_kept(tmp_path):
    texts = ["on spin glass", "on quantum dots", "on spin glass", "nothing"]
    table = pl.DataFrame(
        {"doc_id": ["a", "a", "b", "b"], "position": [0, 1, 0, 1], "sentence": texts, "clean": texts,
         "row": [0, 1, 0, 2]},
        schema_overrides={"position": pl.Int32, "row": pl.Int32},
    )  # fmt: skip
    documents = pl.DataFrame({"doc_id": ["a", "b"], "domains": [["x"], ["x", "y"]]})
    kept = select_named(table, documents, {"x": ["quantum dot"], "y": ["spin glass"]})
    assert kept.select("doc_id", "clean", "row").rows() == [
        ("a", "on quantum dots", 1), ("b", "on spin glass", 0),
    ]  # fmt: skip
    assert select_named(table, documents, {"x": [], "y": ["else"]}).is_empty()

    columns = {name: documents[name].to_list() for name in documents.columns}
    write_table(tmp_path / "s.parquet", table, SENTENCES)
    write_table(tmp_path / "i.parquet", fill_table(INDEX, split="benchmark", **columns), INDEX)
    for domain, keyword in (("x", "quantum dot"), ("y", "spin glass")):
        write_delimited(tmp_path / f"{domain}.tsv", DOMAIN_KEYWORDS.names, [(keyword, 2, 2, 2, "")])
    run_program(
        "select_sentences", "--sentences", tmp_path / "s.parquet", "--index", tmp_path / "i.parquet",
        "--domains", "x", "y", "--keywords", tmp_path / "x.tsv", tmp_path / "y.tsv",
        "--selected", tmp_path / "n.parquet", "--report", tmp_path / "n.json",
    )  # fmt: skip
    assert read_table(tmp_path / "n.parquet", SENTENCES).equals(kept)
    assert read_json(tmp_path / "n.json") == {"sentences": 4, "named": 2}


def test_matches_keep_their_order():
    rows = [("spin glass", "b", 1, "a spin glass", 0.5), ("spin glass", "a", 0, "a glass", 0.9),
            ("quantum dot", "a", 2, "a spin glass of quantum dots", 0.4)]  # fmt: skip
    columns = dict(zip(MATCHES.names, zip(*rows, strict=True), strict=True))
    frame = fill_table(MATCHES, **columns)
    assert keep_named(frame).equals(frame[[0, 2]])


def test_selecting_before_embedding_gives_the_matches_of_selecting_after():
    random = np.random.default_rng(0)
    texts = [" ".join(random.choice([*WORDS, "spin", "glass", "a"], 5)) for _ in range(300)]
    table = tabulate_sentences([(f"d{place % 7}", text) for place, text in enumerate(texts)])
    keywords = ["graph model", "spin glass", "neural graphs", "of a"]
    vectors = random.normal(size=(len(set(texts)) + len(keywords), 4))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    of_texts, of_keywords = vectors[len(keywords) :].astype(np.float32), vectors[: len(keywords)]
    after = keep_named(match_sentences(table, of_texts, keywords, of_keywords, 0.2))

    documents = table.select("doc_id").unique().with_columns(domains=pl.lit(["x"]))
    kept = select_named(table, documents, {"x": keywords})
    places = dict(zip(table["sentence"], table["row"], strict=True))
    own = [places[text] for text in kept.unique("row").sort("row")["sentence"]]
    before = keep_named(match_sentences(kept, of_texts[own], keywords, of_keywords, 0.2))
    assert before.equals(after) and 10 < len(before) < len(kept) < len(table)
