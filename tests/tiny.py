"""Tiny random models of several designs, tokenizers of whole words and of bytes, a model that is known."""

from collections.abc import Iterable
from copy import deepcopy
from types import SimpleNamespace
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import AutoConfig, AutoModelForCausalLM, GPT2Config, PreTrainedTokenizerFast


def make_config(
    kind: str, entries: int, context: int, width: int = 32, heads: int = 4, layers: int = 2, **more: Any
) -> Any:
    """Return the configuration of a tiny model of a design."""
    if kind == "gpt2":
        shape = {"n_positions": context, "n_embd": width, "n_layer": layers, "n_head": heads}
        return GPT2Config(vocab_size=entries, **shape, **more)
    shape = {
        "hidden_size": width, "intermediate_size": 3 * width // 2, "num_hidden_layers": layers,
        "num_attention_heads": heads, "max_position_embeddings": context,
        "bos_token_id": 1, "eos_token_id": 1, "pad_token_id": 0,
    }  # fmt: skip
    shape |= {} if kind == "gpt_neox" else {"num_key_value_heads": heads // 2}
    shape |= {"head_dim": 8} if kind == "gemma2" else {}
    return AutoConfig.for_model(kind, vocab_size=entries, **{**shape, **more})


def make_model(config: Any, seed: int = 0) -> Any:
    """Return a model with random weights."""
    torch.manual_seed(seed)
    return AutoModelForCausalLM.from_config(deepcopy(config)).float().eval()


def make_word_tokenizer(words: Iterable[str], **special: str) -> PreTrainedTokenizerFast:
    """Return a tokenizer of whole words, `<unk>` and `<s>` before them."""
    entries = {word: place for place, word in enumerate(["<unk>", "<s>", *words])}
    core = Tokenizer(models.WordLevel(entries, unk_token="<unk>"))
    core.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    named = {"bos_token": "<s>", "unk_token": "<unk>", **special}
    return PreTrainedTokenizerFast(tokenizer_object=core, **named)


def make_byte_tokenizer(texts: Iterable[str], entries: int) -> PreTrainedTokenizerFast:
    """Return a tokenizer like GPT-2's, trained on texts: an end token, no BOS token before a text."""
    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=entries, special_tokens=["<|end|>"], show_progress=False,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
    )  # fmt: skip
    core.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=core, bos_token="<|end|>", eos_token="<|end|>")


class KnownModel(torch.nn.Module):
    """A model whose logits are those of a table: the same everywhere, or a row for each last token.

    Attributes
    ----------
    seen : list of list of int
        What it was given.
    """

    def __init__(self, table: torch.Tensor, context: int = 20) -> None:
        super().__init__()
        self.config = GPT2Config(vocab_size=table.shape[-1], n_positions=context)
        self.dtype, self.table, self.seen = torch.float32, table, list[list[int]]()

    def get_input_embeddings(self) -> torch.nn.Module:
        return torch.nn.Embedding(1, 1)

    def get_output_embeddings(self) -> None:
        return None

    def forward(self, input_ids: torch.Tensor, **_: Any) -> Any:
        self.seen += input_ids.tolist()
        found = self.table[input_ids] if self.table.ndim > 1 else self.table.expand(*input_ids.shape, -1)
        return SimpleNamespace(logits=found.clone())
