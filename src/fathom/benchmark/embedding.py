"""Sentence embeddings that depend on the sentence alone [RawCorpora, Secs. 2.2, 2.3].

A sentence's vector is the same to the last bit whatever else is in its batch: batches have fixed shapes, so
that each kernel always sees the same sizes.
"""

from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from fathom.benchmark.embedding_models import load_embedding_model
from fathom.config.benchmark import Embedding
from fathom.numerics.matrix_products import prepack_layer

_STEP = 8
"""Lengths in tokens are rounded up to a multiple of this."""
_TOKENIZED_AT_ONCE = 10_000

Vectors = npt.NDArray[np.float32]
ExactVectors = npt.NDArray[np.float64]


class SentenceEncoder:
    """A sentence-transformers model on one core.

    Parameters
    ----------
    settings : Embedding
        Model and batch size.

    Raises
    ------
    InputError
        If the model does not exist, or has no weights in safetensors.
    """

    def __init__(self, settings: Embedding) -> None:
        self._settings = settings
        self._model = load_embedding_model(settings.model)

    def encode(self, sentences: Sequence[str], progress: Any = None) -> Vectors:
        """Return the unit vectors of sentences.

        Parameters
        ----------
        sentences : sequence of str
            Equal sentences get equal vectors.
        progress : callable, optional
            Wraps the iterator of batches, as :func:`fathom.running.program.show_progress` does.

        Returns
        -------
        array of float32 of shape (n_sentences, dimension)
        """
        tokens = self._tokenize(sentences)
        vectors = np.empty((len(sentences), self.dimension), dtype=np.float32)
        batches: Iterable[tuple[npt.NDArray[np.int64], int, int]] = self._make_batches(tokens)
        for members, rows, length in progress(batches) if progress else batches:
            found = self._run([tokens[member] for member in members], rows, length)
            vectors[members] = _normalise(found[: len(members)])
        return vectors

    def encode_exactly(self, sentences: Sequence[str]) -> ExactVectors:
        """Return the unit vectors of sentences, each computed alone in double precision.

        Parameters
        ----------
        sentences : sequence of str

        Returns
        -------
        array of float64 of shape (n_sentences, dimension)
        """
        tokens = self._tokenize(sentences)
        vectors = np.empty((len(sentences), self.dimension), dtype=np.float64)
        for row, ids in enumerate(tokens):
            found = self._forward(self._exact_network, ids[None], np.ones_like(ids)[None])
            vectors[row] = _normalise(found)[0]
        return vectors

    @cached_property
    def dimension(self) -> int:
        """Number of values in a vector."""
        ids = self._tokenize([""])[0][None]
        return int(self._forward(self._model.network, ids, np.ones_like(ids)).shape[1])

    @cached_property
    def _fast_network(self) -> Any:
        return _prepack_layers(deepcopy(self._model.network))

    @cached_property
    def _exact_network(self) -> Any:
        return deepcopy(self._model.network).double()

    def _tokenize(self, sentences: Sequence[str]) -> list[npt.NDArray[np.int32]]:
        """Return the token ids of each sentence, truncated to the model's maximum length."""
        found: list[npt.NDArray[np.int32]] = []
        for start in range(0, len(sentences), _TOKENIZED_AT_ONCE):
            texts = [text.strip() for text in sentences[start : start + _TOKENIZED_AT_ONCE]]
            texts = [text.lower() for text in texts] if self._model.lower_case else texts
            encoded = self._model.tokenizer(
                texts,
                truncation=True,
                max_length=self._model.max_tokens,
                return_attention_mask=False,
                verbose=False,
            )
            found.extend(np.asarray(ids, dtype=np.int32) for ids in encoded["input_ids"])
        return found

    def _make_batches(
        self, tokens: list[npt.NDArray[np.int32]]
    ) -> Iterator[tuple[npt.NDArray[np.int64], int, int]]:
        """Yield the members, the number of rows and the length of each batch, the longest first."""
        lengths = np.array([len(ids) for ids in tokens], dtype=np.int64)
        buckets = np.minimum(np.maximum(-(-lengths // _STEP), 1) * _STEP, self._model.max_tokens)
        for length in sorted(set(buckets.tolist()), reverse=True):
            members = np.flatnonzero(buckets == length)
            rows = max(1, self._settings.batch_tokens // length)
            for start in range(0, len(members), rows):
                yield members[start : start + rows], rows, length

    def _run(self, batch: list[npt.NDArray[np.int32]], rows: int, length: int) -> npt.NDArray[Any]:
        """Run the model on a batch of shape (rows, length); what `batch` does not fill is padding."""
        ids = np.full((rows, length), self._model.tokenizer.pad_token_id or 0, dtype=np.int64)
        mask = np.zeros((rows, length), dtype=np.int64)
        mask[:, 0] = 1  # a row without tokens would give NaN
        for row, tokens in enumerate(batch):
            ids[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1
        return self._forward(self._fast_network, ids, mask)

    def _forward(self, network: Any, ids: npt.NDArray[Any], mask: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return sentence vectors for token ids and mask, both of shape (n_sentences, n_tokens)."""
        import torch

        inputs = {
            "input_ids": torch.from_numpy(ids.astype(np.int64)),
            "attention_mask": torch.from_numpy(mask.astype(np.int64)),
        }
        with torch.inference_mode():
            vectors: npt.NDArray[Any] = self._model.embed(network, inputs).numpy()
        return vectors


def _prepack_layers(network: Any) -> Any:
    """Prepack the weights of a network's linear layers; they stay float32."""
    for layer in network.modules():
        prepack_layer(layer)
    return network


def _normalise(vectors: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return rows scaled to length one, computed in double precision."""
    exact = vectors.astype(np.float64)
    unit: npt.NDArray[Any] = exact / np.maximum(np.sqrt(np.sum(exact * exact, axis=1, keepdims=True)), 1e-12)
    return unit


def encode_in_processes(sentences: Sequence[str], settings: Embedding, workers: int) -> Vectors:
    """Encode in several processes; the vectors are those of one process.

    Parameters
    ----------
    sentences : sequence of str
    settings : Embedding
        Model and batch size.
    workers : int
        Number of processes.

    Returns
    -------
    array of float32 of shape (n_sentences, dimension)
    """
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    # by length, so that every process gets equal work and full batches
    order = sorted(range(len(sentences)), key=lambda row: len(sentences[row]))
    shares = [order[start::workers] for start in range(workers)]
    tasks = [[sentences[row] for row in share] for share in shares]
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        found = list(pool.map(_encode_share, tasks, [settings] * workers))
    vectors = np.empty((len(sentences), found[0].shape[1]), dtype=np.float32)
    for share, part in zip(shares, found, strict=True):
        vectors[share] = part
    return vectors


def _encode_share(sentences: list[str], settings: Embedding) -> Vectors:
    """Encode the share of one process."""
    return SentenceEncoder(settings).encode(sentences)
