"""Logits in float32 at chosen positions, and the rank and probability of one token in each row of them.

A target token's logit must come from the same float32 matrix product as all others: a product of its own, or
one in bfloat16, moves a large share of ranks. So hidden states are taken at target positions only, and the
output layer is applied to them in float32, packed where it is (:mod:`fathom.numerics.matrix_products`); that
this is what the model gives is checked before scoring.
"""

import inspect
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from fathom.errors import InputError
from fathom.numerics.matrix_products import is_prepacked
from fathom.running.program import log
from fathom.scoring.scored_sequences import ScoredSequence, TokenScores, join_token_scores

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor

# float32 logits that are held at once: what a processor's cache holds, or what keeps a GPU busy
_LOGIT_BYTES = {"cpu": 1 << 22, "cuda": 1 << 27}
_FEWEST_ROWS = 128  # fewer make the matrix product slow
# how far two ways to the same logits may be apart, by the model's number type
_TOLERANCE = {"float32": 1e-4, "float16": 2e-2, "bfloat16": 1e-1}


class Float32OutputLayer:
    """Hidden states of the last layer at chosen positions, and the output layer in float32."""

    def __init__(self, model: Any) -> None:
        config = model.config.get_text_config()
        head = model.get_output_embeddings()
        self.base = model.base_model
        self.head = head
        self.weight = head.weight.detach().float()
        self.bias = None if getattr(head, "bias", None) is None else head.bias.detach().float()
        self.scale = getattr(config, "logit_scale", None)
        self.cap = getattr(config, "final_logit_softcapping", None)
        self.entries: int = self.weight.shape[0]
        self.takes_positions = "position_ids" in inspect.signature(self.base.forward).parameters

    def run(self, ids: "Tensor", mask: "Tensor", places: tuple["Tensor", "Tensor"]) -> "Tensor":
        """Return hidden states, shape (places, width)."""
        import torch

        more = {}
        if self.takes_positions:
            more["position_ids"] = torch.arange(ids.shape[1], device=ids.device)[None].expand_as(ids)
        # a mask costs time, and where nothing is padded it says nothing
        padded = None if bool(mask.all()) else mask
        output = self.base(input_ids=ids, attention_mask=padded, use_cache=False, **more)
        found: Tensor = output.last_hidden_state[places]
        return found

    def to_logits(self, hidden: "Tensor") -> "Tensor":
        """Return logits in float32, shape (rows, entries), with the model's own scale and soft cap."""
        from torch.nn.functional import linear

        hidden = hidden.float()
        # the same weights and bias, in another order of memory
        packed = is_prepacked(self.head)
        logits = self.head.forward(hidden) if packed else linear(hidden, self.weight, self.bias)
        if self.scale is not None:
            logits = logits * self.scale
        if self.cap is not None:
            logits = (logits / self.cap).tanh() * self.cap
        return logits


class NativeLogits:
    """The model's own logits at chosen positions: slower, more memory, right for any model."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.entries: int = model.config.get_text_config().vocab_size

    def run(self, ids: "Tensor", mask: "Tensor", places: tuple["Tensor", "Tensor"]) -> "Tensor":
        """Return logits, shape (places, entries)."""
        found: Tensor = self.model(input_ids=ids, attention_mask=mask, use_cache=False).logits[places]
        return found

    def to_logits(self, hidden: "Tensor") -> "Tensor":
        """Return the same logits in float32."""
        return hidden.float()


Projection = Float32OutputLayer | NativeLogits


def choose_projection(model: Any, ids: Sequence[int], name: str) -> Projection:
    """Return the output layer in float32 if it gives a model's own logits on some tokens, else the model.

    A model may do more between its last hidden state and its logits than is known here.

    Raises
    ------
    InputError
        If the model looks ahead: it would see each target before it predicts it.
    """
    import torch

    own = NativeLogits(model)
    tokens = torch.tensor([list(ids)], device=model.device)
    place = (torch.zeros(1, dtype=torch.long), torch.tensor([len(ids) - 1]))
    mask = torch.ones_like(tokens)
    theirs = own.to_logits(own.run(tokens, mask, place))
    tolerance = _TOLERANCE.get(str(model.dtype).removeprefix("torch."), 1e-4)
    tolerance *= max(1.0, float(theirs.abs().max()) / 10)
    # numbers that are not finite are found, with their pair, when it is scored
    if len(ids) > 1:
        before = (place[0], place[1] - 1)
        alone = own.to_logits(own.run(tokens[:, :-1], mask[:, :-1], before))
        if bool((own.to_logits(own.run(tokens, mask, before)) - alone).abs().max() > tolerance):
            raise InputError(
                f"{name} looks at tokens that stand after the one that it predicts",
                "scores",
                "ranks need a causal language model",
            )
    if model.get_output_embeddings() is None:
        return own
    quick = Float32OutputLayer(model)
    mine = quick.to_logits(quick.run(tokens, mask, place))
    if mine.shape == theirs.shape and not bool((mine - theirs).abs().max() > tolerance):
        return quick
    log.info("the output layer alone does not give this model's logits: its own are used, which takes longer")
    return own


class Batch(NamedTuple):
    """Some sequences as the model takes them.

    Attributes
    ----------
    ids, mask : Tensor, shape (sequences, tokens)
        Padded on the right.
    places : pair of Tensor, shape (wanted,)
        Row and position of each wanted token, one pass after the other.
    target : Tensor, shape (wanted,)
        The token that is to come after each.
    """

    ids: "Tensor"
    mask: "Tensor"
    places: tuple["Tensor", "Tensor"]
    target: "Tensor"


def make_batch(sequences: Sequence[ScoredSequence], device: Any) -> Batch:
    """Return some sequences as one batch on a device."""
    import numpy as np
    import torch

    longest = max(len(some.ids) for some in sequences)
    ids = np.zeros((len(sequences), longest), dtype=np.int64)
    mask = np.zeros_like(ids)
    for row, some in enumerate(sequences):
        ids[row, : len(some.ids)] = some.ids
        mask[row, : len(some.ids)] = 1
    places = [(row, *want) for row, some in enumerate(sequences) for want in some.targets]
    index, position, target = torch.tensor(places, device=device).T
    return Batch(
        torch.from_numpy(ids).to(device), torch.from_numpy(mask).to(device), (index, position), target
    )


def count_rows(entries: int, device: str) -> int:
    """Return how many rows of float32 logits are held at once on a type of device."""
    return max(_FEWEST_ROWS, _LOGIT_BYTES.get(device, 1 << 27) // (4 * entries))


def score_batch(project: Projection, batch: Sequence[ScoredSequence], device: Any) -> TokenScores:
    """Return the scores of all wanted tokens of some sequences, read at once."""
    packed = make_batch(batch, device)
    hidden = project.run(packed.ids, packed.mask, packed.places)
    step = count_rows(project.entries, hidden.device.type)
    pieces = [slice(start, start + step) for start in range(0, len(hidden), step)]
    return join_token_scores(
        [score_logits(project.to_logits(hidden[piece]), packed.target[piece]) for piece in pieces]
    )


def score_logits(logits: "Tensor", target: "Tensor") -> TokenScores:
    """Return rank, ties and log-probability of one token for each row of logits, which are overwritten."""
    own = logits.gather(1, target[:, None])
    larger, equal = count_larger(logits, own), _count_equal(logits, own)
    top = logits.amax(1, keepdim=True)
    # sums of numbers up to 1 are as exact in float32 as the logits are; the difference is taken in float64
    rest = logits.sub_(top).exp_().sum(1).double().log()
    logs = (own.double() - top.double())[:, 0] - rest
    return TokenScores(1 + larger, equal - 1, logs.cpu().numpy())


def count_larger(logits: "Tensor", own: "Tensor") -> "NDArray[np.int64]":
    """Return how many logits of each row are larger than the row's own, shape (rows, 1)."""
    import numpy as np

    if logits.device.type == "cpu":  # row by row, numpy counts several times as fast as torch
        rows = zip(logits.numpy(), own.numpy(), strict=True)
        return np.array([np.count_nonzero(row > mine) for row, mine in rows], dtype=np.int64)
    found: NDArray[np.int64] = (logits > own).sum(1).cpu().numpy()
    return found


def _count_equal(logits: "Tensor", own: "Tensor") -> "NDArray[np.int64]":
    """Return how many logits of each row are equal to the row's own, itself included."""
    import numpy as np

    if logits.device.type == "cpu":
        rows = zip(logits.numpy(), own.numpy(), strict=True)
        return np.array([np.count_nonzero(row == mine) for row, mine in rows], dtype=np.int64)
    found: NDArray[np.int64] = (logits == own).sum(1).cpu().numpy()
    return found
