"""Settings of a low-rank adapter [LoRA], of adaptations and of train-before-test alike."""

from typing import Literal

from pydantic import Field

from fathom.config.section import Positive, Section, Share


class Adapter(Section):
    """A low-rank adapter [LoRA] in place of all weights."""

    modules: Literal["all", "attention", "peft"] = Field(
        "all",
        description="which matrices get an adapter. all: those of attention and MLP; attention: those of "
        "attention; peft: PEFT's default for the architecture, as published",
    )
    rank: Positive = Field(8, description="rank of the adapter's matrices")
    alpha: float = Field(32.0, gt=0, description="the adapter's output is scaled by alpha / rank")
    dropout: Share = Field(0.1, description="dropout before the adapter")
    dtype: Literal["float32", "bfloat16"] = Field(
        "float32", description="number format of the model's own weights; the adapter is float32"
    )
    seed: int = Field(0, description="for initial weights of the adapter")
