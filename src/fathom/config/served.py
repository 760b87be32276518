"""Settings of models behind a server."""

from pydantic import Field

from fathom.config.section import Positive, Section


class Served(Section):
    """How a model behind a server is asked."""

    in_flight: Positive = Field(4, description="requests that wait for an answer at one time")
    per_second: float = Field(0.0, ge=0.0, description="requests in a second at most; 0: no limit")
    timeout: float = Field(
        60.0, gt=0.0, description="seconds to wait for a server, and for each part of an answer"
    )
    retries: int = Field(6, ge=0, description="further attempts where a server is busy or not reached")
    top_k: int = Field(
        20,
        ge=2,
        description="most likely tokens to ask for where a server gives no ranks; others have unknown ranks",
    )
