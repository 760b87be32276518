"""Perplexity and bits per byte of a model on held-out documents, by strided windows.

Source: [BeyondBenchmarks, Sec. 2.11].
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fathom.config.scoring import Perplexity
from fathom.corpus.held_out import SPLIT, select_held_out
from fathom.io.contracts.benchmark import HELD_OUT_OVERLAP
from fathom.io.contracts.corpus import TEXTS
from fathom.io.contracts.scoring import PERPLEXITY
from fathom.io.files import hash_file, write_json
from fathom.io.tables import read_table, write_table
from fathom.jobs.program import log
from fathom.models.loading import find_context_length
from fathom.models.open_model import Measurement, OpenModel
from fathom.models.tokens import Document, encode_document, uses_bos
from fathom.scoring.batches import open_replica, score_sequences
from fathom.scoring.logits import describe_non_finite, evaluate_models
from fathom.scoring.scored_sequences import ScoredSequence
from fathom.statistics.likelihood import sum_likelihoods


class Windows(NamedTuple):
    """Tokens per window, including the BOS token, and tokens scored in each window after the first."""

    window: int
    stride: int


def plan_perplexity(
    name: str, texts: Path, output: Path, settings: Perplexity, overlap: Path | None = None
) -> Measurement:
    """Return the measurement of perplexity on a domain's held-out text, its split adapt-test.

    Writes the likelihood by document to `output`, and a report with totals beside it. Stretches of
    `overlap`, under contract HELD_OUT_OVERLAP, occur in training text and do not count.
    """

    def measure(model: OpenModel, outputs: Sequence[Path], resume: object) -> None:
        scores, report = _measure_perplexity(model, texts, settings, overlap)
        write_table(outputs[0], scores, PERPLEXITY)
        write_json(outputs[1], report)

    inputs = [texts, *([overlap] if overlap else [])]
    return Measurement(name, __file__, inputs, [output, output.with_suffix(".json")], settings, measure)


def _measure_perplexity(
    model: OpenModel, texts: Path, settings: Perplexity, overlap: Path | None
) -> tuple[pl.DataFrame, dict[str, Any]]:
    chosen, counts = select_held_out(read_table(texts, TEXTS), settings.max_characters)
    chosen = join_stretches(chosen, overlap)
    windows = fit_windows(model.model, settings)
    pointer, batch_tokens = model.pointer, model.batch_tokens
    scores = score_texts(
        model.copies, model.tokenizer, chosen, windows, batch_tokens, pointer.add_bos, pointer.name
    )
    total = sum_likelihoods(scores)
    report = {
        **model.description,
        "texts_sha256": hash_file(texts),
        "split": SPLIT,
        "bos": uses_bos(model.tokenizer, pointer.add_bos),
        **windows._asdict(),
        **counts,
        "documents": int((scores["tokens"] > 0).sum()),
        "tokens": total.tokens,
        "bytes": total.bytes,
        "nats": total.nats,
        "tokens_left_out": int(scores["tokens_left_out"].sum()),
        "bytes_left_out": int(scores["bytes_left_out"].sum()),
        "tokens_overlap": int(scores["tokens_overlap"].sum()),
        "bytes_overlap": int(scores["bytes_overlap"].sum()),
        "nats_overlap": math.fsum(scores["nats_overlap"]),
        "perplexity": total.perplexity,
        "bits_per_byte": total.bits_per_byte,
    }
    log.info(
        "%s: perplexity %.2f, %.4f bits per byte, %s tokens of %s documents",
        *(report[key] for key in ("model", "perplexity", "bits_per_byte", "tokens", "documents")),
    )
    return scores, report


def fit_windows(model: Any, settings: Perplexity) -> Windows:
    """Return window and stride for a model; a shorter context reduces both in proportion."""
    return limit_windows(find_context_length(model), settings)


def limit_windows(context: int | None, settings: Perplexity) -> Windows:
    """Return window and stride for a model's longest input in tokens; None: no limit."""
    window = settings.window if context is None else min(settings.window, context)
    return Windows(window, max(1, settings.stride * window // settings.window))


def cut_windows(document: Document, windows: Windows) -> Iterator[ScoredSequence]:
    """Cut a document into windows, such that each token from `document.start` on is scored in exactly one.

    The first window scores all its tokens. Each later window scores the next `stride` tokens, the last one
    the rest, with as much context as the window holds. Every window starts with the BOS token, if any.
    """
    prefix = () if document.bos is None else (document.bos,)
    room = windows.window + 1 - len(prefix)  # the last token is a target only, not part of the input
    done = document.start
    while done < len(document.ids):
        first = done == document.start and done < room
        end = min(len(document.ids), room if first else done + windows.stride)
        left = max(0, end - room)
        ids = (*prefix, *document.ids[left : end - 1])
        first_position = len(prefix) + done - left - 1
        yield ScoredSequence(ids, list(enumerate(document.ids[done:end], start=first_position)))
        done = end


def score_texts(
    model: Any,
    tokenizer: Any,
    texts: pl.DataFrame,
    windows: Windows,
    batch_tokens: int,
    add_bos: bool | None = None,
    name: str = "the model",
) -> pl.DataFrame:
    """Return the likelihood of each document, in their order; under PERPLEXITY.

    All tokens are predicted; those in stretches of training text are summed separately. Documents
    without a scored token have 0 tokens. Raise `InputError` if log-probabilities are not finite.

    Parameters
    ----------
    model : transformers causal language model, or list of copies of one model on several devices
        Batches are distributed over the devices; the likelihoods do not depend on their number.
    texts : DataFrame
        Columns doc_id, text, and, if stretches occur in training text, `stretches`; see
        :func:`join_stretches`.
    batch_tokens : int
        Tokens per batch, including padding; halved on out-of-memory of a GPU.
    """
    documents = encode_texts(tokenizer, texts, add_bos)
    nats = score_tokens(model, documents, texts["doc_id"].to_list(), windows, batch_tokens, name)
    return _make_frame(texts["doc_id"].to_list(), documents, nats)


def encode_texts(tokenizer: Any, texts: pl.DataFrame, add_bos: bool | None) -> list[Document]:
    """Return the tokens of each document, see :func:`score_texts`."""
    stretches = texts["stretches"].to_list() if "stretches" in texts.columns else [None] * len(texts)
    return [
        encode_document(tokenizer, text, add_bos, some or ())
        for text, some in zip(texts["text"], stretches, strict=True)
    ]


def score_tokens(
    model: Any,
    documents: Sequence[Document],
    doc_ids: Sequence[str],
    windows: Windows,
    batch_tokens: int,
    name: str = "the model",
) -> list[list[float]]:
    """Return the negative log-probability of each token of each document; NaN before the first scored one.

    The parameters, and what is raised, are those of :func:`score_texts`.
    """
    cuts = cut_documents(documents, doc_ids, windows)
    models = model if isinstance(model, list) else [model]
    with evaluate_models(models):
        return fill_nats(documents, doc_ids, _score_windows(models, cuts, batch_tokens, name), name)


class Cut(NamedTuple):
    """A window with the row of its document and the index of its first scored token there."""

    row: int
    first: int
    window: ScoredSequence


def cut_documents(documents: Sequence[Document], doc_ids: Sequence[str], windows: Windows) -> list[Cut]:
    """Return the windows of all documents, the longest first, in the same order for any of these."""
    cuts = []
    for row, document in enumerate(documents):
        first = document.start
        for window in cut_windows(document, windows):
            cuts.append(Cut(row, first, window))
            first += len(window.targets)
    return sorted(cuts, key=lambda each: (-len(each.window.ids), doc_ids[each.row], each.window.ids))


def fill_nats(
    documents: Sequence[Document],
    doc_ids: Sequence[str],
    scored: "Iterable[tuple[Cut, NDArray[np.float64]]]",
    name: str,
) -> list[list[float]]:
    """Return the negative log-probability of each token, given those of the scored tokens of windows."""
    nats: list[list[float]] = [[math.nan] * len(each.ids) for each in documents]
    for cut, log_probability in scored:
        if not np.isfinite(log_probability).all():
            raise describe_non_finite(name, f"document {doc_ids[cut.row]!r}", "perplexity")
        nats[cut.row][cut.first : cut.first + len(log_probability)] = (-log_probability).tolist()
    return nats


def join_stretches(texts: pl.DataFrame, overlap: Path | None) -> pl.DataFrame:
    """Return documents with the stretches that do not count: first character, and the one after the last.

    A table under HELD_OUT_OVERLAP adds a column `stretches`, lists of two numbers each, null for documents
    without any.
    """
    if overlap is None:
        return texts
    table = read_table(overlap, HELD_OUT_OVERLAP)
    stretches = table.group_by("doc_id").agg(stretches=pl.concat_list("start", "end"))
    return texts.join(stretches, on="doc_id", how="left", maintain_order="left")


def _score_windows(
    models: Sequence[Any], windows: Sequence[Cut], batch_tokens: int, name: str
) -> Iterator[tuple[Cut, NDArray[np.float64]]]:
    if not windows:
        return
    sample = windows[0].window.ids
    replicas = [open_replica(each, sample[: max(1, len(sample) - 1)], name) for each in models]
    waiting = iter(windows)
    for found in score_sequences(replicas, [each.window for each in windows], batch_tokens, None):
        done = 0
        while done < len(found.log_probability):
            each = next(waiting)
            yield each, found.log_probability[done : done + len(each.window.targets)]
            done += len(each.window.targets)


def _make_frame(
    doc_ids: Sequence[str], documents: Sequence[Document], nats: Sequence[Sequence[float]]
) -> pl.DataFrame:
    """Return one row per document from the numbers of all its tokens; sums are exact."""
    parts = [
        [row[index] for index in range(each.start, len(each.ids)) if index not in each.overlap]
        for each, row in zip(documents, nats, strict=True)
    ]
    apart = [
        [row[index] for index in sorted(each.overlap)] for each, row in zip(documents, nats, strict=True)
    ]
    columns: dict[str, tuple[list[Any], Any]] = {
        "doc_id": (list(doc_ids), pl.String),
        "tokens": ([len(part) for part in parts], pl.Int64),
        "bytes": ([each.size - each.overlap_size for each in documents], pl.Int64),
        "nats": ([math.fsum(part) for part in parts], pl.Float64),
        "tokens_left_out": ([each.start for each in documents], pl.Int64),
        "bytes_left_out": ([each.left_out for each in documents], pl.Int64),
        "tokens_overlap": ([len(part) for part in apart], pl.Int64),
        "bytes_overlap": ([each.overlap_size for each in documents], pl.Int64),
        "nats_overlap": ([math.fsum(part) for part in apart], pl.Float64),
    }
    return pl.DataFrame([pl.Series(name, values, dtype=dtype) for name, (values, dtype) in columns.items()])
