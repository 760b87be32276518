"""Pairs that share sentences, and a tokenizer for them."""

import polars as pl
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

WORDS = [f"w{number}" for number in range(60)]


def make_tokenizer() -> PreTrainedTokenizerFast:
    """Return a tokenizer of whole words."""
    core = Tokenizer(
        models.WordLevel({w: i for i, w in enumerate(["<unk>", "<s>", *WORDS])}, unk_token="<unk>")
    )
    core.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(tokenizer_object=core, bos_token="<s>", eos_token="<s>", unk_token="<unk>")


def cut_sentences(variant: str, cuts: list[int]) -> pl.DataFrame:
    """Return pairs of the same sentences, cut at several places, each under two keywords."""
    rows = []
    for number in range(9):
        words = [WORDS[(number * 17 + place * place) % 60] for place in range(8 + number)]
        for cut in cuts:
            target = "".join(f" {word}" for word in words[cut : cut + 1 + number % 2])
            rows += [
                {"pair_id": f"{variant}{number}-{cut}-{keyword}", "keyword": keyword,
                 "prompt": " ".join(words[:cut]), "target": target}
                for keyword in ("near", "far")
            ]  # fmt: skip
    return pl.DataFrame(rows)
