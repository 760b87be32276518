"""Frequency of phrases compared with the web [SymSpell] and with manuals of programs."""

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import NamedTuple

from fathom.benchmark.normalise import Run
from fathom.benchmark.wordlists import WordLists
from fathom.config.language import ENGLISH

_WORDS = 1_024_908_267_229  # running words behind the tables, according to symspellpy
_PAIR_SCALE = 64  # the table of pairs multiplies counts by this; it begins at 100,000 uses

# from reading keywords of four manuals: `positive integer` is below (88), `http header` above (344)
_MANUALS = 200

Pair = tuple[str, str]


class Background(NamedTuple):
    """Share of running words by lemma, and by two lemmas in a row."""

    words: Mapping[str, float]
    pairs: Mapping[Pair, float]


def load_background(find_lemma: Callable[[str], str]) -> Background:
    """Return how frequent words and pairs of words are in general English, their forms united by lemma."""
    words: Counter[str] = Counter()
    pairs: Counter[Pair] = Counter()
    for word, count in _read_table(ENGLISH.frequent_words):
        words[find_lemma(word)] += int(count)
    for first, second, count in _read_table(ENGLISH.frequent_pairs):
        pairs[find_lemma(first), find_lemma(second)] += int(count)
    return Background(
        {word: count / _WORDS for word, count in words.items()},
        {pair: count / (_PAIR_SCALE * _WORDS) for pair, count in pairs.items()},
    )


def measure_keyness(
    phrases: Iterable[str], documents: Collection[Sequence[Run]], find_lemma: Callable[[str], str]
) -> dict[str, float]:
    """Measure how many times as frequent phrases are in documents as in general English.

    The keyness of two words is how many times as frequent the pair is as in general English, times the
    geometric mean of the same ratio of its words: low for `operating system` in a manual of a database, high
    for `magnetic field` in physics, whose words are frequent there, too. The keyness of a phrase is that of
    its most specific pair. Parts of hyphenated words count as words. Returned: keyness by phrase, in the
    order of `phrases`; infinite if a word or all of its pairs are too rare in general English to be in its
    tables.
    """
    background = load_background(find_lemma)
    find_lemmas = cache(lambda word: tuple(find_lemma(part) for part in word.split("-")))
    parts = {
        phrase: [lemma for word in phrase.split(" ") for lemma in find_lemmas(word)] for phrase in phrases
    }
    wanted = {pair for lemmas in parts.values() for pair in pairwise(lemmas)}.intersection(background.pairs)
    words, pairs = _count_lemmas(documents, find_lemmas, wanted)
    total = max(1, words.total())

    def measure(pair: Pair) -> float:
        if pair not in wanted or not all(word in background.words for word in pair):
            return math.inf
        of_words = math.prod(words[word] / total / background.words[word] for word in pair)
        return pairs[pair] / total / background.pairs[pair] * math.sqrt(of_words)

    return {phrase: max(map(measure, pairwise(lemmas))) for phrase, lemmas in parts.items()}


def find_in_manuals(
    phrases: Iterable[str], documents: Collection[Sequence[Run]], wordlists: WordLists
) -> set[str]:
    """Find phrases common to manuals of all programs: `configuration file`, `error code`.

    Of two words their frequency here is divided by the mean frequency in manuals and by the share of
    manuals that have them; a phrase is of manuals if that is low for all of its pairs of words. Phrases of
    few manuals stay unless they are hardly more frequent here; `configuration file` has to be a hundred
    times as frequent.
    """
    find_lemma = cache(wordlists.find_lemma)
    parts = {phrase: [*pairwise(map(find_lemma, phrase.split(" ")))] for phrase in phrases}
    wanted = {pair for pairs in parts.values() for pair in pairs}.intersection(wordlists.manuals)
    words, counts = _count_lemmas(documents, lambda word: (find_lemma(word),), wanted)
    total = words.total()

    def is_common(pair: Pair) -> bool:
        if pair not in wanted:
            return False
        share, per_million = wordlists.manuals[pair]
        return counts[pair] < _MANUALS * share * per_million / 1e6 * total

    return {phrase for phrase, pairs in parts.items() if all(map(is_common, pairs))}


def _count_lemmas(
    documents: Collection[Sequence[Run]],
    find_lemmas: Callable[[str], Sequence[str]],
    wanted: Collection[Pair],
) -> tuple[Counter[str], Counter[Pair]]:
    words: Counter[str] = Counter()
    pairs: Counter[Pair] = Counter()
    for runs in documents:
        for run in runs:
            lemmas = [lemma for word in run for lemma in find_lemmas(word)]
            words.update(lemmas)
            pairs.update(pair for pair in pairwise(lemmas) if pair in wanted)
    return words, pairs


@cache
def _read_table(name: str) -> list[list[str]]:
    import symspellpy

    text = (files(symspellpy) / name).read_text(encoding="utf-8-sig")
    return [line.split() for line in text.splitlines()]
