"""Bits of models for any text, character by character, in total and where models differ.

Models cut text into different tokens. A token's bits are spread over the characters from the token before it
to its end, in proportion to their bytes, so that models are compared on the same words and bytes.

A server gives log-probabilities of the same windows that a local model reads. A model's bits are kept in
files while others are measured.
"""

import gc
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fathom.config.scoring import Perplexity
from fathom.errors import InputError
from fathom.io.contracts.scoring import TEXT_BITS, TEXT_DIFFERENCES, TEXT_DOCUMENTS, TEXT_PASSAGES, TEXT_WORDS
from fathom.io.delimited import write_rows
from fathom.io.files import hash_text, read_json, write_atomically, write_json
from fathom.io.names import place_inside, show_count
from fathom.jobs.resume import Resume
from fathom.models.open_model import Measurement, OpenModel, measure_all
from fathom.models.served import Maker, ServedModel
from fathom.models.served_answers import Question
from fathom.models.tokens import Document
from fathom.scoring import perplexity
from fathom.scoring.served_ranks import ask_all, find_top_k, make_speller
from fathom.statistics.bootstrap import Estimate
from fathom.statistics.comparisons import BitsPerByte, compare_bits_per_byte
from fathom.statistics.summaries import format_number

Array = NDArray[np.float64]


_WORD = re.compile(r"\s*(?:\w+|[^\w\s]+)")
_PASSAGE = 240
"""Characters after which a passage ends at the next word."""
CONFIDENCE = 0.95
"""Confidence of intervals and letters."""
WORDS, PASSAGES = 100, 20
"""Number of items to list in each direction."""


class MeasuredText(NamedTuple):
    """Bits that a model needs for some documents.

    `bits` (list of ndarray of shape (n_characters,), float64): of each document; NaN at its start without
    context.
    """

    bits: list[Array]
    tokens: int
    description: dict[str, Any]


def measure_text(
    model: OpenModel, texts: pl.DataFrame, settings: Perplexity, resume: Resume | None = None
) -> MeasuredText:
    """Measure a model, here or behind a server, on documents with columns doc_id and text."""
    doc_ids = texts["doc_id"].to_list()
    documents = perplexity.encode_texts(model.tokenizer, texts, model.pointer.add_bos)
    if isinstance(model, ServedModel):
        windows = limit_served_windows(model, settings)
        nats = score_served_tokens(model, documents, doc_ids, windows, resume)
    else:
        windows = perplexity.fit_windows(model.model, settings)
        nats = perplexity.score_tokens(
            model.copies, documents, doc_ids, windows, model.batch_tokens, model.pointer.name
        )
    bits = [
        spread_bits(text, document, row)
        for text, document, row in zip(texts["text"], documents, nats, strict=True)
    ]
    has_bos = any(each.bos is not None for each in documents)
    described = {**model.description, **windows._asdict(), "bos": has_bos}
    return MeasuredText(bits, sum(len(each.ids) for each in documents), described)


def count_bytes(text: str) -> NDArray[np.int64]:
    """Return the UTF-8 bytes of each character."""
    codes = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)
    return np.asarray(1 + (codes > 0x7F) + (codes > 0x7FF) + (codes > 0xFFFF), dtype=np.int64)


def spread_bits(text: str, document: Document, nats: Sequence[float]) -> Array:
    """Return the bits of each character of a document, given the nats of its tokens."""
    sizes = count_bytes(text)
    found = np.zeros(len(text))
    done = first = int(np.searchsorted(np.cumsum(sizes), document.left_out, side="right"))
    for (start, end), value in zip(document.offsets[document.start :], nats[document.start :], strict=True):
        # spaces may be in no token; several tokens may share one character
        part = slice(done, end) if end > done else slice(start, max(end, start + 1))
        weights = sizes[part]
        found[part] += value / math.log(2) * weights / weights.sum()
        done = max(done, end)
    found[:first] = np.nan
    return found


@dataclass(frozen=True)
class Comparison(BitsPerByte):
    """Models on the same characters of the same documents."""

    texts: pl.DataFrame  # documents with text that all models predicted: doc_id, file, text
    starts: list[int]
    sizes: NDArray[np.int64]  # shape (n_documents,), int64: bytes from there on
    measured: dict[str, MeasuredText]

    @property
    def extent(self) -> str:
        """Amount of text, for people."""
        files, documents = self.texts["file"].n_unique(), len(self.texts)
        inside = f" in {show_count(files, 'file')}" if files < documents else ""
        size = f"{int(self.sizes.sum()):,} bytes that all models predicted"
        return f"{show_count(documents, 'document')}{inside}, {size}"

    @property
    def answer(self) -> str:
        """A sentence on which model predicts the text best, and how surely."""
        best, *others = self.order
        value = f"{best} needs {self.estimate(best).value:.3f} bits for a byte of this text"
        if not others:
            return f"{value}."
        gaps = [each for each in self.differences if each.better == best]
        alike = ", ".join(each.worse for each in gaps if not each.apart)
        sure = f"not significantly fewer than {alike}" if alike else "significantly"
        return f"{value}, the fewest of {len(self.order)} models: {sure}."

    def estimate(self, model: str) -> Estimate:
        """Return bits per byte of a model with its interval."""
        return self.models[model]

    def sum_bits(self, model: str) -> Array:
        """Return a model's bits for each document."""
        return _sum_bits(self.measured[model].bits, self.starts)

    def find_gaps(self, other: str) -> list[Array]:
        """Return the bits of another model minus the best's, for each character from `starts` on."""
        best = self.measured[self.order[0]].bits
        both = zip(self.starts, self.measured[other].bits, best, strict=True)
        return [theirs[start:] - own[start:] for start, theirs, own in both]


def _sum_bits(bits: Sequence[Array], starts: Sequence[int]) -> Array:
    return np.array([math.fsum(each[start:]) for each, start in zip(bits, starts, strict=True)])


def compare_on_texts(measured: Mapping[str, MeasuredText], texts: pl.DataFrame) -> Comparison:
    """Compare models on the characters that all of them predicted; raise `InputError` if there are none.

    Documents without any are left out.
    """
    columns = zip(*(each.bits for each in measured.values()), strict=True)
    starts = [max(int(np.isnan(each).sum()) for each in row) for row in columns]
    sizes = [int(count_bytes(text[start:]).sum()) for text, start in zip(texts["text"], starts, strict=True)]
    kept = [row for row, size in enumerate(sizes) if size]
    if not kept:
        raise InputError("no document has more than one token", "TEXT", "give longer ones")
    own = {name: each._replace(bits=[each.bits[row] for row in kept]) for name, each in measured.items()}
    starts, texts, size = [starts[row] for row in kept], texts[kept], np.array(sizes)[kept]
    sums = {name: _sum_bits(each.bits, starts) for name, each in own.items()}
    found = compare_bits_per_byte(sums, size, texts["file"].to_list(), CONFIDENCE)
    return Comparison(found.models, found.differences, found.clusters, texts, starts, size, own)


Item = TypeVar("Item", "Word", "Passage")


class Word(NamedTuple):
    """A word with its number of uses, and the extra bits that another model needs for them over the best."""

    word: str
    uses: int
    bits: float


class Passage(NamedTuple):
    """A passage, and the extra bits that another model needs for each of its words over the best."""

    doc_id: str
    start: int  # first character in the document
    words: list[tuple[str, float]]  # with the blanks before them

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
    """Return the words with the largest total differences, those where the best model needs fewer bits first.

    Words used once are left out, as their place matters as much as the word.
    """
    counts: dict[str, list[float]] = {}
    for passage in passages:
        for word, bits in passage.words:
            counts.setdefault(word.strip(), []).append(bits)
    words = [Word(word, len(each), math.fsum(each)) for word, each in counts.items() if len(each) > 1]
    return _pick_extremes(words, lambda each: (-each.bits, each.word), WORDS)


def find_passages(passages: Sequence[Passage]) -> list[Passage]:
    """Return the passages that differ most, those where the best model needs fewer bits first."""
    return _pick_extremes(passages, lambda each: (-each.bits, each.doc_id, each.start), PASSAGES)


def _pick_extremes(items: Sequence[Item], key: Callable[[Item], Any], count: int) -> list[Item]:
    """Return the items with the most bits, the most first, and those with the least, the least last."""
    ordered = sorted(items, key=key)
    above = [each for each in ordered if each.bits > 0]
    below = [each for each in ordered if each.bits < 0]
    return above[:count] + below[-count:]


def refuse_texts(model: ServedModel) -> None:
    """Raise `InputError` if a server gives no log-probabilities of a prompt's own tokens."""
    if model.statement.maker == Maker.LLAMACPP:
        raise InputError(
            "llama.cpp's server gives no log-probabilities of a prompt's own tokens",
            model.pointer.server,
            "name the GGUF file instead of the server, to measure it here; or serve the model with vLLM",
        )


def limit_served_windows(model: ServedModel, settings: Perplexity) -> perplexity.Windows:
    """Return window and stride for a server, which also reads the last token of a window and writes one."""
    refuse_texts(model)
    context = model.statement.context
    if context is not None and context < 3:
        raise InputError(
            f"the server takes {context} tokens", model.pointer.server, "start it with a longer context"
        )
    return perplexity.limit_windows(None if context is None else context - 2, settings)


def score_served_tokens(
    model: ServedModel,
    documents: Sequence[Document],
    doc_ids: Sequence[str],
    windows: perplexity.Windows,
    resume: Resume | None = None,
) -> list[list[float]]:
    """Like :func:`fathom.scoring.perplexity.score_tokens`, from a server.

    vLLM is asked for `prompt_logprobs`, another server for an echo of the prompt with `logprobs`.
    """
    cuts = perplexity.cut_documents(documents, doc_ids, windows)
    prompts = [(*cut.window.ids, cut.window.targets[-1][1]) for cut in cuts]
    top_k = find_top_k(model)
    spell = make_speller(model, prompts) if top_k else lambda _: ()
    questions = [
        Question(
            prompt,
            tuple(place + 1 for place, _ in cut.window.targets),
            f"document {doc_ids[cut.row]!r}",
            spell(prompt),
        )
        for prompt, cut in zip(prompts, cuts, strict=True)
    ]
    readings = ask_all(model, questions, top_k, resume)
    found = ((cut, each.log_probability) for cut, each in zip(cuts, readings, strict=True) if each)
    return perplexity.fill_nats(documents, doc_ids, found, model.pointer.name)


REPORT = "bits.json"


def measure_texts(
    models: Mapping[str, Callable[[], OpenModel]],
    texts: pl.DataFrame,
    settings: Perplexity,
    kept: Path | None = None,
) -> dict[str, MeasuredText]:
    """Measure several models, one in memory at a time.

    Parameters
    ----------
    kept : Path, optional
        Folder to keep the results of finished models in; existing ones are reused if texts, windows, model
        and code are the same.
    """
    found = {}
    for name, open_model in models.items():
        if kept is None:
            found[name] = measure_text(open_model(), texts, settings)
        else:
            planned = _plan_text(texts, settings, place_inside(kept, name, "bits.safetensors"))
            measure_all(open_model(), [planned], place_inside(kept, name, "finished"))
            found[name] = _read_measured(planned.outputs)
        gc.collect()  # the weights go before those of the next model come
    return found


def _plan_text(texts: pl.DataFrame, settings: Perplexity, output: Path) -> Measurement:
    def measure(model: OpenModel, outputs: Sequence[Path], resume: Resume) -> None:
        from safetensors.numpy import save_file

        found = measure_text(model, texts, settings, resume)
        arrays = {"bits": np.concatenate(found.bits), "lengths": np.array([len(each) for each in found.bits])}
        with write_atomically(outputs[0]) as temporary:
            save_file(arrays, temporary)
        write_json(outputs[1], {"tokens": found.tokens, "description": found.description})

    read = hash_text(*(field for row in texts.select("doc_id", "text").iter_rows() for field in row))
    outputs = [output, output.with_suffix(".json")]
    return Measurement("text", __file__, [], outputs, [settings, read], measure)


def _read_measured(files: Sequence[Path]) -> MeasuredText:
    from safetensors.numpy import load_file

    arrays, report = load_file(files[0]), read_json(files[1])
    bits = np.split(arrays["bits"], np.cumsum(arrays["lengths"])[:-1])
    return MeasuredText(bits, report["tokens"], report["description"])


def write_text_bits(
    folder: Path, comparison: Comparison, sources: Sequence[dict[str, Any]], settings: Perplexity
) -> None:
    """Write bits.csv, differences.csv, documents.csv, words.csv, passages.csv and bits.json to a folder."""
    write_rows(folder / "bits.csv", _list_models(comparison), TEXT_BITS)
    write_rows(
        folder / "differences.csv", _list_differences(comparison), TEXT_DIFFERENCES, TEXT_DIFFERENCES.names
    )
    write_rows(folder / "documents.csv", _list_documents(comparison), TEXT_DOCUMENTS)
    words: list[Sequence[Any]] = []
    passages: list[Sequence[Any]] = []
    best, *others = comparison.order
    for other in others:
        found = list_passages(comparison, other)
        words += [(best, other, *each) for each in find_words(found)]
        passages += [
            (best, other, each.doc_id, each.start, len(each.text.encode()), each.bits, each.text)
            for each in find_passages(found)
        ]
    write_rows(folder / "words.csv", words, TEXT_WORDS, TEXT_WORDS.names)
    write_rows(folder / "passages.csv", passages, TEXT_PASSAGES, TEXT_PASSAGES.names)
    report = {
        "sources": list(sources),
        "max_characters": settings.max_characters,
        "confidence": CONFIDENCE,
        "models": {name: comparison.measured[name].description for name in comparison.order},
    }
    write_json(folder / REPORT, report)


def _list_models(comparison: Comparison) -> Iterator[Sequence[Any]]:
    letters = comparison.letters
    for place, model in enumerate(comparison.order, start=1):
        numbers = map(format_number, comparison.estimate(model))
        counts = (len(comparison.texts), int(comparison.sizes.sum()), comparison.measured[model].tokens)
        yield (model, place, *numbers, letters[model], *counts)


def _list_differences(comparison: Comparison) -> Iterator[Sequence[Any]]:
    for each in comparison.differences:
        numbers = map(format_number, (each.value, each.low, each.high, each.p, each.p_adjusted))
        yield (each.better, each.worse, *numbers, "yes" if each.apart else "no")


def _list_documents(comparison: Comparison) -> Iterator[Sequence[Any]]:
    for model in comparison.order:
        bits = comparison.sum_bits(model).tolist()
        for doc_id, size, each in zip(
            comparison.texts["doc_id"], comparison.sizes.tolist(), bits, strict=True
        ):
            yield (model, doc_id, size, each)
