"""The likelihood of texts: sums over documents, perplexity and bits per byte."""

import math
from typing import NamedTuple

import polars as pl


class Likelihood(NamedTuple):
    """Sums over documents: tokens, UTF-8 bytes, and negative log-likelihood in nats."""

    tokens: int
    bytes: int
    nats: float

    @property
    def perplexity(self) -> float:
        """Perplexity per token; NaN without tokens, infinite on overflow."""
        try:
            return math.exp(self.nats / self.tokens) if self.tokens else math.nan
        except OverflowError:
            return math.inf

    @property
    def bits_per_byte(self) -> float:
        """Bits per UTF-8 byte; NaN without bytes."""
        return self.nats / math.log(2) / self.bytes if self.bytes else math.nan


def sum_likelihoods(scores: pl.DataFrame) -> Likelihood:
    """Sum tokens, bytes and log-likelihood over documents."""
    return Likelihood(int(scores["tokens"].sum()), int(scores["bytes"].sum()), math.fsum(scores["nats"]))
