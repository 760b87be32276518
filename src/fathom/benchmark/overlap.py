"""Pairs whose text occurs in the text that models are trained on."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fathom.corpus.fingerprints import Hashes, hash_windows, hash_words
from fathom.io.contracts.benchmark import OVERLAP
from fathom.io.tables import make_empty_table
from fathom.jobs.program import log

ENDING = 6
"""Last words of prompt and target that are looked for."""
_MANY = 0.05
"""Share of pairs above which there is a warning."""
_HINTS = {
    "id": "corpus.splits_by: content puts documents that share text into one split",
    "content": "corpus.grouping joins more documents with lower min_words, higher max_documents or max_share",
}


class SentenceSearcher:
    """Looks for sentences, such as prompts with their targets, in texts; both are hashes of words.

    Parameters
    ----------
    sentences : sequence of ndarray of shape (n_words,), uint64
        See :func:`fathom.corpus.fingerprints.hash_words`: without case, punctuation and white space.

    Attributes
    ----------
    sentence, ending : ndarray of shape (n_sentences,), bool
        Whether all words of each, and whether its last ones, stand in a row in a text so far.
    """

    def __init__(self, sentences: Sequence[Hashes]) -> None:
        self._words = sentences
        self.sentence = np.zeros(len(sentences), dtype=bool)
        self.ending = np.zeros(len(sentences), dtype=bool)
        # numbers of sentences by the hash of their last words, by how many words these are
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
    """Return the pairs with whether their words occur in texts, under OVERLAP, in their order."""
    sentences = (prompt + target for prompt, target in pairs.select("prompt", "target").iter_rows())
    searcher = SentenceSearcher([hash_words(sentence) for sentence in sentences])
    for text in texts:
        searcher.search(hash_words(text))
    columns = {"pair_id": pairs["pair_id"], "sentence": searcher.sentence, "ending": searcher.ending}
    return pl.DataFrame(columns, schema=make_empty_table(OVERLAP).schema)


def report_overlap(overlap: pl.DataFrame, splits_by: str) -> Mapping[str, Any]:
    """Return counts of the pairs that occur in training text; `splits_by` decides what a warning advises."""
    counts = {name: int(overlap[name].sum()) for name in ("sentence", "ending")}
    log.info(
        "%s of %s pairs occur word for word in training text, %s by their last %s words",
        *(f"{number:,}" for number in (counts["sentence"], len(overlap), counts["ending"], ENDING)),
    )
    if counts["sentence"] > _MANY * len(overlap):
        log.warning(
            "%.0f %% of the pairs occur word for word in training text and are left out of summaries. "
            "Hint: %s",
            100 * counts["sentence"] / len(overlap),
            _HINTS[splits_by],
        )
    return {
        "pairs": len(overlap),
        "in_training_text": counts["sentence"],
        "last_words_there": counts["ending"],
    }
