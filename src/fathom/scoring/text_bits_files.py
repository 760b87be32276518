"""What models need for text, as files: of each model while others are measured, then tables and a report."""

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from fathom.config.scoring import Perplexity
from fathom.io.contracts.scoring import (
    TEXT_BITS,
    TEXT_DIFFERENCES,
    TEXT_DOCUMENTS,
    TEXT_PASSAGES,
    TEXT_WORDS,
)
from fathom.io.delimited import write_rows
from fathom.io.files import hash_text, read_json, write_atomically, write_json
from fathom.io.names import place_inside
from fathom.jobs.resume import Resume
from fathom.models.open_model import Measurement, OpenModel, measure_all
from fathom.scoring.text_bits import (
    CONFIDENCE,
    Comparison,
    MeasuredText,
    find_passages,
    find_words,
    list_passages,
    measure_text,
)
from fathom.statistics.summaries import format_number

REPORT = "bits.json"
_NAME = "text"


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
        Folder where a model's results are kept as soon as it is finished; those that lie there are taken
        over if texts, windows, model and code are the same.
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
        import numpy as np
        from safetensors.numpy import save_file

        found = measure_text(model, texts, settings, resume)
        arrays = {"bits": np.concatenate(found.bits), "lengths": np.array([len(each) for each in found.bits])}
        with write_atomically(outputs[0]) as temporary:
            save_file(arrays, temporary)
        write_json(outputs[1], {"tokens": found.tokens, "description": found.description})

    read = hash_text(*(field for row in texts.select("doc_id", "text").iter_rows() for field in row))
    outputs = [output, output.with_suffix(".json")]
    return Measurement(_NAME, __file__, [], outputs, [settings, read], measure)


def _read_measured(files: Sequence[Path]) -> MeasuredText:
    import numpy as np
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
