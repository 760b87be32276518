"""Bits of models for any text, character by character: in all, and where models differ.

Models cut text into different tokens. A token's bits are spread over the characters from the token before it
to its end, in proportion to their bytes, so that models are compared on the same words and bytes.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import polars as pl

from fathom.config.scoring import Perplexity
from fathom.errors import InputError
from fathom.jobs.resume import Resume
from fathom.models.open_model import OpenModel
from fathom.models.served import ServedModel
from fathom.models.tokens import Document
from fathom.scoring.perplexity import encode_texts, fit_windows, score_tokens
from fathom.scoring.served_texts import limit_served_windows, score_served_tokens
from fathom.statistics.bootstrap import Estimate
from fathom.statistics.comparisons import Difference
from fathom.statistics.text_bits import BitsPerByte, compare_bits_per_byte

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_WORD = re.compile(r"\s*(?:\w+|[^\w\s]+)")
_PASSAGE = 240
"""Characters after which a passage ends with a word."""
CONFIDENCE = 0.95
"""Of intervals and letters."""
WORDS, PASSAGES = 100, 20
"""How many are listed in each direction."""


class MeasuredText(NamedTuple):
    """What a model needs for some documents.

    Attributes
    ----------
    bits : list of ndarray of shape (n_characters,), float64
        Of each document; NaN at its start where there is no context.
    """

    bits: "list[Array]"
    tokens: int
    description: dict[str, Any]


def measure_text(
    model: OpenModel, texts: pl.DataFrame, settings: Perplexity, resume: Resume | None = None
) -> MeasuredText:
    """Measure a model, here or behind a server, on documents with columns doc_id and text."""
    doc_ids = texts["doc_id"].to_list()
    documents = encode_texts(model.tokenizer, texts, model.pointer.add_bos)
    if isinstance(model, ServedModel):
        windows = limit_served_windows(model, settings)
        nats = score_served_tokens(model, documents, doc_ids, windows, resume)
    else:
        windows = fit_windows(model.model, settings)
        nats = score_tokens(model.copies, documents, doc_ids, windows, model.batch_tokens, model.pointer.name)
    bits = [
        spread_bits(text, document, row)
        for text, document, row in zip(texts["text"], documents, nats, strict=True)
    ]
    has_bos = any(each.bos is not None for each in documents)
    described = {**model.description, **windows._asdict(), "bos": has_bos}
    return MeasuredText(bits, sum(len(each.ids) for each in documents), described)


def count_bytes(text: str) -> "NDArray[np.int64]":
    """Return the UTF-8 bytes of each character."""
    import numpy as np

    codes = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)
    return np.asarray(1 + (codes > 0x7F) + (codes > 0x7FF) + (codes > 0xFFFF), dtype=np.int64)


def spread_bits(text: str, document: Document, nats: Sequence[float]) -> "Array":
    """Return the bits of each character of a document, given the nats of its tokens."""
    import numpy as np

    sizes = count_bytes(text)
    found = np.zeros(len(text))
    done = first = int(np.searchsorted(np.cumsum(sizes), document.left_out, side="right"))
    for (start, end), value in zip(document.offsets[document.start :], nats[document.start :], strict=True):
        # blanks may be in no token; several tokens may be parts of one character
        part = slice(done, end) if end > done else slice(start, max(end, start + 1))
        weights = sizes[part]
        found[part] += value / math.log(2) * weights / weights.sum()
        done = max(done, end)
    found[:first] = np.nan
    return found


@dataclass(frozen=True)
class Comparison:
    """Models on the same characters of the same documents.

    Attributes
    ----------
    texts : DataFrame
        Documents with text that all models predicted: doc_id, file, text.
    sizes : ndarray of shape (n_documents,), int64
        Bytes from there on.
    """

    texts: pl.DataFrame
    starts: list[int]
    sizes: "NDArray[np.int64]"
    measured: dict[str, MeasuredText]
    found: BitsPerByte

    @property
    def order(self) -> list[str]:
        """Models, fewest bits first."""
        return self.found.order

    @property
    def extent(self) -> str:
        """How much text there is, in words."""
        files, documents = self.texts["file"].n_unique(), len(self.texts)
        inside = f" in {files:,} files" if files < documents else ""
        return f"{documents:,} documents{inside}, {int(self.sizes.sum()):,} bytes that all models predicted"

    @property
    def answer(self) -> str:
        """A sentence that says which model predicts the text best, and how surely."""
        best, *others = self.order
        value = f"{best} needs {self.estimate(best).value:.3f} bits for a byte of this text"
        if not others:
            return f"{value}."
        gaps = [each for each in self.differences if each.better == best]
        alike = ", ".join(each.worse for each in gaps if not each.apart)
        sure = f"not significantly fewer than {alike}" if alike else "significantly"
        return f"{value}, the fewest of {len(self.order)} models: {sure}."

    @property
    def differences(self) -> list[Difference]:
        """Of every two models, in that order."""
        return self.found.differences

    @property
    def letters(self) -> dict[str, str]:
        """Letters of each model; those that share one do not differ significantly."""
        return self.found.letters

    def estimate(self, model: str) -> Estimate:
        """Return bits per byte of a model with its interval."""
        return self.found.models[model]

    def sum_bits(self, model: str) -> "Array":
        """Return a model's bits for each document."""
        return _sum_bits(self.measured[model].bits, self.starts)

    def find_gaps(self, other: str) -> "list[Array]":
        """Return the bits of another model less those of the best, of each character from `starts` on."""
        best = self.measured[self.order[0]].bits
        both = zip(self.starts, self.measured[other].bits, best, strict=True)
        return [theirs[start:] - own[start:] for start, theirs, own in both]


def _sum_bits(bits: "Sequence[Array]", starts: Sequence[int]) -> "Array":
    import numpy as np

    return np.array([math.fsum(each[start:]) for each, start in zip(bits, starts, strict=True)])


def compare_on_texts(
    measured: Mapping[str, MeasuredText], texts: pl.DataFrame, confidence: float = CONFIDENCE
) -> Comparison:
    """Compare models on the characters that all of them predicted; raise `InputError` if there are none.

    Documents without any are left out.
    """
    import numpy as np

    columns = zip(*(each.bits for each in measured.values()), strict=True)
    starts = [max(int(np.isnan(each).sum()) for each in row) for row in columns]
    sizes = [int(count_bytes(text[start:]).sum()) for text, start in zip(texts["text"], starts, strict=True)]
    kept = [row for row, size in enumerate(sizes) if size]
    if not kept:
        raise InputError("no document is longer than its first token", "TEXT", "give longer ones")
    own = {name: each._replace(bits=[each.bits[row] for row in kept]) for name, each in measured.items()}
    starts, texts, size = [starts[row] for row in kept], texts[kept], np.array(sizes)[kept]
    sums = {name: _sum_bits(each.bits, starts) for name, each in own.items()}
    found = compare_bits_per_byte(sums, size, texts["file"].to_list(), confidence)
    return Comparison(texts, starts, size, own, found)


Item = TypeVar("Item", "Word", "Passage")


class Word(NamedTuple):
    """A word with its number of uses, and how many more bits another model needs for them than the best."""

    word: str
    uses: int
    bits: float


class Passage(NamedTuple):
    """A passage, and how many more bits another model needs for each of its words than the best.

    Attributes
    ----------
    start : int
        First character in the document.
    words : list of (str, float)
        With the blanks before them.
    """

    doc_id: str
    start: int
    words: list[tuple[str, float]]

    @property
    def text(self) -> str:
        """The passage itself."""
        return "".join(word for word, _ in self.words)

    @property
    def bits(self) -> float:
        """Bits of all its words."""
        return math.fsum(bits for _, bits in self.words)


def list_passages(comparison: Comparison, other: str) -> list[Passage]:
    """Cut all documents into passages of whole words, in their order."""
    import numpy as np

    found = []
    documents = comparison.texts.select("doc_id", "text").iter_rows()
    for (doc_id, text), first, gaps in zip(
        documents, comparison.starts, comparison.find_gaps(other), strict=True
    ):
        sums = np.concatenate([[0.0], np.cumsum(gaps)])
        words: list[tuple[str, float]] = []
        start = first
        for match in _WORD.finditer(text, first):
            begin, end = match.span()
            words.append((match[0], float(sums[end - first] - sums[begin - first])))
            if end - start >= _PASSAGE:
                found.append(Passage(doc_id, start, words))
                words, start = [], end
        if words:
            found.append(Passage(doc_id, start, words))
    return found


def find_words(passages: Sequence[Passage]) -> list[Word]:
    """Return the words whose uses differ most in sum: those that the best model needs fewer bits for first.

    A word of a single use is left out: it says as much of its place as of itself.
    """
    counts: dict[str, list[float]] = {}
    for passage in passages:
        for word, bits in passage.words:
            counts.setdefault(word.strip(), []).append(bits)
    words = [Word(word, len(each), math.fsum(each)) for word, each in counts.items() if len(each) > 1]
    return _pick_extremes(words, lambda each: (-each.bits, each.word), WORDS)


def find_passages(passages: Sequence[Passage]) -> list[Passage]:
    """Return the passages that differ most: those that the best model needs fewer bits for first."""
    return _pick_extremes(passages, lambda each: (-each.bits, each.doc_id, each.start), PASSAGES)


def _pick_extremes(items: Sequence[Item], key: Callable[[Item], Any], count: int) -> list[Item]:
    """Return the items with the most bits, the most first, and those with the least, the least last."""
    ordered = sorted(items, key=key)
    above = [each for each in ordered if each.bits > 0]
    below = [each for each in ordered if each.bits < 0]
    return above[:count] + below[-count:]
