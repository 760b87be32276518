"""Phrases against general English, and phrases that are parts of a clause."""

import math

import pytest

from fathom.benchmark.generality import find_in_manuals, measure_keyness
from fathom.benchmark.keywords import find_clauses, find_names
from fathom.benchmark.wordlists import WordLists, load_lemmas

TEXT = "the operating system and the magnetic field of a monopole field vortex"
TERMS = {"pass data", "function returns", "file system"}
WORDLISTS = WordLists({"function": frozenset({"of"})}, frozenset(), {})
FILLER = "words of many kinds that say little about the field and fill the rest of a document"


def find_lemma(word):
    return load_lemmas().get(word, word)


def measure(documents, *phrases):
    return measure_keyness(phrases, [[text.split()] for text in documents], find_lemma)


def test_what_the_web_has_as_well_is_told_from_what_is_frequent_here():
    documents = [TEXT, "magnetic field", "magnetism of magnetic fields", *[FILLER] * 20]
    keyness = measure(
        documents, "operating system", "magnetic field", "monopole field", "magnetic field vortex"
    )
    assert keyness["operating system"] < keyness["magnetic field"] < math.inf
    assert keyness["monopole field"] == keyness["magnetic field vortex"] == math.inf
    assert measure(documents[::-1], *list(keyness)[::-1]) == keyness


def test_forms_and_hyphens_are_united_and_copies_change_nothing():
    documents = [TEXT, "command lines", "command line", *[FILLER] * 5]
    forms = measure(documents, "command line", "command lines", "command-line")
    assert len(set(forms.values())) == 1
    assert measure(documents * 1000, *forms) == pytest.approx(forms)
    assert measure([], "command line") == {"command line": 0.0}


@pytest.mark.parametrize(("text", "clause"), [
    ("to pass data", True), ("we pass data", True), ("the pass data", False), ("pass data", False),
    ("function returns the", True), ("function returns of", False), ("function returns zero", True),
    ("file system the", False),
])  # fmt: skip
def test_neighbours_tell_verbs(text, clause):
    words = text.split()
    phrases = [" ".join(words[start : start + 2]) for start in range(len(words) - 1)]
    phrase = next(phrase for phrase in phrases if phrase in TERMS)
    assert find_clauses([[words]] * 2, [phrase], WORDLISTS) == ([phrase] if clause else [])


def test_a_verb_in_few_uses_is_no_clause():
    documents = [[["to", "pass", "data"]], *[[["pass", "data"]]] * 3]
    assert find_clauses(documents, ["pass data"], WORDLISTS) == []


@pytest.mark.parametrize(("seen", "clause"), [
    (["it returns the"] * 5, True), (["which returns"] * 5, True), (["it returns the"] * 4, False),
    (["it returns the"] * 5 + ["the returns of"] * 2, False), (["stock returns rise"] * 9, False),
])  # fmt: skip
def test_a_form_that_is_a_verb_elsewhere_is_one_in_every_phrase(seen, clause):
    documents = [[text.split()] for text in [*seen, "of returns volatility"]]
    assert find_clauses(documents, ["returns volatility"], WORDLISTS) == (
        ["returns volatility"] if clause else []
    )


def test_what_every_manual_has_must_be_much_more_frequent_here():
    lists = WordLists(
        {}, frozenset(), load_lemmas(), {("error", "code"): (0.5, 100.0), ("http", "header"): (0.05, 10.0)}
    )
    filler = [FILLER.split()] * 600

    def find(uses):
        text = ["error codes of http headers in error code tables"] * uses
        documents = [[each.split()] for each in text] + [[each] for each in filler]
        return find_in_manuals(["error codes", "http headers", "error code tables", "x y"], documents, lists)

    assert find(0) == {"error codes", "http headers"}
    assert find(2) == {"error codes"}  # 4 and 18 times as frequent as there
    assert find(90) == set()


@pytest.mark.parametrize(("text", "is_name"), [
    ("by Martin Landa and by MARTIN Landa", False), ("by Martin Landa", True), ("Martin Landa's map", True),
    ("by Martin Landa; a martin", False), ("an NTP Server", False),
    ("by Luk\u00e1\u0161 Landa-Bo\u010dan", True),
    ("by martin landa", False), ("nobody", False), ("Orthogonal Matching Pursuit", False),
])  # fmt: skip
def test_names_are_words_that_begin_with_a_capital_everywhere(text, is_name):
    phrases = ["martin landa", "lukas landa-bocan", "ntp server", "orthogonal matching pursuit"]
    (found,) = find_names([text], phrases) or [None]
    assert (found is not None) == is_name
