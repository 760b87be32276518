"""Hidden states after every block at chosen positions, and their logits (logit lens).

Source: [BeyondBenchmarks, Sec. 2.8.1], after [LogitLens].

Layer 0 is the output of the embedding, layer l that of block l. Hooks collect the states during the forward
pass, at the chosen positions only: neither the states of other positions nor the logits of all layers are
ever in memory at once. The output layer is the float32 one that scoring uses.

Blocks, and what stands between the last of them and the output layer, are found by watching the model read
two tokens, for any architecture. A wrong guess would give plausible but wrong numbers, so the last layer must
reproduce the model's own logits before anything is measured.
"""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fathom.config.layers import TunedLens
from fathom.errors import InputError
from fathom.io.files import require_file, write_atomically
from fathom.jobs.program import log, show_progress
from fathom.models.placement import find_input_device
from fathom.models.randomness import fix_randomness
from fathom.models.sequences import SequencePacking, pack_splits
from fathom.models.text_model import count_alike, find_blocks, find_long_length
from fathom.models.tokens import uses_bos
from fathom.numerics.precision import use_full_precision
from fathom.scoring.logits import (
    Batch,
    Float32OutputLayer,
    choose_projection,
    count_rows,
    find_tolerance,
    make_batch,
    take_positions,
)
from fathom.scoring.scored_sequences import ScoredSequence

if TYPE_CHECKING:
    from torch import Tensor


class LayerReader:
    """Reads the hidden states of a model's layers and projects them to logits.

    The model may be wrapped in a PEFT model; see :func:`fathom.layers.projection.find_model_parts`.
    """

    def __init__(self, model: Any, name: str = "the model") -> None:
        self.model, self.blocks, self.final, self.width = find_model_parts(model, name)
        check_tied_output(self.model, name)
        self.output_layer = Float32OutputLayer(self.model)
        self.name, self.n_layers = name, len(self.blocks) + 1
        self._rows = count_rows(self.output_layer.entries, self.output_layer.weight.device.type)

    def run(self, batch: Batch) -> "Tensor":
        """Return hidden states at a batch's positions, of shape (n_layers, n_positions, n_features)."""
        import torch

        shape = (self.n_layers, len(batch.targets), self.width)
        kept = torch.empty(shape, dtype=self.model.dtype, device=self.output_layer.weight.device)

        def keep_input(_: Any, inputs: tuple[Any, ...], named: dict[str, Any]) -> None:
            states = take_states(inputs) if inputs else named["hidden_states"]
            kept[0] = take_positions(states, batch.positions).to(kept.device)

        def keep_output(layer: int) -> Any:
            def keep(_: Any, __: Any, output: Any) -> None:
                kept[layer] = take_positions(take_states(output), batch.positions).to(kept.device)

            return keep

        hooks = [self.blocks[0].register_forward_pre_hook(keep_input, with_kwargs=True)]
        hooks += [
            block.register_forward_hook(keep_output(layer))
            for layer, block in enumerate(self.blocks, start=1)
        ]
        try:
            self.output_layer.run(batch.ids, batch.mask, batch.positions)
        finally:
            for hook in hooks:
                hook.remove()
        return kept

    def to_logits(self, states: "Tensor", normed: bool = True) -> "Tensor":
        """Return float32 logits of shape (..., n_entries) of states, with or without the final norm."""
        states = states.to(self.model.dtype) if normed else states
        for module in self.final:
            if normed or "norm" not in type(module).__name__.lower():  # without it, the width still changes
                states = module(states)
        return self.output_layer.to_logits(states)

    def slice_rows(self, rows: int) -> list[slice]:
        """Return slices of rows whose logits fit the CPU's cache."""
        return _slice(rows, self._rows)

    def slice_layers(self, rows: int) -> list[slice]:
        """Return slices of the layers before the last; `rows` of each go into one matrix product."""
        return _slice(self.n_layers - 1, max(1, self._rows // rows))


def _slice(count: int, step: int) -> list[slice]:
    return [slice(start, min(start + step, count)) for start in range(0, count, step)]


def open_layer_reader(model: Any, ids: Sequence[int], name: str = "the model") -> LayerReader:
    """Return the layer reader of a model, after checking that its last layer gives the model's own logits.

    Raise `InputError` if the model has no layers, is not causal, or these logits differ.
    """
    import torch

    reader = LayerReader(model, name)
    with torch.inference_mode(), use_full_precision():
        choose_projection(reader.model, ids, name)  # refuses models that are not causal
        expected, found = compare_last_layer(reader, ids)
    tolerance = find_tolerance(reader.model, expected)
    if found.shape != expected.shape or bool((found - expected).abs().max() > tolerance):
        kind = reader.model.config.get_text_config().model_type
        raise InputError(
            f"the last layer of {name} does not reproduce its logits",
            "layers",
            f"models of type {kind!r} do more after the last block than a norm, a projection, a scale "
            "and a soft cap",
        )
    return reader


def compare_last_layer(reader: LayerReader, ids: Sequence[int]) -> tuple["Tensor", "Tensor"]:
    """Return the model's own logits after some tokens, and those of its last layer."""
    batch = make_batch([ScoredSequence(tuple(ids), [(len(ids) - 1, 0)])], find_input_device(reader.model))
    expected = reader.model(input_ids=batch.ids, use_cache=False).logits[0, -1].float()
    found = reader.to_logits(reader.run(batch)[-1])[0]
    return expected.to(found.device), found


def read_hidden_states(
    reader: LayerReader, sequences: Sequence[ScoredSequence], budget: int, what: str
) -> Iterator[tuple["Tensor", "Tensor"]]:
    """Yield hidden states at the target positions, batch by batch, in the order of the sequences.

    States are of shape (n_layers, n_positions, n_features), with the targets of shape (n_positions,), int64.
    Longest first needs the least padding. `budget` is in tokens per batch, including padding, and halved on
    out-of-memory of a GPU.
    """
    import torch

    done, long = 0, find_long_length(reader.model)
    ids = [some.ids for some in sequences]
    ticks = iter(show_progress(sequences, what, len(sequences)))
    while done < len(sequences):
        size = max(1, budget // len(sequences[done].ids))
        chosen = sequences[done : done + count_alike(ids, done, size, long)]
        batch = make_batch(chosen, find_input_device(reader.model))
        try:
            states = reader.run(batch)
        except torch.cuda.OutOfMemoryError:
            if len(chosen) == 1:
                hint = "use a larger GPU or dtype bfloat16"
                raise InputError("a single sequence does not fit into GPU memory", "layers", hint) from None
            budget //= 2
            torch.cuda.empty_cache()
            log.info("out of GPU memory: continuing with batches of %s tokens", budget)
            continue
        yield states, batch.targets.to(states.device)
        done += len(chosen)
        for _ in chosen:
            next(ticks, None)
    for _ in ticks:
        pass


_TOKENS = (0, 1)  # tokens that the model reads while watched


class ModelParts(NamedTuple):
    """A loaded model, its blocks, and the modules between the last block and the output layer, in order.

    `final`: the final norm, and in some models a projection to another width; empty if there is nothing
    between. `width`: number of features between the blocks.
    """

    model: Any
    blocks: list[Any]
    final: list[Any]
    width: int


def find_model_parts(model: Any, name: str = "the model") -> ModelParts:
    """Find the blocks and the final norm of a model.

    Raise `InputError` if the model has no blocks or output layer, an adapter changes its output layer, or its
    blocks do not hand on one state for each token, once each.
    """
    inner = model.get_base_model() if hasattr(model, "get_base_model") else model
    _check_head(inner, name)
    blocks = find_blocks(inner, name)
    watcher = _Watcher(inner, blocks)
    watcher.run()
    if watcher.calls != [1] * len(blocks) or watcher.shape[:-1] != (1, len(_TOKENS)):
        what = f"the blocks of {name} do not hand on one state for each token, once each"
        hint = f"models of type {inner.config.get_text_config().model_type!r} have no layers in this sense"
        raise InputError(what, "layers", hint)
    return ModelParts(inner, blocks, watcher.final, watcher.shape[-1])


class _Watcher:
    """Records how often each block runs, its output, and what runs between the last block and the head."""

    def __init__(self, model: Any, blocks: Sequence[Any]) -> None:
        self.model, self.blocks = model, blocks
        self.calls, self.final = [0] * len(blocks), list[Any]()
        self.shape: tuple[int, ...] = ()
        self._watching = False

    def run(self) -> None:
        """Watch the model read a few tokens."""
        import torch

        head, mode = self.model.get_output_embeddings(), self.model.training
        hooks = [head.register_forward_pre_hook(self._stop)]
        hooks += [each.register_forward_hook(self._count(place)) for place, each in enumerate(self.blocks)]
        hooks += [each.register_forward_hook(self._note) for each in self._list_outside(head)]
        try:
            self.model.eval()
            with torch.no_grad():
                self.model(
                    input_ids=torch.tensor([_TOKENS], device=find_input_device(self.model)), use_cache=False
                )
        finally:
            self.model.train(mode)
            for hook in hooks:
                hook.remove()

    def _list_outside(self, head: Any) -> list[Any]:
        """Return the outermost modules that hold neither blocks nor the output layer."""
        inside = {id(each) for each in (*self.blocks, head)}
        open_ones, found = [self.model], list[Any]()
        while open_ones:
            for child in open_ones.pop().children():
                if any(id(part) in inside for part in child.modules()):
                    open_ones += [child] if id(child) not in inside else []
                else:
                    found.append(child)
        return found

    def _count(self, place: int) -> Any:
        def count(_: Any, __: Any, output: Any) -> None:
            self.calls[place] += 1
            self.shape = tuple(getattr(take_states(output), "shape", ()))
            self.final, self._watching = [], True

        return count

    def _note(self, module: Any, inputs: tuple[Any, ...], output: Any) -> None:
        import torch

        takes_states = bool(inputs) and isinstance(inputs[0], torch.Tensor)
        if self._watching and takes_states and isinstance(output, torch.Tensor):
            self.final.append(module)

    def _stop(self, *_: Any) -> None:
        self._watching = False


def take_states(values: Any) -> Any:
    """Return the hidden states among a block's inputs or outputs: the first of several."""
    return values[0] if isinstance(values, tuple | list) and values else values


def _check_head(model: Any, name: str) -> None:
    head = model.get_output_embeddings()
    if head is None:
        raise InputError(f"{name} has no output layer", "layers", "use a causal language model")
    weight = getattr(head, "weight", None)
    if weight is not None and not weight.is_floating_point():
        hint = "use the model before it was quantised, or one whose output layer was left out"
        raise InputError(f"the output layer of {name} is quantised", "layers", hint)
    if any(hasattr(head, part) for part in ("base_layer", "modules_to_save")):
        what, way = (
            f"an adapter changes the output layer of {name}",
            "merge the adapter and save the whole model",
        )
        if getattr(model.config.get_text_config(), "tie_word_embeddings", False):
            what += ", which is tied to its input embedding"
            way = f"untie it (tie_word_embeddings: false), {way}"
        raise InputError(what, "layers", way)


def check_tied_output(model: Any, name: str = "the model") -> None:
    """Raise `InputError` if the output layer differs from the embedding that the configuration ties it to.

    This happens when an adapter is merged into a tied output layer. Programs disagree on which one to read.
    """
    config = model.config.get_text_config()
    head, embedding = model.get_output_embeddings(), model.get_input_embeddings()
    if not getattr(config, "tie_word_embeddings", False) or head is None or embedding is None:
        return
    out, tied = head.weight, embedding.weight
    if out is not tied and (out.shape != tied.shape or not bool((out == tied.to(out.device)).all())):
        what = f"the output layer of {name} is tied to its input embedding but differs from it"
        hint = "an adapter was merged into a tied output layer: set tie_word_embeddings: false in config.json"
        raise InputError(what, "layers", hint)


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
    """Learn the translators of a model, which does not change, on adapt-train; measure them on adapt-valid.

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
                hint = "lower lens.learning_rate"
                raise InputError(f"the divergence is {loss} at step {step}", f"lens of {name}", hint)
            torch.nn.utils.clip_grad_norm_(parameters, 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            schedule.step()
            if step % _EVERY == 0 or step == settings.steps:
                log.info("step %s of %s: divergence %.3f", step, settings.steps, loss)
        translators = Translators(translators.weights.detach(), translators.biases.detach())
        return translators, _validate(reader, translators, held_out, settings)


def _draw(packed: NDArray[np.int64], settings: TunedLens) -> Iterator[Batch]:
    random = np.random.default_rng(settings.seed)
    size = settings.batch * settings.sequence
    for _ in range(settings.steps):
        chosen = packed[random.choice(len(packed), settings.batch, replace=False)]
        positions = random.choice(size, min(settings.positions, size), replace=False)
        yield _make_batch(chosen, np.sort(positions))


def _make_batch(sequences: NDArray[np.int64], positions: NDArray[np.int64]) -> Batch:
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
    reader: LayerReader, translators: Translators, held_out: NDArray[np.int64], settings: TunedLens
) -> list[LensPoint]:
    """Measure translators on held-out text; reset those that are worse than the logit lens."""
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
        # a single entry, as the order of several would not be fixed
        save_file(tensors, temporary, metadata={"fingerprint": fingerprint})


def load_lens(path: Path | str, fingerprint: str, device: Any = "cpu") -> Translators:
    """Read translators that belong to a model.

    Raise `InputError` if the file does not exist, is not a tuned lens, or belongs to other weights.
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
