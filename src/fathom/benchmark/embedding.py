"""Sentence embeddings that depend on the sentence alone [RawCorpora, Secs. 2.2, 2.3].

On a processor a sentence's vector is the same to the last bit whatever else is in its batch: batches have
fixed shapes, so that each kernel always sees the same sizes. A BERT with mean pooling, the usual model,
runs there without padding: linear layers treat each token alone, and attention runs over sentences of one
length at a time. Other models, and GPUs, get padded batches. Rounding on a GPU differs but decides nothing:
close cosines are computed again.
"""

from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from fathom.benchmark.embedding_models import load_embedding_model
from fathom.config.benchmark import Embedding
from fathom.errors import InputError
from fathom.jobs.bounded_calls import call_tokenizer
from fathom.jobs.devices import pick_device
from fathom.numerics.matrix_products import has_bfloat16_units, multiplies_bfloat16, prepack_layer
from fathom.numerics.precision import use_full_precision

if TYPE_CHECKING:
    from torch import Tensor


Precision = Literal["float32", "bfloat16"]


class Computation(NamedTuple):
    """How sentences are embedded."""

    device: str = "cpu"  # `cpu`, `cuda` or `cuda:N`
    precision: Precision = "float32"  # on a GPU always float32


PLAIN = Computation()
"""On the processor in float32."""


def choose_computation(settings: Embedding) -> Computation:
    """Return the device and precision to use on this machine.

    Raise `InputError` if there is no such device, or the GPU's driver is too old. `settings`: `auto` means
    a GPU if there is one, and bfloat16 on a processor with units for it. A processor without bfloat16
    always uses float32.
    """
    device = pick_device(settings.device, "embedding.device")
    if device != "cpu" or settings.precision == "float32":
        return Computation(device)
    wanted = settings.precision == "bfloat16" or has_bfloat16_units()
    return Computation(device, "bfloat16" if wanted and multiplies_bfloat16() else "float32")


Tokens = npt.NDArray[np.int32]


class Run(NamedTuple):
    """Consecutive sentences of one length."""

    start: int  # row of the first token
    sentences: int
    length: int


class Pack(NamedTuple):
    """Sentences to compute together.

    `ids`, `positions` (arrays of int64 of shape (n_rows,)): token ids, and the position of each token in its
    sentence. Rows after the last sentence are zero.
    """

    members: npt.NDArray[np.int64]  # int64 of shape (n_sentences,): which sentences, the longest first
    ids: npt.NDArray[np.int64]
    positions: npt.NDArray[np.int64]
    runs: list[Run]  # places of the sentences, in the order of `members`


def pack_sentences(tokens: list[Tokens], rows: int) -> Iterator[Pack]:
    """Yield packs of sentences, the longest first.

    Every pack has the same number of rows, so that a sentence's vector does not depend on the others. A
    longer sentence gets a pack of its own length.
    """
    lengths = np.array([len(ids) for ids in tokens], dtype=np.int64)
    order = np.argsort(-lengths, kind="stable")
    first = 0
    while first < len(order):
        ends = np.cumsum(lengths[order[first : first + rows]])
        count = max(1, int(np.searchsorted(ends, rows, side="right")))
        members = order[first : first + count]
        yield _make_pack(members, [tokens[member] for member in members], max(rows, int(ends[0])))
        first += count


def _make_pack(members: npt.NDArray[np.int64], tokens: list[Tokens], rows: int) -> Pack:
    ids, positions = np.zeros(rows, dtype=np.int64), np.zeros(rows, dtype=np.int64)
    lengths = np.array([len(each) for each in tokens])
    used = int(lengths.sum())
    ids[:used] = np.concatenate(tokens)
    positions[:used] = np.concatenate([np.arange(length) for length in lengths])
    runs, start = [], 0
    for length in sorted(set(lengths.tolist()), reverse=True):
        runs.append(Run(start, int((lengths == length).sum()), length))
        start += runs[-1].sentences * length
    return Pack(members, ids, positions, runs)


def embed_pack(network: Any, pack: Pack) -> "Tensor":
    """Return the mean hidden state of each sentence's tokens.

    Returns
    -------
    tensor of shape (n_sentences, dimension)
        In the order of the pack's members, of the network's type.
    """
    import torch

    hidden = network.embeddings(
        input_ids=torch.from_numpy(pack.ids)[None], position_ids=torch.from_numpy(pack.positions)[None]
    )[0]
    for layer in network.encoder.layer:
        attended = layer.attention.output(_attend(layer.attention.self, hidden, pack.runs), hidden)
        hidden = layer.output(layer.intermediate(attended), attended)
    return torch.cat([_divide(hidden, run).mean(dim=1) for run in pack.runs])


def _attend(attention: Any, hidden: "Tensor", runs: list[Run]) -> "Tensor":
    """Return the output of attention for each token, of shape (n_rows, dimension)."""
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    parts = [part(hidden) for part in (attention.query, attention.key, attention.value)]
    attended = torch.zeros_like(hidden)  # rows after the last sentence stay finite
    # the same kernel whatever the machine's settings
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        for run in runs:
            query, key, value = (
                _divide(part, run).view(*run[1:], attention.num_attention_heads, -1).transpose(1, 2)
                for part in parts
            )
            found = torch.nn.functional.scaled_dot_product_attention(query, key, value)
            _divide(attended, run).copy_(found.transpose(1, 2).flatten(2))
    return attended


def _divide(rows: "Tensor", run: Run) -> "Tensor":
    some = rows[run.start : run.start + run.sentences * run.length]
    return some.view(run.sentences, run.length, -1)


_STEP = 8
"""Lengths in tokens are rounded up to a multiple of this."""
_TOKENIZED_AT_ONCE = 10_000
_GPU_BATCH_TOKENS = 32_768
"""Tokens in a batch on a GPU, where small batches would leave most of it idle."""

Vectors = npt.NDArray[np.float32]
ExactVectors = npt.NDArray[np.float64]


class SentenceEncoder:
    """A sentence-transformers model on one core, or on one GPU.

    Raise `InputError` if the model does not exist, or has no weights in safetensors. `computation`: device
    and precision of :meth:`encode`; float32 on the processor if not given.
    """

    def __init__(self, settings: Embedding, computation: Computation = PLAIN) -> None:
        self._settings = settings
        self._computation = computation
        self._on_gpu = computation.device != "cpu"
        self._model = load_embedding_model(settings.model, settings.revision)
        self._packs = self._model.plain_bert and not self._on_gpu

    def encode(self, sentences: Sequence[str], progress: Any = None) -> Vectors:
        """Return the unit vectors of sentences.

        Raise `InputError` if the memory of a GPU cannot hold a single sentence. `progress`: wraps the
        iterator of batches, as :func:`fathom.jobs.program.show_progress` does.

        Returns
        -------
        array of float32 of shape (n_sentences, dimension)
        """
        tokens = self._tokenize(sentences)
        vectors = np.empty((len(sentences), self.dimension), dtype=np.float32)
        batches: Iterable[Any] = (
            pack_sentences(tokens, self._settings.batch_tokens) if self._packs else self._make_batches(tokens)
        )
        for batch in progress(batches) if progress else batches:
            if self._packs:
                members, found = batch.members, self._run_pack(batch)
            else:
                members, rows, length = batch
                found = self._run([tokens[member] for member in members], rows, length)
            vectors[members] = _normalise(found[: len(members)])
        return vectors

    def encode_exactly(self, sentences: Sequence[str]) -> ExactVectors:
        """Return the unit vectors of sentences, each computed alone in double precision.

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
        import torch

        network = deepcopy(self._model.network)
        if self._on_gpu:
            return network.to(self._computation.device)
        dtype = self._computation.precision
        return _prepack_layers(network.to(getattr(torch, dtype)), dtype)

    @cached_property
    def _exact_network(self) -> Any:
        return deepcopy(self._model.network).double()

    def _tokenize(self, sentences: Sequence[str]) -> list[npt.NDArray[np.int32]]:
        found: list[npt.NDArray[np.int32]] = []
        for start in range(0, len(sentences), _TOKENIZED_AT_ONCE):
            texts = [text.strip() for text in sentences[start : start + _TOKENIZED_AT_ONCE]]
            texts = [text.lower() for text in texts] if self._model.lower_case else texts
            encoded = call_tokenizer(
                self._model.tokenizer,
                texts,
                str(self._model.tokenizer.name_or_path),
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
            most = max(_GPU_BATCH_TOKENS * self._on_gpu, self._settings.batch_tokens)
            rows = max(1, most // length)
            if self._on_gpu:
                rows = min(rows, len(members))  # no need to fill up the last batch of a length
            for start in range(0, len(members), rows):
                yield members[start : start + rows], rows, length

    def _run_pack(self, pack: Pack) -> npt.NDArray[Any]:
        import torch

        with torch.inference_mode(), use_full_precision():
            found: npt.NDArray[Any] = embed_pack(self._fast_network, pack).float().numpy()
        return found

    def _run(self, batch: list[npt.NDArray[np.int32]], rows: int, length: int) -> npt.NDArray[Any]:
        """Run the model on `batch`, padded to shape (rows, length)."""
        ids = np.full((rows, length), self._model.tokenizer.pad_token_id or 0, dtype=np.int64)
        mask = np.zeros((rows, length), dtype=np.int64)
        mask[:, 0] = 1  # a row without tokens would give NaN
        for row, tokens in enumerate(batch):
            ids[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1
        return self._forward_in_memory(ids, mask)

    def _forward_in_memory(self, ids: npt.NDArray[Any], mask: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return sentence vectors; halve the batch if it does not fit into the GPU's memory."""
        import torch

        try:
            return self._forward(self._fast_network, ids, mask)
        except torch.cuda.OutOfMemoryError as error:
            if len(ids) == 1:
                raise InputError(
                    "one sentence does not fit into the GPU's memory",
                    f"embedding.device = {self._computation.device}",
                    "run fewer jobs on this GPU, or set embedding.device to cpu",
                ) from error
        torch.cuda.empty_cache()
        middle = len(ids) // 2
        halves = [
            self._forward_in_memory(ids[part], mask[part]) for part in (slice(middle), slice(middle, None))
        ]
        return np.concatenate(halves)

    def _forward(self, network: Any, ids: npt.NDArray[Any], mask: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return sentence vectors for token ids and mask, both of shape (n_sentences, n_tokens)."""
        import torch

        with torch.inference_mode(), use_full_precision():
            found = self._embed(network, torch.from_numpy(ids), torch.from_numpy(mask)).cpu()
        exact = found.dtype == torch.float64
        vectors: npt.NDArray[Any] = (found if exact else found.float()).numpy()
        return vectors

    def _embed(self, network: Any, ids: Any, mask: Any) -> Any:
        device = next(network.parameters()).device
        return self._model.embed(
            network, {"input_ids": ids.long().to(device), "attention_mask": mask.long().to(device)}
        )


def _prepack_layers(network: Any, dtype: str) -> Any:
    """Prepack the weights of a network's linear layers, which keep their common type."""
    from torch.nn import Identity
    from transformers.activations import GELUActivation
    from transformers.models.bert.modeling_bert import BertIntermediate

    for block in network.modules():  # GELU in the same pass as the product before it
        exact = isinstance(block, BertIntermediate) and isinstance(block.intermediate_act_fn, GELUActivation)
        if exact and prepack_layer(block.dense, dtype=dtype, gelu=True):
            block.intermediate_act_fn = Identity()
    for layer in network.modules():
        prepack_layer(layer, dtype=dtype)
    return network


def _normalise(vectors: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return rows scaled to length one, computed in double precision."""
    exact = vectors.astype(np.float64)
    unit: npt.NDArray[Any] = exact / np.maximum(np.sqrt(np.sum(exact * exact, axis=1, keepdims=True)), 1e-12)
    return unit


def encode_in_processes(
    sentences: Sequence[str], settings: Embedding, workers: int, computation: Computation = PLAIN
) -> Vectors:
    """Encode in several processes; the vectors are the same as with one."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    # by length, so that every process gets equal work and full batches
    order = sorted(range(len(sentences)), key=lambda row: len(sentences[row]))
    shares = [order[start::workers] for start in range(workers)]
    tasks = [[sentences[row] for row in share] for share in shares]
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        found = list(pool.map(_encode_share, tasks, [settings] * workers, [computation] * workers))
    vectors = np.empty((len(sentences), found[0].shape[1]), dtype=np.float32)
    for share, part in zip(shares, found, strict=True):
        vectors[share] = part
    return vectors


def _encode_share(sentences: list[str], settings: Embedding, computation: Computation) -> Vectors:
    return SentenceEncoder(settings, computation).encode(sentences)
