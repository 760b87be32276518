"""The pairs that a benchmark has so far, and what they leave no room for."""

import re
from collections import Counter, defaultdict

from fathom.benchmark.word_forms import find_stem
from fathom.config.benchmark import Pairs

LEAST = 5
"""Pairs that a target may have whatever its share, for small benchmarks."""

_WORDS = re.compile(r"[^\W\d_]+|\d+")
_SIZE = 3
_NEAR = 0.5
"""Share of the sequences of three words of either sentence that both have, from which one copies the other.

One changed word in ten leaves more than this; of two sentences on one subject hardly any sequence is shared.
"""

Text = tuple[str, str]
"""Prompt and target."""


class Accepted:
    """Pairs of a benchmark, each of which says which others may not join it."""

    def __init__(self, settings: Pairs) -> None:
        self._settings = settings
        self._count = 0
        self._targets: Counter[str] = Counter()
        self._begin()

    def _begin(self) -> None:
        self._own: set[Text] = set()
        self._others: set[Text] = set()
        self._sizes: list[int] = []
        self._places: dict[int, list[int]] = defaultdict(list)

    def begin_keyword(self) -> None:
        """Begin another keyword: with `in_other_keyword`, texts of earlier ones no longer count."""
        if self._settings.in_other_keyword:
            self._begin()
        self._others |= self._own
        self._own = set()

    def find_reason(self, pair: Text, sentence: str) -> str:
        """Return why a pair may not join, one of the reasons for which sentences are left out, or nothing."""
        if pair in self._own:
            return "same_pair"
        if pair in self._others:
            return "in_other_keyword"
        return "" if self._settings.near_copies or not self._has_copy(sentence) else "near_copy"

    def has_room(self, word: str) -> bool:
        """Return whether one more pair with a target leaves it within its share."""
        most = self._settings.max_target_share * (self._count + 1)
        return self._targets[find_stem(word.lower())] + 1 <= max(LEAST, most)

    def add(self, pair: Text, sentence: str) -> None:
        """Let a pair join."""
        self._own.add(pair)
        self._count += 1
        self._targets[find_stem(pair[1].strip().lower())] += 1
        found = _find_sequences(sentence)
        for sequence in found:
            self._places[sequence].append(len(self._sizes))
        self._sizes.append(len(found))

    def _has_copy(self, sentence: str) -> bool:
        found = _find_sequences(sentence)
        shared = Counter(place for sequence in found for place in self._places.get(sequence, ()))
        return any(
            count >= _NEAR * (len(found) + self._sizes[place] - count) for place, count in shared.items()
        )


def _find_sequences(sentence: str) -> set[int]:
    """Return hashes of the sequences of three words of a sentence; every number is the same word."""
    words = ["0" if word.isdigit() else word for word in _WORDS.findall(sentence.lower())]
    return {hash(tuple(words[at : at + _SIZE])) for at in range(max(1, len(words) - _SIZE + 1))}
