"""Memory of a model in each step, calculated from its shape before anything is loaded.

Each term is in bytes and has its reason beside it. `perf/studies/model_memory.py` compares the sums with
what the same steps allocate on fake tensors: within 20 %. :func:`request_card` adds the needs of the
allocator and the GPU's libraries.
"""

import math
from collections.abc import Mapping
from typing import Literal, NamedTuple

from fathom.models.shapes import Shape

Dtype = Literal["float32", "bfloat16", "float16"]
BYTES: Mapping[str, int] = {"float32": 4, "bfloat16": 2, "float16": 2}
GB = 1_000_000_000

# bytes that a block keeps for its backward pass, for each token: of the hidden state's width, of the keys',
# and of the MLP's inner width. Counted on fake tensors, by the design of the block, as a GPU's autocast casts
_KEPT: Mapping[tuple[str, str], tuple[float, float, float]] = {
    ("llama", "autocast"): (38, 4, 8.2),
    ("llama", "float32"): (45, 4, 16.4),
    ("llama", "adapter"): (68, 2, 14.7),
    ("llama", "adapter float32"): (77, 2, 20.8),
    ("llama", "adapter autocast"): (56, 2, 12.7),
    ("gpt2", "autocast"): (22, 0, 15.7),
    ("gpt2", "float32"): (41, 0, 18),
    ("gpt2", "adapter"): (39, 0, 15.4),
    ("gpt2", "adapter float32"): (54, 0, 18.7),
    ("gpt2", "adapter autocast"): (34, 0, 19.5),
    ("neox", "autocast"): (22, 0, 4.1),
    ("neox", "float32"): (41, 0, 8.2),
    ("neox", "adapter"): (39, 0, 10.4),
    ("neox", "adapter float32"): (54, 0, 12.5),
    ("neox", "adapter autocast"): (34, 0, 8.4),
}
_LOSS = 12  # bytes for each logit: the log-probabilities, their gradient and the logits' gradient, in float32
_LOGIT_BYTES = 1 << 27  # float32 logits that scoring holds at once on a GPU, or those of 128 rows
_LOGIT_ROWS = 128
_ADAPTER_RANK = 64  # of an adapter that is not fetched yet
_PREPACKED = 1 << 30  # copies of weights in oneDNN's layout, at most
CONTEXT = 1 * GB
"""Bytes of CUDA's context and of its libraries, outside of what PyTorch allocates."""
_SPARE = 1.08  # fragmentation by an allocator
_LIBRARIES = 0.6 * GB  # Python, PyTorch and transformers in host memory, measured beside a model of 18 MB
SHARD = 5 * GB  # a file of weights on its way through host memory to a GPU


class Memory(NamedTuple):
    """Bytes by purpose: shared among several GPUs (`divided`), or needed by each (`whole`)."""

    divided: Mapping[str, float]
    whole: Mapping[str, float]

    @property
    def total(self) -> float:
        """All bytes on one device."""
        return sum(self.divided.values()) + sum(self.whole.values())


class Training(NamedTuple):
    """How a model is trained, with micro-batches of so many `tokens`, padding included.

    `autocast`: matrix products are in bfloat16 although the weights are not. `checkpointing`: blocks keep
    only their inputs and are run again in the backward pass. `rank`: of an adapter; 0: all weights are
    trained.
    """

    tokens: int
    dtype: Dtype = "float32"
    autocast: bool = False
    checkpointing: bool = False
    rank: int = 0


def measure_scoring(shape: Shape, dtype: Dtype, tokens: int, longest: int, device: str = "cuda") -> Memory:
    """Return the memory of ranks, perplexity and attribute rate.

    Parameters
    ----------
    tokens : int
        Tokens of a batch, padding included.
    longest : int
        Tokens of the longest sequence: a batch has at least one.
    """
    size = BYTES[dtype]
    tokens = max(tokens, longest)
    # ranks need logits in float32, so the output layer is copied unless it is in float32
    copy = {"output layer in float32": 4.0 * shape.embedding if size < 4 else 0.0}
    rows = max(4 * _LOGIT_ROWS * shape.vocabulary, _LOGIT_BYTES if device == "cuda" else 0)
    # GPT-2's GELU keeps one inner state more
    wide, inner = (6.0, 4.0) if shape.design == "gpt2" else (4.0, 3.0)
    phases = (
        # before scoring, all logits of one sequence are compared with the output layer's
        {"logits of a whole sequence": float(longest * shape.vocabulary * size)},
        # a block at its widest: its input, the normed input, and the MLP's inner states
        {**copy, "widest point of a block": tokens * (wide * shape.width + inner * shape.inner) * size},
        # a slice of logits, and as much again while they are compared or exponentiated
        {**copy, "logits": 2.0 * rows},
    )
    divided = {"weights": float(shape.parameters * size)}
    whole = _find_largest(*phases)
    if device == "cpu" and size == 4:
        linear = 4.0 * (shape.layers * shape.block + shape.embedding)
        whole["prepacked copies"] = min(_PREPACKED, linear)
    return Memory(divided, whole)


def measure_layers(shape: Shape, dtype: Dtype, tokens: int, longest: int, device: str = "cuda") -> Memory:
    """Return the memory of targets and rates by layer; parameters as of :func:`measure_scoring`."""
    divided, whole = measure_scoring(shape, dtype, tokens, longest, device)
    more = {
        # the states of all layers at the positions of a batch
        "states of all layers": float(shape.layers + 1) * max(tokens, longest) * shape.width * BYTES[dtype],
        # one matrix for each layer
        "tuned lens": 4.0 * shape.layers * shape.width**2,
    }
    return Memory(divided, {**whole, **more})


def measure_lens(shape: Shape, dtype: Dtype, tokens: int, positions: int, device: str = "cuda") -> Memory:
    """Return the memory of training a tuned lens with so many tokens and positions in a step."""
    divided, whole = measure_scoring(shape, dtype, tokens, tokens, device)
    matrices = 4.0 * shape.layers * shape.width**2
    more = {
        "states of all layers": float(shape.layers + 1) * positions * shape.width * BYTES[dtype],
        # the matrices, their gradients, two moments, and the gradient of one layer in the shape of all
        "matrices and optimiser": 5 * matrices,
        # of a layer and of the last one: logits, log-probabilities and their gradients
        "loss": (4.0 + _LOSS + 4) * positions * shape.vocabulary,
    }
    return Memory(divided, {**whole, **more, "prepacked copies": 0.0})


def measure_training(shape: Shape, how: Training) -> Memory:
    """Return the memory of a training step: at the loss, or at the last gradients."""
    size = BYTES[how.dtype]
    weights = float(shape.parameters * size)
    trained = count_adapter(shape, how.rank) if how.rank else shape.parameters
    # AdamW's two moments have the type of their weights, float32
    divided = {"weights": weights, "moments": 8.0 * trained}
    if how.rank:
        divided["adapter"] = 8.0 * trained  # its weights and their gradients, in float32
    kept = shape.layers * how.tokens * _count_kept(shape, how)
    copies = 2.0 * (shape.layers * shape.block + shape.embedding)
    block = how.tokens * _count_kept(shape, how._replace(checkpointing=False))
    at_loss = {"kept for the backward pass": kept, "loss": float(_LOSS) * how.tokens * shape.vocabulary}
    if how.autocast and not how.rank:
        # autograd keeps bfloat16 copies of weights, of only one block with checkpointing
        at_loss["copies in bfloat16"] = 2.0 * shape.embedding if how.checkpointing else copies
    if how.checkpointing:
        at_loss["a block that is run again"] = max(0.0, block - at_loss["loss"])
    at_end = {"gradients": 0.0 if how.rank else 4.0 * shape.parameters, "a block's backward pass": block}
    larger = _find_largest(at_loss, at_end)
    gradients = {"gradients": larger.pop("gradients")} if "gradients" in larger else {}
    return Memory({**divided, **gradients}, larger)


def quantize(memory: Memory, shape: Shape, bytes_each: float) -> Memory:
    """Return the memory of a step with quantised weights: of blocks, not of embeddings and output layer."""
    blocks = shape.layers * shape.block
    kept = memory.divided["weights"] * max(0.0, 1 - blocks / shape.parameters)
    return memory._replace(divided={**memory.divided, "weights": kept + bytes_each * blocks})


def merge_adapter(memory: Memory, shape: Shape, adapter: float | None) -> Memory:
    """Return the memory of a step with an adapter merged on loading.

    `shape` is the base's, `adapter` the bytes of the adapter's weights; None: those of one of rank 64.
    """
    size = 4.0 * count_adapter(shape, _ADAPTER_RANK) if adapter is None else adapter
    # a copy of the merged matrix, and the sum added to it
    return memory._replace(
        whole={**memory.whole, "adapter": size, "merging": 8.0 * shape.width * shape.inner}
    )


def _find_largest(*phases: dict[str, float]) -> dict[str, float]:
    return max(phases, key=lambda terms: sum(terms.values()))


def _count_kept(shape: Shape, how: Training) -> float:
    if how.checkpointing:
        return float(shape.width) * (2 if how.dtype != "float32" else 4)  # its input alone
    mode = "autocast" if how.autocast else "float32" if how.dtype == "float32" else ""
    if how.rank:
        mode = f"adapter {mode}".strip()
    width, keys, inner = _KEPT[shape.design, mode]
    return width * shape.width + keys * shape.keys + inner * shape.inner


def count_adapted(shape: Shape) -> int:
    """Return the matrices that an adapter changes."""
    return shape.layers * (7 if shape.design == "llama" else 4)


def count_adapter(shape: Shape, rank: int) -> int:
    """Return the parameters of an adapter of all matrices: two thin ones each."""
    wider = 3 * shape.layers * max(0, shape.inner - shape.width)
    return rank * (2 * count_adapted(shape) * shape.width + wider)


def request_card(memory: Memory, gpus: int = 1) -> float:
    """Return the bytes that each of some GPUs must have."""
    share = sum(memory.divided.values()) / gpus + sum(memory.whole.values())
    return share * _SPARE + CONTEXT


def count_needed_gpus(memory: Memory, card: float) -> int:
    """Return how many GPUs of `card` bytes hold a step; 0 if what each of them needs does not fit one."""
    room = (card - CONTEXT) / _SPARE - sum(memory.whole.values())
    return math.ceil(sum(memory.divided.values()) / room) if room > 0 else 0


def request_host(memory: Memory, gpu: bool, passing: float = 0.0, stored: float = 0.0) -> float:
    """Return the bytes of host memory that a job needs.

    Parameters
    ----------
    passing : float, default=0
        Bytes temporarily in host memory on any device, such as float32 weights of a model being read or
        saved.
    stored : float, default=0
        Without a GPU, bytes of files read in another number format: their pages stay in memory beside the
        result until all are read.
    """
    if not gpu:
        return _LIBRARIES + max(passing, memory.divided["weights"] + stored, memory.total)
    return _LIBRARIES + max(passing, min(memory.divided["weights"], SHARD))
