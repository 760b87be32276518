"""Pairs that share sentences, and a tokenizer for them."""

import polars as pl
from tests.tiny import make_word_tokenizer
from transformers import PreTrainedTokenizerFast

WORDS = [f"w{number}" for number in range(60)]


def make_tokenizer() -> PreTrainedTokenizerFast:
    """Return a tokenizer of whole words."""
    return make_word_tokenizer(WORDS, eos_token="<s>")


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


def cut_many_sentences(variant: str, cuts: list[int]) -> pl.DataFrame:
    """Return pairs of 36 sentences, cut at several places: four times as many, each behind another word."""
    return pl.concat(
        cut_sentences(f"{variant}{word}", cuts).with_columns(prompt=pl.lit(f"{word} ") + pl.col("prompt"))
        for word in WORDS[:4]
    )
