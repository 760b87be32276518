"""Words of sentences, what stands before them, and counts from which a document can be taken."""

import numpy as np
import polars as pl

from fathom.benchmark.word_counts import (
    Distinct,
    LeaveOneOutCounts,
    Lexicon,
    Tally,
    list_followers,
    list_windows,
)


def read(*texts: str, function_words=("the", "be")):
    """Return the words of sentences, and the text of each number."""
    lexicon = Lexicon(function_words)
    words = lexicon.read(texts)
    names = {lexicon.find(form): form for text in texts for form in reversed(text.split())}
    return words, names


def test_forms_of_a_word_are_one_word_in_any_case():
    lexicon = Lexicon({"the", "was", "be"})
    assert lexicon.find("Processes") == lexicon.find("process") == lexicon.find("PROCESS")
    assert lexicon.find("was") != lexicon.find("be"), "function words are not brought to their lemma"
    assert len(lexicon) == 3


def test_content_words_have_three_letters_and_begin_with_one():
    words, _ = read("The map ox 2nd covid19 be are energy")
    assert words.content.tolist() == [False, True, False, False, True, False, False, True]
    assert words.starts.tolist() == [0, 4, 8, 11, 15, 23, 26, 30]


def test_the_context_of_a_word_are_six_content_words_before_it_in_its_sentence():
    words, names = read("alpha the bridge cloud desert engine forest garden harbour", "island jungle")
    found = list_windows(words)
    before = {}
    for context, target, place in zip(found.contexts, found.targets, found.places, strict=True):
        assert words.numbers[place] == target
        before.setdefault(names[target], []).append(names[context])
    assert before["harbour"] == ["garden", "forest", "engine", "desert", "cloud", "bridge"]
    assert before["bridge"] == ["alpha"] and before["jungle"] == ["island"] and "island" not in before


def test_any_word_may_stand_right_before_a_content_word_of_its_sentence():
    words, names = read("alpha the bridge ox", "cloud desert", "the engine")
    found = list_followers(words)
    pairs = [(names[one], names[other]) for one, other in zip(found.contexts, found.targets, strict=True)]
    assert pairs == [("the", "bridge"), ("cloud", "desert"), ("the", "engine")]
    assert words.numbers[found.places].tolist() == found.targets.tolist()


def test_numbers_that_were_not_counted_have_a_count_of_0():
    assert Tally().merge().find(np.array([3, 4])).tolist() == [0, 0]
    tally = Tally.of(np.array([5, 7, 5, 9]))
    assert tally.find(np.array([9, 5, 6, 10, 4])).tolist() == [1, 2, 0, 0, 0]


def test_a_document_is_taken_from_the_counts_of_all():
    keys, documents = np.array([5, 7, 5, 9, 5]), np.array([0, 0, 1, 1, 1])
    total = Tally.of(keys)
    total.keep(2)
    rest = LeaveOneOutCounts(total, documents, keys)
    assert rest.find(np.array([0, 1, 2, 0, 1]), np.array([5, 5, 5, 7, 8])).tolist() == [2, 1, 3, 0, 0]


def test_texts_are_new_once():
    distinct = Distinct()
    assert distinct.select_new(pl.Series(["b", "a", "b"])).to_list() == ["b", "a"]
    assert distinct.select_new(pl.Series(["a", "c", "b"])).to_list() == ["c"]
