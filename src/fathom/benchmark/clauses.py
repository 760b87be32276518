"""Phrases that are parts of a clause, such as `pass data` after `to`, by the words that stand beside them."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import cache

from fathom.benchmark.normalise import Run
from fathom.benchmark.phrases import build_trie, find_uses
from fathom.benchmark.word_kinds import find_kinds
from fathom.benchmark.wordlists import WordLists

# before a verb, never before a noun that has no article
_BEFORE_VERB = frozenset(
    {"to", "can", "cannot", "could", "may", "might", "must", "shall", "should", "will", "would", "not"}
    | {"i", "they", "we", "you"}
)
_DETERMINERS = frozenset({"a", "an", "its", "the", "their", "this"})
_CONTENT = (None, "academic")  # faults of words that may be an object
_BEGINS = 0.4  # shares of uses
_ENDS = 0.5
_ENDS_BEFORE_OBJECT = 0.65  # a plural may stand before a noun, too, but seldom does


def find_clauses(
    documents: Collection[Sequence[Run]], phrases: Iterable[str], wordlists: WordLists
) -> list[str]:
    """Find phrases that are no terms but parts of a clause: one end is a verb in most of their uses.

    Of a word that may be a noun or a verb its neighbours tell which it is: `trigger code execution` stands
    after `to`, `function returns` before `the`, `command changes` before what is changed.

    Parameters
    ----------
    documents : collection of sequences of runs
        One sequence of runs for each document.
    phrases : iterable of str
        Words separated by one blank.
    wordlists : WordLists
        Its lists say which words have content.
    """
    phrases = list(phrases)
    candidates = {}
    for phrase in phrases:
        first, *_, last = phrase.split(" ")
        inflected = last.endswith("s") and not last.endswith("ss")
        candidates[phrase] = "verb" in find_kinds(first), "verb" in find_kinds(last), inflected
    has_content = cache(lambda word: wordlists.find_fault(word) in _CONTENT)
    trie = build_trie(phrase for phrase, (begins, ends, _) in candidates.items() if begins or ends)
    uses: Counter[str] = Counter()
    after_to: Counter[str] = Counter()
    before_noun: Counter[str] = Counter()
    before_object: Counter[str] = Counter()
    for runs in documents:
        for run in runs:
            for phrase, start, end in find_uses(run, trie):
                begins, ends, inflected = candidates[phrase]
                uses[phrase] += 1
                after_to[phrase] += begins and start > 0 and run[start - 1] in _BEFORE_VERB
                if ends and end < len(run):
                    noun = run[end] in _DETERMINERS
                    before_noun[phrase] += noun
                    before_object[phrase] += inflected and (noun or has_content(run[end]))
    return [
        phrase
        for phrase in phrases
        if after_to[phrase] >= _BEGINS * uses[phrase] > 0
        or before_noun[phrase] >= _ENDS * uses[phrase] > 0
        or before_object[phrase] >= _ENDS_BEFORE_OBJECT * uses[phrase] > 0
    ]
