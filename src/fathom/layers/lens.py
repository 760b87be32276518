"""Tuned lens: an affine map for each layer that translates its states for the output layer.

Layers represent the same content in different bases, so the logit lens understates early layers. The
translator of layer l, h + A h + b, is trained such that final norm and output layer give the last layer's
predictions: it minimises the Kullback-Leibler divergence on the adapt splits. It starts as the logit lens.
"""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from fathom.config.layers import TunedLens
from fathom.errors import InputError
from fathom.io.files import require_file, write_atomically
from fathom.jobs.program import log, show_progress
from fathom.layers.projection import LayerReader, open_layer_reader
from fathom.models.placement import find_input_device
from fathom.models.randomness import fix_randomness
from fathom.models.sequences import SequencePacking, pack_splits
from fathom.models.tokens import uses_bos
from fathom.numerics.precision import use_full_precision
from fathom.scoring.logits import Batch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor

VALID_SEQUENCES = 16
_EVERY = 50  # steps between two lines in the log


class LensPoint(NamedTuple):
    """A layer's divergence from the last layer on held-out text, in nats: logit lens and tuned lens."""

    layer: int
    plain: float
    tuned: float


class Translators:
    """Translators of one model; the last layer has none.

    Weights are differences of the matrices from the identity, of shape (n_layers - 1, n_features,
    n_features), float32; biases of shape (n_layers - 1, n_features).
    """

    def __init__(self, weights: "Tensor", biases: "Tensor") -> None:
        self.weights, self.biases = weights, biases

    def apply(self, states: "Tensor", layer: int) -> "Tensor":
        """Translate states of one layer, of shape (n_rows, n_features); the result is float32."""
        from torch.nn.functional import linear

        if layer == len(self.weights):
            return states
        states = states.float()
        return states + linear(states, self.weights[layer], self.biases[layer])

    def apply_each(self, states: "Tensor", first: int) -> "Tensor":
        """Translate states of shape (n_layers, n_rows, n_features) of the layers from `first` on."""
        import torch

        return torch.stack([self.apply(rows, layer) for layer, rows in enumerate(states.float(), first)])


def make_identity_translators(reader: LayerReader) -> Translators:
    """Return identity translators: the logit lens."""
    import torch

    device, count = reader.output_layer.weight.device, reader.n_layers - 1
    return Translators(
        torch.zeros(count, reader.width, reader.width, device=device),
        torch.zeros(count, reader.width, device=device),
    )


def train_lens(
    model: Any,
    tokenizer: Any,
    texts: pl.DataFrame,
    settings: TunedLens,
    add_bos: bool | None = None,
    name: str = "the model",
) -> tuple[Translators, list[LensPoint]]:
    """Learn the translators of a model, which stays as it is, on adapt-train; measure them on adapt-valid.

    Adam, gradients clipped, learning rate falling linearly to 0; the same inputs give the same bytes. A
    translator that is worse than the logit lens on held-out text is reset to the identity. Raise `InputError`
    if there is too little text, or the divergence is not finite.
    """
    import torch

    packing = SequencePacking(settings.sequence, settings.seed, uses_bos(tokenizer, add_bos))
    packed, held_out = pack_splits(texts, tokenizer, packing, settings.batch, VALID_SEQUENCES)
    reader = open_layer_reader(model, packed[0].tolist(), name)
    for weight in reader.model.parameters():
        weight.requires_grad_(False)
    translators = make_identity_translators(reader)
    with fix_randomness(settings.seed), use_full_precision():
        parameters = [translators.weights.requires_grad_(), translators.biases.requires_grad_()]
        optimizer = torch.optim.Adam(parameters, lr=settings.learning_rate)
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / settings.steps)
        batches = _draw(packed, settings)
        for step, batch in enumerate(show_progress(batches, "steps", settings.steps), start=1):
            losses = accumulate(reader, translators, batch)
            loss = sum(float(each) for each in losses) / len(losses)
            if not math.isfinite(loss):
                raise InputError(
                    f"the divergence is {loss} at step {step}", f"lens of {name}", "lower lens.learning_rate"
                )
            torch.nn.utils.clip_grad_norm_(parameters, 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            schedule.step()
            if step % _EVERY == 0 or step == settings.steps:
                log.info("step %s of %s: divergence %.3f", step, settings.steps, loss)
        translators = Translators(translators.weights.detach(), translators.biases.detach())
        return translators, _validate(reader, translators, held_out, settings)


def _draw(packed: "NDArray[np.int64]", settings: TunedLens) -> Iterator[Batch]:
    """Yield one batch for each step, its positions drawn at random."""
    import numpy as np

    random = np.random.default_rng(settings.seed)
    size = settings.batch * settings.sequence
    for _ in range(settings.steps):
        chosen = packed[random.choice(len(packed), settings.batch, replace=False)]
        positions = random.choice(size, min(settings.positions, size), replace=False)
        yield _make_batch(chosen, np.sort(positions))


def _make_batch(sequences: "NDArray[np.int64]", positions: "NDArray[np.int64]") -> Batch:
    """Return sequences as a batch without targets; `positions` index the flattened sequences."""
    import torch

    rows, columns = (torch.tensor(part) for part in divmod(positions, sequences.shape[1]))
    return Batch(
        torch.tensor(sequences), None, (rows, columns), torch.zeros(len(positions), dtype=torch.long)
    )


def _read(reader: LayerReader, batch: Batch) -> tuple["Tensor", "Tensor"]:
    import torch

    with torch.no_grad():
        states = reader.run(batch._replace(ids=batch.ids.to(find_input_device(reader.model))))
        return states, reader.to_logits(states[-1]).log_softmax(1)


def diverge(last: "Tensor", logits: "Tensor") -> "Tensor":
    """Return the Kullback-Leibler divergence of the last layer from each row of logits, in nats."""
    return (last.exp() * (last - logits.log_softmax(1))).sum(1)


def accumulate(reader: LayerReader, translators: Translators, batch: Batch) -> "list[Tensor]":
    """Accumulate the gradients of one batch, layer by layer; return the mean divergence of each."""
    from torch.autograd import backward

    states, last = _read(reader, batch)
    losses = []
    for layer in range(reader.n_layers - 1):
        loss = diverge(last, reader.to_logits(translators.apply(states[layer], layer))).mean()
        backward(loss)
        losses.append(loss.detach())
    return losses


def _validate(
    reader: LayerReader, translators: Translators, held_out: "NDArray[np.int64]", settings: TunedLens
) -> list[LensPoint]:
    """Measure translators on held-out text; reset those that are worse than the logit lens."""
    import numpy as np
    import torch

    positions = np.arange(settings.sequence)
    sums = np.zeros((2, reader.n_layers - 1))
    with torch.no_grad():
        for row in held_out:
            states, last = _read(reader, _make_batch(row[None], positions))
            for layer in range(reader.n_layers - 1):
                plain, tuned = states[layer], translators.apply(states[layer], layer)
                for lens, rows in enumerate((plain, tuned)):
                    sums[lens, layer] += float(diverge(last, reader.to_logits(rows)).mean())
    sums /= len(held_out)
    worse = [layer for layer in range(reader.n_layers - 1) if sums[1, layer] > sums[0, layer]]
    if worse:
        log.info("layers %s: worse on held-out text, reset to the logit lens", ", ".join(map(str, worse)))
        translators.weights[worse], translators.biases[worse] = 0.0, 0.0
        sums[1, worse] = sums[0, worse]
    return [
        LensPoint(layer, float(sums[0, layer]), float(sums[1, layer])) for layer in range(reader.n_layers - 1)
    ]


def save_lens(path: Path | str, translators: Translators, fingerprint: str) -> None:
    """Write translators as safetensors, with the fingerprint of the model that they belong to."""
    from safetensors.torch import save_file

    tensors = {
        "weights": translators.weights.cpu().contiguous(),
        "biases": translators.biases.cpu().contiguous(),
    }
    with write_atomically(path) as temporary:
        # a single entry: the order of several would not be fixed
        save_file(tensors, temporary, metadata={"fingerprint": fingerprint})


def load_lens(path: Path | str, fingerprint: str, device: Any = "cpu") -> Translators:
    """Read translators that belong to a model.

    Raises
    ------
    InputError
        If the file does not exist, is not a tuned lens, or belongs to other weights.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(require_file(path), "pt", device=str(device)) as stored:
            found = (stored.metadata() or {}).get("fingerprint", "")
            translators = Translators(stored.get_tensor("weights"), stored.get_tensor("biases"))
    except SafetensorError as error:
        raise InputError(f"not a tuned lens: {error}", str(path), "train it again") from error
    if found != fingerprint:
        raise InputError("this tuned lens belongs to other weights", str(path), "train it again")
    return translators
