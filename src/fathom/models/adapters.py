"""LoRA adapters of PEFT [LoRA]: an adapter's folder with its base is a model.

New adapters go on all linear layers [TrainBeforeTest, App. A.3].
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fathom.config.adapter import Adapter
from fathom.errors import InputError
from fathom.io.files import read_json, read_object, refuse_stand_in
from fathom.io.names import show_count
from fathom.jobs.program import log
from fathom.models.folders import ADAPTER_CONFIG, refuse_pickled
from fathom.models.text_model import find_blocks, find_frozen, find_text_model

ADAPTER_WEIGHTS = "adapter_model.safetensors"


def is_adapter(folder: Path) -> bool:
    """Tell whether a folder holds an adapter."""
    return (folder / ADAPTER_CONFIG).is_file() and not (folder / "config.json").is_file()


def check_adapter(folder: Path) -> dict[str, Any]:
    """Return the configuration of a LoRA adapter's folder; raise `InputError` unless it is safe to load."""
    where = str(folder)
    if not folder.is_dir():
        raise InputError("no such folder", where, "check the path, or fetch the adapter again")
    if not is_adapter(folder):
        raise InputError(f"not an adapter: {ADAPTER_CONFIG} is missing", where, "check the path")
    if not (folder / ADAPTER_WEIGHTS).is_file():
        refuse_pickled((file.name for file in folder.glob("adapter_*")), where, "the adapter's")
        raise InputError(f"no adapter: {ADAPTER_WEIGHTS} is missing", where, "copy the whole folder")
    refuse_stand_in(folder / ADAPTER_WEIGHTS)
    config = read_json(folder / ADAPTER_CONFIG)
    kind = config.get("peft_type") if isinstance(config, dict) else None
    # megatron_core names a module that PEFT would import
    if kind != "LORA" or config.get("megatron_config"):
        hint = "merge it with PEFT and save the whole model"
        raise InputError(f"the adapter is of type {kind}, not LORA", where, hint)
    return dict(config)


def name_base(folder: Path) -> str:
    """Return the name that an adapter gives its base, a folder or an id on the hub, or nothing."""
    return str(read_object(folder / ADAPTER_CONFIG).get("base_model_name_or_path") or "")


def list_places(folder: Path) -> list[Path]:
    """Return where the folder of an adapter's base may be, by the name that it gives it."""
    named = name_base(folder)
    return [Path(named).expanduser(), folder / named] if named else []


def find_base(folder: Path) -> Path:
    """Return the base model's folder that an adapter names; raise `InputError` if there is none.

    An id on the hub is not fetched: loading a model fetches nothing.
    """
    for path in list_places(folder):
        if path.is_dir():
            return path
    named = name_base(folder)
    raise InputError(
        f"the adapter's base model is {named!r}, which is not a folder here" if named
        else "the adapter does not name its base model",
        str(folder),
        "name the base: --base, `base=` in a notebook, or a row of the registry with adapter_of",
    )  # fmt: skip


def apply_adapter(model: Any, folder: Path, merge: bool = True) -> Any:
    """Apply an adapter to its base model, in place; return a model of the same class.

    Merging into bfloat16 or float16 would round away most of a small change, so there the adapter stays in
    its layers, in float32. Raise `InputError` if it belongs to another model, or changes an output layer
    that is tied to the embedding.
    """
    from peft import LoraConfig, get_peft_model, set_peft_model_state_dict
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    where = str(folder)
    hint = "check that the adapter was trained on this base model"
    check_adapter(folder)
    if getattr(model, "is_quantized", False):  # merging would round the weights again
        raise InputError(
            "an adapter cannot be merged into a quantised model",
            where,
            "give the base model in full precision, which also fits a QLoRA adapter",
        )
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
        wrong_names = f"{show_count(len(wrong), 'weight')} with other names{example}"
        raise InputError(f"the adapter does not fit its base model: {wrong_names}", where, hint)
    _check_tied(model, where)
    return wrapped.merge_and_unload(safe_merge=True) if merge else wrapped.get_base_model()


def _check_rows(model: Any, weights: Mapping[str, Any], where: str) -> None:
    layers = (model.get_input_embeddings(), model.get_output_embeddings())
    whole = {name: module for name, module in model.named_modules() if any(module is each for each in layers)}
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


def _check_tied(model: Any, where: str) -> None:
    """Raise `InputError` if an adapter changes one of two layers that share their weights."""
    layers = model.get_input_embeddings(), model.get_output_embeddings()
    changed = any(hasattr(layer, "base_layer") or hasattr(layer, "modules_to_save") for layer in layers)
    if changed and getattr(model.config.get_text_config(), "tie_word_embeddings", False):
        what = "the adapter changes an output layer that is tied to the input embedding"
        hint = "untie it (tie_word_embeddings: false), merge the adapter and save the whole model"
        raise InputError(what, where, hint)


_WORTH_SAYING = 0.05  # share of weights without an adapter from which to report it
TRAINED = "trained"
"""Name of the adapter that is trained, beside others that the model has already."""


def add_adapter(model: Any, settings: Adapter, name: str = "the model", frozen: Sequence[int] = ()) -> None:
    """Insert an untrained adapter into a model, in place; existing adapters stay, frozen.

    The model's output stays the same. Only the adapter's weights are trainable; the data type is the model's
    own, not that of `settings`. `frozen` blocks, counted from 0, get none.
    """
    import torch
    from peft import LoraConfig, inject_adapter_in_model
    from transformers.pytorch_utils import Conv1D

    left = {id(part) for block in find_frozen(model, frozen, name) for part in block.modules()}
    modules = find_modules(model, settings.modules, name)
    modules = [each for each in modules if id(model.get_submodule(each)) not in left]
    log.info("adapters of %s: %s", name, describe_modules(model, modules))
    torch.manual_seed(settings.seed)
    config = LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha,
        lora_dropout=settings.dropout,
        target_modules=modules,
        fan_in_fan_out=any(isinstance(get_plain(model.get_submodule(each)), Conv1D) for each in modules),
        bias="none",
    )
    inject_adapter_in_model(config, model, TRAINED)
    for layer in list_adapted(model).values():
        layer.set_adapter([*layer.lora_A])  # all are active, but only the new one is to be trained
        for part in (layer.lora_A, layer.lora_B):
            for other in part.keys() - {TRAINED}:
                part[other].requires_grad_(False)
    for weight in list_weights(model).values():
        weight.data = weight.data.float()


def find_modules(model: Any, chosen: str, name: str) -> list[str]:
    """Return the names of the modules that an adapter changes: linear layers in the text model's blocks.

    Experts with weights stacked in one parameter are not linear layers and get none. For `chosen`
    see :class:`fathom.config.adapter.Adapter`; raise `InputError` if PEFT has no default for this model type.
    """
    from peft.utils.constants import TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING as DEFAULTS

    kind = model.config.get_text_config().model_type
    if chosen == "peft":
        if kind not in DEFAULTS:
            what = f"PEFT has no default modules for model type {kind!r} of {name}"
            raise InputError(what, "lora.modules", "all or attention, for all models of the run")
        endings = tuple(f".{ending}" for ending in DEFAULTS[kind])
        inside = {id(part) for part in find_text_model(model).modules()}
        found = [each for each, part in model.named_modules() if id(part) in inside]
        found = [each for each in found if f".{each}".endswith(endings)]
    else:
        found = _list_matrices(model, chosen == "attention", name)
    if not found:
        what = f"model type {kind!r} of {name} has no linear layers for adapters"
        raise InputError(what, f"lora.modules: {chosen}", "choose other modules, or train all weights")
    return found


def _list_matrices(model: Any, only_attention: bool, name: str) -> list[str]:
    import torch
    from transformers.pytorch_utils import Conv1D

    names = {id(part): path for path, part in model.named_modules()}
    within = {id(part) for layer in list_adapted(model).values() for part in list(layer.modules())[1:]}
    found = dict[str, None]()  # blocks may share modules
    for block in find_blocks(model, name):
        attention = {
            id(part)
            for path, whole in block.named_modules()
            if "attention" in type(whole).__name__.lower() or "attn" in path.rpartition(".")[2]
            for part in whole.modules()
        }
        # the fast kernels of Mamba read some weights without calling their modules
        past = {
            id(part)
            for mixer in block.modules()
            if hasattr(mixer, "conv1d") and hasattr(mixer, "A_log") and hasattr(mixer, "D")
            for part in (getattr(mixer, "out_proj", None), getattr(mixer, "dt_proj", None))
        }
        for part in block.modules():
            wanted = isinstance(get_plain(part), torch.nn.Linear | Conv1D) and id(part) not in past | within
            if wanted and (id(part) in attention or not only_attention) and _is_product(part):
                found[names[id(part)]] = None
    return list(found)


def _is_product(layer: Any) -> bool:
    """Say whether a linear layer returns only a product: some routers return more."""
    import torch

    plain = get_plain(layer)
    if not type(plain).__module__.startswith("transformers.models."):
        return True
    with torch.no_grad():
        some = torch.ones(1, plain.in_features, dtype=plain.weight.dtype, device=plain.weight.device)
        found, expected = plain(some), torch.nn.functional.linear(some, plain.weight, plain.bias)
    if not isinstance(found, torch.Tensor) or found.shape != expected.shape:
        return False
    return found.is_meta or torch.allclose(found, expected, rtol=1e-3, atol=1e-5, equal_nan=True)


def describe_modules(model: Any, modules: Sequence[str]) -> str:
    """Describe the modules with an adapter, and the share of the blocks' weights without one."""
    adapted = {id(weight) for each in modules for weight in model.get_submodule(each).parameters()}
    sizes = {
        (".".join(path.split(".")[-2:]), id(weight)): weight.numel()
        for block in find_blocks(model)
        for path, weight in block.named_parameters()
    }
    left = {key: size for key, size in sizes.items() if key[1] not in adapted}
    kinds = ", ".join(sorted({each.rpartition(".")[2] for each in modules}))
    text = f"{show_count(len(modules), 'matrix', 'matrices')} ({kinds})"
    share = sum(left.values()) / sum(sizes.values())
    if share > _WORTH_SAYING:
        largest = max(left.values())
        names = sorted({name for (name, _), size in left.items() if size > largest / 10})
        text += f"; {share:.0%} of the blocks' weights have none, most of all {', '.join(names)}"
    return text


def list_weights(model: Any) -> dict[str, Any]:
    """Return the adapter's parameters by name, the only trainable ones."""
    return {name: weight for name, weight in model.named_parameters() if weight.requires_grad}


def copy_weights(model: Any) -> dict[str, Any]:
    """Return a copy of the adapter's weights on the CPU."""
    return {name: weight.detach().cpu().clone() for name, weight in list_weights(model).items()}


def restore_weights(model: Any, weights: dict[str, Any]) -> None:
    """Load weights from :func:`copy_weights` into a model's adapter."""
    import torch

    with torch.no_grad():
        for name, weight in list_weights(model).items():
            weight.copy_(weights[name])


def get_plain(module: Any) -> Any:
    """Return the model's own layer inside one of PEFT, or the module itself."""
    from peft.tuners.lora import LoraLayer

    return module.get_base_layer() if isinstance(module, LoraLayer) else module


def list_adapted(model: Any) -> dict[str, Any]:
    """Return PEFT's layers of a model by the names of the modules that they change."""
    from peft.tuners.lora import LoraLayer

    return {name: layer for name, layer in model.named_modules() if isinstance(layer, LoraLayer)}


def cast_weights(model: Any, dtype: Any) -> None:
    """Cast a model's own weights to a data type, in place; adapters, and frequencies of rotation, stay."""
    for name, weight in model.named_parameters():
        if "lora_" not in name:
            weight.data = weight.data.to(dtype)
