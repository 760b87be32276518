"""Hidden states after every block at chosen positions, and their logits (logit lens).

Source: [BeyondBenchmarks, Sec. 2.8.1], after [LogitLens].

Layer 0 is the output of the embedding, layer l that of block l. Hooks collect the states during the forward
pass, at the chosen positions only: neither the states of other positions nor the logits of all layers are
ever in memory at once. The output layer is the float32 one that scoring uses.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from fathom.errors import InputError
from fathom.jobs.program import log, show_progress
from fathom.layers.architectures import check_tied_output, find_model_parts, take_states
from fathom.models.placement import find_input_device
from fathom.models.text_model import count_alike, find_long_length
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

    The model may be wrapped in a PEFT model; see :func:`fathom.layers.architectures.find_model_parts`.
    """

    def __init__(self, model: Any, name: str = "the model") -> None:
        self.model, self.blocks, self.final, self.width = find_model_parts(model, name)
        check_tied_output(self.model, name)
        self.output_layer = Float32OutputLayer(self.model)
        self.name = name
        self.n_layers = len(self.blocks) + 1

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
        return _slice(rows, self._count_rows())

    def slice_layers(self, rows: int) -> list[slice]:
        """Return slices of the layers before the last; `rows` of each go into one matrix product."""
        return _slice(self.n_layers - 1, max(1, self._count_rows() // rows))

    def _count_rows(self) -> int:
        return count_rows(self.output_layer.entries, self.output_layer.weight.device.type)


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

    Longest first needs the least padding. `budget` is in tokens per batch, including padding, and halved on
    out-of-memory of a GPU.

    Yields
    ------
    states : Tensor of shape (n_layers, n_positions, n_features)
    targets : Tensor of shape (n_positions,), int64
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
                raise InputError(
                    "GPU memory cannot hold a single sequence",
                    "layers",
                    "use a larger GPU or dtype bfloat16",
                ) from None
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
