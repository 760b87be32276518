"""Phrases that are cut off or modify others, by the words that stand beside them."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from fathom.benchmark.normalise import Run
from fathom.benchmark.phrases import MAX_WORDS, Use, build_trie, find_uses
from fathom.benchmark.word_kinds import find_kinds, is_no_noun
from fathom.benchmark.wordlists import WordLists

_EDGE = ""  # stands for the word beside a phrase that begins or ends a run
_CONTENT = (None, "academic")  # faults of words that a phrase may modify, such as `simulation`
_ARTICLES = frozenset({"a", "an", "the"})  # no part of a term: `minimum wage` is complete


class Neighbour(NamedTuple):
    """A word that stands beside more than half of a phrase's uses, and at how many; empty and 0 if none does.

    Singular and plural count as one word; `word` is the more frequent of them.
    """

    word: str
    uses: int


class Neighbours(NamedTuple):
    """What stands beside a phrase.

    Attributes
    ----------
    uses : int
        How often the phrase occurs.
    left, right : Neighbour
        Words beside more than half of the uses; an article is none.
    followed : int
        Uses before any content word.
    """

    uses: int
    left: Neighbour
    right: Neighbour
    followed: int


class Completed(NamedTuple):
    """Longer forms that are meant, by phrase: those that can be keywords, and the others."""

    longer: dict[str, str]
    incomplete: dict[str, str]


class _Side:
    """Words on one side of phrases: a vote finds which may be the majority, then its forms are counted.

    The vote of Boyer and Moore needs one word and one number for each phrase, however many neighbours it has.
    """

    def __init__(self) -> None:
        self._leader: dict[str, str] = {}
        self._lead: Counter[str] = Counter()
        self._forms: dict[str, Counter[str]] = defaultdict(Counter)

    def vote(self, phrase: str, lemma: str) -> None:
        """Add one use of a phrase beside a word."""
        if not self._lead[phrase]:
            self._leader[phrase] = lemma
        self._lead[phrase] += 1 if self._leader[phrase] == lemma else -1

    def count(self, phrase: str, word: str, lemma: str) -> None:
        if self._leader[phrase] == lemma:
            self._forms[phrase][word] += 1

    def find_neighbour(self, phrase: str, uses: int) -> Neighbour:
        forms = self._forms[phrase]
        count = forms.total()
        if 2 * count <= uses or _EDGE in forms:
            return Neighbour("", 0)
        return Neighbour(min(forms, key=lambda word: (-forms[word], word)), count)


def find_neighbours(
    documents: Collection[Sequence[Run]], phrases: Iterable[str], wordlists: WordLists
) -> dict[str, Neighbours]:
    """Find which word stands beside most uses of each phrase, in two passes over the documents.

    Returns
    -------
    dict
        Neighbours by phrase, in the order of `phrases`. The order of documents does not change them.
    """
    phrases = list(phrases)
    trie = build_trie(phrases)
    find_lemma = cache(wordlists.find_lemma)
    has_content = cache(lambda word: word != _EDGE and wordlists.find_fault(word) in _CONTENT)
    counts: Counter[str] = Counter()
    followed: Counter[str] = Counter()
    left, right = _Side(), _Side()
    for runs in documents:
        for run in runs:
            for phrase, before, after in _find_beside(run, trie):
                counts[phrase] += 1
                followed[phrase] += has_content(after)
                left.vote(phrase, find_lemma(before))
                right.vote(phrase, find_lemma(after))
    for runs in documents:
        for run in runs:
            for phrase, before, after in _find_beside(run, trie):
                left.count(phrase, before, find_lemma(before))
                right.count(phrase, after, find_lemma(after))
    return {
        phrase: Neighbours(
            counts[phrase],
            left.find_neighbour(phrase, counts[phrase]),
            right.find_neighbour(phrase, counts[phrase]),
            followed[phrase],
        )
        for phrase in phrases
    }


def _find_beside(run: Run, trie: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield each use of a phrase in a run with the words before and after it; articles are left out."""
    for phrase, start, end in find_uses(run, trie):
        before = run[start - 1] if start else _EDGE
        yield phrase, _EDGE if before in _ARTICLES else before, run[end] if end < len(run) else _EDGE


def complete_phrases(
    documents: Collection[Sequence[Run]],
    phrases: Iterable[str],
    wordlists: WordLists,
    share: float,
    modifiers: float | None = None,
) -> Completed:
    """Find the longer forms that phrases stand for, such as `random matrix theory` for `random matrix`.

    A phrase takes the word that follows or precedes a given share of its uses, the more frequent of the two,
    and the longer form takes words in turn. A phrase whose longer form cannot be a keyword is incomplete.

    Parameters
    ----------
    share : float
        Share of uses from which a neighbour is part of the phrase; more than 0.5.
    modifiers : float, optional
        Share of uses before content words from which a phrase takes the word that follows most of them.
    """
    seen: set[str] = set()
    steps: dict[str, str] = {}
    incomplete: dict[str, str] = {}
    phrases = list(phrases)
    fresh = phrases
    while fresh:
        for phrase, neighbours in find_neighbours(documents, fresh, wordlists).items():
            longer = _lengthen(phrase, neighbours, share)
            if longer is None and modifiers is not None and is_modifier(phrase, neighbours, modifiers):
                longer = f"{phrase} {neighbours.right.word}" if neighbours.right.uses else None
                if longer is not None and not _can_be_keyword(longer, wordlists):
                    longer = None
            if longer is not None:
                (steps if _can_be_keyword(longer, wordlists) else incomplete)[phrase] = longer
        seen.update(fresh)
        fresh = sorted(set(steps.values()) - seen)
    completed = Completed({}, {})
    for phrase in phrases:
        end = phrase
        while end in steps:
            end = steps[end]
        if end in incomplete:
            completed.incomplete[phrase] = incomplete[end]
        elif end != phrase:
            completed.longer[phrase] = end
    return completed


def _lengthen(phrase: str, neighbours: Neighbours, share: float) -> str | None:
    uses, left, right, _ = neighbours
    if not uses or max(left.uses, right.uses) < share * uses:
        return None
    return f"{phrase} {right.word}" if right.uses >= left.uses else f"{left.word} {phrase}"


def _can_be_keyword(phrase: str, wordlists: WordLists) -> bool:
    """Return whether a phrase is short enough and without words that no keyword may have."""
    return phrase.count(" ") < MAX_WORDS and wordlists.find_fault(phrase) is None


def find_modifiers(neighbours: Mapping[str, Neighbours], share: float) -> list[str]:
    """Find phrases with a given share of their uses before some content word, or that end in no noun.

    Such a phrase modifies what follows, as `scanning tunneling` does `microscopy`, `spectroscopy` and others.
    """
    return [
        phrase
        for phrase, beside in neighbours.items()
        if (beside.uses and is_no_noun(phrase.rpartition(" ")[2])) or is_modifier(phrase, beside, share)
    ]


def is_modifier(phrase: str, beside: Neighbours, share: float) -> bool:
    """Return whether a phrase modifies what follows; what ends in no noun needs half of the share."""
    needed = share if "noun" in find_kinds(phrase.rpartition(" ")[2]) else share / 2
    return beside.followed >= needed * beside.uses > 0


def find_truncated(
    phrases: Sequence[str], uses: Mapping[str, Use], wordlists: WordLists, share: float
) -> dict[str, str]:
    """Find phrases with at least a given share of their uses inside one longer phrase.

    Singular and plural of the longer phrase count as one, such as `large language model` and `large language
    models` for `large language`.

    Returns
    -------
    dict
        The longer phrase by truncated phrase.
    """
    inside: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    known = set(phrases)
    for longer in phrases:
        words = longer.split(" ")
        lemmas = " ".join(wordlists.find_lemma(word) for word in words)
        for size in range(2, len(words)):
            for start in range(len(words) - size + 1):
                part = " ".join(words[start : start + size])
                if part in known:
                    inside[part][lemmas] += uses[longer].count
    truncated = {}
    for part, counts in inside.items():
        lemmas, most = min(counts.items(), key=lambda item: (-item[1], item[0]))
        if most >= share * uses[part].count:
            truncated[part] = lemmas
    return truncated
