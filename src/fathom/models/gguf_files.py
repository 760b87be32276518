"""GGUF files: unpacked once into a model folder of float32 safetensors, which is then like any other.

Reading one takes as long as scoring hundreds of pairs, so it is not done on each load. What is unpacked lies
beside the hub's cache, by the file's hash and the versions that read it.

Keys that transformers would silently ignore are refused, and gaps in its conversion of the tokenizer are
filled as in llama.cpp.
"""

import json
import math
from collections import Counter
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from fathom.errors import InputError
from fathom.io.files import hash_text, make_folder, write_atomically, write_json
from fathom.io.names import show_count
from fathom.jobs.file_hashes import hash_once
from fathom.jobs.program import log
from fathom.models.folders import ORIGIN_FILE, format_size, require_space
from fathom.models.gguf_header import TOKENS, Header, StoredTensor, read_header
from fathom.models.quantization import UNPACKED
from fathom.models.text_model import choose_class
from fathom.models.tokens import count_entries

_SHARD = 2_000_000_000  # bytes of a file of weights, which is in memory as a whole
_WIDTH = 4  # bytes of a float32


def find_cache(cache: Path | None = None) -> Path:
    """Return the folder of unpacked models: below `cache`, else beside the hub's cache, in `HF_HOME`."""
    from huggingface_hub.constants import HF_HOME

    return (cache or Path(HF_HOME) / "fathom") / "gguf"


def unpack(file: Path, cache: Path, terms: dict[str, str] | None = None) -> Path:
    """Return the model folder of a GGUF file; make it if it is not there.

    The package gguf gives the weights of each tensor in float32; nothing is rounded further.

    Parameters
    ----------
    terms : dict, optional
        Licence and terms, kept with the model; None: the licence that the file names.

    Raises
    ------
    InputError
        If the file is missing, damaged or not a language model, or transformers cannot compute it; then
        nothing is left behind.
    """
    from filelock import FileLock

    if not file.is_file():
        raise InputError("no such file", str(file), "check the path")
    header = read_header(file)
    content = hash_once(file)
    versions = {name: version(name) for name in ("gguf", "tokenizers", "transformers")}
    key = hash_text(content, *(f"{name} {value}" for name, value in versions.items()))
    folder = cache / f"{file.stem[:60]}-{key[:16]}"
    origin = {
        "sha256": content,
        "architecture": header.architecture,
        "quantization": f"{UNPACKED}{describe_format(header)}",
        "versions": versions,
        **(terms or {"licence": str(header.metadata.get("general.license", "")), "terms": ""}),
    }
    if (folder / ORIGIN_FILE).is_file():
        return folder
    make_folder(cache)
    with FileLock(cache / f".{folder.name}.lock"):  # jobs with and without the chat template start together
        if (folder / ORIGIN_FILE).is_file():
            return folder
        size = _WIDTH * sum(math.prod(tensor.shape) for tensor in header.tensors)
        require_space(cache, size, f"{file.name}, unpacked,")
        log.info("%s is unpacked to %s, once", file.name, format_size(size))
        with write_atomically(folder) as temporary:
            temporary.mkdir()
            _write_model(file, header, temporary)
            write_json(temporary / ORIGIN_FILE, origin)
    return folder


def describe_format(header: Header) -> str:
    """Return how weights are stored, such as `Q4_K_M`: by the file's own name, else most of its weights."""
    from gguf import GGMLQuantizationType, LlamaFileType

    named = header.metadata.get("general.file_type")
    if named in set(LlamaFileType) and named != LlamaFileType.GUESSED:
        return str(LlamaFileType(named).name).removeprefix("MOSTLY_").removeprefix("ALL_")
    sizes = Counter[int]()
    for tensor in header.tensors:
        sizes[tensor.kind] += math.prod(tensor.shape)
    return str(GGMLQuantizationType(max(sizes, key=lambda kind: (sizes[kind], kind))).name)


def _write_model(file: Path, header: Header, folder: Path) -> None:
    import torch
    from transformers.utils import logging

    logging.disable_progress_bar()
    tensors = {tensor.name: tensor for tensor in header.tensors}
    config = build_config(file, header, lambda name: _dequantize(file, tensors[name]))
    config.dtype = "float32"
    tokenizer = build_tokenizer(file, header)
    if count_entries(tokenizer) > config.vocab_size:
        what = f"the tokenizer has {count_entries(tokenizer):,} entries, the model {config.vocab_size:,}"
        hint = "the tokenizer in the file belongs to another model: convert it again"
        raise InputError(what, str(file), hint)
    try:
        with torch.device("meta"):
            model = choose_class(config, str(file)).from_config(config, dtype=torch.float32)
    except (ValueError, KeyError, RuntimeError, AttributeError) as error:
        raise InputError(f"cannot build a model from the file's configuration: {error}", str(file)) from error
    config.architectures = [type(model).__name__]
    _Weights(file, header, model).write(folder)
    config.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


class _Weights:
    """The weights of a file under the names of transformers, in files of a few GB."""

    def __init__(self, file: Path, header: Header, model: Any) -> None:
        from transformers.modeling_gguf_pytorch_utils import (
            TENSOR_PROCESSORS,
            TensorProcessor,
            get_gguf_hf_weights_map,
        )

        self._file, self._header = file, header
        process = TENSOR_PROCESSORS.get(header.architecture, TensorProcessor)
        self._processor = process(config=model.config.to_dict())
        self._names = get_gguf_hf_weights_map(model, self._processor)
        tied = set(model._tied_weights_keys or ()) if model.config.tie_word_embeddings else set()
        self._wanted = {
            name: tuple(weight.shape) for name, weight in model.state_dict().items() if name not in tied
        }
        self._index: dict[str, str] = {}
        self._parts: dict[str, set[str]] = {}  # tensors of each weight still to be read
        for stored, name in self._names.items():
            self._parts.setdefault(name, set()).add(stored.removesuffix(".weight"))

    def write(self, folder: Path) -> None:
        """Write all of them; raise `InputError` unless file and model have the same."""
        kept: dict[str, Any] = {}
        parsed: dict[str, Any] = {"tensors": {}}  # joins experts of several tensors
        for tensor in self._header.tensors:
            kept |= self._convert(tensor, parsed)
            if sum(weight.nbytes for weight in kept.values()) > _SHARD:
                self._save(folder, kept)
                kept = {}
        self._save(folder, kept)
        if missing := sorted(set(self._wanted) - set(self._index)):
            raise self._fail(f"{show_count(len(missing), 'weight')} missing, e.g. {missing[0]}")
        files = sorted(set(self._index.values()))
        if len(files) == 1:
            (folder / files[0]).replace(folder / "model.safetensors")
        else:
            write_json(folder / "model.safetensors.index.json", {"metadata": {}, "weight_map": self._index})

    def _convert(self, tensor: StoredTensor, parsed: dict[str, Any]) -> dict[str, Any]:
        """Return the weight that a tensor completes, by its name; nothing if parts are missing."""
        if tensor.name == _ROPE_TENSOR:  # in the configuration
            return {}
        try:
            result = self._processor.process(
                weights=_dequantize(self._file, tensor),
                name=tensor.name,
                tensor_key_mapping=self._names,
                parsed_parameters=parsed,
            )
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise self._fail(f"tensor {tensor.name} cannot be read: {error}") from error
        stem = tensor.name.removesuffix(".weight")
        put = self._names.get(tensor.name) or self._names.get(stem)
        if result.name is None and put in parsed["tensors"]:
            self._parts[put].discard(stem)
            return {} if self._parts[put] else {put: parsed["tensors"].pop(put).numpy()}
        if result.name not in self._names:
            raise self._fail(f"transformers cannot read its tensor {tensor.name}")
        return {self._names[result.name]: result.weights}

    def _save(self, folder: Path, weights: dict[str, Any]) -> None:
        from safetensors.numpy import save_file

        for name, weight in weights.items():
            if weight.shape != self._wanted.get(name):
                raise self._fail(f"{name} is of shape {weight.shape}, not {self._wanted.get(name)}")
        if weights:
            file = f"model-{len(set(self._index.values())) + 1:05d}.safetensors"
            whole = {name: np.ascontiguousarray(weight, np.float32) for name, weight in weights.items()}
            save_file(whole, folder / file, metadata={"format": "pt"})
            (folder / file).chmod(0o644)  # several people share the folder
            self._index |= dict.fromkeys(weights, file)

    def _fail(self, problem: str) -> InputError:
        hint = "use the model before it was converted, or convert it again"
        return InputError(problem, str(self._file), hint)


def _dequantize(file: Path, tensor: StoredTensor) -> Any:
    from gguf import GGMLQuantizationType
    from gguf.quants import dequantize

    kind = GGMLQuantizationType(tensor.kind)
    content = np.memmap(file, np.uint8, "r", tensor.start, (tensor.size,))
    rows = np.array(content).reshape(*tensor.shape[:-1], -1)
    try:
        values = dequantize(rows, kind)
    except NotImplementedError as error:
        what = f"tensor {tensor.name} is in {kind.name}, which the package gguf does not unpack"
        raise InputError(what, str(file), "use a file in another quantisation") from error
    return values.reshape(tensor.shape).astype(np.float32, copy=False)


def _find_head(config: Any) -> int:
    found = getattr(config, "head_dim", None)
    return int(found or config.hidden_size // config.num_attention_heads)


# keys of llama.cpp unknown to transformers, and the configuration values that must equal them
_SAME: dict[str, Callable[[Any], Any]] = {
    "attention.key_length": _find_head,
    "attention.value_length": _find_head,
    "rope.dimension_count": _find_head,
    "attention.sliding_window": lambda config: config.sliding_window,
    "attention.sliding_window_pattern": lambda config: config._sliding_window_pattern,
    "attn_logit_softcapping": lambda config: config.attn_logit_softcapping,
    "final_logit_softcapping": lambda config: config.final_logit_softcapping,
    "rope.freq_base_swa": lambda config: config.rope_parameters["sliding_attention"]["rope_theta"],
    "attention.causal": lambda _: True,
    "rope.scaling.attn_factor": lambda _: 1.0,
}
_IDLE = frozenset({
    "vocab_size", "context_length", "tensor_data_layout", "rope.scaling.type", "rope.scaling.factor",
    "rope.scaling.finetuned", "rope.scaling.original_context_length",
})  # fmt: skip
"""Keys that change nothing, or are read by :func:`build_config`."""
_EXPERTS: dict[str, dict[str, str]] = {
    "qwen2moe": {
        "expert_feed_forward_length": "moe_intermediate_size",
        "expert_shared_feed_forward_length": "shared_expert_intermediate_size",
    },
    "qwen3moe": {"expert_feed_forward_length": "moe_intermediate_size"},
}
"""By architecture, keys of the widths of experts, unknown to transformers, and its names for them."""
_ROPE_TENSOR = "rope_freqs.weight"
_WAY_OUT = "use the model before it was converted: its folder or its id on the hub"


def build_config(file: Path, header: Header, read: Callable[[str], Any]) -> Any:
    """Return the transformers configuration of a GGUF file's model; `read` gives a tensor's values by name.

    Raise `InputError` if transformers does not read the architecture, or would not calculate what the file
    asks for.
    """
    from transformers import AutoConfig
    from transformers.modeling_gguf_pytorch_utils import GGUF_SUPPORTED_ARCHITECTURES, load_gguf_checkpoint

    known = sorted({*GGUF_SUPPORTED_ARCHITECTURES, *_SPELLED} - _NO_DECODERS)
    if header.architecture not in known:
        what = f"transformers cannot read GGUF of architecture {header.architecture!r}"
        raise InputError(what, str(file), f"{_WAY_OUT}; read are {', '.join(known)}")
    try:
        values = load_gguf_checkpoint(str(file), return_tensors=False)["config"]
        widths, own = _EXPERTS.get(header.architecture, {}), header.get_own()
        values |= {name: own[key] for key, name in widths.items() if key in own}
        config = AutoConfig.for_model(**values)
        rows = {tensor.name: tensor.shape[0] for tensor in header.tensors}
        if "token_embd.weight" not in rows:
            raise _PassedOverError("there is no input embedding (token_embd.weight)")
        config.vocab_size = rows["token_embd.weight"]
        config.max_position_embeddings = own.get("context_length", config.max_position_embeddings)
        _check_keys(config, header)
        _set_rope(config, header, read)
    except InputError:
        raise
    except Exception as error:  # any exception: each architecture checks its own values
        problem = error if isinstance(error, _PassedOverError) else f"{type(error).__name__}: {error}"
        raise InputError(
            f"the model's configuration cannot be read from the file: {problem}", str(file), _WAY_OUT
        ) from error
    return config


_SPELLED = {
    "qwen2moe": "qwen2_moe",
    "qwen3moe": "qwen3_moe",
    "gpt-oss": "gpt_oss",
    "minimax-m2": "minimax_m2",
}
"""Llama.cpp's names of architectures, and how transformers spells them."""
_NO_DECODERS = frozenset({"t5", "umt5", "tokenizer", *_SPELLED.values()})
"""Further names in transformers' list."""


class _PassedOverError(ValueError):
    """Features of a file that transformers would silently ignore."""


def _check_keys(config: Any, header: Header) -> None:
    """Raise an error if a key of the architecture is neither read nor without effect."""
    from transformers.integrations.ggml import GGUF_CONFIG_MAPPING

    read = GGUF_CONFIG_MAPPING.get(_SPELLED.get(header.architecture, header.architecture), {})
    read = read | _EXPERTS.get(header.architecture, {})
    for key, value in header.get_own().items():
        if read.get(key) or key in _IDLE:
            continue
        if key not in _SAME:
            raise _PassedOverError(f"{key} = {value!r} is not read by transformers")
        used = _SAME[key](config)
        if used != value and not (isinstance(value, float) and math.isclose(used, value, rel_tol=1e-6)):
            raise _PassedOverError(f"{key} = {value!r}, and transformers would take {used!r}")


def _set_rope(config: Any, header: Header, read: Callable[[str], Any]) -> None:
    """Set the scaling of rotary positions, which transformers does not read from these files."""
    own, scaling = header.get_own(), {}
    kind = own.get("rope.scaling.type", "none")
    if kind == "linear":
        scaling = {"rope_type": "linear", "factor": own["rope.scaling.factor"]}
    elif kind != "none":
        raise _PassedOverError(f"rope.scaling.type = {kind!r} is not read by transformers")
    if any(tensor.name == _ROPE_TENSOR for tensor in header.tensors):
        scaling = _recognize_llama3(config, read(_ROPE_TENSOR))
    if scaling:
        parameters = config.rope_parameters
        # Gemma 3 scales in its layers of full attention only
        parameters.get("full_attention", parameters).update(scaling)


def _recognize_llama3(config: Any, factors: Any) -> dict[str, Any]:
    """Return Llama 3's scaling of rotary positions whose factors for each frequency are these."""
    if min(factors) <= 0:
        raise _PassedOverError(f"{_ROPE_TENSOR} has a factor that is not positive")
    head, theta = _find_head(config), config.rope_parameters["rope_theta"]
    factor, low, high, old = float(max(factors)), 1.0, 4.0, 8192
    turns = old / (2 * math.pi * theta ** (np.arange(0, head, 2) / head))  # in the context before extension
    share = np.clip((turns - low) / (high - low), 0, 1)
    expected = 1 / ((1 - share) / factor + share)
    if len(expected) != len(factors) or not np.allclose(factors, expected, rtol=1e-4, atol=0):
        raise _PassedOverError(f"{_ROPE_TENSOR} does not scale rotary positions like Llama 3")
    scaling = {"factor": factor, "low_freq_factor": low, "high_freq_factor": high}
    return {"rope_type": "llama3", **scaling, "original_max_position_embeddings": old}


# llama.cpp's names of ways to split text before merges: llama_vocab::impl::load in its src/llama-vocab.cpp
_LIKE_GPT2 = frozenset({"gpt-2", "phi-2", "mpt", "olmo", "jais"})
_SINGLE_DIGITS = frozenset({"smollm", "starcoder", "refact", "command-r", "codeshell", "exaone"})
_LIKE_LLAMA3 = frozenset({"llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "tekken"})
"""Whole words in the vocabulary stay whole, and a BOS token comes first unless the file says otherwise."""
_ADD_BOS = "tokenizer.ggml.add_bos_token"


def build_tokenizer(file: Path, header: Header) -> Any:
    """Return the tokenizer of a GGUF file.

    Raises
    ------
    InputError
        If it cannot be built, or splits text in an unknown way.
    """
    from transformers import PreTrainedTokenizerFast
    from transformers.integrations.gguf import convert_gguf_tokenizer, get_gguf_tokenizer

    split = _check_split(file, header)
    try:
        architecture, values, named = get_gguf_tokenizer(str(file))
        core, _ = convert_gguf_tokenizer(architecture, values)
        core = _drop_others(core, header.metadata[TOKENS])
        _mend(core, header, split)
        tokens = {name: named.get(name) for name in ("bos_token", "eos_token", "unk_token", "pad_token")}
        tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, **tokens)
        tokenizer.chat_template = named.get("chat_template")
        _set_bos(tokenizer, adds_bos(header))
    except Exception as error:  # of any kind: `tokenizers` raises bare ones for entries that do not fit
        what = f"the tokenizer in the file cannot be read: {error or type(error).__name__}"
        hint = "take a file that llama.cpp converted, or the model's folder with its own tokenizer"
        raise InputError(what, str(file), hint) from error
    return tokenizer


def adds_bos(header: Header) -> bool:
    """Return whether texts start with a BOS token: as in the file, else as in llama.cpp."""
    kind, split = (header.metadata.get(f"tokenizer.ggml.{key}") for key in ("model", "pre"))
    return bool(header.metadata.get(_ADD_BOS, kind == "llama" or split in _LIKE_LLAMA3))


def _check_split(file: Path, header: Header) -> str:
    from transformers.integrations.gguf.gguf_tokenizer_mapping import GGUF_PRE_TOKENIZER_SPLITS

    if header.metadata.get("tokenizer.ggml.model") != "gpt2":
        return ""
    split = str(header.metadata.get("tokenizer.ggml.pre", "default"))
    if split in {*_LIKE_GPT2, *_SINGLE_DIGITS, *GGUF_PRE_TOKENIZER_SPLITS}:
        return split
    what = f"unknown way of splitting text, {split!r}: tokens could differ from the model's"
    hint = "use the model before it was converted; an old file: convert it again with a newer llama.cpp"
    raise InputError(what, str(file), hint)


def _drop_others(core: Any, entries: int) -> Any:
    """Return a tokenizer without tokens missing from the file, some of which transformers adds by default."""
    from tokenizers import Tokenizer

    if all(place < entries for place in core.get_added_tokens_decoder()):
        return core
    values = json.loads(core.to_str())
    values["added_tokens"] = [token for token in values["added_tokens"] if token["id"] < entries]
    return Tokenizer.from_str(json.dumps(values))


def _mend(core: Any, header: Header, split: str) -> None:
    """Set options that the conversion of transformers leaves at their defaults."""
    from tokenizers import pre_tokenizers

    if split in _SINGLE_DIGITS:
        plain = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
        core.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), plain])
    if split in _LIKE_LLAMA3:
        core.model.ignore_merges = True
    spaced = header.metadata.get("tokenizer.ggml.add_space_prefix", True)
    if isinstance(core.pre_tokenizer, pre_tokenizers.Metaspace) and not spaced:
        core.pre_tokenizer.prepend_scheme = "never"


def _set_bos(tokenizer: Any, add: bool) -> None:
    from tokenizers.processors import ByteLevel, TemplateProcessing

    core = tokenizer.backend_tokenizer
    if not add:
        core.post_processor = ByteLevel(trim_offsets=False)  # adds nothing
        return
    bos = tokenizer.bos_token
    if bos is None:
        raise ValueError("a BOS token should come before each text, but none is named")
    pair = f"{bos} $A {bos} $B"
    core.post_processor = TemplateProcessing(f"{bos} $A", pair, [(bos, tokenizer.bos_token_id)])
