"""Settings of measurements inside models, layer by layer [BeyondBenchmarks, Secs. 2.8, 3.3]."""

from typing import Literal

from pydantic import Field

from fathom.config.benchmark import Variant
from fathom.config.scoring import Scoring
from fathom.config.section import Positive, Section

Projection = Literal["normed", "raw", "geva"]


class TunedLens(Section):
    """A translator for each layer, from its hidden states to those that the output layer expects."""

    steps: int = Field(200, ge=0, description="optimiser steps; 0: no tuned lens")
    batch: Positive = Field(8, description="sequences in a step")
    sequence: Positive = Field(128, description="tokens in a training sequence")
    positions: Positive = Field(256, description="positions that a step learns from, drawn at random")
    learning_rate: float = Field(1e-3, gt=0, description="initial learning rate; decays to 0")
    seed: int = Field(0, description="for the order of sequences and the choice of positions")


class Layers(Section):
    """Attribute rates, targets and lenses by layer [BeyondBenchmarks, Secs. 2.8, 3.3]."""

    models: list[str] = Field(
        [],
        description="models to measure, including those of a followed training (NAME@stageN, NAME@stepN); "
        "empty: all scored models",
    )
    against: dict[str, str] = Field(
        {},
        description="reference model of each model that is not adapted here, such as the base of a chat "
        "model",
    )
    projections: list[Projection] = Field(
        ["normed", "raw", "geva"],
        min_length=1,
        description="projections of hidden states to the vocabulary: with the final norm, without it, or as "
        "in Geva et al. (all layers but the last, content words among the 500 most likely tokens)",
    )
    k: Positive = Field(50, description="most likely content tokens that count")
    list_length: Positive = Field(
        1200, description="most frequent tokens of a keyword's sentences that count"
    )
    other_k: list[Positive] = Field([25, 100], description="other values of k")
    other_lengths: list[Positive] = Field([300, 5000], description="other lengths of that list")
    max_keyword_tokens: Positive = Field(16, description="leave out and report keywords with more tokens")
    variant: Variant = Field("tf", description="benchmark whose targets to follow through the layers")
    keywords: Positive = Field(100, description="number of keywords whose pairs to follow")
    pairs: Positive = Field(30, description="pairs of each keyword")
    seed: int = Field(0, description="for choosing keywords and pairs")

    @property
    def all_k(self) -> list[int]:
        """Every value of k, sorted."""
        return sorted({self.k, *self.other_k})

    @property
    def all_lengths(self) -> list[int]:
        """Every length of the token list, sorted."""
        return sorted({self.list_length, *self.other_lengths})


class LayerSettings(Section):
    """Settings of the programs that read a model layer by layer."""

    scoring: Scoring = Scoring()
    layers: Layers = Layers()
