"""Candidate phrases: n-grams that occur together more often than chance, and where they occur [Phrases]."""

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from fathom.benchmark.normalise import Run
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
    """Find phrases that one document alone speaks of: it has every run that they stand in.

    What other documents have of them is a copy: of a manual in HTML and in PDF, a link on many pages, a
    notice below them.
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
