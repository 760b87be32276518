"""Settings of scores and of what they sum up to [RawCorpora, Sec. 2.6]."""

from typing import Literal, Self

from pydantic import Field, model_validator

from fathom.config.section import Positive, Section


class Scoring(Section):
    """How pairs are scored [RawCorpora, Sec. 2.6]."""

    batch_tokens: Positive = Field(1024, description="tokens in a batch, padding counted")
    device: str = Field("auto", description="auto, cpu, cuda or cuda:N")
    dtype: Literal["float32", "bfloat16", "float16"] = Field(
        "float32", description="number format of the forward pass; float32 on CPU is the reference"
    )


class Perplexity(Section):
    """Perplexity and bits per byte on held-out text [BeyondBenchmarks, Sec. 2.11]."""

    window: Positive = Field(1024, description="tokens given to a model at once, at most its context")
    stride: Positive = Field(
        512, description="tokens scored in each further window; shortened with the window, in proportion"
    )
    max_characters: Positive = Field(1_000_000, description="characters that are scored, whole documents")

    @model_validator(mode="after")
    def _stay_inside(self) -> Self:
        if self.stride > self.window:
            raise ValueError(f"stride {self.stride} is larger than window {self.window}")
        return self


class AttributeRate(Section):
    """Last-layer attribute rate [RawCorpora, App. A.3]."""

    k: Positive = Field(50, description="most likely tokens after a keyword that are looked at")
    list_length: Positive = Field(1200, description="most frequent tokens of its sentences that count")


class Summary(Section):
    """How scores are summed up [RawCorpora, Sec. 2.6]."""

    trim: float = Field(0.2, ge=0.0, lt=0.5, description="share cut from each end for the trimmed mean")
    rounds: Positive = Field(1000, description="bootstrap rounds over keywords")
    confidence: float = Field(0.95, gt=0.0, lt=1.0, description="confidence of the intervals")
    seed: int = Field(0, description="for the bootstrap")
