"""Phrases that are parts of a clause, such as `pass data` after `to`, by the words that stand beside them."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from fathom.benchmark.normalise import Run
from fathom.benchmark.phrases import build_trie, find_uses
from fathom.benchmark.word_kinds import find_kinds

# before a verb, never before a noun that has no article
_BEFORE_VERB = frozenset(
    {"to", "can", "cannot", "could", "may", "might", "must", "shall", "should", "will", "would", "not"}
    | {"i", "they", "we", "you"}
)
_BEFORE_NOUN = frozenset({"a", "an", "its", "the", "their", "this"})
_SHARE = 0.5


def find_clauses(documents: Collection[Sequence[Run]], phrases: Iterable[str]) -> list[str]:
    """Find phrases of which one end is a verb in at least half of their uses.

    Of a word that may be a noun or a verb its neighbour tells which it is: `trigger code execution` stands
    after `to`, `function returns` before `the`.

    Parameters
    ----------
    documents : collection of sequences of runs
        One sequence of runs for each document.
    phrases : iterable of str
        Words separated by one blank.
    """
    candidates = {}
    for phrase in phrases:
        first, *_, last = (find_kinds(word) for word in phrase.split(" "))
        if "verb" in first or "verb" in last:
            candidates[phrase] = "verb" in first, "verb" in last
    trie = build_trie(candidates)
    uses: Counter[str] = Counter()
    begins: Counter[str] = Counter()
    ends: Counter[str] = Counter()
    for runs in documents:
        for run in runs:
            for phrase, start, end in find_uses(run, trie):
                first_may, last_may = candidates[phrase]
                uses[phrase] += 1
                begins[phrase] += first_may and start > 0 and run[start - 1] in _BEFORE_VERB
                ends[phrase] += last_may and end < len(run) and run[end] in _BEFORE_NOUN
    return [phrase for phrase in candidates if max(begins[phrase], ends[phrase]) >= _SHARE * uses[phrase] > 0]
