"""The pairs that a benchmark has so far, and which others may not join them."""

import pytest

from fathom.benchmark.pairs import Accepted
from fathom.config.benchmark import Pairs

WORDS = [f"{first}{second}x" for first in "abcdefgh" for second in "aeiou"]


def accept(**values) -> Accepted:
    return Accepted(Pairs(tokenizer="t", **values))


def write(*numbers: int) -> str:
    return " ".join(WORDS[number] for number in numbers)


@pytest.mark.parametrize("words", ["network", "networks"])
def test_a_target_may_have_five_pairs_whatever_its_share(words):
    accepted = accept(max_target_share=0.01)
    for number in range(5):
        assert accepted.has_room("network")
        accepted.add((f"prompt {number}", " Network"), write(number))
    assert not accepted.has_room(words) and accepted.has_room("tree")


def test_beyond_five_a_target_has_its_share_of_all_pairs_with_the_new_one():
    accepted = accept(max_target_share=0.5)
    for number in range(10):
        accepted.add((f"prompt {number}", f" {WORDS[20 + number] if number < 5 else 'tree'}"), write(number))
    assert not accepted.has_room("tree")
    accepted.add(("other", f" {WORDS[30]}"), write(30))
    assert accepted.has_room("tree"), "6 of 12"


@pytest.mark.parametrize(
    ("sentence", "copies"),
    [
        (write(0, 1, 2, 3, 4, 5, 6, 7), True),
        (write(0, 1, 2, 3, 4, 5, 6, 7).upper() + ".", True),
        (write(0, 1, 2, 3, 4, 5, 6), True),
        (write(0, 1, 2, 3, 4, 5, 8, 9), True),  # 4 sequences of 8
        (write(0, 1, 2, 3, 4, 8, 9, 10), False),  # 3 of 9
        (write(0, 1, 2, 3, 4, 5), True),  # 4 of 6
        (write(1, 2, 3, 4), False),  # 2 of 6
        (write(1, 2, 3, 4, 5), True),  # 3 of 6
        (write(0, 1, 8, 2, 3, 9, 4, 5), False),
        (write(7, 6, 5, 4, 3, 2, 1, 0), False),
    ],
)
def test_a_copy_shares_half_of_all_sequences_of_three_words(sentence, copies):
    accepted = accept()
    accepted.add(("prompt", " target"), write(*range(20, 40)))
    accepted.add(("first", " target"), write(*range(8)))
    found = accepted.find_reason(("second", " target"), sentence)
    assert found == ("near_copy" if copies else "")
    assert accept(near_copies=True).find_reason(("second", " target"), sentence) == ""


def test_short_sentences_are_copies_if_they_are_equal_but_for_numbers():
    accepted = accept()
    accepted.add(("a", " b"), "In 1999 it")
    accepted.add(("c", " d"), "two words")
    assert accepted.find_reason(("e", " f"), "In 2004 it") == "near_copy"
    assert accepted.find_reason(("e", " f"), "In May it") == ""
    assert accepted.find_reason(("e", " f"), "two words") == "near_copy"
    assert accepted.find_reason(("e", " f"), "two words more") == ""
    assert accepted.find_reason(("e", " f"), "two") == ""


@pytest.mark.parametrize("shared", [True, False])
def test_pairs_of_other_keywords_count_unless_keywords_may_share_them(shared):
    accepted = accept(in_other_keyword=shared)
    accepted.begin_keyword()
    accepted.add(("a", " b"), write(0, 1, 2, 3))
    assert accepted.find_reason(("a", " b"), write(5)) == "same_pair"
    accepted.begin_keyword()
    assert accepted.find_reason(("a", " b"), write(5)) == ("" if shared else "in_other_keyword")
    assert accepted.find_reason(("c", " d"), write(0, 1, 2, 3)) == ("" if shared else "near_copy")
    accepted.add(("c", " d"), write(9))
    accepted.begin_keyword()
    assert accepted.find_reason(("a", " b"), write(5)) == ("" if shared else "in_other_keyword")
