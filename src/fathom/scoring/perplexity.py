"""Perplexity and bits per byte of a model on held-out documents, by strided windows.

Source: [BeyondBenchmarks, Sec. 2.11].
"""

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from fathom.config.scoring import Perplexity
from fathom.errors import InputError
from fathom.io.files import hash_text
from fathom.models.loading import find_context_length
from fathom.models.tokens import Document, encode_document
from fathom.numerics.matrix_products import prepack_models
from fathom.running.program import log
from fathom.scoring.batches import Replica, score_sequences
from fathom.scoring.logits import choose_projection
from fathom.scoring.scored_sequences import ScoredSequence

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FOLD = "adapt-test"
"""Documents that neither a benchmark is made from nor a model is trained on."""


class Windows(NamedTuple):
    """Tokens that a model is given at once, BOS token counted, and tokens scored in each further window."""

    window: int
    stride: int


class Likelihood(NamedTuple):
    """What documents add up to."""

    tokens: int
    bytes: int
    nats: float

    @property
    def perplexity(self) -> float:
        """Perplexity over tokens; NaN without a token, infinite where it is larger than any number."""
        return _exponentiate(self.nats / self.tokens) if self.tokens else math.nan

    @property
    def bits_per_byte(self) -> float:
        """Bits for each UTF-8 byte; NaN without a byte."""
        return self.nats / math.log(2) / self.bytes if self.bytes else math.nan


def _exponentiate(value: float) -> float:
    """Return e to the power of `value`; infinity where that is no number."""
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf


def select_held_out(texts: pl.DataFrame, max_characters: int) -> tuple[pl.DataFrame, dict[str, int]]:
    """Choose the documents that are scored.

    Parameters
    ----------
    texts : DataFrame
        Under contract TEXTS.
    max_characters : int
        Whole documents in the order of a hash of doc_id, up to the first that would go over it; at least one.

    Returns
    -------
    DataFrame
        Columns doc_id, text, in that order; no row where the fold is empty.
    dict of str to int
        Documents of the fold, and those left out, by reason.
    """
    fold = texts.filter(pl.col("fold") == FOLD).select("doc_id", "text")
    full = fold.filter(pl.col("text").str.strip_chars() != "")
    ordered = full[sorted(range(len(full)), key=lambda row: hash_text(full["doc_id"][row]))]
    size = pl.col("text").str.len_chars().cum_sum()
    chosen = ordered.filter((size <= max_characters) | (pl.int_range(pl.len()) == 0))
    counts = {
        "documents_in_fold": len(fold),
        "documents_without_text": len(fold) - len(full),
        "documents_over_limit": len(full) - len(chosen),
    }
    if chosen.is_empty():
        log.info("there is no text in fold %s: no perplexity", FOLD)
    return chosen, counts


def fit_windows(model: Any, settings: Perplexity) -> Windows:
    """Return window and stride for a model; a context shorter than the window shortens both in proportion."""
    context = find_context_length(model)
    window = settings.window if context is None else min(settings.window, context)
    return Windows(window, max(1, settings.stride * window // settings.window))


def cut_windows(document: Document, windows: Windows) -> Iterator[ScoredSequence]:
    """Cut a document into windows, so that each token from `document.start` on is scored in exactly one.

    The first window scores all that fits, each further one `stride` tokens (the last one, what is left) with
    as many tokens before them as the window holds. A BOS token comes first in every window.
    """
    before = () if document.bos is None else (document.bos,)
    room = windows.window + 1 - len(before)  # the last token of a window is predicted, never put in
    done = document.start
    while done < len(document.ids):
        first = done == document.start and done < room
        end = min(len(document.ids), room if first else done + windows.stride)
        left = max(0, end - room)
        ids = (*before, *document.ids[left : end - 1])
        first_place = len(before) + done - left - 1
        yield ScoredSequence(ids, list(enumerate(document.ids[done:end], start=first_place)))
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
    model, tokenizer : transformers causal language model and its tokenizer
    texts : DataFrame
        Columns doc_id, text.
    windows : Windows
        From :func:`fit_windows`.
    batch_tokens : int
        Tokens in a batch, padding counted; halved, and halved again, while a GPU's memory runs out.
    add_bos : bool, optional
        Whether a BOS token comes first; None asks the tokenizer.
    name : str
        Name of the model for messages.

    Returns
    -------
    DataFrame
        Under contract PERPLEXITY, in the order of `texts`; a document of which nothing can be predicted has
        0 tokens.

    Raises
    ------
    InputError
        If log-probabilities are no finite numbers.
    """
    import torch

    doc_ids = texts["doc_id"].to_list()
    documents = [encode_document(tokenizer, text, add_bos) for text in texts["text"]]
    owned = [(row, window) for row, found in enumerate(documents) for window in cut_windows(found, windows)]
    owned.sort(key=lambda item: (-len(item[1].ids), doc_ids[item[0]], item[1].ids))
    parts: list[list[float]] = [[] for _ in documents]
    training = model.training
    model.eval()
    with torch.inference_mode(), prepack_models([model]):
        for row, logs in _score_windows(model, owned, batch_tokens, name):
            _check_finite(logs, doc_ids[row], name)
            parts[row] += (-logs).tolist()
    model.train(training)
    return _make_frame(doc_ids, documents, parts)


def _score_windows(
    model: Any, owned: Sequence[tuple[int, ScoredSequence]], batch_tokens: int, name: str
) -> Iterator[tuple[int, "NDArray[np.float64]"]]:
    """Yield, for each window, whose it is and the log-probabilities of the tokens scored in it."""
    if not owned:
        return
    sample = owned[0][1].ids
    replica = Replica(choose_projection(model, sample[: max(1, len(sample) - 1)], name), model.device)
    waiting = iter(owned)
    for found in score_sequences([replica], [window for _, window in owned], batch_tokens, None):
        done = 0
        while done < len(found.log_probability):
            row, window = next(waiting)
            yield row, found.log_probability[done : done + len(window.targets)]
            done += len(window.targets)


def _check_finite(log_probability: "NDArray[np.float64]", doc_id: str, name: str) -> None:
    """Raise `InputError` if a log-probability is no finite number."""
    import numpy as np

    if not np.isfinite(log_probability).all():
        raise InputError(
            f"{name} gives logits that are no finite numbers on document {doc_id!r}",
            "perplexity",
            "a corrupt checkpoint, or float16 overflows: use float32 or bfloat16",
        )


def _make_frame(
    doc_ids: Sequence[str], documents: Sequence[Document], parts: Sequence[Sequence[float]]
) -> pl.DataFrame:
    """Return the rows; sums do not depend on the order in which windows were scored."""
    columns: dict[str, tuple[list[Any], Any]] = {
        "doc_id": (list(doc_ids), pl.String),
        "tokens": ([len(part) for part in parts], pl.Int64),
        "bytes": ([found.size for found in documents], pl.Int64),
        "nats": ([math.fsum(part) for part in parts], pl.Float64),
        "tokens_left_out": ([found.start for found in documents], pl.Int64),
        "bytes_left_out": ([found.left_out for found in documents], pl.Int64),
    }
    return pl.DataFrame([pl.Series(name, values, dtype=dtype) for name, (values, dtype) in columns.items()])


def sum_likelihoods(scores: pl.DataFrame) -> Likelihood:
    """Return the sums over documents, each token and each byte with the same weight."""
    return Likelihood(int(scores["tokens"].sum()), int(scores["bytes"].sum()), math.fsum(scores["nats"]))
