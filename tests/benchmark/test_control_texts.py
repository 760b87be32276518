"""Controls of a training text: what is exchanged for what, what is kept, and what stays as it is."""

from collections import Counter

import polars as pl
import pytest
from tests.refusals import refuses

from fathom.benchmark.control_texts import exchange_terms, keep_term_sentences
from fathom.corpus.sentences import load_splitter

TERMS = {"kernel", "forest", "tree", "classifiers", "clusters", "Bayes", "Gauss", "unused"}
TRAIN = (
    "The kernel splits a forest. Every tree of the forest has classifiers, and so do clusters of k-tree kind."
    "\n\nNothing here is one. Bayes and Gauss are names; tree-like is none."
)


def make_texts(**splits: str) -> pl.DataFrame:
    rows = [{"doc_id": f"d{place}", "split": split, "text": text}
            for place, (split, text) in enumerate(splits.items())]  # fmt: skip
    return pl.DataFrame(rows, {"doc_id": pl.String, "split": pl.String, "text": pl.String})


TEXTS = make_texts(**{"adapt-train": TRAIN, "adapt-valid": TRAIN, "adapt-test": TRAIN})


def test_every_term_is_another_one_of_its_kind_and_nothing_else_changes():
    found = exchange_terms(TEXTS, TERMS)
    train, *held_out = found["text"]
    assert held_out == [TRAIN, TRAIN]
    changed = [pair for pair in zip(TRAIN.split(), train.split(), strict=True) if pair[0] != pair[1]]
    kinds = ({"kernel", "forest", "tree"}, {"classifiers", "clusters"}, {"Bayes", "Gauss"})
    assert [old.strip(".,") for old, _ in changed] == [
        "kernel", "forest", "tree", "forest", "classifiers", "clusters", "Bayes", "Gauss",
    ]  # fmt: skip
    for old, new in changed:
        kind = next(some for some in kinds if old.strip(".,") in some)
        assert new.strip(".,") in kind - {old.strip(".,")}
    assert "k-tree kind" in train and "tree-like" in train


def test_the_draw_depends_on_document_and_place_alone_and_keeps_frequencies():
    terms = ["kernel", "forest", "tree"]
    text = " ".join(["kernel"] * 600 + ["forest"] * 300 + ["tree"] * 100)
    once = exchange_terms(make_texts(**{"adapt-train": text}), terms)
    again = exchange_terms(make_texts(**{"adapt-train": text}), terms[::-1])
    assert once.equals(again)
    words = once["text"][0].split()
    # another one each time: kernel becomes forest in 3 of 4, forest kernel in 6 of 7, tree kernel in 2 of 3
    assert Counter(words[:600])["forest"] == pytest.approx(450, abs=40)
    assert Counter(words[600:900])["kernel"] == pytest.approx(257, abs=25)
    other = exchange_terms(make_texts(**{"adapt-valid": "", "adapt-train": text}), terms)
    assert other["text"][1] != once["text"][0]  # another document id


def test_sentences_with_terms_are_kept_paragraph_by_paragraph(caplog):
    with caplog.at_level("INFO", "fathom"):
        found = keep_term_sentences(TEXTS, TERMS, load_splitter("rules"))
    assert f"{len(TRAIN) / len(found['text'][0]):.2f} times as many" in caplog.text
    first, _ = TRAIN.split("\n\n")
    assert found["text"][0] == f"{first}\n\nBayes and Gauss are names; tree-like is none."
    assert found["text"].to_list()[1:] == [TRAIN, TRAIN]


def test_a_text_without_terms_is_refused():
    with refuses("vocabulary", "occurs"):
        exchange_terms(TEXTS, ["absent"])
    with refuses("sentence"):
        keep_term_sentences(TEXTS, ["absent"], load_splitter("rules"))
    with refuses("kernel"):
        exchange_terms(TEXTS, ["kernel", "absent"])
