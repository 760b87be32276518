"""Pairs, held-out text and matched sentences that occur in training text.

The rule is the same for all: some words in a row that occur in training text. Running text has no targets,
so every word in such a row is left out. Text is cut between words, as tokenizers do, so models with
different tokenizers are scored on the same text.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fathom.corpus.fingerprints import Hashes, hash_tokens, hash_windows, hash_words
from fathom.io.contracts.benchmark import HELD_OUT_OVERLAP, OVERLAP, SENTENCE_OVERLAP
from fathom.io.tables import make_empty_table
from fathom.jobs.program import log

ENDING = 6
"""Last words of prompt and target to look for."""
_MANY = 0.05
"""Share of pairs above which to warn."""
_HINTS = {
    "id": "corpus.splits_by: content puts documents that share text into one split",
    "content": "corpus.grouping joins more documents with lower min_words, higher max_documents or max_share",
}


class SentenceSearcher:
    """Searches texts for sentences, such as prompts with targets; both are hashes of words.

    `sentences` (sequence of ndarray of shape (n_words,), uint64): see
    :func:`fathom.corpus.fingerprints.hash_words`: without case, punctuation and white space. `sentence`,
    `ending` (ndarray of shape (n_sentences,), bool): whether all words of each, or its last ones, have
    occurred in a row so far.
    """

    def __init__(self, sentences: Sequence[Hashes]) -> None:
        self._words = sentences
        self.sentence = np.zeros(len(sentences), dtype=bool)
        self.ending = np.zeros(len(sentences), dtype=bool)
        # numbers of sentences by the hash of their last words, by number of words
        self._pairs: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
        for number, words in enumerate(self._words):
            size = min(ENDING, len(words))
            if size:
                self._pairs[size][int(hash_windows(words[-size:], size)[0])].append(number)
        self._keys = {size: np.array(sorted(pairs), dtype=np.uint64) for size, pairs in self._pairs.items()}

    def search(self, words: Hashes) -> None:
        """Flag the sentences that occur in a text."""
        for size, keys in self._keys.items():
            windows = hash_windows(words, size)
            for place in np.flatnonzero(is_among(windows, keys)).tolist():
                for number in self._pairs[size][int(windows[place])]:
                    self.ending[number] = True
                    if not self.sentence[number]:
                        self.sentence[number] = self._stands(number, words[: place + size])

    def _stands(self, number: int, before: Hashes) -> bool:
        words = self._words[number]
        return len(before) >= len(words) and bool((before[len(before) - len(words) :] == words).all())


def is_among(windows: Hashes, keys: Hashes) -> NDArray[np.bool_]:
    """Return which hashes are among some sorted ones, of which there is at least one."""
    return np.asarray(keys[np.searchsorted(keys, windows).clip(max=len(keys) - 1)] == windows)


def find_overlap(pairs: pl.DataFrame, texts: Iterable[str]) -> pl.DataFrame:
    """Flag the pairs whose words occur in texts; return them under OVERLAP, in their order."""
    sentences = (prompt + target for prompt, target in pairs.select("prompt", "target").iter_rows())
    searcher = SentenceSearcher([hash_words(sentence) for sentence in sentences])
    for text in texts:
        searcher.search(hash_words(text))
    columns = {"pair_id": pairs["pair_id"], "sentence": searcher.sentence, "ending": searcher.ending}
    return pl.DataFrame(columns, schema=make_empty_table(OVERLAP).schema)


def report_overlap(overlap: pl.DataFrame, splits_by: str) -> Mapping[str, Any]:
    """Return counts of the pairs that occur in training text; `splits_by` decides the hint of a warning."""
    counts = {name: int(overlap[name].sum()) for name in ("sentence", "ending")}
    log.info(
        "%s of %s pairs occur word for word in training text, %s by their last %s words",
        *(f"{number:,}" for number in (counts["sentence"], len(overlap), counts["ending"], ENDING)),
    )
    if counts["sentence"] > _MANY * len(overlap):
        log.warning(
            "%.0f %% of the pairs occur word for word in training text and are left out of summaries. "
            "Hint: %s",
            100 * counts["sentence"] / len(overlap), _HINTS[splits_by],
        )  # fmt: skip
    return {
        "pairs": len(overlap),
        "in_training_text": counts["sentence"],
        "last_words_there": counts["ending"],
    }


Rule = Literal["sentence", "ending"]
"""What to look for: whole sentences, or any ENDING words in a row."""

# tokens may hold a word and the blank before it, or a dot and the end of its line
_PIECE = re.compile(r"(?:(?<!\s)[^\S\r\n]+|[^\S\r\n]?)\S+")
_MOST = 0.5
"""Share of the words above which to warn."""


class Overlap(NamedTuple):
    """Text that occurs in training text, with counts."""

    stretches: pl.DataFrame  # stretches of documents, under contract HELD_OUT_OVERLAP
    sentences: pl.DataFrame  # matched sentences, under contract SENTENCE_OVERLAP
    report: Mapping[str, Any]


class _Document:
    """A text in pieces, each with the blanks before and the ends of lines after it, and their words."""

    def __init__(self, text: str) -> None:
        spans = [match.span() for match in _PIECE.finditer(text)]
        counts = [len(hash_words(text[start:end])) for start, end in spans]
        self.borders = [*(start for start, _ in spans), len(text)]
        self._piece_of_word = np.repeat(np.arange(len(spans)), counts)
        tokens = hash_tokens(text)
        self.words: Hashes = tokens[tokens != 0]
        numbers = np.cumsum(tokens == 0)[tokens != 0]
        self.starts = np.flatnonzero(np.diff(numbers, prepend=-1))  # of sentences
        self.sizes = np.diff(self.starts, append=len(self.words))

    def find_stretches(self, rows: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        """Return the characters of all pieces that lie in one of some rows of words: (first word, length)."""
        change = np.zeros(len(self.borders) + 1, dtype=np.int64)
        for start, size in rows:
            change[self._piece_of_word[start]] += 1
            change[self._piece_of_word[start + size - 1] + 1] -= 1
        edges = np.flatnonzero(np.diff(np.cumsum(change) > 0, prepend=False))
        places = [self.borders[edge] for edge in edges.tolist()]
        return list(zip(places[::2], places[1::2], strict=True))


class _WindowSearcher:
    """Searches for any ENDING consecutive words of documents."""

    def __init__(self, documents: Sequence[_Document]) -> None:
        self._windows = [hash_windows(each.words, ENDING) for each in documents]
        self._keys = np.unique(np.concatenate([np.zeros(0, np.uint64), *self._windows]))
        self._found: NDArray[np.bool_] = np.zeros(len(self._keys), dtype=bool)

    def search(self, words: Hashes) -> None:
        """Note which of them stand in a text."""
        if len(self._keys):
            windows = hash_windows(words, ENDING)
            self._found[np.searchsorted(self._keys, windows[is_among(windows, self._keys)])] = True

    def list_rows(self) -> list[list[tuple[int, int]]]:
        """Return the rows of words of each document that were found: (first word, length)."""
        known = self._keys[self._found]
        if not len(known):
            return [[] for _ in self._windows]
        return [
            [(start, ENDING) for start in np.flatnonzero(is_among(each, known)).tolist()]
            for each in self._windows
        ]


class _WholeSearcher:
    """Searches for sentences of documents; those shorter than ENDING words occur anywhere."""

    def __init__(self, documents: Sequence[_Document]) -> None:
        self._rows = [
            [(start, size) for start, size in zip(each.starts.tolist(), each.sizes.tolist(), strict=True)
             if size >= ENDING]
            for each in documents
        ]  # fmt: skip
        rows = zip(documents, self._rows, strict=True)
        self._searcher = SentenceSearcher(
            [each.words[start : start + size] for each, some in rows for start, size in some]
        )

    def search(self, words: Hashes) -> None:
        """Note which of them stand in a text."""
        self._searcher.search(words)

    def list_rows(self) -> list[list[tuple[int, int]]]:
        """Return the rows of words of each document that were found: (first word, length)."""
        flags = iter(self._searcher.sentence.tolist())
        return [[row for row in rows if next(flags)] for rows in self._rows]


def find_held_out_overlap(
    documents: pl.DataFrame, sentences: Sequence[str], texts: Iterable[str], rule: Rule
) -> Overlap:
    """Find measured text other than pairs that occurs in training text.

    Parameters
    ----------
    sentences : sequence of str
        Distinct matched sentences, which attribute rates take token lists from.
    rule : {"ending", "sentence"}
        ending: words of documents that lie in six words in a row of a text; sentences whose last six words
        do. sentence: both if the whole sentence does.
    """
    read = [_Document(text) for text in documents["text"]]
    running = _WindowSearcher(read) if rule == "ending" else _WholeSearcher(read)
    matched = SentenceSearcher([hash_words(sentence) for sentence in sentences])
    for text in texts:
        words = hash_words(text)
        running.search(words)
        matched.search(words)
    rows = running.list_rows()
    stretches = [
        (doc_id, *stretch)
        for doc_id, each, some in zip(documents["doc_id"], read, rows, strict=True)
        for stretch in each.find_stretches(some)
    ]
    flags = (matched.ending if rule == "ending" else matched.sentence).tolist()
    occurring = sorted(sentence for sentence, flag in zip(sentences, flags, strict=True) if flag)
    counts = {
        "documents": len(read),
        "words": sum(len(each.words) for each in read),
        "words_in_training_text": sum(map(_count_words, rows)),
        "sentences": len(sentences),
        "sentences_in_training_text": len(occurring),
    }
    _tell(counts)
    return Overlap(
        pl.DataFrame(stretches, make_empty_table(HELD_OUT_OVERLAP).schema, orient="row"),
        pl.DataFrame({"clean": occurring}, make_empty_table(SENTENCE_OVERLAP).schema),
        counts,
    )


def _count_words(rows: Sequence[tuple[int, int]]) -> int:
    return len({place for start, size in rows for place in range(start, start + size)})


def _tell(counts: Mapping[str, int]) -> None:
    log.info(
        "%s of %s held-out words and %s of %s matched sentences occur in training text and are left out",
        *(f"{counts[name]:,}" for name in ("words_in_training_text", "words")),
        *(f"{counts[name]:,}" for name in ("sentences_in_training_text", "sentences")),
    )
    if counts["words_in_training_text"] > _MOST * counts["words"]:
        log.warning(
            "%.0f %% of the held-out words occur in training text: perplexity is measured on the rest. "
            "Hint: train on other documents",
            100 * counts["words_in_training_text"] / counts["words"],
        )
