"""Perplexity and bits per byte of a model on held-out documents, by strided windows.

Source: [BeyondBenchmarks, Sec. 2.11].
"""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from fathom.config.scoring import Perplexity
from fathom.io.contracts.corpus import TEXTS
from fathom.io.contracts.scoring import PERPLEXITY
from fathom.io.files import hash_file, hash_text, write_json
from fathom.io.tables import read_table, write_table
from fathom.jobs.program import log
from fathom.models.loading import find_context_length
from fathom.models.open_model import Measurement, OpenModel
from fathom.models.tokens import Document, encode_document, uses_bos
from fathom.scoring.batches import open_replica, score_sequences
from fathom.scoring.logits import describe_non_finite, evaluate_models
from fathom.scoring.scored_sequences import ScoredSequence
from fathom.statistics.likelihood import sum_likelihoods

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SPLIT = "adapt-test"
"""Split of documents that are used neither for benchmarks nor for training."""


class Windows(NamedTuple):
    """Tokens per window, including the BOS token, and tokens scored in each window after the first."""

    window: int
    stride: int


def plan_perplexity(name: str, texts: Path, output: Path, settings: Perplexity) -> Measurement:
    """Return how perplexity is measured on a domain's held-out text, from file to files.

    Parameters
    ----------
    name : str
        Name of the measurement.
    texts : Path
        Texts of the domain, of which only split adapt-test is used.
    output : Path
        Likelihood by document; a report with totals lies beside it.
    settings : Perplexity
    """

    def measure(model: OpenModel, outputs: Sequence[Path], resume: object) -> None:
        scores, report = _measure_perplexity(model, texts, settings)
        write_table(outputs[0], scores, PERPLEXITY)
        write_json(outputs[1], report)

    return Measurement(name, __file__, [texts], [output, output.with_suffix(".json")], settings, measure)


def _measure_perplexity(
    model: OpenModel, texts: Path, settings: Perplexity
) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Return the likelihood of each held-out document, and a report."""
    chosen, counts = select_held_out(read_table(texts, TEXTS), settings.max_characters)
    windows = fit_windows(model.model, settings)
    pointer, batch_tokens = model.pointer, model.settings.batch_tokens
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
        "documents": len(scores),
        "tokens": total.tokens,
        "bytes": total.bytes,
        "nats": total.nats,
        "tokens_left_out": int(scores["tokens_left_out"].sum()),
        "bytes_left_out": int(scores["bytes_left_out"].sum()),
        "perplexity": total.perplexity,
        "bits_per_byte": total.bits_per_byte,
    }
    log.info(
        "%s: perplexity %.2f, %.4f bits per byte, %s tokens of %s documents",
        *(report[key] for key in ("model", "perplexity", "bits_per_byte", "tokens", "documents")),
    )
    return scores, report


def select_held_out(texts: pl.DataFrame, max_characters: int) -> tuple[pl.DataFrame, dict[str, int]]:
    """Select the held-out documents to score.

    Parameters
    ----------
    texts : DataFrame
        Under contract TEXTS.
    max_characters : int
        Limit on the total length. Whole documents are taken in the order of a hash of doc_id until the next
        one would exceed it; at least one.

    Returns
    -------
    DataFrame
        Columns doc_id, text; sorted by the hash; empty if the split is.
    dict of str to int
        Number of documents in the split, and of those left out, by reason.
    """
    split = texts.filter(pl.col("split") == SPLIT).select("doc_id", "text")
    with_text = split.filter(pl.col("text").str.strip_chars() != "")
    ordered = with_text[sorted(range(len(with_text)), key=lambda row: hash_text(with_text["doc_id"][row]))]
    size = pl.col("text").str.len_chars().cum_sum()
    chosen = ordered.filter((size <= max_characters) | (pl.int_range(pl.len()) == 0))
    counts = {
        "documents_in_split": len(split),
        "documents_without_text": len(split) - len(with_text),
        "documents_over_limit": len(with_text) - len(chosen),
    }
    if chosen.is_empty():
        log.info("split %s has no text: perplexity is not measured", SPLIT)
    return chosen, counts


def fit_windows(model: Any, settings: Perplexity) -> Windows:
    """Return window and stride for a model; a shorter context reduces both in proportion."""
    context = find_context_length(model)
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
    """Return the likelihood of each document.

    Parameters
    ----------
    model : transformers causal language model, or list of copies of one model on several devices
        Batches are distributed over the devices; the likelihoods do not depend on their number.
    tokenizer : transformers tokenizer
    texts : DataFrame
        Columns doc_id, text.
    windows : Windows
        From :func:`fit_windows`.
    batch_tokens : int
        Tokens per batch, including padding; halved on out-of-memory of a GPU.
    add_bos : bool, optional
        Whether a BOS token comes first; None: the tokenizer's default.
    name : str
        Name of the model for messages.

    Returns
    -------
    DataFrame
        Under contract PERPLEXITY, in the order of `texts`; documents without a scored token have 0 tokens.

    Raises
    ------
    InputError
        If log-probabilities are not finite.
    """
    doc_ids = texts["doc_id"].to_list()
    documents = [encode_document(tokenizer, text, add_bos) for text in texts["text"]]
    cut = [(row, window) for row, each in enumerate(documents) for window in cut_windows(each, windows)]
    cut.sort(key=lambda item: (-len(item[1].ids), doc_ids[item[0]], item[1].ids))
    parts: list[list[float]] = [[] for _ in documents]
    models = model if isinstance(model, list) else [model]
    with evaluate_models(models):
        for row, log_probability in _score_windows(models, cut, batch_tokens, name):
            _check_finite(log_probability, doc_ids[row], name)
            parts[row] += (-log_probability).tolist()
    return _make_frame(doc_ids, documents, parts)


def _score_windows(
    models: Sequence[Any], windows: Sequence[tuple[int, ScoredSequence]], batch_tokens: int, name: str
) -> Iterator[tuple[int, "NDArray[np.float64]"]]:
    """Yield, for each window, the row of its document and the log-probabilities of its scored tokens."""
    if not windows:
        return
    sample = windows[0][1].ids
    replicas = [open_replica(each, sample[: max(1, len(sample) - 1)], name) for each in models]
    waiting = iter(windows)
    for found in score_sequences(replicas, [window for _, window in windows], batch_tokens, None):
        done = 0
        while done < len(found.log_probability):
            row, window = next(waiting)
            yield row, found.log_probability[done : done + len(window.targets)]
            done += len(window.targets)


def _check_finite(log_probability: "NDArray[np.float64]", doc_id: str, name: str) -> None:
    """Raise `InputError` if a log-probability is not finite."""
    import numpy as np

    if not np.isfinite(log_probability).all():
        raise describe_non_finite(name, f"document {doc_id!r}", "perplexity")


def _make_frame(
    doc_ids: Sequence[str], documents: Sequence[Document], parts: Sequence[Sequence[float]]
) -> pl.DataFrame:
    """Return one row per document; exact sums do not depend on the order of windows."""
    columns: dict[str, tuple[list[Any], Any]] = {
        "doc_id": (list(doc_ids), pl.String),
        "tokens": ([len(part) for part in parts], pl.Int64),
        "bytes": ([each.size for each in documents], pl.Int64),
        "nats": ([math.fsum(part) for part in parts], pl.Float64),
        "tokens_left_out": ([each.start for each in documents], pl.Int64),
        "bytes_left_out": ([each.left_out for each in documents], pl.Int64),
    }
    return pl.DataFrame([pl.Series(name, values, dtype=dtype) for name, (values, dtype) in columns.items()])
