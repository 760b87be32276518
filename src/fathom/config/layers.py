"""Settings of what is looked at inside models, layer by layer [BeyondBenchmarks, Secs. 2.8, 3.3]."""

from typing import Literal

from pydantic import Field

from fathom.config.benchmark import Variant
from fathom.config.section import Positive, Section

Projection = Literal["normed", "raw", "geva"]
FIGURES = ("norm", "sums", "variations", "rates", "targets", "keywords", "lens")
"""Figures of one family of models on one domain."""


class TunedLens(Section):
    """A map for each layer that turns its hidden states into ones that the output layer reads well."""

    steps: int = Field(200, ge=0, description="optimiser steps; 0: no tuned lens")
    batch: Positive = Field(8, description="sequences in a step")
    sequence: Positive = Field(128, description="tokens in a training sequence")
    positions: Positive = Field(256, description="positions, drawn at random, that a step learns from")
    learning_rate: float = Field(1e-3, gt=0, description="learning rate of the first step; it falls to 0")
    seed: int = Field(0, description="for the order of sequences and the positions")


class Layers(Section):
    """Attribute rates, targets and lenses by layer [BeyondBenchmarks, Secs. 2.8, 3.3]."""

    models: list[str] = Field([], description="models to look into; empty: all that are scored")
    against: dict[str, str] = Field(
        {}, description="reference of a model that is not adapted here: a checkpoint or a chat model"
    )
    projections: list[Projection] = Field(
        ["normed", "raw", "geva"],
        min_length=1,
        description="hidden states before the output layer: with the final norm, without it, or as Geva et "
        "al. did (layers from 0 to the last but one, content words among the 500 most likely tokens)",
    )
    k: Positive = Field(50, description="most likely content tokens that are looked at")
    list_length: Positive = Field(1200, description="most frequent tokens of its sentences that count")
    other_k: list[Positive] = Field([25, 100], description="further values of k, for comparison")
    other_lengths: list[Positive] = Field([300, 5000], description="further lengths of the list")
    max_keyword_tokens: Positive = Field(
        16, description="keywords that the tokenizer breaks into more are left out and reported"
    )
    variant: Variant = Field("tf", description="benchmark whose targets are followed through the layers")
    keywords: Positive = Field(100, description="keywords whose pairs are followed")
    pairs: Positive = Field(30, description="pairs of each")
    seed: int = Field(0, description="for the choice of keywords and pairs")

    @property
    def all_k(self) -> list[int]:
        """Every value of k, sorted."""
        return sorted({self.k, *self.other_k})

    @property
    def all_lengths(self) -> list[int]:
        """Every length of the token list, sorted."""
        return sorted({self.list_length, *self.other_lengths})
