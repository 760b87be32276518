"""Phrases that are general, by documents outside the domain; verbs; and that order does not matter."""

import pytest

from fathom.benchmark.generality import (
    LEAST_OUTSIDE,
    MOST_OUTSIDE,
    draw_outside,
    find_general,
    is_on_project,
    needs_manuals,
)
from fathom.benchmark.phrases import count_uses
from fathom.benchmark.wordlists import WordLists, find_kinds, is_no_noun, is_verb_only
from fathom.config.benchmark import Keywords

PHRASES = ["random walk", "parameter space", "gene drive", "natural selection"]


def make_documents(*texts: tuple[str, int]) -> list[list[list[str]]]:
    """Return one document of one run for each repetition of a text."""
    return [[text.split()] for text, times in texts for _ in range(times)]


INSIDE = make_documents(
    ("random walk of", 30), ("parameter space", 10), ("parameter", 60), ("space", 60), ("gene drive", 20),
    ("natural selection", 30), ("filler words of many kinds", 200),
)  # fmt: skip
OUTSIDE = make_documents(
    ("random walk", 40), ("parameter of", 80), ("space of", 80), ("parameter space", 2), ("natural", 40),
    ("filler words of many kinds", 200),
)  # fmt: skip


WORDLISTS = WordLists({}, frozenset(), {})
MANUALS = WordLists({}, frozenset(), {}, {("error", "code"): (0.3, 60.0)})
"""Word lists for documents, in which manuals of programs tell what is general."""


def find(phrases, inside, outside, wordlists=WORDLISTS, **values):
    settings = Keywords(**{"min_keyness": None, "drop_generic": False, **values})
    return find_general(phrases, count_uses(inside, phrases), inside, outside, settings, wordlists)


def test_what_others_use_as_much_is_general():
    found = find(PHRASES, INSIDE, OUTSIDE)
    assert found == {"used elsewhere": ["random walk"], "general": ["parameter space"]}
    assert found == find(PHRASES[::-1], INSIDE[::-1], OUTSIDE[::-1])


def test_null_keeps_general_phrases():
    assert find(PHRASES, INSIDE, OUTSIDE, min_ratio=None) == {"general": ["parameter space"]}
    assert find(PHRASES, INSIDE, OUTSIDE, min_word_ratio=None) == {"used elsewhere": ["random walk"]}


def test_few_documents_outside_tell_nothing_and_the_log_says_so(caplog):
    with caplog.at_level("INFO"):
        assert find(PHRASES, INSIDE, OUTSIDE[: LEAST_OUTSIDE - 1]) == {}
    assert f"{LEAST_OUTSIDE - 1} documents outside the domain" in caplog.text
    caplog.clear()
    assert find(PHRASES, INSIDE, [], min_ratio=None, min_word_ratio=None) == {} and not caplog.text
    assert find(PHRASES, INSIDE, []) == {}


ENGLISH = make_documents(
    ("operating system of", 3), ("magnetic monopole of", 3), ("filler words of many kinds", 9000)
)


def test_general_english_tells_what_is_common_where_nothing_is_outside(caplog):
    phrases = ["magnetic monopole", "operating system"]
    with caplog.at_level("INFO"):
        assert find(phrases, ENGLISH, [], min_keyness=1e5) == {"common": ["operating system"]}
    assert "general English" in caplog.text
    assert find(phrases, ENGLISH, [], min_keyness=0.0) == {"common": []}


def test_what_is_rare_outside_is_not_common():
    phrases = ["operating system"]
    outside = make_documents(("operating system", 2), ("filler words of many kinds", 9000))
    values = {"min_keyness": 1e5, "min_ratio": None, "min_word_ratio": None}
    assert find(phrases, ENGLISH, outside, **values) == {"common": phrases}
    inside = [*ENGLISH, *make_documents(("operating system", 300))]
    low = {**values, "min_keyness": 1e9}
    assert find(phrases, inside, [], **low) == {"common": phrases}
    assert find(phrases, inside, outside, **low) == {"common": []}


def test_small_corpora_and_copies_keep_keywords():
    few = make_documents(("operating system kernel", 2), ("filler words", 8))
    assert find(["operating system"], few, [], min_keyness=7000.0) == {"common": []}
    copies = make_documents(("operating system kernel and filler words of many kinds", 1000))
    assert find(["operating system"], copies, [], min_keyness=7000.0) == {"common": []}


def test_what_documents_repeat_or_whose_words_belong_together_is_not_general():
    repeated = [*INSIDE, *([[["parameter", "space"], ["parameter", "space"]]] * 20)]
    assert find(["parameter space"], repeated, OUTSIDE)["general"] == []
    close = make_documents(("parameter space", 40), ("space", 60), ("filler words", 100))
    assert find(["parameter space"], close, OUTSIDE, min_ratio=None)["general"] == []


def test_documents_outside_are_drawn_by_hash():
    names = [f"d{number}" for number in range(MOST_OUTSIDE + 5)]
    drawn = draw_outside(names)
    assert len(drawn) == MOST_OUTSIDE and drawn == draw_outside(names[::-1]) and drawn != names[:MOST_OUTSIDE]


@pytest.mark.parametrize(("word", "kinds", "only"), [
    ("predicts", {"verb"}, True), ("reduce", {"verb"}, True), ("condensed", {"verb"}, False),
    ("networks", {"noun", "verb"}, False), ("carlo", set(), False), ("tunneling", {"verb"}, False),
    ("learning", {"noun", "verb"}, False), ("spin-orbit", {"noun", "verb"}, False),
])  # fmt: skip
def test_kinds_of_words(word, kinds, only):
    assert find_kinds(word) == kinds
    assert is_verb_only(word) is only


@pytest.mark.parametrize(("word", "is_none"), [
    ("horizontally", True), ("returned", True), ("reproductive", True), ("tunneling", False),
    ("networks", False), ("carlo", False), ("family", False),
])  # fmt: skip
def test_adjectives_participles_and_adverbs_are_no_nouns(word, is_none):
    assert is_no_noun(word) is is_none


def test_what_is_on_a_program_as_such_is_no_subject_of_its_manual():
    on_it = [
        "git project",
        "bug tracker",
        "git-security mailing list",
        "binary distribution",
        "installing octave",
    ]
    others = ["project history", "response distribution", "installed packages", "linked list"]
    phrases = [*on_it, *others, "error code"]
    documents = make_documents(*((phrase, 2) for phrase in phrases), ("filler words", 10000))
    outside = make_documents(("filler words", LEAST_OUTSIDE))
    for others_there in ([], outside):
        found = find(phrases, documents, others_there, MANUALS, min_keyness=1e-9)
        assert sorted(found["common"]) == sorted([*on_it, "error code"])
        assert find(phrases, documents, others_there, min_keyness=1e-9)["common"] == []
    lists = WordLists({}, frozenset(), {"trackers": "tracker"})
    assert is_on_project("bug trackers", lists) and not is_on_project("bug tracker trackers path", lists)


def test_manuals_count_in_a_folder_and_where_nothing_else_tells():
    assert needs_manuals("folder", 10**6) and needs_manuals("arxiv", LEAST_OUTSIDE - 1)
    assert not needs_manuals("arxiv", LEAST_OUTSIDE)


def test_data_quality_and_effort_are_no_subjects_of_a_field():
    text = (
        "image quality and image fusion cost computational overhead beside mutual information of ground truth"
    )
    documents = [[[*text.split()]]] * 3 + [
        [["image", "noise"], ["computational", "load"], ["overhead", "line"]]
    ] * 15
    phrases = [
        "image quality",
        "image fusion",
        "computational overhead",
        "mutual information",
        "ground truth",
    ]
    assert find(phrases, documents, [], drop_generic=True)["generic"] == [
        "image quality", "computational overhead", "ground truth",
    ]  # fmt: skip
    assert "generic" not in find(phrases, documents, [])
