"""A tuned lens: an affine map for each layer that turns its states into ones the output layer reads well.

Layers write in directions of their own, so a plain projection of early states says less than they hold. The
map of layer l, h + A h + b, is learnt so that norm and output layer give of it what they give of the last
layer: least Kullback-Leibler divergence, on text of the adapt folds. At its start it is the plain lens.
"""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from fathom.config.layers import TunedLens
from fathom.errors import InputError
from fathom.io.files import require_file, write_atomically
from fathom.layers.projection import LayerReader, open_layer_reader
from fathom.models.sequences import SequencePacking, pack_sequences, require_sequences
from fathom.models.tokens import uses_bos
from fathom.models.training import fix_randomness
from fathom.running.program import log, show_progress
from fathom.scoring.logits import Batch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor

VALID_SEQUENCES = 16
_EVERY = 50  # steps between two lines in the log


class LensPoint(NamedTuple):
    """How far a layer is from the last on held-out text, in nats: plain, and through its map."""

    layer: int
    plain: float
    tuned: float


class Translators:
    """The maps of one model; the last layer has none.

    Parameters
    ----------
    weights : Tensor, shape (layers - 1, width, width)
        What is added to the identity.
    biases : Tensor, shape (layers - 1, width)
    """

    def __init__(self, weights: "Tensor", biases: "Tensor") -> None:
        self.weights, self.biases = weights, biases

    def apply(self, states: "Tensor", layer: int) -> "Tensor":
        """Return states of one layer as the last layer might have them, shape (rows, width), in float32."""
        from torch.nn.functional import linear

        if layer == len(self.weights):
            return states
        states = states.float()
        return states + linear(states, self.weights[layer], self.biases[layer])

    def apply_each(self, states: "Tensor", first: int) -> "Tensor":
        """Return states of layers from `first` on, each through its own map, shape (layers, rows, width)."""
        import torch

        return torch.stack([self.apply(rows, layer) for layer, rows in enumerate(states.float(), first)])


def make_identity_translators(layers: LayerReader) -> Translators:
    """Return maps that change nothing: the plain lens."""
    import torch

    device, count = layers.head.weight.device, layers.count - 1
    return Translators(
        torch.zeros(count, layers.width, layers.width, device=device),
        torch.zeros(count, layers.width, device=device),
    )


def train_lens(
    model: Any,
    tokenizer: Any,
    texts: pl.DataFrame,
    settings: TunedLens,
    add_bos: bool | None = None,
    name: str = "the model",
) -> tuple[Translators, list[LensPoint]]:
    """Learn the maps of a model on fold adapt-train; measure them on adapt-valid.

    Adam, gradients clipped, learning rate falling linearly to 0; the same inputs give the same bytes.

    Parameters
    ----------
    model, tokenizer : transformers causal language model and its tokenizer
        The model stays as it is.
    texts : DataFrame
        Under contract TEXTS.
    settings : TunedLens
    add_bos : bool, optional
        Whether a BOS token comes before every document; None asks the tokenizer.
    name : str
        For messages.

    Returns
    -------
    maps : Translators
    points : list of LensPoint
        By layer; what a map has made worse on held-out text is set back to the plain lens.

    Raises
    ------
    InputError
        If there is too little text, or the divergence is no finite number.
    """
    import torch

    packing = SequencePacking(settings.sequence, settings.seed, uses_bos(tokenizer, add_bos))
    packed = pack_sequences(texts, "adapt-train", tokenizer, packing)
    require_sequences(len(packed), settings.batch, "fold adapt-train")
    held_out = pack_sequences(texts, "adapt-valid", tokenizer, packing, VALID_SEQUENCES)
    require_sequences(len(held_out), 1, "fold adapt-valid")
    layers = open_layer_reader(model, packed[0].tolist(), name)
    for weight in layers.model.parameters():
        weight.requires_grad_(False)
    maps = make_identity_translators(layers)
    with fix_randomness(settings.seed):
        learnt = [maps.weights.requires_grad_(), maps.biases.requires_grad_()]
        optimizer = torch.optim.Adam(learnt, lr=settings.learning_rate)
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / settings.steps)
        batches = _draw(packed, settings)
        for step, batch in enumerate(show_progress(batches, "steps", settings.steps), start=1):
            loss = _take_step(layers, maps, batch)
            if not math.isfinite(loss):
                raise InputError(
                    f"the divergence is {loss} at step {step}", f"lens of {name}", "lower lens.learning_rate"
                )
            torch.nn.utils.clip_grad_norm_(learnt, 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            schedule.step()
            if step % _EVERY == 0 or step == settings.steps:
                log.info("step %s of %s: divergence %.3f", step, settings.steps, loss)
        maps = Translators(maps.weights.detach(), maps.biases.detach())
        return maps, _validate(layers, maps, held_out, settings)


def _draw(packed: "NDArray[np.int64]", settings: TunedLens) -> Iterator[Batch]:
    """Yield one batch for each step, its positions drawn at random."""
    import numpy as np

    random = np.random.default_rng(settings.seed)
    size = settings.batch * settings.sequence
    for _ in range(settings.steps):
        chosen = packed[random.choice(len(packed), settings.batch, replace=False)]
        places = random.choice(size, min(settings.positions, size), replace=False)
        yield _make_batch(chosen, np.sort(places))


def _make_batch(sequences: "NDArray[np.int64]", places: "NDArray[np.int64]") -> Batch:
    """Return sequences as a batch that is read at some places, counted through all sequences."""
    import torch

    ids = torch.from_numpy(sequences)
    rows, columns = (torch.from_numpy(part) for part in divmod(places, sequences.shape[1]))
    return Batch(ids, torch.ones_like(ids), (rows, columns), torch.zeros(len(places), dtype=torch.long))


def _read(layers: LayerReader, batch: Batch) -> tuple["Tensor", "Tensor"]:
    """Return the states of a batch, and the log-probabilities of the last layer."""
    import torch

    device = layers.model.device
    places = (batch.places[0].to(device), batch.places[1].to(device))
    with torch.no_grad():
        states = layers.run(Batch(batch.ids.to(device), batch.mask.to(device), places, batch.target))
        return states, layers.to_logits(states[-1]).log_softmax(1)


def diverge(last: "Tensor", logits: "Tensor") -> "Tensor":
    """Return the Kullback-Leibler divergence of each row of logits from the last layer, in nats."""
    return (last.exp() * (last - logits.log_softmax(1))).sum(1)


def _take_step(layers: LayerReader, maps: Translators, batch: Batch) -> float:
    """Add the gradients of one batch, one layer after the other; return the mean divergence."""
    states, last = _read(layers, batch)
    total = 0.0
    for layer in range(layers.count - 1):
        loss = diverge(last, layers.to_logits(maps.apply(states[layer], layer))).mean()
        loss.backward()  # type: ignore[no-untyped-call]
        total += loss.item()
    return total / (layers.count - 1)


def _validate(
    layers: LayerReader, maps: Translators, held_out: "NDArray[np.int64]", settings: TunedLens
) -> list[LensPoint]:
    """Measure maps on held-out text; take back those that make it worse."""
    import numpy as np
    import torch

    places = np.arange(settings.sequence)
    sums = np.zeros((2, layers.count - 1))
    with torch.no_grad():
        for row in held_out:
            states, last = _read(layers, _make_batch(row[None], places))
            for layer in range(layers.count - 1):
                plain, tuned = states[layer], maps.apply(states[layer], layer)
                for place, rows in enumerate((plain, tuned)):
                    sums[place, layer] += float(diverge(last, layers.to_logits(rows)).mean())
    sums /= len(held_out)
    worse = [layer for layer in range(layers.count - 1) if sums[1, layer] > sums[0, layer]]
    if worse:
        log.info("layers %s are worse with a map on held-out text: left plain", ", ".join(map(str, worse)))
        maps.weights[worse], maps.biases[worse] = 0.0, 0.0
        sums[1, worse] = sums[0, worse]
    return [
        LensPoint(layer, float(sums[0, layer]), float(sums[1, layer])) for layer in range(layers.count - 1)
    ]


def save_lens(path: Path | str, maps: Translators, fingerprint: str) -> None:
    """Write maps as safetensors, with the fingerprint of the model that they belong to."""
    from safetensors.torch import save_file

    tensors = {"weights": maps.weights.cpu().contiguous(), "biases": maps.biases.cpu().contiguous()}
    with write_atomically(path) as temporary:
        # one entry only: the order of several is not fixed
        save_file(tensors, temporary, metadata={"fingerprint": fingerprint})


def load_lens(path: Path | str, fingerprint: str, device: Any = "cpu") -> Translators:
    """Read maps that belong to a model.

    Raises
    ------
    InputError
        If there is no such file, it holds no lens, or it was learnt for other weights.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(require_file(path), "pt", device=str(device)) as stored:
            found = (stored.metadata() or {}).get("fingerprint", "")
            maps = Translators(stored.get_tensor("weights"), stored.get_tensor("biases"))
    except SafetensorError as error:
        raise InputError(f"this is no tuned lens: {error}", str(path), "train it again") from error
    if found != fingerprint:
        raise InputError("this tuned lens was learnt for other weights", str(path), "train it again")
    return maps
