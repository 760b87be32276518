"""Packed training sequences of equal length, and the training of their tokenizer."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from fathom.config.models import Adaptation, Training
from fathom.errors import InputError
from fathom.io.files import hash_text, write_atomically
from fathom.io.names import show_count
from fathom.models.tokens import encode_texts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

END_OF_TEXT = "<|endoftext|>"
_DOCUMENTS = 64  # encoded in one call
_HINT = "give the domain more categories, a larger corpus, or a larger share to split adapt-train"


def train_tokenizer(texts: pl.DataFrame, settings: Training, folder: Path | str) -> None:
    """Train a byte-level BPE on the adapt-train texts and save it to a folder that `AutoTokenizer` loads.

    Raise `InputError` if there are no such texts, or the vocabulary is smaller than 257 entries.
    """
    # one thread: the result cannot depend on scheduling; the library reads both variables on first use
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    os.environ["RAYON_NUM_THREADS"] = "1"
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    if settings.vocabulary < 257:
        raise InputError(f"vocabulary = {settings.vocabulary} is too small", "models.train", "at least 257")
    train = _select_split(texts, "adapt-train", settings.seed)
    if train.is_empty():
        raise InputError("split adapt-train has no text to train a tokenizer on", "texts", _HINT)
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
    """How documents are packed: tokens of a sequence, seed of the documents' order, a BOS token or not."""

    length: int
    seed: int
    add_bos: bool


def pack_sequences(
    texts: pl.DataFrame,
    split: str,
    tokenizer: Any,
    packing: SequencePacking,
    max_sequences: int | None = None,
) -> "NDArray[np.int64]":
    """Concatenate a split's documents, each ended by EOS, and cut them into sequences of equal length.

    The packing's seed and the document ids determine the order of documents. An incomplete last sequence is
    dropped. Without `max_sequences` all text is used.

    Returns
    -------
    ndarray of shape (n_sequences, length), int64

    Raises
    ------
    InputError
        If the tokenizer has no EOS token.
    """
    import numpy as np

    if tokenizer.eos_token_id is None:
        raise InputError("the tokenizer has no EOS token to end documents", str(tokenizer.name_or_path))
    length = packing.length
    bos = [tokenizer.bos_token_id] if packing.add_bos else []
    documents = _select_split(texts, split, packing.seed)["text"].to_list()
    parts: list[NDArray[np.int64]] = []
    tokens = 0
    for start in range(0, len(documents), _DOCUMENTS):
        if max_sequences is not None and tokens >= max_sequences * length:
            break
        for document in encode_texts(tokenizer, documents[start : start + _DOCUMENTS]):
            parts.append(np.array([*bos, *document, tokenizer.eos_token_id], dtype=np.int64))
            tokens += len(parts[-1])
    count = tokens // length if max_sequences is None else min(tokens // length, max_sequences)
    if not count:
        return np.empty((0, length), dtype=np.int64)
    return np.concatenate(parts)[: count * length].reshape(count, length)


def pack_splits(
    texts: pl.DataFrame, tokenizer: Any, packing: SequencePacking, batch: int, max_valid: int
) -> tuple["NDArray[np.int64]", "NDArray[np.int64]"]:
    """Pack the splits adapt-train and adapt-valid, each of shape (n_sequences, length), int64.

    Raise `InputError` if a split has too little text, adapt-train for `batch` sequences, or there is no EOS
    token.
    """
    train = pack_sequences(texts, "adapt-train", tokenizer, packing)
    valid = pack_sequences(texts, "adapt-valid", tokenizer, packing, max_valid)
    for split, found, least in (("adapt-train", train, batch), ("adapt-valid", valid, 1)):
        if len(found) < least:
            has = show_count(len(found), "sequence")
            what = f"too little text: split {split} has {has}, one batch needs {least}"
            raise InputError(what, "texts", _HINT)
    return train, valid


def order_sequences(count: int, settings: Training | Adaptation) -> "NDArray[np.int64]":
    """Return the sequences of each step, of shape (n_steps, n_sequences of a step), int64.

    Each pass over them has its own random order.
    """
    import numpy as np

    random = np.random.default_rng(settings.seed)
    needed = settings.steps * settings.batch
    passes = [random.permutation(count) for _ in range(-(-needed // count))]
    return np.concatenate(passes)[:needed].reshape(settings.steps, settings.batch)


def _select_split(texts: pl.DataFrame, split: str, seed: int) -> pl.DataFrame:
    """Return the non-empty documents of a split, in an order determined by the seed and their ids."""
    chosen = texts.filter((pl.col("split") == split) & (pl.col("text").str.strip_chars() != ""))
    keys = [hash_text(str(seed), doc_id) for doc_id in chosen["doc_id"]]
    return (
        chosen.with_columns(pl.Series("order", keys, dtype=pl.String)).sort("order", "doc_id").drop("order")
    )
