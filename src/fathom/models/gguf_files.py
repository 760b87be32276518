"""GGUF files: unpacked once into a model folder of float32 safetensors, which is then like any other.

Reading one takes as long as scoring hundreds of pairs, so it is not done on each load. What is unpacked lies
beside the hub's cache, by the file's hash and the versions that read it.
"""

from importlib.metadata import version
from pathlib import Path
from typing import Any

from fathom.errors import InputError
from fathom.io.files import hash_text, make_folder, write_atomically, write_json
from fathom.jobs.file_hashes import hash_once
from fathom.jobs.program import log
from fathom.models.folders import GGUF, ORIGIN_FILE, format_size, require_space
from fathom.models.gguf_config import build_config
from fathom.models.gguf_header import Header, StoredTensor, read_header
from fathom.models.gguf_tokenizer import build_tokenizer
from fathom.models.quantization import UNPACKED
from fathom.models.text_model import choose_class
from fathom.models.tokens import count_entries

_SHARD = 2_000_000_000  # bytes of a file of weights, which are in memory at once
_WIDTH = 4  # bytes of a float32


def is_gguf(path: Path) -> bool:
    """Say whether a name is that of a GGUF file."""
    return path.name.lower().endswith(GGUF)


def find_cache(cache: Path | None = None) -> Path:
    """Return the folder of unpacked models: below `cache`, else beside the hub's cache, in `HF_HOME`."""
    from huggingface_hub.constants import HF_HOME

    return (cache or Path(HF_HOME) / "fathom") / "gguf"


def open_weights(path: Path, cache: Path | None = None, terms: dict[str, str] | None = None) -> Path:
    """Return the model folder of a path: itself, or what a GGUF file is unpacked to.

    Parameters
    ----------
    path : Path
    cache : Path, optional
        Folder that holds what is fetched; None: the hub's cache.
    terms : dict, optional
        See :func:`unpack`.
    """
    return path if path.is_dir() or not is_gguf(path) else unpack(path, find_cache(cache), terms)


def unpack(file: Path, cache: Path, terms: dict[str, str] | None = None) -> Path:
    """Return the model folder of a GGUF file; make it if it is not there.

    Weights are those that the package gguf gives for each tensor, in float32; nothing is rounded further.

    Parameters
    ----------
    file : Path
        The file.
    cache : Path
        Folder that holds unpacked models.
    terms : dict, optional
        Licence and terms, kept with the model; None: the licence that the file names.

    Raises
    ------
    InputError
        If there is no such file, it is damaged or no language model, or transformers cannot calculate what it
        asks for; nothing is left then.
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
    with FileLock(cache / f".{folder.name}.lock"):  # jobs for a model and its chat template start together
        if not (folder / ORIGIN_FILE).is_file():
            _unpack_to(folder, file, header, origin)
    return folder


def _unpack_to(folder: Path, file: Path, header: Header, origin: dict[str, Any]) -> None:
    """Make the model folder of a file, with what is known of its origin."""
    size = _WIDTH * sum(_count(tensor) for tensor in header.tensors)
    require_space(folder.parent, size, f"{file.name}, unpacked,")
    log.info("%s is unpacked to %s, once", file.name, format_size(size))
    with write_atomically(folder) as temporary:
        temporary.mkdir()
        _write_model(file, header, temporary)
        write_json(temporary / ORIGIN_FILE, origin)


def describe_format(header: Header) -> str:
    """Return how weights are stored, such as `Q4_K_M`: as the file says, else most of its weights."""
    from gguf import GGMLQuantizationType, LlamaFileType

    named = header.metadata.get("general.file_type")
    if named in set(LlamaFileType) and named != LlamaFileType.GUESSED:
        return str(LlamaFileType(named).name).removeprefix("MOSTLY_").removeprefix("ALL_")
    sizes: dict[int, int] = {}
    for tensor in header.tensors:
        sizes[tensor.kind] = sizes.get(tensor.kind, 0) + _count(tensor)
    return str(GGMLQuantizationType(max(sizes, key=lambda kind: (sizes[kind], kind))).name)


def _count(tensor: StoredTensor) -> int:
    """Return the number of values of a tensor."""
    count = 1
    for size in tensor.shape:
        count *= size
    return count


def _write_model(file: Path, header: Header, folder: Path) -> None:
    """Write configuration, tokenizer and weights."""
    import torch
    from transformers.utils import logging

    logging.disable_progress_bar()
    tensors = {tensor.name: tensor for tensor in header.tensors}
    config = build_config(file, header, lambda name: _dequantize(file, tensors[name]))
    config.dtype = "float32"
    tokenizer = build_tokenizer(file, header)
    if count_entries(tokenizer) > config.vocab_size:
        raise InputError(
            f"the tokenizer has {count_entries(tokenizer):,} entries, the model {config.vocab_size:,}",
            str(file),
            "the tokenizer in the file belongs to another model: convert it again",
        )
    try:
        with torch.device("meta"):
            model = choose_class(config, str(file)).from_config(config, dtype=torch.float32)
    except (ValueError, KeyError, RuntimeError, AttributeError) as error:
        raise InputError(f"no model can be made of the file's configuration: {error}", str(file)) from error
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
        self._parts: dict[str, set[str]] = {}  # tensors of each weight that were not read yet
        for stored, name in self._names.items():
            self._parts.setdefault(name, set()).add(stored.removesuffix(".weight"))

    def write(self, folder: Path) -> None:
        """Write all of them; raise `InputError` unless file and model have the same."""
        kept: dict[str, Any] = {}
        parsed: dict[str, Any] = {"tensors": {}}  # experts of several tensors are put together here
        for tensor in self._header.tensors:
            for name, weight in self._convert(tensor, parsed):
                kept[name] = weight
            if sum(weight.nbytes for weight in kept.values()) > _SHARD:
                self._save(folder, kept)
                kept = {}
        self._save(folder, kept)
        if missing := sorted(set(self._wanted) - set(self._index)):
            raise self._fail(f"{len(missing)} weights are missing, e.g. {missing[0]}")
        files = sorted(set(self._index.values()))
        if len(files) == 1:
            (folder / files[0]).replace(folder / "model.safetensors")
        else:
            write_json(folder / "model.safetensors.index.json", {"metadata": {}, "weight_map": self._index})

    def _convert(self, tensor: StoredTensor, parsed: dict[str, Any]) -> list[tuple[str, Any]]:
        """Return the weight that a tensor is or makes whole, with its name; nothing if parts are to come."""
        if tensor.name == "rope_freqs.weight":  # in the configuration
            return []
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
            return [] if self._parts[put] else [(put, parsed["tensors"].pop(put).numpy())]
        if result.name not in self._names:
            raise self._fail(f"transformers does not read its tensor {tensor.name}")
        return [(self._names[result.name], result.weights)]

    def _save(self, folder: Path, weights: dict[str, Any]) -> None:
        """Write one file of weights, whose shapes are checked."""
        import numpy as np
        from safetensors.numpy import save_file

        for name, weight in weights.items():
            if weight.shape != self._wanted.get(name):
                raise self._fail(f"{name} is of shape {weight.shape}, not {self._wanted.get(name)}")
        if weights:
            file = f"model-{len(set(self._index.values())) + 1:05d}.safetensors"
            whole = {name: np.ascontiguousarray(weight, np.float32) for name, weight in weights.items()}
            save_file(whole, folder / file, metadata={"format": "pt"})
            (folder / file).chmod(0o644)  # of the owner alone by default, and several people share the folder
            self._index |= dict.fromkeys(weights, file)

    def _fail(self, problem: str) -> InputError:
        """Return the message for a file whose tensors are not those of its model."""
        return InputError(
            problem, str(self._file), "use the model before it was converted, or convert it again"
        )


def _dequantize(file: Path, tensor: StoredTensor) -> Any:
    """Return the values of a tensor in float32."""
    import numpy as np
    from gguf import GGMLQuantizationType
    from gguf.quants import dequantize

    kind = GGMLQuantizationType(tensor.kind)
    content = np.memmap(file, np.uint8, "r", tensor.start, (tensor.size,))
    rows = np.array(content).reshape(*tensor.shape[:-1], -1)
    try:
        values = dequantize(rows, kind)
    except NotImplementedError as error:
        raise InputError(
            f"tensor {tensor.name} is in {kind.name}, which the package gguf does not unpack",
            str(file),
            "take a file in another quantisation",
        ) from error
    return values.reshape(tensor.shape).astype(np.float32, copy=False)
