"""Settings of models behind a server."""

import re
from typing import Self
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from fathom.config.section import Positive, Section, Text


class Served(Section):
    """How a model behind a server is asked."""

    in_flight: Positive = Field(4, description="concurrent requests")
    per_second: float = Field(0.0, ge=0.0, description="most requests per second; 0: no limit")
    timeout: float = Field(
        60.0, gt=0.0, description="seconds to wait for a server, and for each part of an answer"
    )
    retries: int = Field(6, ge=0, description="retries if a server is busy or not reached")
    top_k: int = Field(
        20,
        ge=2,
        description="most likely tokens to ask for if a server gives no ranks; ranks of other tokens are "
        "unknown",
    )


class Speaker(Section):
    """A chat model behind a service that speaks OpenAI's protocol: it writes answers but gives no ranks."""

    service: Text = Field(description="address of the service, such as `https://api.openai.com/v1`")
    model: Text = Field(description="name of the model there")
    key_variable: Text | None = Field(
        None,
        description="environment variable that holds the key, such as OPENAI_API_KEY; never put the key "
        "itself in a file; null: none is needed",
    )
    thinking: int = Field(
        0,
        ge=0,
        description="tokens allowed beyond an answer's own, for a model that thinks before it answers",
    )
    input_price: float | None = Field(
        None, ge=0.0, description="price of a million tokens that the model reads; null: not known"
    )
    output_price: float | None = Field(
        None, ge=0.0, description="price of a million tokens that it writes, in the same currency"
    )

    @field_validator("service")
    @classmethod
    def _need_address(cls, value: str) -> str:
        try:
            parts = urlsplit(value)
            fits = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
        except ValueError:
            fits = False
        # the value is not repeated: it may hold a key
        if not fits:
            raise ValueError("this is no address, such as http://localhost:8000/v1")
        if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
            raise ValueError(
                "this address must have only server and path; key_variable names a key's variable"
            )
        return value.rstrip("/")

    @field_validator("key_variable")
    @classmethod
    def _need_name(cls, value: str | None) -> str | None:
        if value is not None and not re.fullmatch("[A-Z_][A-Z0-9_]*", value):
            raise ValueError(
                "this is not the name of an environment variable, such as OPENAI_API_KEY; a key itself"
                " belongs in no file"
            )
        return value

    @model_validator(mode="after")
    def _need_both_prices(self) -> Self:
        if (self.input_price is None) != (self.output_price is None):
            raise ValueError("give both input_price and output_price, or neither")
        return self

    def calculate_price(self, read: float, written: float) -> float | None:
        """Return what so many tokens cost; None where prices are not known."""
        if self.input_price is None or self.output_price is None:
            return None
        return (read * self.input_price + written * self.output_price) / 1e6
