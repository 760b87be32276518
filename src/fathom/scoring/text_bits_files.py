"""What models need for text, as files: a table of each kind, and a report."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from fathom.config.scoring import Perplexity
from fathom.io.contracts.scoring import (
    TEXT_BITS,
    TEXT_DIFFERENCES,
    TEXT_DOCUMENTS,
    TEXT_PASSAGES,
    TEXT_WORDS,
)
from fathom.io.delimited import write_rows
from fathom.io.files import write_json
from fathom.scoring.text_bits import Comparison, find_passages, find_words, list_passages
from fathom.statistics.summaries import format_number

REPORT = "bits.json"


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
        "rounds": comparison.settings.rounds,
        "confidence": comparison.settings.confidence,
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
