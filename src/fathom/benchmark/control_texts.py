"""Training texts that keep a domain's style without its knowledge, or its knowledge with little of its style.

A model adapted to a domain has read its style and its facts. Exchanging every vocabulary term for another
of its kind keeps sentences and frequencies of words but removes the facts. Keeping only sentences with
terms keeps the facts about these terms. Held-out splits are never changed.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from fathom.corpus.records import iterate_paragraphs
from fathom.corpus.sentences import Splitter, split_document
from fathom.corpus.texts import TRAIN
from fathom.errors import InputError
from fathom.io.files import hash_text
from fathom.jobs.program import log, show_progress

# whole words; no part of `k-means` or `user's`
_WORD = re.compile(r"(?<![\w’'-])\w++(?![’'-]?\w)")
_ENDINGS = ("s", "ing", "ed", "ly")
_HASH_RANGE = 16**12

Choices = Mapping[str, tuple[list[str], list[int]]]
"""The other terms of a term's kind, and their cumulative counts."""


def exchange_terms(texts: pl.DataFrame, terms: Iterable[str]) -> pl.DataFrame:
    """Replace each vocabulary term in the texts of split adapt-train by another one of its kind.

    A kind has the same capitals and the same ending (-s, -ing, -ed, -ly, none of these). For each occurrence
    a hash of document and place draws among the other terms of the kind, in proportion to their own
    occurrences: frequencies stay about the same. A term alone in its kind is exchanged for any with its
    capitals. Raise `InputError` if no term occurs, or one has no other to be exchanged for.
    """
    words = frozenset(terms)
    train = texts.filter(split=TRAIN)
    counts = Counter(word for text in train["text"] for word in _WORD.findall(text) if word in words)
    choices = _list_choices(counts)
    changed = {
        doc_id: _exchange(doc_id, text, choices)
        for doc_id, text in show_progress(train.select("doc_id", "text").iter_rows(), "documents", len(train))
    }
    log.info(
        "%s occurrences of %s terms are exchanged; %s terms of the vocabularies do not occur",
        f"{counts.total():,}", f"{len(counts):,}", f"{len(words) - len(counts):,}",
    )  # fmt: skip
    return _replace(texts, changed)


def keep_term_sentences(texts: pl.DataFrame, terms: Iterable[str], splitter: Splitter) -> pl.DataFrame:
    """Keep only the sentences with a vocabulary term in the texts of split adapt-train.

    All uses of terms stay, in fewer words: in the same number of steps, a model reads each of them more
    often. Returned: under contract TEXTS; a document without a term has no text.
    """
    words = frozenset(terms)
    train = texts.filter(split=TRAIN)
    changed, total, kept = dict[str, str](), 0, 0
    for doc_id, text in show_progress(train.select("doc_id", "text").iter_rows(), "documents", len(train)):
        paragraphs = []
        for part in iterate_paragraphs(text):
            sentences = list(split_document({"title": "", "abstract": "", "text": part}, splitter))
            chosen = [one for one in sentences if not words.isdisjoint(_WORD.findall(one))]
            total, kept = total + len(sentences), kept + len(chosen)
            paragraphs += [" ".join(chosen)] if chosen else []
        changed[doc_id] = "\n\n".join(paragraphs)
    before, after = (sum(map(len, some)) for some in (train["text"].to_list(), changed.values()))
    if not kept:
        raise InputError("no sentence of split adapt-train has a vocabulary term", "texts", "adapt as it is")
    log.info(
        "%s of %s sentences have a term and are kept; %s of %s characters, so a model reads %.2f times as "
        "many uses of terms in the same number of steps",
        *(f"{number:,}" for number in (kept, total, after, before)), before / after,
    )  # fmt: skip
    return _replace(texts, changed)


def _list_choices(counts: Counter[str]) -> Choices:
    from itertools import accumulate

    kinds: dict[Any, list[str]] = {}
    for word in sorted(counts):
        capitals, ending = _find_kind(word)
        kinds.setdefault((capitals, ending), []).append(word)
        kinds.setdefault(capitals, []).append(word)
        kinds.setdefault(None, []).append(word)
    found = {}
    for word in counts:
        capitals, ending = _find_kind(word)
        wider = (
            [other for other in kinds[kind] if other != word] for kind in ((capitals, ending), capitals, None)
        )
        others = next((some for some in wider if some), None)
        if others is None:
            raise InputError(
                f"{word!r} is the only term that occurs, so there is none to exchange it for", "vocabulary"
            )
        found[word] = (others, list(accumulate(counts[other] for other in others)))
    if not found:
        raise InputError("no vocabulary term occurs in split adapt-train", "texts", "adapt as it is")
    return found


def _find_kind(word: str) -> tuple[str, str]:
    """Return the case of a word (lower, Title, UPPER or miXed), and its ending."""
    looks = (("lower", word.islower()), ("title", word.istitle()), ("upper", word.isupper()))
    capitals = next((name for name, fits in looks if fits), "mixed")
    return capitals, next((ending for ending in _ENDINGS if word.lower().endswith(ending)), "")


def _exchange(doc_id: str, text: str, choices: Choices) -> str:
    from bisect import bisect_right

    def draw(found: re.Match[str]) -> str:
        if found[0] not in choices:
            return found[0]
        others, sums = choices[found[0]]
        number = int(hash_text(doc_id, str(found.start()))[:12], 16)
        return others[bisect_right(sums, number * sums[-1] // _HASH_RANGE)]

    return _WORD.sub(draw, text)


def _replace(texts: pl.DataFrame, changed: Mapping[str, str]) -> pl.DataFrame:
    rows = [changed.get(doc_id, text) for doc_id, text in texts.select("doc_id", "text").iter_rows()]
    return texts.with_columns(pl.Series("text", rows, dtype=pl.String))
