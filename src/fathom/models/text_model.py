"""The text model inside a model: alone, or under a wrapper of images and text (Gemma 3, Qwen2.5-VL, LLaVA).

Only the text model is scored, looked into and trained. It is found by what it holds, not by lists of names.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fathom.errors import InputError
from fathom.models.logit_changes import find_logit_transform

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
    raise InputError(
        f"models of type {config.model_type!r} have no text model that predicts the next token",
        where,
        "use a causal language model, alone or inside a model of images and text",
    )


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
        raise InputError(
            f"{name} has no list of blocks",
            f"models of type {model.config.get_text_config().model_type!r}",
            "use a causal language model of transformers",
        )
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


def compute_logits(
    model: Any, ids: "Tensor", mask: "Tensor | None" = None, positions: tuple[Any, Any] = _ALL
) -> "Tensor":
    """Return the logits that follow from the text model's last hidden states, in float32.

    Parameters
    ----------
    ids : Tensor of shape (n_sequences, n_tokens), int64
    """
    text = find_text_model(model)
    hidden = text(input_ids=ids, attention_mask=mask, use_cache=False).last_hidden_state[positions]
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
    # those of a broken model are not finite, as its loss will be
    far = found.shape != expected.shape or bool(
        (found - expected).abs().max() > _TOLERANCE * max(1.0, float(expected.abs().max()))
    )
    return not far
