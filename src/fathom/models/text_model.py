"""The text model inside a model: alone, or under a wrapper of images and text (Gemma 3, Qwen2.5-VL, LLaVA).

Only the text model is scored, looked into and trained. It is found by what it holds, not by lists of names.
Some models change their logits after the output layer, or read long sequences otherwise than short ones.
"""

from collections.abc import Sequence, Sized
from typing import TYPE_CHECKING, Any, NamedTuple

from fathom.errors import InputError

if TYPE_CHECKING:
    from torch import Tensor


_TOLERANCE = 0.02  # difference from the largest logit that a number format may make
_ALL = (slice(None), slice(None))


def choose_class(config: Any, where: str) -> Any:
    """Return the class of transformers that loads a model with text in and logits out.

    Raises
    ------
    InputError
        If models of this type have no text model that predicts the next token.
    """
    import transformers as library

    if type(config) in library.MODEL_FOR_CAUSAL_LM_MAPPING:
        return library.AutoModelForCausalLM
    wrapped = type(config) in library.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING
    if wrapped and not config.is_encoder_decoder and hasattr(config.get_text_config(), "vocab_size"):
        return library.AutoModelForImageTextToText
    what = f"models of type {config.model_type!r} have no text model that predicts the next token"
    raise InputError(what, where, "use a causal language model, alone or inside a model of images and text")


def find_text_model(model: Any) -> Any:
    """Return the module from tokens to last hidden states, without the output layer; None if there is none.

    The model must not be wrapped in a PEFT model.
    """
    embedding, head = model.get_input_embeddings(), model.get_output_embeddings()
    for found in (model.get_decoder(), model.base_model, *model.children()):
        parts = {id(part) for part in found.modules()}
        if found is not model and id(embedding) in parts - {id(found)} and id(head) not in parts:
            return found
    return None


def list_other_weights(model: Any) -> list[Any]:
    """Return the parameters of a wrapper beside its text model, such as those for images."""
    text = find_text_model(model)
    if text is None or model.base_model is model:
        return []
    own = {id(weight) for weight in text.parameters()}
    return [weight for weight in model.base_model.parameters() if id(weight) not in own]


def find_blocks(model: Any, name: str = "the model") -> list[Any]:
    """Return the blocks of a model's text model: its list of modules with the most weights.

    Raises
    ------
    InputError
        If it has none.
    """
    import torch

    text = find_text_model(model)
    lists = [each for each in text.modules() if isinstance(each, torch.nn.ModuleList)] if text else []
    # the first of equal ones is the outermost
    sizes = [sum(weight.numel() for weight in each.parameters()) for each in lists]
    if not any(sizes):
        what = f"{name} has no list of blocks"
        hint = "use a causal language model of transformers"
        raise InputError(what, f"models of type {model.config.get_text_config().model_type!r}", hint)
    return list(lists[sizes.index(max(sizes))])


def find_frozen(model: Any, frozen: Sequence[int], name: str = "the model") -> list[Any]:
    """Return the blocks, counted from 0, that a training leaves as they are; some must be left to train."""
    if not frozen:
        return []
    blocks, where = find_blocks(model, name), f"frozen: {list(frozen)}"
    if beyond := [number for number in frozen if number >= len(blocks)]:
        hint = f"blocks are counted from 0 to {len(blocks) - 1}"
        raise InputError(f"{name} has no block {beyond[0]}", where, hint)
    if len(frozen) == len(blocks):
        raise InputError(f"all {len(blocks)} blocks of {name} are frozen", where, "leave some to be trained")
    return [blocks[number] for number in frozen]


def compute_logits(model: Any, ids: "Tensor", positions: tuple[Any, Any] = _ALL) -> "Tensor":
    """Return the logits that follow from the text model's last hidden states, in float32.

    `ids` are of shape (n_sequences, n_tokens), int64.
    """
    text = find_text_model(model)
    hidden = text(input_ids=ids, use_cache=False).last_hidden_state[positions]
    return find_logit_transform(model).apply(model.get_output_embeddings()(hidden).float())


def follows_hidden_states(model: Any, ids: "Tensor") -> bool:
    """Tell whether :func:`compute_logits` gives the model's own logits on some tokens.

    Some architectures change the last hidden state, or the logits, in ways that are not known here.
    """
    import torch

    if find_text_model(model) is None:
        return False
    training = model.training
    model.eval()
    with torch.no_grad():
        expected = model(input_ids=ids, use_cache=False).logits.float()
        found = compute_logits(model, ids)
    model.train(training)
    if found.shape != expected.shape:
        return False
    tolerance = _TOLERANCE * max(1.0, float(expected.abs().max()))
    # those of a broken model are not finite, as its loss will be
    return not bool((found - expected).abs().max() > tolerance)


_CAPS = ("final_logit_softcapping", "logits_soft_cap", "output_logit_soft_cap")
"""Names of the soft cap: of Gemma, RecurrentGemma and xLSTM."""


class LogitTransform(NamedTuple):
    """Scale and soft cap of a model's logits.

    `scale`: factor of the logits (Cohere), or the inverse of their divisor (Granite). `cap`: soft cap c of
    the scaled logits, c · tanh(logits / c) (Gemma 2).
    """

    scale: float | None
    cap: float | None

    def apply(self, logits: "Tensor") -> "Tensor":
        """Return the logits themselves if there is nothing to do."""
        if self.scale is not None:
            logits = logits * self.scale
        if self.cap is not None:
            logits = (logits / self.cap).tanh() * self.cap
        return logits


def find_logit_transform(model: Any) -> LogitTransform:
    """Return the logit transform of a transformers model, from its configuration."""
    config = model.config.get_text_config()
    scale, divisor = getattr(config, "logit_scale", None), getattr(config, "logits_scaling", None)
    if divisor is not None:  # Granite divides, Cohere multiplies
        scale = 1 / divisor
    caps = (getattr(config, name, None) for name in _CAPS)
    return LogitTransform(scale, next((cap for cap in caps if cap is not None), None))


def find_long_length(model: Any) -> int | None:
    """Return how many tokens a sequence may have before a model reads it as long; None: any.

    With `longrope` scaling (Phi-3 and later) one length decides for a whole batch which rotary frequencies it
    gets. So that a sequence is read as if it were alone, long ones share batches, and prefixes, with long
    ones. `dynamic` scaling begins where a model's context ends, so no sequence that is read gets there.
    """
    config = model.config.get_text_config()
    given = getattr(config, "rope_parameters", None) or {}
    own = getattr(config, "original_max_position_embeddings", None)
    scalings = (given, *(each for each in given.values() if isinstance(each, dict)))  # or one by layer type
    long = (each for each in scalings if each.get("rope_type") == "longrope")
    lengths = [each.get("original_max_position_embeddings", own) for each in long]
    return min((int(length) for length in lengths if length), default=None)


def count_alike(sequences: Sequence[Sized], start: int, size: int, long: int | None, more: int = 0) -> int:
    """Return how many of some sequences, the longest first, can share a batch with that at `start`.

    At most `size`; each may grow by `more` tokens, and all lie on one side of `long`, see
    :func:`find_long_length`.
    """
    chosen = sequences[start : start + size]
    if long is None or len(chosen[0]) + more <= long:
        return len(chosen)
    if len(chosen[0]) <= long:  # becomes long while it grows: alone
        return 1
    return sum(len(each) > long for each in chosen)
