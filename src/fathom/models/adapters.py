"""LoRA adapters of PEFT [LoRA]: an adapter's folder with its base is a model."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fathom.errors import InputError
from fathom.io.files import read_json
from fathom.models.folders import ADAPTER_CONFIG, refuse_pickled

ADAPTER_WEIGHTS = "adapter_model.safetensors"


def is_adapter(folder: Path) -> bool:
    """Tell whether a folder holds an adapter."""
    return (folder / ADAPTER_CONFIG).is_file() and not (folder / "config.json").is_file()


def check_adapter(folder: Path) -> dict[str, Any]:
    """Return the configuration of an adapter's folder.

    Raises
    ------
    InputError
        If there is no such folder, it holds no LoRA adapter in safetensors, or a whole model beside it.
    """
    where = str(folder)
    if not folder.is_dir():
        raise InputError("no such folder", where, "check the path, or fetch the adapter again")
    if not is_adapter(folder):
        raise InputError(f"no adapter: {ADAPTER_CONFIG} is missing", where, "check the path")
    if not (folder / ADAPTER_WEIGHTS).is_file():
        refuse_pickled((file.name for file in folder.glob("adapter_*")), where, "the adapter's")
        raise InputError(f"no adapter: {ADAPTER_WEIGHTS} is missing", where, "copy the whole folder")
    config = read_json(folder / ADAPTER_CONFIG)
    kind = config.get("peft_type") if isinstance(config, dict) else None
    # megatron_core names a module that PEFT would import
    if kind != "LORA" or config.get("megatron_config"):
        raise InputError(
            f"the adapter is of type {kind}, not LORA", where, "merge it with PEFT and save the whole model"
        )
    return dict(config)


def name_base(folder: Path) -> str:
    """Return what an adapter calls the model that it belongs to, a folder or an id on the hub, or nothing."""
    return str(check_adapter(folder).get("base_model_name_or_path") or "")


def find_base(folder: Path) -> Path:
    """Return the base model's folder that an adapter's folder names.

    A name on the hub is not followed: nothing is fetched where models are loaded.

    Raises
    ------
    InputError
        If the adapter names no folder that exists.
    """
    named = name_base(folder)
    for path in (Path(named).expanduser(), folder / named) if named else ():
        if path.is_dir():
            return path
    raise InputError(
        f"the adapter's base model is {named!r}, which is no folder here" if named
        else "the adapter does not say which model it belongs to",
        str(folder),
        "name the base: --base, `base=` in a notebook, or a row of the registry with adapter_of",
    )  # fmt: skip


def apply_adapter(model: Any, folder: Path, merge: bool = True) -> Any:
    """Apply an adapter to its base model, in place.

    Parameters
    ----------
    model : transformers causal language model
    folder : Path
    merge : bool, default=True
        Add the adapter to the weights. In bfloat16 or float16 the sum is rounded, and most of a small
        change is lost.

    Returns
    -------
    model
        Of the same class as before, with merged weights, or with the adapter in its layers in float32.

    Raises
    ------
    InputError
        If the adapter belongs to another model, or changes an output layer that is tied to the embedding.
    """
    from peft import LoraConfig, get_peft_model, set_peft_model_state_dict
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    where = str(folder)
    hint = "check that the adapter was trained on this base model"
    check_adapter(folder)
    _check_quantized(model, where)
    try:
        weights = load_file(folder / ADAPTER_WEIGHTS)
        _check_rows(model, weights, where)
        config = LoraConfig.from_pretrained(str(folder))
        config.inference_mode, config.init_lora_weights = True, True  # nothing but what the file says
        config.base_model_name_or_path = model.name_or_path
        wrapped = get_peft_model(model, config)
        outcome = set_peft_model_state_dict(wrapped, weights)
    except (SafetensorError, TypeError, OSError) as error:
        raise InputError(f"the adapter cannot be read: {error}", where, "copy it again") from error
    except (ValueError, RuntimeError, KeyError) as error:  # no such module, another shape, no such weight
        line = next((line.strip() for line in str(error).splitlines() if "mismatch for" in line), str(error))
        raise InputError(f"the adapter does not fit its base model: {line}", where, hint) from error
    expected = {name for name, _ in wrapped.named_parameters() if "lora_" in name}
    wrong = sorted({*outcome.unexpected_keys, *expected.intersection(outcome.missing_keys)})
    if wrong or not weights:
        example = f", e.g. {wrong[0]}" if wrong else ""
        raise InputError(
            f"the adapter does not fit its base model: {len(wrong)} weights differ in name{example}",
            where,
            hint,
        )
    _check_tied(model, where)
    return wrapped.merge_and_unload(safe_merge=True) if merge else wrapped.get_base_model()


def _check_rows(model: Any, weights: Mapping[str, Any], where: str) -> None:
    """Raise `InputError` if an adapter holds embeddings for a vocabulary of another size than the model's."""
    whole = {
        name: module
        for name, module in model.named_modules()
        if module is model.get_input_embeddings() or module is model.get_output_embeddings()
    }
    for key, weight in weights.items():
        module = next((each for name, each in whole.items() if f".{name}." in key), None)
        if module is None or weight.ndim != 2:
            continue
        rows = module.weight.shape[0]
        inside = ".lora_A" in key or ".lora_embedding_B" in key  # these have the width, not the rows
        found = weight.shape[1] if ".lora_embedding_A" in key else weight.shape[0]
        if not inside and found != rows:
            raise InputError(
                f"the adapter was trained on a base whose vocabulary was resized: {found:,} rows of"
                f" embeddings for {rows:,} of this base ({key})",
                where,
                "resize the base (resize_token_embeddings), merge the adapter, and save the whole model and"
                " its tokenizer",
            )


def _check_quantized(model: Any, where: str) -> None:
    """Raise `InputError` if a model's weights are quantised: merging would round them again."""
    if getattr(model, "is_quantized", False):
        raise InputError(
            "an adapter cannot be merged into a quantised model",
            where,
            "give the base model in full precision, which a QLoRA adapter fits as well",
        )


def _check_tied(model: Any, where: str) -> None:
    """Raise `InputError` if an adapter changes one of two layers that share their weights."""
    layers = model.get_input_embeddings(), model.get_output_embeddings()
    changed = any(hasattr(layer, "base_layer") or hasattr(layer, "modules_to_save") for layer in layers)
    if changed and getattr(model.config.get_text_config(), "tie_word_embeddings", False):
        raise InputError(
            "the adapter changes an output layer that is tied to the input embedding",
            where,
            "untie it (tie_word_embeddings: false), merge the adapter and save the whole model",
        )
