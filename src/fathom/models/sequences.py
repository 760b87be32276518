"""Training text as token sequences of equal length, and the tokenizer that makes them."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from fathom.config.models import Training
from fathom.errors import InputError
from fathom.io.files import hash_text, write_atomically
from fathom.models.tokens import encode_texts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

END_OF_TEXT = "<|endoftext|>"
_DOCUMENTS = 64  # encoded at once
_HINT = "give the domain more categories, a larger corpus, or a larger share to fold adapt-train"


def train_tokenizer(texts: pl.DataFrame, settings: Training, folder: Path | str) -> None:
    """Train a byte-level BPE on a domain's adapt-train texts and save it as a tokenizer folder.

    Parameters
    ----------
    texts : DataFrame
        Under contract TEXTS.
    settings : Training
        Uses `vocabulary` and `context`.
    folder : Path or str
        What `AutoTokenizer` loads afterwards.

    Raises
    ------
    InputError
        If the fold adapt-train is empty, or the vocabulary cannot hold the 256 bytes.
    """
    # one thread, so that the result cannot depend on how the text is shared out; read on first use
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    os.environ["RAYON_NUM_THREADS"] = "1"
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    if settings.vocabulary < 257:
        raise InputError(f"vocabulary = {settings.vocabulary} is too small", "models.train", "at least 257")
    train = _select_fold(texts, "adapt-train", settings.seed)
    if train.is_empty():
        raise InputError("there is no text in fold adapt-train to train a tokenizer on", "texts", _HINT)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=settings.vocabulary,
        special_tokens=[END_OF_TEXT],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(train["text"].to_list(), trainer)
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token=END_OF_TEXT,
        eos_token=END_OF_TEXT,
        unk_token=END_OF_TEXT,
        model_max_length=settings.context,
        clean_up_tokenization_spaces=False,
    )
    with write_atomically(folder) as temporary:
        temporary.mkdir()
        fast.save_pretrained(temporary)


class SequencePacking(NamedTuple):
    """How texts become sequences: tokens in one, seed of the documents' order, a BOS before each document."""

    sequence: int
    seed: int
    add_bos: bool


def pack_sequences(
    texts: pl.DataFrame, fold: str, tokenizer: Any, packing: SequencePacking, most: int | None = None
) -> "NDArray[np.int64]":
    """Cut a fold's documents, each ended by EOS, into sequences of equal length.

    Parameters
    ----------
    texts : DataFrame
        Under contract TEXTS.
    fold : str
        adapt-train or adapt-valid.
    tokenizer : transformers tokenizer
        Needs an EOS token.
    packing : SequencePacking
        The order of documents follows from its seed and their ids.
    most : int, optional
        Sequences that are enough; by default all of the text is used.

    Returns
    -------
    ndarray, shape (n, sequence), dtype int64
        What is left at the end and fills no sequence is dropped.

    Raises
    ------
    InputError
        If the tokenizer has no EOS token.
    """
    import numpy as np

    if tokenizer.eos_token_id is None:
        raise InputError("the tokenizer has no EOS token to end documents", str(tokenizer.name_or_path))
    sequence = packing.sequence
    bos = [tokenizer.bos_token_id] if packing.add_bos else []
    documents = _select_fold(texts, fold, packing.seed)["text"].to_list()
    parts: list[NDArray[np.int64]] = []
    tokens = 0
    for place in range(0, len(documents), _DOCUMENTS):
        if most is not None and tokens >= most * sequence:
            break
        for document in encode_texts(tokenizer, documents[place : place + _DOCUMENTS]):
            parts.append(np.array([*bos, *document, tokenizer.eos_token_id], dtype=np.int64))
            tokens += len(parts[-1])
    rows = tokens // sequence if most is None else min(tokens // sequence, most)
    if not rows:
        return np.empty((0, sequence), dtype=np.int64)
    return np.concatenate(parts)[: rows * sequence].reshape(rows, sequence)


def require_sequences(rows: int, batch: int, what: str) -> None:
    """Raise `InputError` if there are fewer sequences than one batch takes."""
    if rows < batch:
        raise InputError(
            f"too little text: {rows} sequences, and one batch of {what} takes {batch}", "texts", _HINT
        )


def _select_fold(texts: pl.DataFrame, fold: str, seed: int) -> pl.DataFrame:
    """Return a fold's documents that have text, in an order that follows from the seed and their ids."""
    chosen = texts.filter((pl.col("fold") == fold) & (pl.col("text").str.strip_chars() != ""))
    keys = [hash_text(str(seed), doc_id) for doc_id in chosen["doc_id"]]
    return (
        chosen.with_columns(pl.Series("order", keys, dtype=pl.String)).sort("order", "doc_id").drop("order")
    )
