"""Settings of scores and their summaries [RawCorpora, Sec. 2.6]."""

from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from fathom.config.corpus import TextSource
from fathom.config.section import Device, Name, Positive, Section, Text

BATCH_TOKENS = {"cpu": 1024, "cuda": 16_384}
"""Tokens in a batch by type of device: few fit a processor's cache, many keep a GPU busy."""


class Scoring(Section):
    """How pairs are scored [RawCorpora, Sec. 2.6]."""

    batch_tokens: Positive | None = Field(
        None,
        description="tokens in a batch, padding included, halved when GPU memory runs out; null: 1,024 on a"
        " processor, 16,384 on a GPU",
    )
    device: Device = Field("auto", description="auto, cpu, cuda, cuda:N or mps")
    dtype: Literal["float32", "bfloat16", "float16"] = Field(
        "float32", description="number format of the forward pass; float32 on CPU is the reference"
    )
    attention: Literal["auto", "eager", "sdpa", "flash_attention_2"] = Field(
        "auto",
        description="implementation of attention; auto: chosen by transformers, or eager if attention "
        "logits are soft-capped",
    )

    def count_tokens(self, device: str) -> int:
        """Return the tokens in a batch on a type of device: cpu, cuda or mps."""
        return self.batch_tokens or BATCH_TOKENS.get(device, BATCH_TOKENS["cpu"])


class Perplexity(Section):
    """Perplexity and bits per byte on held-out text [BeyondBenchmarks, Sec. 2.11]."""

    window: Positive = Field(
        1024, description="tokens given to a model at once, limited to its context length"
    )
    stride: Positive = Field(
        512, description="tokens scored in each further window; shortened in proportion to the window"
    )
    max_characters: Positive = Field(1_000_000, description="characters that are scored, in whole documents")
    texts: dict[Name, TextSource] = Field(
        {},
        description="text to score in place of the corpus's held-out documents, by domain, such as the test "
        "part of M2D2 [BeyondBenchmarks, Sec. 2.11]; `valid` and `title` have no effect here",
    )

    @model_validator(mode="after")
    def _stay_inside(self) -> Self:
        if self.stride > self.window:
            raise ValueError(f"stride {self.stride} is larger than window {self.window}")
        return self


class AttributeRate(Section):
    """Last-layer attribute rate [RawCorpora, App. A.3]."""

    k: Positive = Field(50, description="most likely tokens after a keyword that count")
    list_length: Positive = Field(
        1200, description="most frequent tokens of a keyword's sentences that count"
    )


class Summary(Section):
    """How scores are summarised [RawCorpora, Sec. 2.6]."""

    trim: float = Field(0.2, ge=0.0, lt=0.5, description="share to cut from each end for the trimmed mean")
    rounds: Positive = Field(
        1000,
        description="bootstrap resamples of the keywords; claims and controls use more, as they correct "
        "many tests together",
    )
    confidence: float = Field(0.95, gt=0.0, lt=1.0, description="confidence level of the intervals")
    seed: int = Field(0, description="for the bootstrap")
    lead: Literal["bits", "rank"] = Field(
        "bits",
        description="how models are ordered. bits: knowledge, what a prompt tells a model about its target, "
        "which has a zero and does not depend on style. rank: the papers' trimmed mean rank, without bits",
    )
    overlap: Literal["sentence", "ending", "keep"] = Field(
        "ending",
        description="which pairs and held-out text to leave out because they occur in training text. "
        "sentence: those that occur word for word; ending: also pairs and sentences whose last six words "
        "do, and any six consecutive words of running text; keep: none",
    )


class Targets(Section):
    """Which targets a model predicts better or worse than another [RawCorpora, App. A.9]."""

    against: dict[Text, Text] = Field(
        {},
        description="further scored models, each with the one to compare it with; the ends of all paths of "
        "models.adapt are compared with their bases anyway",
    )
    phrases: dict[Name, Text] = Field(
        {}, description="phrase that targets are near to or far from, by domain; default: the domain's title"
    )
    share: float = Field(
        0.25, gt=0, le=0.5, description="share of the targets in each of the two groups, top and bottom"
    )
    listed: Positive = Field(100, description="targets in each column of the table of best and worst")

    @field_validator("against")
    @classmethod
    def _compare_two(cls, value: dict[str, str]) -> dict[str, str]:
        for name, other in value.items():
            if name == other:
                raise ValueError(f"{name} is compared with itself; name another model")
        return value
