"""Hidden states after every block at chosen positions, and what the output layer makes of them.

Source: [BeyondBenchmarks, Sec. 2.8.1], after [LogitLens].

Layer 0 is the output of the embedding, layer l that of block l. States are taken by hooks while the model
reads, at the positions asked for only: layers × positions × vocabulary is never held, nor are the states of
other positions. The output layer is the one that scores use, in float32.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from fathom.errors import InputError
from fathom.layers.architectures import check_tied_output, find_model_parts
from fathom.running.program import log, show_progress
from fathom.scoring.logits import Batch, Float32OutputLayer, choose_projection, count_rows, make_batch
from fathom.scoring.scored_sequences import ScoredSequence

if TYPE_CHECKING:
    from torch import Tensor

# how far the last layer may be from the model's own logits, by number type; relative to logits above 10
_TOLERANCE = {"float32": 1e-5, "float16": 2e-2, "bfloat16": 1e-1}


class LayerReader:
    """A model whose hidden states can be read and projected.

    Parameters
    ----------
    model : transformers causal language model
        Or a PEFT model around one.
    name : str
        For messages.

    Raises
    ------
    InputError
        If the architecture is not known; see :func:`fathom.layers.architectures.find_model_parts`.
    """

    def __init__(self, model: Any, name: str = "the model") -> None:
        self.model, self.blocks, self.norm = find_model_parts(model, name)
        check_tied_output(self.model, name)
        self.head = Float32OutputLayer(self.model)
        divisor = getattr(self.model.config.get_text_config(), "logits_scaling", None)
        if divisor is not None:  # Granite divides where Cohere multiplies
            self.head.scale = 1 / divisor
        self.name = name
        self.count = len(self.blocks) + 1
        self.width: int = self.head.weight.shape[1]

    def run(self, batch: Batch) -> "Tensor":
        """Return the hidden states of all layers at wanted places, shape (layers, places, width)."""
        import torch

        shape = (self.count, len(batch.target), self.width)
        kept = torch.empty(shape, dtype=self.model.dtype, device=batch.ids.device)

        def keep_input(_: Any, inputs: tuple[Any, ...], named: dict[str, Any]) -> None:
            kept[0] = (inputs[0] if inputs else named["hidden_states"])[batch.places]

        def keep_output(layer: int) -> Any:
            def keep(_: Any, __: Any, output: Any) -> None:
                kept[layer] = (output[0] if isinstance(output, tuple) else output)[batch.places]

            return keep

        hooks = [self.blocks[0].register_forward_pre_hook(keep_input, with_kwargs=True)]
        hooks += [
            block.register_forward_hook(keep_output(layer))
            for layer, block in enumerate(self.blocks, start=1)
        ]
        try:
            self.head.run(batch.ids, batch.mask, batch.places)
        finally:
            for hook in hooks:
                hook.remove()
        return kept

    def to_logits(self, states: "Tensor", normed: bool = True) -> "Tensor":
        """Return logits in float32, shape (..., entries), of states with or without the final norm."""
        return self.head.to_logits(self.norm(states.to(self.model.dtype)) if normed else states)

    def slice_rows(self, rows: int) -> list[slice]:
        """Return pieces of some rows whose logits fit the cache."""
        return _slice(rows, self._count_rows())

    def slice_layers(self, rows: int) -> list[slice]:
        """Return pieces of the layers before the last: with so many rows each, they make one product."""
        return _slice(self.count - 1, max(1, self._count_rows() // rows))

    def _count_rows(self) -> int:
        """Return how many rows of logits are held at once."""
        return count_rows(self.head.entries, self.head.weight.device.type)


def _slice(count: int, step: int) -> list[slice]:
    """Return slices of so many things, `step` at a time."""
    return [slice(start, min(start + step, count)) for start in range(0, count, step)]


def open_layer_reader(model: Any, ids: Sequence[int], name: str = "the model") -> LayerReader:
    """Recognise a model, and make sure on some tokens that its last layer gives its own logits.

    Raises
    ------
    InputError
        If the architecture is not known, or does more between its last layer and its logits than is known.
    """
    import torch

    layers = LayerReader(model, name)
    with torch.inference_mode():
        choose_projection(layers.model, ids, name)  # refuses a model that looks ahead
        batch = make_batch([ScoredSequence(tuple(ids), [(len(ids) - 1, 0)])], layers.model.device)
        own = layers.model(input_ids=batch.ids, use_cache=False).logits[0, -1].float()
        mine = layers.to_logits(layers.run(batch)[-1])[0]
    tolerance = _TOLERANCE.get(str(layers.model.dtype).removeprefix("torch."), 1e-5)
    tolerance *= max(1.0, float(own.abs().max()) / 10)
    if mine.shape != own.shape or bool((mine - own).abs().max() > tolerance):
        kind = layers.model.config.get_text_config().model_type
        raise InputError(
            f"the last layer of {name} does not give its own logits",
            "layers",
            f"a model of type {kind!r} does more between its last block and its logits than is known: "
            "see src/fathom/layers/architectures.py and the output layer in src/fathom/scoring/logits.py",
        )
    return layers


def read_hidden_states(
    layers: LayerReader, sequences: Sequence[ScoredSequence], budget: int, what: str
) -> Iterator[tuple["Tensor", "Tensor"]]:
    """Yield hidden states and target tokens of wanted places, some sequences at a time, in their order.

    Parameters
    ----------
    layers : LayerReader
    sequences : sequence of ScoredSequence
        Longest first wastes the least padding.
    budget : int
        Tokens in a batch, padding counted; halved while a GPU's memory runs out.
    what : str
        Name of the sequences in the plural, for the log.

    Yields
    ------
    states : Tensor, shape (layers, places, width)
    target : Tensor, shape (places,)
    """
    import torch

    done = 0
    ticks = iter(show_progress(sequences, what, len(sequences)))
    while done < len(sequences):
        batch = sequences[done : done + max(1, budget // len(sequences[done].ids))]
        packed = make_batch(batch, layers.model.device)
        try:
            states = layers.run(packed)
        except torch.cuda.OutOfMemoryError:
            if len(batch) == 1:
                raise InputError(
                    "the GPU's memory does not hold one sequence",
                    "layers",
                    "use a larger GPU or dtype bfloat16",
                ) from None
            budget //= 2
            torch.cuda.empty_cache()
            log.info("out of GPU memory: batches of %s tokens from here on", budget)
            continue
        yield states, packed.target
        done += len(batch)
        for _ in batch:
            next(ticks, None)
    for _ in ticks:
        pass
