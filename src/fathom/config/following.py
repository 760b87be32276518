"""What is followed while it learns: points of trainings, as programs receive them."""

from pydantic import Field

from fathom.config.section import Section


class Point(Section):
    """A model at one point of its training."""

    model: str = Field(description="model that is scored")
    seed: str = Field("", description="seed of the training; empty for models from elsewhere")
    stage: int = Field(0, ge=0, description="stage of the path; 0 for the model that it starts from")
    domain: str = Field("", description="domain that the stage trains on")
    step: int = Field(0, ge=0, description="optimiser steps since the start of the path")
    stand_in: str = Field("", description="model that was measured in its place, if its weights are corrupt")
    tokens: int = Field(0, ge=0, description="tokens seen since then, or in all, for models from elsewhere")
