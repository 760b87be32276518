"""What all sections of the configuration share: types, and how a wrong value is described."""

import difflib
import re
from collections.abc import Iterator
from typing import Annotated, Any, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
"""A name that becomes a folder: letters, digits, dot, underscore, hyphen."""

Share = Annotated[float, Field(ge=0.0, le=1.0)]
Positive = Annotated[int, Field(ge=1)]


class Section(BaseModel):
    """A part of the configuration: unknown keys are refused, values are not changed afterwards."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def describe_errors(error: ValidationError, model: type[BaseModel]) -> str:
    """Say what is wrong with each value: key, value, reason, and for an unknown key the nearest known one."""
    return "; ".join(_describe(problem, model) for problem in error.errors())


def _describe(problem: Any, model: type[BaseModel]) -> str:
    key = ".".join(str(part) for part in problem["loc"])
    if problem["type"] == "extra_forbidden":
        known = list(_known_keys(model, problem["loc"][:-1]))
        near = difflib.get_close_matches(str(problem["loc"][-1]), known, n=1)
        return f"unknown key {key}" + (
            f", did you mean {near[0]}?" if near else f"; known: {', '.join(known)}"
        )
    if problem["type"] == "missing":
        return f"key {key} is missing"
    message = re.sub(r"^Value error, ", "", problem["msg"])
    if problem["type"] == "value_error":  # of a whole section, or of the top, whose messages name their key
        return f"{key}: {message}" if key else message
    return f"{key} = {problem['input']!r}: {message}"


def _known_keys(model: type[BaseModel], location: tuple[Any, ...]) -> Iterator[str]:
    """Yield the keys that are allowed where `location` leads to."""
    here: Any = model
    for part in location:
        if isinstance(here, type) and issubclass(here, BaseModel) and part in here.model_fields:
            here = here.model_fields[part].annotation
        else:  # a key of a mapping or a place in a list: go to what it holds
            here = next((kind for kind in get_args(here) if isinstance(kind, type)
                         and issubclass(kind, BaseModel)), here)  # fmt: skip
    if isinstance(here, type) and issubclass(here, BaseModel):
        yield from (field.alias or name for name, field in here.model_fields.items())
