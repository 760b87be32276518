"""One optimiser step, for every training: micro-batches, halving when memory runs out, clipped gradients.

A step's loss is the mean over the learned tokens of its whole batch, whatever the micro-batches: each adds
its summed loss divided by the batch's number of tokens, so their gradients add up to that of the batch.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

from fathom.errors import InputError
from fathom.jobs.program import log
from fathom.models.memory import CONTEXT, Dtype, Training, measure_training, request_card
from fathom.models.parallel import SingleProcess
from fathom.models.randomness import read_random_state, restore_random_state
from fathom.models.shapes import parse_shape
from fathom.numerics.precision import autocast

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

CLIP = 1.0
LARGE = 1_000_000_000
"""Parameters from which `checkpointing: auto` keeps activations only if a GPU is known to hold them."""
_MOMENTS = {"steps": "step", "first": "exp_avg", "second": "exp_avg_sq"}
"""What is saved of the state of AdamW for each weight, and its own names for it."""


class Method(NamedTuple):
    """How to learn from a batch, and to divide it.

    `divide` takes a batch and a number of tokens, and returns micro-batches of at most so many, or of one
    example; `count` returns the learned tokens of a batch, `size` the tokens of a micro-batch, padding
    included; `sum_losses` takes the model and a micro-batch, and returns the summed loss over its learned
    tokens, in nats.
    """

    divide: Callable[[Any, int], Sequence[Any]]
    count: Callable[[Any], int]
    size: Callable[[Any], int]
    sum_losses: Callable[[Any, Any], "Tensor"]


class StepSettings(NamedTuple):
    """Computation of a step; `tokens` are those of a micro-batch, padding included.

    `checkpointing`: whether activations are computed again in the backward pass instead of being kept;
    `auto`: for models of 1 billion parameters or more that would not fit the GPU otherwise, and once memory
    has run out.
    """

    tokens: int
    checkpointing: Literal["auto", "always", "never"] = "auto"
    precision: str = "float32"
    where: str = "training"


class Stepper:
    """A model whose trainable weights, those that require a gradient, are changed step by step.

    `step` counts the steps taken, `tokens` those of a micro-batch from here on. All `processes` take each
    step together.
    """

    def __init__(
        self,
        model: Any,
        optimizer: Any,
        method: Method,
        limits: StepSettings,
        processes: SingleProcess | None = None,
    ) -> None:
        self.model, self.optimizer, self.method, self.limits = model, optimizer, method, limits
        self.processes = processes or SingleProcess()
        self.weights = {name: each for name, each in model.named_parameters() if each.requires_grad}
        self.step, self.tokens, self.recomputes = 0, limits.tokens, False
        if limits.checkpointing == "always" or (
            limits.checkpointing == "auto" and not keeps_activations(model, limits, measure_room(model))
        ):
            self._recompute()

    def take(self, batch: Any, rate: float) -> float:
        """Take one step with a learning rate; return the mean loss over the batch's learned tokens, in nats.

        Raise `InputError` if loss or gradient are not finite, or GPU memory cannot hold one example.
        """
        import torch

        for group in self.optimizer.param_groups:
            group["lr"] = rate
        random = read_random_state(self.model.device)
        own, count = self.processes.share(batch), self.method.count(batch)
        while True:
            loss = self._try(own, count)
            if not self.processes.add(float(loss is None)):
                break
            self._make_room(own)
            restore_random_state(random, self.model.device)
        loss = self.processes.add(loss or 0.0)
        self.processes.add_gradients(self.weights.values())
        norm = torch.nn.utils.clip_grad_norm_(self.weights.values(), CLIP)
        self._check(loss, float(norm))
        with refuse_full_memory("the optimiser's state", self.limits.where):
            self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.step += 1
        return loss

    def _try(self, batch: Any, count: int) -> float | None:
        """Accumulate gradients of this process's part of a batch; return its loss, or None: out of memory."""
        import torch

        try:
            return sum(float(part) for part in self.accumulate(batch, count))
        except torch.OutOfMemoryError:
            return None  # the caller makes room: here the exception would still hold the activations

    def accumulate(self, batch: Any, count: int) -> "list[Tensor]":
        """Accumulate gradients over micro-batches; return their losses, divided by a count of tokens."""
        from torch.autograd import backward

        if not self.model.training:  # to go through all modules takes a quarter of a small step on a GPU
            self.model.train()
        parts = list[Any]()
        for piece in self.method.divide(batch, self.tokens):
            with self.autocast():
                part = self.method.sum_losses(self.model, piece) / count
            backward(part)
            parts.append(part.detach())
        return parts

    def autocast(self) -> Any:
        """Return the context in which the model computes."""
        return autocast(self.model.device.type, self.limits.precision)

    def _make_room(self, batch: Any) -> None:
        """Keep no activations from here on; if that is so already, halve the micro-batch."""
        import torch

        self.optimizer.zero_grad(set_to_none=True)
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        if self.limits.checkpointing == "auto" and not self.recomputes:
            self._recompute()
            if self.recomputes:
                return
        pieces = self.method.divide(batch, self.tokens)
        if len(pieces) == len(batch):
            raise InputError(
                "GPU memory cannot hold one example",
                self.limits.where,
                "shorten the examples (sequence or max_tokens), train an adapter (lora), or use a larger GPU",
            )
        self.tokens = min(self.tokens, max(map(self.method.size, pieces))) // 2
        log.info("out of GPU memory: micro-batches of %s tokens from here on", self.tokens)

    def _recompute(self) -> None:
        """Compute activations again in the backward pass, where the architecture can."""
        if not getattr(self.model, "supports_gradient_checkpointing", False):
            log.info("this architecture has no gradient checkpointing: activations are kept")
            return
        # its name since transformers 5.2
        enable = getattr(self.model, "activation_checkpointing_enable", None)
        (enable or self.model.gradient_checkpointing_enable)({"use_reentrant": False})
        self.model.disable_input_require_grads()  # only reentrant checkpoints need it
        self.recomputes = True
        log.info("activations are computed again in the backward pass: less memory, a third more time")

    def _check(self, loss: float, norm: float) -> None:
        for what, number in (("loss", loss), ("gradient's norm", norm)):
            if not math.isfinite(number):
                hint = "lower learning_rate"
                raise InputError(f"the {what} is {number} at step {self.step + 1}", self.limits.where, hint)

    def list_arrays(self) -> "dict[str, NDArray[Any]]":
        """Return what a run needs to resume: weights, the optimiser's moments, random states."""
        random = read_random_state(self.model.device)
        found: dict[str, Any] = {f"random.{name}": state for name, state in random.items()}
        for name, weight in self.weights.items():
            found[f"weight.{name}"] = weight.detach()
            # a weight that no batch has needed yet has none
            moments = self.optimizer.state.get(weight, {})
            found |= {f"{each}.{name}": moments[key] for each, key in _MOMENTS.items() if moments}
        return {name: tensor.cpu().numpy() for name, tensor in found.items()}

    def list_values(self) -> dict[str, Any]:
        """Return the rest of what a run needs to resume, as JSON values."""
        return {"step": self.step, "tokens": self.tokens, "recomputes": self.recomputes}

    def restore(self, values: Mapping[str, Any], arrays: "Mapping[str, NDArray[Any]]") -> None:
        """Resume from what a stopped run saved."""
        import torch

        tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
        self.step, self.tokens = values["step"], values["tokens"]
        if values["recomputes"] and not self.recomputes:
            self._recompute()
        order = {id(weight): name for name, weight in self.weights.items()}
        groups = self.optimizer.param_groups
        names = [order[id(weight)] for group in groups for weight in group["params"]]
        moments = {
            place: {key: tensors[f"{each}.{name}"] for each, key in _MOMENTS.items()}
            for place, name in enumerate(names)
            if f"steps.{name}" in tensors
        }
        self.optimizer.load_state_dict(self.optimizer.state_dict() | {"state": moments})
        with torch.no_grad():
            for name, weight in self.weights.items():
                weight.copy_(tensors[f"weight.{name}"])
        random = {
            name.removeprefix("random."): each for name, each in tensors.items() if name.startswith("random.")
        }
        restore_random_state(random, self.model.device)


def measure_room(model: Any) -> float:
    """Return the bytes that a model's GPU has for it, what it takes already included; 0 for other devices."""
    import torch

    device = model.device
    if device.type != "cuda":
        return 0.0
    free, present = torch.cuda.mem_get_info(device)
    allowed = torch.cuda.get_per_process_memory_fraction(device) * present  # all of it, unless limited
    return min(float(free + torch.cuda.memory_reserved(device)), allowed)


def keeps_activations(model: Any, limits: StepSettings, room: float) -> bool:
    """Return whether a step keeps its activations: those of a small model, or of one that they fit beside.

    `room`: bytes for everything, see :func:`measure_room`. An adapter must be in the model.
    """
    if sum(weight.numel() for weight in model.parameters()) < LARGE:
        return True
    shape = parse_shape(model.config.to_dict())
    if shape is None:
        return False
    named = model.named_parameters()
    ranks = (min(weight.shape) for name, weight in named if weight.requires_grad and "lora_" in name)
    dtype = cast(Dtype, str(model.dtype).removeprefix("torch."))
    how = Training(limits.tokens, dtype, autocast=limits.precision != "float32", rank=next(ranks, 0))
    return request_card(measure_training(shape, how)) - CONTEXT <= room


@contextmanager
def refuse_full_memory(what: str, where: str) -> Iterator[None]:
    """Raise `InputError` if GPU memory runs out inside the `with` block, where no smaller batch helps."""
    import torch

    try:
        yield
    except torch.OutOfMemoryError:
        hint = "train an adapter (lora), or use a larger GPU; several GPUs share batches, not weights"
        raise InputError(f"GPU memory cannot hold {what}", where, hint) from None
