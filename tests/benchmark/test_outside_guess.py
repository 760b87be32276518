"""Ranks of terms by text outside a field, against a model counted by hand."""

import math
import random
from collections import Counter

import numpy as np
import pytest

from fathom.benchmark import gifts
from fathom.benchmark.gifts import GiftFinder, OutsideGuess, count_english
from fathom.benchmark.word_counts import WINDOW, Lexicon

WORDS = ["lattice", "plasma", "boson", "isotope", "neutron", "quark", "paper", "result"]
TERMS = WORDS[:6]
FUNCTION_WORDS = frozenset({"the", "with"})


def draw_texts(count: int, seed: int) -> list[str]:
    draw = random.Random(seed)
    return [" ".join(draw.choices([*WORDS, "the", "with"], k=12)) for _ in range(count)]


def rank_by_hand(texts: list[str], words: list[str], place: int) -> int:
    """Return how many other terms are likelier at a place, counted the slow way."""
    split = [text.split() for text in texts]
    content = [[word for word in text if word not in FUNCTION_WORDS] for text in split]
    uses = Counter(word for text in content for word in text)
    total = sum(uses.values()) + 0.5 * len(TERMS)
    prior = {term: (uses[term] + 0.5) / total for term in TERMS}
    score = dict(prior)
    for order in (1, 2):
        before = words[place - order : place]
        after = Counter(
            text[at]
            for text in split
            for at in range(order, len(text))
            if text[at - order : at] == before and text[at] not in FUNCTION_WORDS
        )
        if place >= order and after:
            size = after.total() + len(after)
            score = {term: (after[term] + len(after) * score[term]) / size for term in TERMS}
    score = {term: math.log(value) for term, value in score.items()}
    for word in [word for word in words[:place] if word not in FUNCTION_WORDS][-WINDOW:]:
        near = Counter(
            text[at]
            for text in content
            for at in range(len(text))
            for other in text[max(0, at - WINDOW) : at]
            if other == word
        )
        if near.total() >= 3:
            for term in TERMS:
                said = math.log((near[term] + 3 * prior[term]) / (near.total() + 3) / prior[term])
                score[term] += 0.6 * max(said, -0.7)
    return sum(score[term] > score[words[place]] + 1e-9 for term in TERMS)


@pytest.mark.parametrize("chunk", [1, 7, 256])
def test_ranks_are_those_of_the_model_by_hand(monkeypatch, chunk):
    monkeypatch.setattr(gifts, "_CHUNK", chunk)
    lexicon, texts = Lexicon(FUNCTION_WORDS), draw_texts(15, 1)
    outside = lexicon.read(texts)
    guess = OutsideGuess(outside, np.unique([lexicon.find(term) for term in TERMS]))
    asked = ["the boson", *draw_texts(4, 2), "quark unseen with boson"]
    words = lexicon.read(asked)
    found, at = guess.rank(words).tolist(), 0
    for text in asked:
        split = text.split()
        for place, word in enumerate(split):
            assert found[at] == (rank_by_hand(texts, split, place) if word in TERMS else -1)
            at += 1


def test_without_text_outside_all_terms_are_equal():
    lexicon = Lexicon(FUNCTION_WORDS)
    guess = OutsideGuess(lexicon.read([]), np.unique([lexicon.find(term) for term in TERMS]))
    assert guess.rank(lexicon.read(["the boson with quark"])).tolist() == [-1, 0, -1, 0]


def test_english_says_a_word_inside_its_sentence_alone():
    lexicon, none = Lexicon(FUNCTION_WORDS), np.array([], dtype=np.int64)
    finder = GiftFinder(count_english(lexicon), None, none, none)
    words = lexicon.read(["new york", "new", "york"])
    assert finder.find(words, np.ones(4), np.zeros(4)).tolist() == [False, True, False, False]
