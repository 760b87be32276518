"""The words that a target is compared with: other targets of its benchmark, except forms of it."""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from fathom.benchmark.wordlists import gives_away

MOST_RIVALS = 2000
"""Most words to compare, the most frequent targets: each takes four bytes of memory per pair."""

_SHARED = 3
"""Number of first letters that forms of a word share."""


def list_words(targets: Sequence[str]) -> list[str]:
    """Return the distinct targets of a benchmark, sorted; the most frequent if they are many."""
    counts = Counter(targets)
    return sorted(sorted(counts, key=lambda word: (-counts[word], word))[:MOST_RIVALS])


def find_forms(words: Sequence[str]) -> NDArray[np.bool_]:
    """Return which words are forms of each other or equal, of shape (n_words, n_words); read only."""
    return _find_forms(tuple(words))


@lru_cache(maxsize=4)  # ranks and bits of each model and each look use the same benchmark
def _find_forms(words: tuple[str, ...]) -> NDArray[np.bool_]:
    same = np.eye(len(words), dtype=bool)
    starts: dict[str, list[int]] = {}
    for place, word in enumerate(words):
        starts.setdefault(word.strip()[:_SHARED].lower(), []).append(place)
    for places in starts.values():
        for one, other in combinations(places, 2):
            if gives_away(words[one], words[other]):
                same[one, other] = same[other, one] = True
    same.setflags(write=False)
    return same


def find_ceiling(targets: Sequence[str]) -> float:
    """Return the mean over pairs of log2 of the number of candidates; NaN without any.

    Examples
    --------
    >>> find_ceiling([" tree", " walk", " walk"])
    1.0
    """
    words = list_words(targets)
    counts = dict(zip(words, 1 + (~find_forms(words)).sum(axis=1), strict=True))
    known = [counts[target] for target in targets if counts.get(target, 0) > 1]
    return float(np.log2(known).mean()) if known else float("nan")
