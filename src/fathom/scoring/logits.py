"""Float32 logits at chosen positions, and the rank and probability of one token in each row of logits.

A target token's logit must come from the same float32 matrix product as all other logits: a separate product,
or one in bfloat16, changes many ranks. So hidden states are taken at the target positions only, and the
output layer is applied to them in float32, prepacked if possible (:mod:`fathom.numerics.matrix_products`).
A check before scoring ensures that this gives the model's own logits.
"""

import inspect
import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from fathom.errors import InputError
from fathom.jobs.program import log
from fathom.models.loading import use_fused_attention
from fathom.models.placement import find_input_device
from fathom.models.text_model import find_logit_transform, find_text_model
from fathom.numerics.matrix_products import is_prepacked, prepack_models
from fathom.numerics.precision import use_full_precision, widen
from fathom.scoring.scored_sequences import ScoredSequence, TokenScores, join_token_scores

if TYPE_CHECKING:
    from torch import Tensor

# bytes of float32 logits in memory at once: fits the CPU's cache, keeps a GPU busy
_LOGIT_BYTES = {"cpu": 1 << 22, "cuda": 1 << 27}
_MIN_ROWS = 128  # fewer rows make the matrix product slow
# accepted difference between two computations of the same logits, by the model's dtype
# all logits of so many tokens are computed four times; a whole window would cost as much as scoring it
_COMPARED = 16
_TOLERANCE = {"float32": 1e-4, "float16": 2e-2, "bfloat16": 1e-1}


@contextmanager
def evaluate_models(models: Sequence[Any]) -> Iterator[None]:
    """Run models in evaluation mode, in full precision and without gradients, inside the `with` block."""
    import torch

    training = [model.training for model in models]
    try:
        with torch.inference_mode(), use_full_precision(), use_fused_attention(), prepack_models(models):
            for model in models:
                model.eval()
            yield
    finally:
        for model, mode in zip(models, training, strict=True):
            model.train(mode)


def describe_non_finite(name: str, item: str, where: str) -> InputError:
    """Return the error for logits of a model that are infinite or NaN on some item."""
    return InputError(
        f"{name} gives non-finite logits on {item}",
        where,
        "a corrupt checkpoint, or float16 overflow: use float32 or bfloat16",
    )


class Float32OutputLayer:
    """The last layer's hidden states at chosen positions, and the output layer in float32."""

    name = "float32 output layer"

    def __init__(self, model: Any) -> None:
        head = model.get_output_embeddings()
        self.base = find_text_model(model)
        self.head = head
        self.half = head.weight.detach() if sums_in_float32(head.weight) else None
        self.bias = None if getattr(head, "bias", None) is None else head.bias.detach().float()
        self.transform = find_logit_transform(model)
        self.entries: int = head.weight.shape[0]
        self.takes_positions = "position_ids" in inspect.signature(self.base.forward).parameters

    @cached_property
    def weight(self) -> "Tensor":
        """The weights in float32: a copy, if they are stored in another format."""
        import torch

        with torch.inference_mode(mode=False):  # lenses are trained through it
            weight: Tensor = self.head.weight.detach().float()
        return weight

    def run(self, ids: "Tensor", mask: "Tensor | None", positions: tuple["Tensor", "Tensor"]) -> "Tensor":
        """Return hidden states of shape (n_positions, n_features), on the device of the last block."""
        import torch

        more = {}
        if self.takes_positions:
            more["position_ids"] = torch.arange(ids.shape[1], device=ids.device)[None].expand_as(ids)
        output = self.base(input_ids=ids, attention_mask=mask, use_cache=False, **more)
        return take_positions(output.last_hidden_state, positions)

    def to_logits(self, hidden: "Tensor") -> "Tensor":
        """Return float32 logits of shape (n_rows, n_entries), with the model's logit scale and soft cap."""
        from torch.nn.functional import linear

        # a model over several GPUs may have its output layer on another one than its last block
        hidden = hidden.to(self.head.weight.device)
        # such a product has no derivative, which training a lens needs
        if self.half is not None and hidden.dtype == self.half.dtype and not hidden.requires_grad:
            wide = multiply_in_float32(hidden, self.half)
            return self.transform.apply(wide if self.bias is None else wide + self.bias)
        hidden = hidden.float()
        # prepacked: the same weights and bias in another memory layout
        prepacked = is_prepacked(self.head)
        logits = self.head.forward(hidden) if prepacked else linear(hidden, self.weight, self.bias)
        return self.transform.apply(logits)


def multiply_in_float32(hidden: "Tensor", weight: "Tensor") -> "Tensor":
    """Return hidden states times an output layer's weights, both in bfloat16, as float32.

    Products of two bfloat16 numbers are exact in float32, so only the order of the sums differs from that of
    a float32 product of the same numbers; on a GPU it is several times as fast, and needs no float32 copy.
    """
    import torch

    return torch.mm(hidden, weight.T, out_dtype=torch.float32)


def sums_in_float32(weight: "Tensor") -> bool:
    """Tell whether a device multiplies such weights by :func:`multiply_in_float32`: bfloat16 on CUDA."""
    import torch

    if weight.device.type != "cuda" or weight.dtype != torch.bfloat16:
        return False
    try:
        multiply_in_float32(weight[:16], weight[:16])
    except (RuntimeError, TypeError):  # an older PyTorch, or a GPU without it
        return False
    return True


class NativeLogits:
    """The model's own logits at chosen positions: right for any model, but slower and larger."""

    name = "native logits"

    def __init__(self, model: Any) -> None:
        self.model = model
        self.entries: int = model.config.get_text_config().vocab_size

    def run(self, ids: "Tensor", mask: "Tensor | None", positions: tuple["Tensor", "Tensor"]) -> "Tensor":
        """Return logits of shape (n_positions, n_entries)."""
        import torch

        mask = torch.ones_like(ids) if mask is None else mask
        return take_positions(
            self.model(input_ids=ids, attention_mask=mask, use_cache=False).logits, positions
        )

    def to_logits(self, hidden: "Tensor") -> "Tensor":
        """Return the same logits in float32."""
        return hidden.float()


Projection = Float32OutputLayer | NativeLogits


def take_positions(states: "Tensor", positions: tuple["Tensor", "Tensor"]) -> "Tensor":
    """Return rows of states of shape (n_sequences, n_tokens, n_features), on the states' device."""
    rows, columns = (part.to(states.device) for part in positions)
    return states[rows, columns]


def choose_projection(model: Any, ids: Sequence[int], name: str) -> Projection:
    """Return the float32 output layer if it reproduces the model's logits on some tokens, else the model.

    Some architectures compute more between the last hidden state and the logits than the float32 layer
    does. Raise `InputError` if the model is not causal, as it would see each target before predicting it.
    """
    logits = compare_logits(model, ids[:_COMPARED])
    tolerance = find_tolerance(model, logits.expected)
    # logits that are not finite are reported when their pair is scored
    if logits.before is not None and bool(logits.before.abs().max() > tolerance):
        raise InputError(
            f"{name} is not causal: it sees the tokens that it predicts",
            "scores",
            "ranks need a causal language model",
        )
    if logits.output_layer is None or logits.found is None:
        return NativeLogits(model)
    same = logits.found.shape == logits.expected.shape
    if same and not bool((logits.found - logits.expected.to(logits.found.device)).abs().max() > tolerance):
        return logits.output_layer
    log.info("the float32 output layer does not reproduce this model's logits: using its own (slower)")
    return NativeLogits(model)


def find_tolerance(model: Any, logits: "Tensor") -> float:
    """Return how far the same logits of a model may differ between two ways of computing them.

    By the model's dtype, and relative for logits above 10, as pretrained models have them.
    """
    tolerance = _TOLERANCE.get(str(model.dtype).removeprefix("torch."), 1e-4)
    return tolerance * max(1.0, float(logits.abs().max()) / 10)


class ComparedLogits(NamedTuple):
    """Logits of a model's last token, computed in two ways, and whether earlier ones depend on it.

    `before` (Tensor of shape (1, n_entries), or None): difference of the logits one token earlier if the last
    token is another one; 0 for causal models. `output_layer`: None if the model has no text model, or no
    output layer with weights in a floating-point format.
    """

    expected: "Tensor"  # shape (1, n_entries): the model's own logits
    before: "Tensor | None"
    output_layer: Float32OutputLayer | None
    found: "Tensor | None"  # shape (1, n_entries), or None: its logits


def compare_logits(model: Any, ids: Sequence[int]) -> ComparedLogits:
    """Compute what :func:`choose_projection` decides on, without reading any value."""
    import torch

    own = NativeLogits(model)
    device = find_input_device(model)
    tokens = torch.tensor([list(ids)], device=device)
    last = torch.zeros(1, dtype=torch.long), torch.tensor([len(ids) - 1])
    expected = own.to_logits(own.run(tokens, None, last))
    before = None
    if len(ids) > 1:
        earlier = (last[0], last[1] - 1)
        # of the same length: low-precision kernels may depend on the shape
        changed = torch.tensor([[*ids[:-1], 0 if ids[-1] else 1]], device=device)
        before = own.to_logits(own.run(tokens, None, earlier)) - own.to_logits(
            own.run(changed, None, earlier)
        )
    if not has_float_head(model) or find_text_model(model) is None:
        return ComparedLogits(expected, before, None, None)
    output_layer = Float32OutputLayer(model)
    found = output_layer.to_logits(output_layer.run(tokens, None, last))
    return ComparedLogits(expected, before, output_layer, found)


def has_float_head(model: Any) -> bool:
    """Tell whether a model has an output layer whose weights are in a floating-point format."""
    weight = getattr(model.get_output_embeddings(), "weight", None)
    return weight is not None and bool(weight.is_floating_point())


class Batch(NamedTuple):
    """Sequences as model input.

    `mask` (Tensor of shape (n_sequences, n_tokens), int64, or None): attention mask; None without padding,
    when it is not needed and costs time. `positions` (pair of Tensor of shape (n_targets,), int64): row and
    column of the position that predicts each target, sequence by sequence.
    """

    ids: "Tensor"  # shape (n_sequences, n_tokens), int64: token ids, padded on the right
    mask: "Tensor | None"
    positions: tuple["Tensor", "Tensor"]
    targets: "Tensor"  # shape (n_targets,), int64: the tokens to predict


def make_batch(sequences: Sequence[ScoredSequence], device: Any) -> Batch:
    """Return sequences as one padded batch on a device."""
    import numpy as np
    import torch

    longest = max(len(some.ids) for some in sequences)
    ids = np.zeros((len(sequences), longest), dtype=np.int64)
    mask = np.zeros_like(ids)
    for row, some in enumerate(sequences):
        ids[row, : len(some.ids)] = some.ids
        mask[row, : len(some.ids)] = 1
    cells = [(row, *target) for row, some in enumerate(sequences) for target in some.targets]
    rows, columns, targets = torch.tensor(cells, device=device).T
    given = None if mask.all() else torch.tensor(mask, device=device)
    return Batch(torch.tensor(ids, device=device), given, (rows, columns), targets)


def count_rows(entries: int, device: str) -> int:
    """Return how many rows of float32 logits to hold at once on a device type."""
    return max(_MIN_ROWS, _LOGIT_BYTES.get(device, 1 << 27) // (4 * entries))


def score_batch(
    projection: Projection, sequences: Sequence[ScoredSequence], device: Any, others: Sequence[int] = ()
) -> TokenScores:
    """Return the scores of all targets of some sequences, read in one forward pass.

    `others` are tokens whose log-probabilities are wanted in place of every target.
    """
    found = measure_batch(projection, sequences, device, others)
    return join_token_scores([TokenScores(*(column.cpu().numpy() for column in each)) for each in found])


def measure_batch(
    projection: Projection, sequences: Sequence[ScoredSequence], device: Any, others: Sequence[int] = ()
) -> Iterator[tuple["Tensor", ...]]:
    """Yield rank, ties and log-probability of the targets of some sequences, some rows at a time.

    With `others`, their log-probabilities too, of shape (n_rows, n_others).
    """
    batch = make_batch(sequences, device)
    hidden = projection.run(batch.ids, batch.mask, batch.positions)
    step = count_rows(projection.entries, hidden.device.type)
    for start in range(0, len(hidden), step):
        rows = slice(start, start + step)
        logits = projection.to_logits(hidden[rows])
        yield measure_logits(logits, batch.targets[rows].to(logits.device), others)


def measure_logits(logits: "Tensor", targets: "Tensor", others: Sequence[int] = ()) -> tuple["Tensor", ...]:
    """Return rank, ties and log-probability of one token per row of logits; overwrites the logits.

    With `others`, their log-probabilities in each row too, in float32.
    """
    own = logits.gather(1, targets[:, None])
    larger, equal = count_larger(logits, own), _count(operator.eq, logits, own)
    found = logits[:, list(others)] if others else None
    top = logits.amax(1, keepdim=True)
    # a float32 sum of numbers up to 1 is as exact as the logits; the difference is taken in float64
    rest = widen(logits.sub_(top).exp_().sum(1)).log()
    scores = 1 + larger, equal - 1, (widen(own) - widen(top))[:, 0] - rest
    if found is None:
        return scores
    return *scores, (widen(found) - widen(top) - rest[:, None]).float()


def count_larger(logits: "Tensor", own: "Tensor") -> "Tensor":
    """Return how many logits of each row are larger than the row's entry of `own`, of shape (n_rows, 1)."""
    return _count(operator.gt, logits, own)


def _count(compare: Callable[[Any, Any], Any], logits: "Tensor", own: "Tensor") -> "Tensor":
    import numpy as np
    import torch

    if logits.device.type == "cpu":  # row by row, NumPy counts several times as fast as PyTorch
        rows = zip(logits.numpy(), own.numpy(), strict=True)
        return torch.tensor([np.count_nonzero(compare(*each)) for each in rows], dtype=torch.long)
    counts: Tensor = compare(logits, own).sum(1)
    return counts
