"""Candidate phrases: n-grams that occur together more often than chance, and where they occur [Phrases].

Neighbouring words show whether a phrase is truncated or modifies what follows.
"""

import sys
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from fathom.benchmark.normalise import Run
from fathom.benchmark.wordlists import WordLists, find_kinds, is_no_noun
from fathom.config.benchmark import Keywords

MAX_WORDS = 7

_END = ""  # key of a trie's node that ends a phrase


@dataclass(frozen=True)
class Candidates:
    """Joined phrases of 2 to 7 words, their number after each pass, and the number of longer ones."""

    phrases: list[str]
    after_pass: list[int]
    too_long: int


@dataclass(frozen=True)
class Use:
    """How often a phrase occurs, and in how many documents."""

    documents: int
    count: int


def find_candidates(runs: Iterable[Run], settings: Keywords) -> Candidates:
    """Join words with gensim's `Phrases`, pass after pass; collect the phrases of every pass.

    Counts depend on content alone, so neither the order of documents nor hash seeds change the result.
    """
    from gensim.models.phrases import Phrases

    found: set[str] = set()
    too_long: set[str] = set()
    after_pass: list[int] = []
    text: list[Sequence[str]] = list(runs)
    for _ in range(settings.passes):
        # sys.maxsize: no n-gram is forgotten; not frozen, which would score tokens with a blank wrongly
        model = Phrases(text, settings.min_count, settings.threshold, sys.maxsize, delimiter=" ")
        for place, run in enumerate(text):
            text[place] = [token for token, _ in model.analyze_sentence(run)]
            for token in text[place]:
                if " " in token:
                    (found if token.count(" ") < MAX_WORDS else too_long).add(token)
        after_pass.append(len(found))
    return Candidates(sorted(found), after_pass, len(too_long))


def count_uses(documents: Iterable[Sequence[Run]], phrases: Iterable[str]) -> dict[str, Use]:
    """Count every phrase as a contiguous n-gram of the normalised runs, overlaps included."""
    phrases = list(phrases)
    trie = build_trie(phrases)
    count: Counter[str] = Counter()
    in_documents: Counter[str] = Counter()
    for runs in documents:
        here: Counter[str] = Counter()
        for run in runs:
            here.update(phrase for phrase, _, _ in find_uses(run, trie))
        count.update(here)
        in_documents.update(here.keys())
    return {phrase: Use(in_documents[phrase], count[phrase]) for phrase in phrases}


def find_copied(documents: Iterable[Sequence[Run]], phrases: Iterable[str]) -> list[str]:
    """Find phrases that only one document uses: it has every run that contains them.

    Other documents only copy them: a manual in HTML and in PDF, a link or a notice on many pages.
    """
    phrases = list(phrases)
    trie = build_trie(phrases)
    known: dict[tuple[str, ...], int] = {}
    runs_of: defaultdict[str, set[int]] = defaultdict(set)
    most: Counter[str] = Counter()
    for runs in documents:
        here: defaultdict[str, set[int]] = defaultdict(set)
        for run in runs:
            for phrase, _, _ in find_uses(run, trie):
                here[phrase].add(known.setdefault(tuple(run), len(known)))
        for phrase, own in here.items():
            runs_of[phrase] |= own
            most[phrase] = max(most[phrase], len(own))
    return [phrase for phrase in phrases if most[phrase] == len(runs_of[phrase])]


def build_trie(phrases: Iterable[str]) -> dict[str, Any]:
    """Return nested dictionaries by word, in which :func:`find_uses` looks up all phrases in one pass."""
    trie: dict[str, Any] = {}
    for phrase in phrases:
        node = trie
        for word in phrase.split(" "):
            node = node.setdefault(word, {})
        node[_END] = phrase
    return trie


def find_uses(run: Run, trie: dict[str, Any]) -> Iterator[tuple[str, int, int]]:
    """Yield every use of a phrase in one run, with the places of its first word and after its last."""
    for start, first in enumerate(run):
        node = trie.get(first)
        place = start + 1
        while node is not None:
            if _END in node:
                yield node[_END], start, place
            node = node.get(run[place]) if place < len(run) else None
            place += 1


_EDGE = ""  # stands for the missing neighbour of a phrase at the edge of a run
_CONTENT = (None, "academic")  # reasons why a phrase may still modify a word, such as `simulation`
_ARTICLES = frozenset({"a", "an", "the"})  # not part of a term: `minimum wage` is complete


class Neighbour(NamedTuple):
    """A word beside more than half of a phrase's uses, and its count; empty and 0 if there is none.

    Singular and plural count as one word; `word` is the more frequent of them.
    """

    word: str
    uses: int


class Neighbours(NamedTuple):
    """Neighbours of a phrase.

    `left`, `right`: words beside more than half of the uses, except articles.
    """

    uses: int  # how often the phrase occurs
    left: Neighbour
    right: Neighbour
    followed: int  # uses before any content word


class _Side:
    """Words on one side of phrases: a vote finds the candidate for the majority, then its forms are counted.

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
        """Count one use beside a word, if the word won the vote."""
        if self._leader[phrase] == lemma:
            self._forms[phrase][word] += 1

    def find_neighbour(self, phrase: str, uses: int) -> Neighbour:
        """Return the word beside more than half of the uses."""
        forms = self._forms[phrase]
        count = forms.total()
        if 2 * count <= uses or _EDGE in forms:
            return Neighbour("", 0)
        return Neighbour(min(forms, key=lambda word: (-forms[word], word)), count)


def find_neighbours(
    documents: Collection[Sequence[Run]], phrases: Iterable[str], wordlists: WordLists
) -> dict[str, Neighbours]:
    """Find the majority neighbour of each phrase, in two passes over the documents.

    Returned: neighbours by phrase, in the order of `phrases`. The order of documents does not change them.
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
) -> tuple[dict[str, str], dict[str, str]]:
    """Find the longer forms of phrases, such as `random matrix theory` for `random matrix`.

    Returned by phrase: those that can be keywords, and the others. A phrase takes the word that follows or
    precedes a given share of its uses, the more frequent of the two, and the longer form takes words in turn.
    A phrase whose longer form cannot be a keyword is incomplete. `share`: share of uses from which a
    neighbour is part of the phrase; more than 0.5. `modifiers`: share of uses before content words from which
    a phrase takes the word that follows most of them.
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
    completed: dict[str, str] = {}
    left_out: dict[str, str] = {}
    for phrase in phrases:
        end = phrase
        while end in steps:
            end = steps[end]
        if end in incomplete:
            left_out[phrase] = incomplete[end]
        elif end != phrase:
            completed[phrase] = end
    return completed, left_out


def _lengthen(phrase: str, neighbours: Neighbours, share: float) -> str | None:
    uses, left, right, _ = neighbours
    if not uses or max(left.uses, right.uses) < share * uses:
        return None
    return f"{phrase} {right.word}" if right.uses >= left.uses else f"{left.word} {phrase}"


def _can_be_keyword(phrase: str, wordlists: WordLists) -> bool:
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
    """Return whether a phrase modifies what follows; without a final noun, half of the share is enough."""
    needed = share if "noun" in find_kinds(phrase.rpartition(" ")[2]) else share / 2
    return beside.followed >= needed * beside.uses > 0


def find_truncated(
    phrases: Sequence[str], uses: Mapping[str, Use], wordlists: WordLists, share: float
) -> dict[str, str]:
    """Find phrases with at least a given share of their uses inside one longer phrase.

    Singular and plural of the longer phrase count as one, such as `large language model` and `large language
    models` for `large language`. Returned: the longer phrase by truncated phrase.
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
