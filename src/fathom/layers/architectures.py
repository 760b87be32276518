"""Where the blocks and the final norm of an architecture are: recognised by its type, never guessed.

A wrong guess gives numbers that look right: the last entry of transformers' `hidden_states` is normed in most
models, the output layer may be tied or not, and logits may be scaled or capped. So a type that is not in the
table is refused, and whatever is recognised must give the model's own logits at the last layer.
"""

from typing import Any, NamedTuple

from fathom.errors import InputError

_HERE = "src/fathom/layers/architectures.py"


class Architecture(NamedTuple):
    """Where a model keeps its parts, as paths from `model.base_model`.

    Attributes
    ----------
    blocks : str
        List of blocks; the input of the first is the embedding output, layer 0.
    norm : str
        Norm between the last block and the output layer.
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


class Parts(NamedTuple):
    """The parts of one loaded model: the causal model itself, its blocks, its final norm."""

    model: Any
    blocks: list[Any]
    norm: Any


def find_model_parts(model: Any, name: str = "the model") -> Parts:
    """Find the blocks and the final norm of a model.

    Parameters
    ----------
    model : transformers causal language model
        Or a PEFT model around one.
    name : str
        For messages.

    Raises
    ------
    InputError
        If the architecture is not in the table, the model keeps no hidden states where its architecture has
        them, it has no final norm or no output layer, or an adapter lies over its output layer.
    """
    inner = model.get_base_model() if hasattr(model, "get_base_model") else model
    kind = inner.config.get_text_config().model_type
    if kind not in ARCHITECTURES:
        raise InputError(
            f"{name} is of type {kind!r}, whose layers are not known here",
            "layers",
            f"add to the table in {_HERE} where its blocks and its final norm are, and a tiny model of that "
            "type to tests/layers/plain.py, where its last layer must give the model's own logits",
        )
    _check_head(inner, name)
    place = ARCHITECTURES[kind]
    blocks, norm = (_follow(inner.base_model, path) for path in place)
    if not blocks:
        raise InputError(
            f"{name} has no hidden states: there are no blocks at {place.blocks!r}",
            "layers",
            f"a model of type {kind!r} keeps them there: check that it is a causal language model",
        )
    if norm is None:
        raise InputError(
            f"{name} has no final norm at {place.norm!r}",
            "layers",
            "its blocks end in a norm of their own (post-norm): what lies between two blocks cannot be "
            "projected as its output can",
        )
    return Parts(inner, list(blocks), norm)


def _follow(module: Any, path: str) -> Any:
    """Return what a dotted path leads to, or None."""
    for part in path.split("."):
        module = getattr(module, part, None)
    return module


def _check_head(model: Any, name: str) -> None:
    """Raise `InputError` if there is no output layer, or not one plain matrix."""
    head = model.get_output_embeddings()
    if head is None:
        raise InputError(
            f"{name} has no output layer to project hidden states with",
            "layers",
            "use a causal language model",
        )
    if any(hasattr(head, part) for part in ("base_layer", "modules_to_save")):
        tied = bool(getattr(model.config.get_text_config(), "tie_word_embeddings", False))
        raise InputError(
            f"an adapter lies over the output layer of {name}"
            + (", which is tied to its input embedding" if tied else ""),
            "layers",
            "untie it (tie_word_embeddings: false), merge the adapter and save the whole model"
            if tied
            else "merge the adapter and save the whole model",
        )


def check_tied_output(model: Any, name: str = "the model") -> None:
    """Raise `InputError` if a configuration ties the output layer to an embedding that it differs from.

    So ends an adapter that was merged over a tied output layer: programs disagree on which matrix to read.
    """
    config = model.config.get_text_config()
    head, embedding = model.get_output_embeddings(), model.get_input_embeddings()
    if not getattr(config, "tie_word_embeddings", False) or head is None or embedding is None:
        return
    mine, theirs = head.weight, embedding.weight
    if mine is not theirs and (mine.shape != theirs.shape or not bool((mine == theirs).all())):
        raise InputError(
            f"the output layer of {name} is tied to its input embedding, and differs from it",
            "layers",
            "an adapter was merged over a tied output layer: write tie_word_embeddings: false to config.json",
        )
