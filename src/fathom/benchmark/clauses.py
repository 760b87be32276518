"""Phrases that are parts of a clause, such as `pass data` after `to`, by the words that stand beside them."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import cache

from fathom.benchmark.normalise import Run
from fathom.benchmark.phrases import build_trie, find_uses
from fathom.benchmark.word_kinds import find_kinds, is_verb_only
from fathom.benchmark.wordlists import WordLists

# before a verb, never before a noun that has no article
_BEFORE_VERB = frozenset(
    {"to", "can", "cannot", "could", "may", "might", "must", "shall", "should", "will", "would", "not"}
    | {"i", "they", "we", "you"}
)
_DETERMINERS = frozenset({"a", "an", "its", "the", "their", "this"})
# before a verb in -s, never before a plural
_SUBJECTS = frozenset({"each", "he", "it", "one", "she", "that", "this", "which", "who"})
_BEFORE_PLURAL = frozenset(
    {
        "all",
        "any",
        "as",
        "at",
        "by",
        "for",
        "from",
        "in",
        "into",
        "its",
        "many",
        "no",
        "of",
        "on",
        "or",
        "our",
    }
    | {"several", "some", "such", "the", "their", "these", "those", "to", "two", "when", "with", "your"}
)
_LIKELIER, _FEWEST = 5, 5
"""A form in -s is a verb in a corpus if so many times as many of its uses, and so many, can only be verbs."""
_CONTENT = (None, "academic")  # faults of words that may be an object
_BEGINS = 0.4  # shares of uses
_ENDS = 0.5
_ENDS_BEFORE_OBJECT = 0.65  # a plural may stand before a noun, too, but seldom does


def find_verbal(
    documents: Collection[Sequence[Run]], phrases: Sequence[str], wordlists: WordLists
) -> list[str]:
    """Return the phrases with a word that can only be a verb, and those of :func:`find_clauses`."""
    clauses = set(find_clauses(documents, phrases, wordlists))
    return [phrase for phrase in phrases if phrase in clauses or any(map(is_verb_only, phrase.split(" ")))]


def find_clauses(
    documents: Collection[Sequence[Run]], phrases: Iterable[str], wordlists: WordLists
) -> list[str]:
    """Find phrases that are no terms but parts of a clause: one end is a verb in most of their uses.

    Of a word that may be a noun or a verb its neighbours tell which it is: `trigger code execution` stands
    after `to`, `function returns` before `the`, `command changes` before what is changed. A word in -s that
    is a verb nearly wherever its neighbours tell is one in every phrase: `returns null`.
    """
    phrases = list(phrases)
    candidates = {}
    for phrase in phrases:
        first, *_, last = phrase.split(" ")
        candidates[phrase] = "verb" in find_kinds(first), "verb" in find_kinds(last), _is_inflected(last)
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
    verbs = _find_verbs(documents, phrases)
    return [
        phrase
        for phrase in phrases
        if not verbs.isdisjoint(phrase.split(" "))
        or after_to[phrase] >= _BEGINS * uses[phrase] > 0
        or before_noun[phrase] >= _ENDS * uses[phrase] > 0
        or before_object[phrase] >= _ENDS_BEFORE_OBJECT * uses[phrase] > 0
    ]


def _find_verbs(documents: Iterable[Sequence[Run]], phrases: Iterable[str]) -> set[str]:
    """Return words of phrases that end in -s and are verbs, not plurals, in these documents."""
    words = {word for phrase in phrases for word in phrase.split(" ")}
    forms = {word for word in words if _is_inflected(word) and "verb" in find_kinds(word)}
    verb: Counter[str] = Counter()
    plural: Counter[str] = Counter()
    for runs in documents:
        for run in runs:
            for place, word in enumerate(run):
                if word not in forms:
                    continue
                before, after = run[max(place - 1, 0)], run[min(place + 1, len(run) - 1)]
                if place and before in _BEFORE_PLURAL:
                    plural[word] += 1
                elif (place and before in _SUBJECTS) or after in _DETERMINERS:
                    verb[word] += 1
    return {word for word in forms if verb[word] >= max(_FEWEST, _LIKELIER * plural[word])}


def _is_inflected(word: str) -> bool:
    return word.endswith("s") and not word.endswith("ss")
