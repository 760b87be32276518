"""Model pointers, and models loaded from them. Safetensors only, no remote code."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fathom.config.scoring import Scoring
from fathom.errors import InputError
from fathom.io.files import hash_text, read_json, read_object, write_json
from fathom.io.names import show_count
from fathom.io.paths import find_named_folder
from fathom.jobs.devices import describe_device
from fathom.models.adapters import apply_adapter, check_adapter, find_base, is_adapter
from fathom.models.folders import (
    check_blocks,
    check_folder,
    fingerprint_folder,
    is_gguf,
    load_tokenizer,
    read_origin,
)
from fathom.models.gguf_files import find_cache, unpack
from fathom.models.placement import choose_devices, map_modules
from fathom.models.quantization import (
    check_quantization,
    choose_quantization,
    count_bytes_per_weight,
    find_quantization,
    make_loading_options,
)
from fathom.models.registry import name_family, needs_bos
from fathom.models.text_model import choose_class
from fathom.models.tokens import count_entries


@dataclass(frozen=True)
class Pointer:
    """A model's folder and properties; stored as `model.json`."""

    name: str
    path: Path  # folder with config.json, safetensors and tokenizer files
    revision: str = ""  # commit on the hub; empty for a local folder or a model trained by the workflow
    kind: str = "base"
    dtype: str = "float32"
    fingerprint: str = ""
    base: str = ""
    add_bos: bool | None = None  # whether every text starts with a BOS token; None leaves it to the tokenizer
    chat_template: bool = False
    adapter: Path | None = None  # folder of a LoRA adapter that is merged into the model of `path` on loading
    # how the weights are quantised, see :data:`fathom.models.quantization.QUANTIZATIONS`, or were in their
    # GGUF file, such as `GGUF Q4_K_M`; empty: as stored
    quantization: str = ""
    # model whose weights these are, because those of `name` are corrupt; empty if they are its own
    stand_in: str = ""
    stand_in_tokens: int | None = None
    # address of the server that has the weights, with the model's name there; empty: they are in `path`. Then
    # `path` is the folder of the tokenizer, and `revision` the server's description of the model
    server: str = ""
    licence: str = ""
    terms: str = ""
    original: Path | None = None  # folder of a converted model's original tokenizer; None if not available


_FOLDERS = ("path", "adapter", "original")


def write_pointer(path: Path | str, pointer: Pointer) -> None:
    """Write a pointer as JSON; folders of the same run are stored as relative paths."""
    here = Path(path).resolve().parent

    def name(folder: Path) -> str:
        folder = folder.resolve()
        return os.path.relpath(folder, here) if here.parent.parent in folder.parents else str(folder)

    folders = {key: getattr(pointer, key) for key in _FOLDERS}
    values = {**vars(pointer), **{key: folder and name(folder) for key, folder in folders.items()}}
    rare = ("stand_in", "stand_in_tokens", "server", "licence", "terms", "original")
    write_json(path, {key: value for key, value in values.items() if value or key not in rare})


def read_pointer(path: Path | str) -> Pointer:
    """Read a pointer, or create one for a plain model folder or a GGUF file."""
    path = Path(path)
    if path.is_dir():
        return point_to_folder(find_named_folder(path.resolve()).name, path)
    if not path.exists():
        raise InputError("no such model", str(path), "give a model.json, a model folder or a GGUF file")
    if is_gguf(path):
        return point_to_folder(path.stem, open_weights(path))
    values = read_json(path)
    known = set(Pointer.__dataclass_fields__)
    if not isinstance(values, dict) or not {"name", "path"} <= set(values) or not set(values) <= known:
        raise InputError("not a model pointer", str(path), f"expected keys: {', '.join(sorted(known))}")
    folders = {key: path.parent / values[key] for key in _FOLDERS if values.get(key)}
    return Pointer(**{**values, **folders})


def open_weights(path: Path, cache: Path | None = None, terms: dict[str, str] | None = None) -> Path:
    """Return the model folder of a path: itself, or what a GGUF file is unpacked to in a cache.

    The one door to GGUF. `terms`: see :func:`fathom.models.gguf_files.unpack`.
    """
    return unpack(path, find_cache(cache), terms) if is_gguf(path) else path


def point_to_folder(name: str, folder: Path, revision: str = "") -> Pointer:
    """Return a pointer to the folder of a model, or of an adapter whose base is a folder.

    Raises
    ------
    InputError
        If an adapter names no base that is a folder.
    """
    if is_adapter(folder):
        base = find_base(folder)
        return Pointer(name, base, adapter=folder, add_bos=find_bos_rule(base))
    return Pointer(name, folder, revision, add_bos=find_bos_rule(folder), **read_origin(folder))


def find_bos_rule(folder: Path) -> bool | None:
    """Return True if the models of a folder's family need a BOS token; None leaves it to the tokenizer."""
    file = folder / "config.json"
    return needs_bos(name_family(str(read_object(file).get("model_type")))) if file.is_file() else None


def hash_weights(model: Any) -> str:
    """Hash the weights of a loaded model, including their names, dtypes and shapes."""
    import torch

    digest = hashlib.sha256()
    for name, weight in sorted(model.state_dict().items()):
        digest.update(f"{name} {weight.dtype} {tuple(weight.shape)}\n".encode())
        digest.update(weight.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy())
    return digest.hexdigest()


def check_fingerprint(pointer: Pointer) -> str:
    """Return a model's fingerprint, with its adapter's; raise `InputError` if it is not the pointer's."""
    found = "" if pointer.path == Path() else fingerprint_folder(pointer.path)
    if pointer.server:  # all that identifies the weights
        found = hash_text(pointer.server, pointer.revision, found)
    if pointer.adapter is not None:
        found = hash_text(found, fingerprint_folder(pointer.adapter))
    if pointer.fingerprint and pointer.fingerprint != found:
        what = f"the files of model {pointer.name!r} have changed since its pointer was written"
        raise InputError(what, str(pointer.path), "train or fetch the model again")
    return found


def identify(pointer: Pointer) -> dict[str, Any]:
    """Return what identifies a model with unchanged files, independent of its place."""
    return {**vars(pointer), **dict.fromkeys(_FOLDERS, ""), "fingerprint": check_fingerprint(pointer)}


def describe_loaded(pointer: Pointer, model: Any, dtype: str) -> dict[str, Any]:
    """Describe a loaded model for a report: name, checked fingerprint, dtype, device and versions."""
    return {
        "model": pointer.name,
        "fingerprint": check_fingerprint(pointer),
        "dtype": dtype,
        "quantization": pointer.quantization or find_quantization(pointer.path),
        "adapter_of": pointer.base if pointer.adapter is not None else "",
        "attention": model.config.get_text_config()._attn_implementation,
        **describe_device(model.device),
        "gpus": len(set(getattr(model, "hf_device_map", {}).values())) or int(model.device.type == "cuda"),
    }


def refuse_server(pointer: Pointer) -> None:
    """Raise `InputError` if a model's weights, which are needed, are behind a server."""
    if pointer.server:
        what = f"{pointer.name!r} is behind a server, which gives only log-probabilities of prompts"
        hint = "it can measure pairs and texts; anything else needs the weights: name their folder or hub id"
        raise InputError(what, pointer.server, hint)


def load_model(
    source: Pointer | Path | str, dtype: str = "float32", device: str = "cpu", attention: str = "auto"
) -> tuple[Any, Any]:
    """Load a causal language model and its tokenizer, for evaluation.

    Parameters
    ----------
    device : str, default="cpu"
        cpu, cuda, cuda:N or auto. With auto, weights that do not fit one GPU are spread over several.

    Raises
    ------
    InputError
        If the model does not exist, its weights are pickled or incomplete, or its tokenizer is missing or
        has a larger vocabulary than the model; if there is no such device, it lacks the data type or memory,
        or the implementation of attention cannot run.
    """
    pointer = source if isinstance(source, Pointer) else read_pointer(source)
    settings = Scoring(dtype=dtype, device=device, attention=attention)
    (model, *_), tokenizer = load_copies(pointer, settings, merge=True)
    return model, tokenizer


def load_copies(
    pointer: Pointer, settings: Scoring, gpus: int = 1, merge: bool | None = None
) -> tuple[list[Any], Any]:
    """Load a model on each GPU that shares the work, or once over several if it does not fit one.

    Parameters
    ----------
    gpus : int, default=1
        Number of visible GPUs that share the work, if the device is `auto`.
    merge : bool, optional
        Merge an adapter, to train all weights; False: never, to train another adapter; None: in float32
        alone, where nothing is lost.
    """
    refuse_server(pointer)
    check_folder(pointer.path)
    if pointer.adapter is not None:
        check_adapter(pointer.adapter)
    config = _read_config(pointer.path)  # before its tokenizer, which also reads it
    own = pointer.adapter is not None and (pointer.adapter / "tokenizer.json").is_file()
    tokenizer = load_tokenizer(pointer.adapter if own and pointer.adapter is not None else pointer.path)
    quantization = choose_quantization(pointer.path, pointer.quantization)
    each = count_bytes_per_weight(pointer.path, quantization)
    copies, size = choose_devices(settings.device, gpus, pointer.path, settings.dtype, each)
    check_quantization(quantization, copies[0][0], str(pointer.path))
    models = []
    for devices in copies:
        place = None if devices == ["cpu"] else {"": devices[0]}
        if len(devices) > 1:
            place = map_modules(pointer.path, settings.dtype, devices, size)
        more = make_loading_options(pointer.path, quantization, settings.dtype)
        model = _load(pointer, config, settings, place, more)
        if pointer.adapter is not None:
            together = settings.dtype == "float32" if merge is None else merge
            model = apply_adapter(model, pointer.adapter, together).eval()
        _check_vocabulary(model, tokenizer, own)
        models.append(model)
    return models, tokenizer


def _load(
    pointer: Pointer, config: Any, settings: Scoring, place: dict[str, str] | None, more: dict[str, Any]
) -> Any:
    """Load with more options to the devices of a model's modules; None: to the CPU."""
    import torch
    from transformers.utils import logging

    logging.disable_progress_bar()
    if place is not None:
        more["device_map"] = place
    first = "cpu" if place is None else next(iter(place.values()))
    kind = choose_class(config, str(pointer.path))
    try:
        attention = choose_attention(config, settings.attention, settings.dtype, first)
        if attention is not None:
            more["attn_implementation"] = attention
        more |= {"dtype": getattr(torch, settings.dtype), "use_safetensors": True, "local_files_only": True}
        model, info = kind.from_pretrained(
            pointer.path, output_loading_info=True, trust_remote_code=False, **more
        )
    except Exception as error:  # of any kind: each architecture trips over other values of config.json
        raise _explain(error, pointer.path, first) from error
    missing = sorted(info["missing_keys"])
    if missing:
        hint = "the folder is incomplete, or its config.json belongs to another model"
        raise InputError(
            f"{show_count(len(missing), 'weight')} missing, e.g. {missing[0]}", str(pointer.path), hint
        )
    check_blocks(info["unexpected_keys"], config, pointer.path)
    if find_quantization(pointer.path) and not getattr(model, "is_quantized", False):
        _cast_weights(model, getattr(torch, settings.dtype))
    return model.eval()


def _cast_weights(model: Any, dtype: Any) -> None:
    """Cast the weights beside packed ones, which transformers leaves as stored.

    Buffers, such as rotary frequencies, and weights that a model keeps in float32 are not cast.
    """
    import torch

    kept = {*(model._keep_in_fp32_modules_strict or ())}
    if dtype == torch.float16:
        kept |= {*(model._keep_in_fp32_modules or ())}
    for name, weight in model.named_parameters():
        if kept.isdisjoint(name.split(".")):
            weight.data = weight.data.to(dtype)


def _read_config(folder: Path) -> Any:
    from transformers import AutoConfig

    try:
        return AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except Exception as error:  # of any kind: each architecture checks its own values
        what = f"the model's configuration cannot be read: {error}"
        hint = "copy it again; a newer architecture needs newer transformers"
        raise InputError(what, str(folder / "config.json"), hint) from error


def _explain(error: Exception, folder: Path, device: str) -> InputError:
    if isinstance(error, InputError):
        return error
    what = f"the model cannot be loaded: {str(error).strip() or type(error).__name__}"
    hint = "check its config.json and weights, or copy the whole folder again"
    if "mismatched_sizes" in str(error):  # the message of transformers: it has logged which weights
        what = "the weights' shapes differ from config.json"
        hint = "its config.json belongs to another model: copy the whole folder again"
    elif isinstance(error, MemoryError) or "out of memory" in str(error):
        what = f"{'memory' if device == 'cpu' else 'GPU memory'} ran out while loading the model ({device})"
        hint = (
            "use dtype bfloat16, a larger machine or GPU, or several GPUs; other programs may fill this one"
        )
    return InputError(what, str(folder), hint)


def _check_vocabulary(model: Any, tokenizer: Any, own: bool) -> None:
    """Raise `InputError` if a tokenizer has more entries than the model; `own`: it is an adapter's own."""
    size, entries = model.get_input_embeddings().num_embeddings, count_entries(tokenizer)
    if entries > size:
        hint = "check that the tokenizer belongs to the model"
        if own:
            hint = (
                "move the adapter's tokenizer away if its entries are not needed, such as one for padding;"
                " else resize the base (resize_token_embeddings), merge the adapter, and save the whole model"
            )
        what = f"the tokenizer has {entries:,} entries, the model {size:,}"
        raise InputError(what, str(tokenizer.name_or_path), hint)


def find_context_length(model: Any) -> int | None:
    """Return the context length of a model in tokens, or None if its configuration gives none."""
    context = getattr(model.config.get_text_config(), "max_position_embeddings", None)
    return context if isinstance(context, int) else None


def choose_attention(config: Any, wanted: str, dtype: str, device: str) -> str | None:
    """Return the implementation to load a model with; None leaves it to transformers.

    A model with soft-capped attention logits (Gemma 2) needs one that applies the cap. PyTorch's `sdpa`
    silently gives other ranks.

    Raises
    ------
    InputError
        If the implementation is not installed, or cannot run this model, data type or device.
    """
    capped = getattr(config.get_text_config(), "attn_logit_softcapping", None) is not None
    if wanted == "auto":
        return "eager" if capped else None
    if wanted == "sdpa" and capped:
        hint = "use auto, eager or flash_attention_2"
        raise InputError("sdpa ignores this model's soft cap of attention logits", "scoring.attention", hint)
    if wanted == "flash_attention_2":
        _check_flash_attention(dtype, device)
    return wanted


@contextmanager
def use_fused_attention() -> Iterator[None]:
    """Let float32 queries that share keys take a fused kernel on a GPU inside the `with` block.

    PyTorch's fused kernels take no shared keys in float32; the fallback holds the weights of all heads
    twice: 4.3 GB for 16,384 tokens in windows of 1,024 at 32 heads, measured on an H200.
    """
    import torch
    from transformers.integrations import sdpa_attention

    name = "use_gqa_in_sdpa"
    chosen = getattr(sdpa_attention, name, None)

    def choose(attention_mask: Any, key: Any, *more: Any) -> bool:
        unfused = key.dtype == torch.float32 and key.device.type == "cuda"
        return not unfused and chosen is not None and chosen(attention_mask, key, *more)

    if chosen is None:  # another version of transformers decides elsewhere
        yield
        return
    setattr(sdpa_attention, name, choose)
    try:
        yield
    finally:
        setattr(sdpa_attention, name, chosen)


def _check_flash_attention(dtype: str, device: str) -> None:
    """Raise `InputError` if FlashAttention-2 cannot run; transformers would fetch code in its place."""
    from transformers.utils import is_flash_attn_2_available

    where = "scoring.attention"
    if not device.startswith("cuda"):
        raise InputError("flash_attention_2 needs a GPU", where, "use auto")
    if dtype == "float32":
        hint = "set scoring.dtype to bfloat16, or use auto"
        raise InputError("flash_attention_2 has no float32", where, hint)
    if not is_flash_attn_2_available():
        raise InputError("flash_attention_2 is not installed", where, "pip install flash-attn, or use auto")
