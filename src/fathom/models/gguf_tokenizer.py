"""The tokenizer in a GGUF file, as llama.cpp reads it where the conversion of transformers leaves gaps."""

import json
from pathlib import Path
from typing import Any

from fathom.errors import InputError
from fathom.models.gguf_header import TOKENS, Header

# llama.cpp's names of ways to split text before merges: llama_vocab::impl::load in its src/llama-vocab.cpp
_LIKE_GPT2 = frozenset({"gpt-2", "phi-2", "mpt", "olmo", "jais"})
_SINGLE_DIGITS = frozenset({"smollm", "starcoder", "refact", "command-r", "codeshell", "exaone"})
_LIKE_LLAMA3 = frozenset({"llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "tekken"})
"""Words that are entries stay whole, and a BOS token comes first unless the file says otherwise."""
_ADD_BOS = "tokenizer.ggml.add_bos_token"


def build_tokenizer(file: Path, header: Header) -> Any:
    """Return the tokenizer of a GGUF file.

    Raises
    ------
    InputError
        If it cannot be built, or splits text in a way that is not known here.
    """
    from transformers import PreTrainedTokenizerFast
    from transformers.integrations.gguf import convert_gguf_tokenizer, get_gguf_tokenizer

    split = _check_split(file, header)
    try:
        architecture, values, named = get_gguf_tokenizer(str(file))
        core, _ = convert_gguf_tokenizer(architecture, values)
        core = _mend(_drop_others(core, header.metadata[TOKENS]), header, split)
        tokens = {name: named.get(name) for name in ("bos_token", "eos_token", "unk_token", "pad_token")}
        tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, **tokens)
        tokenizer.chat_template = named.get("chat_template")
        _set_bos(tokenizer, adds_bos(header))
    except Exception as error:  # of any kind: `tokenizers` raises bare ones for entries that do not fit
        raise InputError(
            f"the tokenizer in the file cannot be read: {error or type(error).__name__}",
            str(file),
            "take a file that llama.cpp converted, or the model's folder with its own tokenizer",
        ) from error
    return tokenizer


def adds_bos(header: Header) -> bool:
    """Return whether texts start with a BOS token: as the file says, else as llama.cpp takes it."""
    kind, split = (header.metadata.get(f"tokenizer.ggml.{key}") for key in ("model", "pre"))
    return bool(header.metadata.get(_ADD_BOS, kind == "llama" or split in _LIKE_LLAMA3))


def _check_split(file: Path, header: Header) -> str:
    """Return the file's name of how text is split before merges, if it is known here."""
    from transformers.integrations.gguf.gguf_tokenizer_mapping import GGUF_PRE_TOKENIZER_SPLITS

    if header.metadata.get("tokenizer.ggml.model") != "gpt2":
        return ""
    split = str(header.metadata.get("tokenizer.ggml.pre", "default"))
    if split in {*_LIKE_GPT2, *_SINGLE_DIGITS, *GGUF_PRE_TOKENIZER_SPLITS}:
        return split
    raise InputError(
        f"how its tokenizer splits text, {split!r}, is not known here: tokens could differ from the model's",
        str(file),
        "use the model before it was converted; an old file: convert it again with a newer llama.cpp",
    )


def _drop_others(core: Any, entries: int) -> Any:
    """Return a tokenizer without tokens that are not in the file: transformers adds some by default."""
    from tokenizers import Tokenizer

    if all(place < entries for place in core.get_added_tokens_decoder()):
        return core
    values = json.loads(core.to_str())
    values["added_tokens"] = [token for token in values["added_tokens"] if token["id"] < entries]
    return Tokenizer.from_str(json.dumps(values))


def _mend(core: Any, header: Header, split: str) -> Any:
    """Set what the conversion of transformers leaves at its default."""
    from tokenizers import pre_tokenizers

    if split in _SINGLE_DIGITS:
        plain = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
        core.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), plain])
    if split in _LIKE_LLAMA3:
        core.model.ignore_merges = True
    spaced = header.metadata.get("tokenizer.ggml.add_space_prefix", True)
    if isinstance(core.pre_tokenizer, pre_tokenizers.Metaspace) and not spaced:
        core.pre_tokenizer.prepend_scheme = "never"
    return core


def _set_bos(tokenizer: Any, add: bool) -> None:
    from tokenizers.processors import ByteLevel, TemplateProcessing

    core = tokenizer.backend_tokenizer
    if not add:
        core.post_processor = ByteLevel(trim_offsets=False)  # adds nothing
        return
    bos = tokenizer.bos_token
    if bos is None:
        raise ValueError("a BOS token comes before each text, and none is named")
    pair = f"{bos} $A {bos} $B"
    core.post_processor = TemplateProcessing(f"{bos} $A", pair, [(bos, tokenizer.bos_token_id)])
