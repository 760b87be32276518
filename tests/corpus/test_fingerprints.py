"""Hashes of words, sentences and documents."""

import random
import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fathom.corpus.fingerprints import (
    BANDS,
    hash_bands,
    hash_sentences,
    hash_tokens,
    hash_windows,
    hash_words,
)

_LETTERS = st.text(alphabet="abAB .!?\n,-'3é_", max_size=80)


def _split_plainly(text: str, min_words: int) -> set[tuple[str, ...]]:
    """Return the sentences of a text as words."""
    pieces = re.split(r"[.!?](?=\s|$)|\n[^\S\n]*\n", text.lower())
    sentences = (tuple(re.findall(r"[^\W_]+", piece)) for piece in pieces)
    return {words for words in sentences if len(words) >= min_words}


@given(_LETTERS, st.integers(1, 4))
def test_sentences_are_those_of_a_plain_split(text, min_words):
    found = hash_sentences(hash_tokens(text), min_words)
    expected = _split_plainly(text, min_words)
    assert sorted(found.words) == sorted(map(len, expected))
    alone = [hash_sentences(hash_tokens(" ".join(words)), 1).hashes[0] for words in expected]
    assert sorted(found.hashes) == sorted(alone)
    assert len(set(alone)) == len(expected)


def test_case_punctuation_and_white_space_do_not_count():
    first, second = "The Well-known, “old” law.", "the well known old LAW\n"
    assert (hash_words(first) == hash_words(second)).all()
    assert (hash_words("the law") != hash_words("law the")).any()


def test_hashes_stay_the_same_on_every_machine():
    assert hash_words("the law").tolist() == [3331141520948189790, 3142469110773175419]
    assert hash_sentences(hash_tokens("the law"), 1).hashes.tolist() == [16132334715091848995]
    words = hash_words(" ".join(str(number) for number in range(100)))
    assert hash_bands(words)[:2].tolist() == [1435326816473454103, 3948429919825046027]


def test_windows_are_hashed_wherever_they_stand():
    words = hash_words("a b c d a b c")
    windows = hash_windows(words, 3)
    assert len(windows) == 5
    assert windows[0] == windows[4]
    assert len(np.unique(windows)) == 4
    assert len(hash_windows(words, 8)) == 0


def _share_a_band(first: list[str], second: list[str]) -> bool:
    return bool(np.intersect1d(*(hash_bands(hash_words(" ".join(words))) for words in (first, second))).size)


def test_near_duplicates_share_a_band_and_others_do_not():
    drawer = random.Random(0)
    shared = {"copy": 0, "other": 0, "half": 0}
    for _ in range(40):
        words = [str(drawer.randrange(5000)) for _ in range(300)]
        copy = list(words)
        for place in drawer.sample(range(300), 4):
            copy[place] = "new"
        other = [str(drawer.randrange(5000)) for _ in range(300)]
        shared["copy"] += _share_a_band(words, copy)
        shared["other"] += _share_a_band(words, other)
        shared["half"] += _share_a_band(words, words[:150] + other[:150])
    assert shared["copy"] >= 39
    assert shared["other"] == 0
    assert shared["half"] <= 4


def test_short_documents_are_not_compared_as_a_whole():
    assert len(hash_bands(hash_words("too short to tell"))) == 0
    assert len(hash_bands(hash_words(" ".join(map(str, range(40)))))) == BANDS
