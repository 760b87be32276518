"""Where an architecture keeps its blocks and its final norm: looked up by model type, never guessed.

A wrong guess gives plausible but wrong numbers: in most models the last entry of transformers'
`hidden_states` is already normed, the output layer may be tied or not, and logits may be scaled or capped. So
unlisted model types are refused, and the last layer of a listed type must reproduce the model's own logits.
"""

from typing import Any, NamedTuple

from fathom.errors import InputError

_THIS_FILE = "src/fathom/layers/architectures.py"


class Architecture(NamedTuple):
    """Attribute paths of a model's parts, starting from `model.base_model`.

    Attributes
    ----------
    blocks : str
        List of blocks. The input of the first is the embedding output, layer 0.
    norm : str
        Final norm, between the last block and the output layer.
    """

    blocks: str
    norm: str


_GPT = Architecture("h", "ln_f")
_LLAMA = Architecture("layers", "norm")
ARCHITECTURES: dict[str, Architecture] = {
    **dict.fromkeys(["bloom", "codegen", "falcon", "gpt2", "gpt_bigcode", "gpt_neo", "gptj"], _GPT),
    **dict.fromkeys(
        ["cohere", "gemma", "gemma2", "gemma3_text", "granite", "llama", "mistral", "mixtral", "olmo",
         "olmo2", "olmo3", "olmoe", "phi3", "qwen2", "qwen2_moe", "qwen3", "qwen3_moe", "smollm3",
         "stablelm", "starcoder2"],
        _LLAMA,
    ),
    "gpt_neox": Architecture("layers", "final_layer_norm"),
    "mpt": Architecture("blocks", "norm_f"),
    "opt": Architecture("decoder.layers", "decoder.final_layer_norm"),
    "phi": Architecture("layers", "final_layernorm"),
}  # fmt: skip
"""By `config.model_type`."""


class ModelParts(NamedTuple):
    """A loaded model, its blocks and its final norm."""

    model: Any
    blocks: list[Any]
    norm: Any


def find_model_parts(model: Any, name: str = "the model") -> ModelParts:
    """Find the blocks and the final norm of a model.

    Parameters
    ----------
    model : transformers causal language model
        May be wrapped in a PEFT model.
    name : str
        Name of the model for messages.

    Raises
    ------
    InputError
        If the model type is not listed, the model has no blocks, final norm or output layer, or an adapter
        changes its output layer.
    """
    inner = model.get_base_model() if hasattr(model, "get_base_model") else model
    kind = inner.config.get_text_config().model_type
    if kind not in ARCHITECTURES:
        raise InputError(
            f"unknown layers: {name} has model type {kind!r}",
            "layers",
            f"add the paths of its blocks and final norm to ARCHITECTURES in {_THIS_FILE}, and a tiny model "
            "of that type to tests/layers/plain.py",
        )
    _check_head(inner, name)
    paths = ARCHITECTURES[kind]
    blocks, norm = (_get_attribute(inner.base_model, path) for path in paths)
    if not blocks:
        raise InputError(
            f"{name} has no blocks at {paths.blocks!r}",
            "layers",
            f"models of type {kind!r} have them there: check that this is a causal language model",
        )
    if norm is None:
        raise InputError(
            f"{name} has no final norm at {paths.norm!r}",
            "layers",
            "post-norm models are not supported: the states between their blocks cannot be projected",
        )
    return ModelParts(inner, list(blocks), norm)


def _get_attribute(module: Any, path: str) -> Any:
    """Return the attribute at a dotted path, or None."""
    for part in path.split("."):
        module = getattr(module, part, None)
    return module


def _check_head(model: Any, name: str) -> None:
    """Raise `InputError` if the model has no output layer, or an adapter changes it."""
    head = model.get_output_embeddings()
    if head is None:
        raise InputError(
            f"{name} has no output layer",
            "layers",
            "use a causal language model",
        )
    weight = getattr(head, "weight", None)
    if weight is not None and not weight.is_floating_point():
        raise InputError(
            f"the output layer of {name} is quantised",
            "layers",
            "use the model before it was quantised, or one whose output layer was left out",
        )
    if any(hasattr(head, part) for part in ("base_layer", "modules_to_save")):
        tied = bool(getattr(model.config.get_text_config(), "tie_word_embeddings", False))
        raise InputError(
            f"an adapter changes the output layer of {name}"
            + (", which is tied to its input embedding" if tied else ""),
            "layers",
            "untie it (tie_word_embeddings: false), merge the adapter and save the whole model"
            if tied
            else "merge the adapter and save the whole model",
        )


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
        raise InputError(
            f"the output layer of {name} is tied to its input embedding but differs from it",
            "layers",
            "an adapter was merged into a tied output layer: set tie_word_embeddings: false in config.json",
        )
