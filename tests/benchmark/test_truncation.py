"""Phrases that are cut off: what completes them, what is dropped, and that order does not matter."""

import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from fathom.benchmark.keywords import extract_keywords
from fathom.benchmark.phrases import (
    Neighbour,
    Run,
    Use,
    complete_phrases,
    find_modifiers,
    find_neighbours,
    find_truncated,
)
from fathom.benchmark.wordlists import WordLists
from fathom.config.benchmark import Keywords
from fathom.io.files import hash_text

PLURALS = ("network", "model", "equation", "system")
LISTS = WordLists(
    {"stopwords": frozenset({"of", "the", "in", "and"}), "academic": frozenset({"potential", "neat idea"})},
    frozenset(),
    {f"{word}s": word for word in (*PLURALS, "potential")},
)


def make_documents(*texts: tuple[str, int]) -> list[list[Run]]:
    """Return one document of one run for each repetition of a text."""
    return [[text.split()] for text, times in texts for _ in range(times)]


@pytest.mark.parametrize(("texts", "longer"), [
    ([("online social networks", 8), ("online social life", 2)], "online social networks"),
    ([("large online social", 8), ("online social life", 2)], "large online social"),
    ([("online social networks", 7), ("online social life", 3)], None),
    # a run ends where the text has punctuation
    ([("online social networks", 8), ("online social", 2)], "online social networks"),
    ([("online social", 8), ("online social networks", 2)], None),
    # both sides: the more frequent, then the right one, and then the other
    ([("large online social networks", 8), ("large online social", 2)], "large online social networks"),
    (
        [("large online social networks", 9), ("neat online social life", 1)],
        "large online social networks",
    ),
])  # fmt: skip
def test_a_phrase_takes_the_word_beside_most_of_its_uses(texts, longer):
    found = complete_phrases(make_documents(*texts), ["online social"], LISTS, 0.8)
    assert found[0] == ({"online social": longer} if longer else {})
    assert found[1] == {}


def test_singular_and_plural_are_one_word_and_the_more_frequent_is_taken():
    documents = make_documents(("graph neural network", 3), ("graph neural networks", 6), ("graph neural", 1))
    (beside,) = find_neighbours(documents, ["graph neural"], LISTS).values()
    assert beside.right == Neighbour("networks", 9)
    found = complete_phrases(documents, ["graph neural"], LISTS, 0.8)
    assert found[0] == {"graph neural": "graph neural networks"}


def test_longer_forms_take_words_in_turn():
    longest = "density functional theory calculations"
    phrases = ["density functional", "functional theory", "theory calculations"]
    documents = make_documents((longest, 8), ("functional theory", 1))
    found = complete_phrases(documents, phrases, LISTS, 0.8)
    assert found == (dict.fromkeys(phrases, longest), {})
    # a word that no keyword may have, beside the last of the longer forms, ends them all
    found = complete_phrases(make_documents((f"of {longest}", 8)), phrases, LISTS, 0.8)
    assert found == ({}, dict.fromkeys(phrases, f"of {longest}"))


@pytest.mark.parametrize(("text", "phrase", "longer"), [
    ("orbital degrees of freedom", "orbital degrees", "orbital degrees of"),
    ("in stark contrast", "stark contrast", "in stark contrast"),
    ("learned interatomic potentials", "learned interatomic", "learned interatomic potentials"),
    ("very neat idea", "very neat", "very neat idea"),
    ("one two three four five six seven eight", "one two", "one two three four five six seven eight"),
])  # fmt: skip
def test_a_longer_form_that_cannot_be_a_keyword_ends_the_phrase(text, phrase, longer):
    found = complete_phrases(make_documents((text, 9), (phrase, 1)), [phrase], LISTS, 0.8)
    assert found[1] == {phrase: longer}
    assert found[0] == {}


def test_articles_belong_to_no_phrase():
    documents = make_documents(("the minimum wage", 9), ("a minimum wage", 1), ("an moduli space the", 5))
    found = complete_phrases(documents, ["minimum wage"], LISTS, 0.8)
    assert found == ({}, {})


def test_phrases_before_various_words_are_modifiers():
    documents = make_documents(
        ("scanning tunneling microscopy", 5),
        ("scanning tunneling spectroscopy", 4),
        ("scanning tunneling of", 1),
        ("random walk theory", 5),
        ("random walk potentials", 3),  # which no keyword may have, but content
        ("random walk", 2),
    )
    neighbours = find_neighbours(documents, ["scanning tunneling", "random walk", "never used"], LISTS)
    assert neighbours["scanning tunneling"].followed == 9
    assert neighbours["random walk"].followed == 8
    endings = find_neighbours(make_documents(("flip horizontally", 3)), ["flip horizontally"], LISTS)
    assert find_modifiers(endings, 0.9) == ["flip horizontally"]
    assert find_modifiers(neighbours, 0.9) == ["scanning tunneling"]
    assert find_modifiers(neighbours, 0.8) == ["scanning tunneling", "random walk"]


@pytest.mark.parametrize(("texts", "phrase", "longer", "modifies"), [
    # most go on to one word, which it takes
    ([("monte carlo simulation", 6), ("monte carlo sampling", 3), ("monte carlo of", 1)], "monte carlo",
     "monte carlo simulation", True),
    # to various words: nothing to take
    ([("monte carlo simulation", 4), ("monte carlo sampling", 4), ("monte carlo of", 2)], "monte carlo",
     None, True),
    # what ends in no noun needs half of the share, what ends in a noun needs it all
    ([("kinetic carlo simulation", 3), ("kinetic carlo of", 4)], "kinetic carlo", None, True),
    ([("random walk theory", 3), ("random walk of", 4)], "random walk", None, False),
])  # fmt: skip
def test_a_modifier_takes_the_word_that_follows_most_of_its_uses(texts, phrase, longer, modifies):
    documents = make_documents(*texts)
    found = complete_phrases(documents, [phrase], LISTS, 0.8, 0.8)
    assert found[0] == ({phrase: longer} if longer else {})
    assert find_modifiers(find_neighbours(documents, [phrase], LISTS), 0.8) == [phrase] * modifies


def test_truncated_phrases_are_found():
    uses = {
        "large language": Use(10, 100), "large language model": Use(5, 30),
        "large language models": Use(9, 65), "language models": Use(20, 200),
    }  # fmt: skip
    assert find_truncated(list(uses), uses, LISTS, 0.9) == {"large language": "large language model"}
    assert find_truncated(list(uses), uses, LISTS, 0.96) == {}
    # the most frequent of several longer phrases counts, and each of its uses once
    uses = {
        "graph neural": Use(10, 100), "graph neural layer": Use(5, 10), "graph neural network": Use(9, 85),
        "neural network": Use(20, 120), "one graph neural network": Use(9, 50),
    }  # fmt: skip
    assert find_truncated(list(uses), uses, LISTS, 0.8) == {"graph neural": "graph neural network"}


@given(st.lists(st.lists(st.sampled_from(["a", "network", "networks", "of", "b"]), max_size=8), max_size=12))
def test_neighbours_are_those_of_a_plain_count(runs):
    phrases = ["b b", "network b", "b networks"]
    found = find_neighbours([[run] for run in runs], phrases, LISTS)
    for phrase in phrases:
        places = [
            (run, place)
            for run in runs
            for place in range(len(run))
            if run[place : place + 2] == phrase.split()
        ]
        before = Counter("".join(run[max(place - 1, 0) : place]) for run, place in places)
        after = Counter("".join(run[place + 2 : place + 3]) for run, place in places)
        assert found[phrase].uses == len(places)
        assert found[phrase].followed == sum(after[word] for word in ("network", "networks", "b", "a"))
        for neighbour, words in ((found[phrase].left, before), (found[phrase].right, after)):
            forms = [("network", "networks"), ("of",), ("b",), ("a",)][: 4 if words is after else 3]
            counts = {form: sum(words[word] for word in form) for form in forms}
            majority = [form for form, count in counts.items() if 2 * count > len(places)]
            expected = [Neighbour(max(form, key=lambda word: words[word]), counts[form]) for form in majority]
            assert neighbour == (expected or [Neighbour("", 0)])[0]


@given(st.randoms(use_true_random=False))
def test_order_of_documents_does_not_matter(choose):
    documents = make_documents(
        ("large online social networks", 6), ("online social network", 6), ("online social life", 2),
        ("social life", 3),
    )  # fmt: skip
    phrases = ["online social", "social life", "large online"]
    shuffled = choose.sample(documents, len(documents))
    assert complete_phrases(documents, phrases, LISTS, 0.8) == complete_phrases(shuffled, phrases, LISTS, 0.8)
    assert find_neighbours(documents, phrases, LISTS) == find_neighbours(shuffled, phrases, LISTS)


def encode(phrases: list[str]) -> NDArray[np.float64]:
    """Return a unit vector for each phrase by its hash."""
    rows = [np.random.default_rng(int(hash_text(phrase)[:8], 16)).normal(size=32) for phrase in phrases]
    return np.array([row / np.linalg.norm(row) for row in rows])


def make_abstracts() -> dict[str, str]:
    """Return abstracts with phrases to complete, to leave and to drop."""
    choose = random.Random(2)
    filler = [f"v{number}" for number in range(3000)]  # not alphabetic, so no keyword has it
    texts = [
        *[f"online social {choose.choice(['network', 'networks', 'networks'])}" for _ in range(60)],
        *[
            f"scanning tunneling {choose.choice(['microscopy', 'spectroscopy', 'junctions'])}"
            for _ in range(60)
        ],
        *["orbital degrees of freedom"] * 30,
        *["minimum wage"] * 30,
    ]
    return {
        f"a{number}": f"{choose.choice(filler)} {text}. {' '.join(filler[number::200])}"
        for number, text in enumerate(texts)
    }


def test_keywords_are_completed_and_said_in_the_report():
    settings = Keywords(merge_above=1.0, passes=1)
    on = extract_keywords(make_abstracts(), settings, LISTS, encode)
    keywords = {row[0]: row for row in on.rows}
    assert set(keywords) == {"online social networks", "minimum wage"}
    uses = sum("online social networks" in text for text in make_abstracts().values())
    assert keywords["online social networks"][2:4] == (uses, uses)
    assert on.report["completed"]["examples"]["online social"] == "online social networks"
    assert on.report["completed"]["count"] == len(on.report["completed"]["examples"])
    assert on.report["dropped"]["incomplete"]["examples"] == ["orbital degrees"]
    assert on.report["dropped"]["modifier"]["examples"] == ["scanning tunneling"]
    shuffled = dict(random.Random(5).sample(sorted(make_abstracts().items()), 180))
    other = extract_keywords(shuffled, settings, LISTS, encode)
    assert (on.rows, on.report) == (other.rows, other.report)
    assert np.array_equal(on.vectors, other.vectors)


def test_null_leaves_phrases_as_they_are():
    settings = Keywords(merge_above=1.0, passes=1, complete=None)
    kept = extract_keywords(make_abstracts(), settings, LISTS, encode)
    assert {row[0] for row in kept.rows} == {"orbital degrees", "minimum wage"}
    assert kept.report["completed"] == {"count": 0, "examples": {}}
    settings = settings.model_copy(update={"drop_truncated": None, "drop_modifiers": None})
    kept = extract_keywords(make_abstracts(), settings, LISTS, encode)
    assert {row[0] for row in kept.rows} == {
        "online social", "orbital degrees", "minimum wage", "scanning tunneling",
    }  # fmt: skip
    assert "modifier" not in kept.report["dropped"]
