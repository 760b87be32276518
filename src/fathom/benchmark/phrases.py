"""Candidate phrases: n-grams that gensim joins, pass after pass, and where they occur."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from fathom.benchmark.normalise import Run
from fathom.config.benchmark import Keywords
from fathom.program import log

MIN_WORDS, MAX_WORDS = 2, 7

_DELIMITER = "\x1f"  # no token holds it
_MAX_VOCABULARY = 40_000_000  # gensim forgets rare n-grams above it: about 6 GB
_END = ""  # key of a trie's node that ends a phrase


@dataclass(frozen=True)
class Candidates:
    """What gensim joined: phrases of 2 to 7 words, how many after each pass, and whether it forgot any."""

    phrases: list[str]
    after_pass: list[int]
    too_long: int
    pruned: bool


@dataclass(frozen=True)
class Use:
    """How often a phrase occurs, and in how many documents."""

    documents: int
    count: int


def find_candidates(runs: Sequence[Run], settings: Keywords) -> Candidates:
    """Join words with gensim's Phrases again and again; collect what is joined after every pass.

    Counts depend on content alone, so neither the order of documents nor hash seeds change the result.
    The model is never frozen, since that changes which trigrams are found (gensim#3326).

    Parameters
    ----------
    runs : sequence of runs
        Normalised text; no n-gram reaches over the end of a run.
    settings : Keywords
        Its passes, min_count and threshold.

    Returns
    -------
    Candidates
        Phrases with one blank between words, sorted.
    """
    from gensim.models.phrases import Phrases

    found: set[str] = set()
    too_long: set[str] = set()
    after_pass: list[int] = []
    pruned = False
    joined: Sequence[Run] = runs
    for _ in range(settings.passes):
        model = Phrases(
            joined,
            min_count=settings.min_count,
            threshold=settings.threshold,
            max_vocab_size=_MAX_VOCABULARY,
            delimiter=_DELIMITER,
            scoring="default",
            connector_words=frozenset(),
        )
        pruned = pruned or model.min_reduce > 1
        joined = [model[run] for run in joined]
        for token in {token for run in joined for token in run if _DELIMITER in token}:
            words = token.split(_DELIMITER)
            (found if len(words) <= MAX_WORDS else too_long).add(" ".join(words))
        after_pass.append(len(found))
    if pruned:
        log.info("gensim forgot rare n-grams above %s of them; take fewer documents", f"{_MAX_VOCABULARY:,}")
    return Candidates(sorted(found), after_pass, len(too_long), pruned)


def count_uses(documents: Iterable[Sequence[Run]], phrases: Iterable[str]) -> dict[str, Use]:
    """Count every phrase as a contiguous n-gram of the normalised runs, overlaps included.

    Parameters
    ----------
    documents : iterable of sequences of runs
        One sequence of runs for each document.
    phrases : iterable of str
        Words separated by one blank.

    Returns
    -------
    dict
        Use by phrase, in the order of `phrases`; zeros where a phrase never occurs.
    """
    phrases = list(phrases)
    trie = _build_trie(phrases)
    count: Counter[str] = Counter()
    in_documents: Counter[str] = Counter()
    for runs in documents:
        here: Counter[str] = Counter()
        for run in runs:
            _count_run(run, trie, here)
        count.update(here)
        in_documents.update(here.keys())
    return {phrase: Use(in_documents[phrase], count[phrase]) for phrase in phrases}


def _build_trie(phrases: Iterable[str]) -> dict[str, Any]:
    """Return nested dictionaries by word; `_END` holds the phrase that ends at a node."""
    trie: dict[str, Any] = {}
    for phrase in phrases:
        node = trie
        for word in phrase.split(" "):
            node = node.setdefault(word, {})
        node[_END] = phrase
    return trie


def _count_run(run: Run, trie: dict[str, Any], here: Counter[str]) -> None:
    """Add every occurrence of a phrase in one run to `here`."""
    for start, first in enumerate(run):
        node = trie.get(first)
        place = start + 1
        while node is not None:
            if _END in node:
                here[node[_END]] += 1
            node = node.get(run[place]) if place < len(run) else None
            place += 1
