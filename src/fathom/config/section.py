"""What all sections of the configuration share: types, and the description of wrong values."""

import difflib
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from datetime import date
from typing import Annotated, Any, TypeVar, get_args, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic_core import PydanticCustomError

from fathom.errors import InputError
from fathom.io.names import NAME

Model = TypeVar("Model", bound=BaseModel)

Name = Annotated[str, Field(pattern=f"^{NAME}$", max_length=100)]
"""A name that becomes a folder: letters, digits, dot, underscore, hyphen; files are named by several."""


def is_visible(text: str) -> bool:
    """Say whether a text has a visible character."""
    return any(sign.isprintable() and not sign.isspace() for sign in text)


def _check_visible(text: str) -> str:
    if text and not is_visible(text):
        raise PydanticCustomError("string_too_short", "this is empty")
    return text


Text = Annotated[str, Field(min_length=1), AfterValidator(_check_visible)]
"""A path, a name or a pattern, which must not be empty."""

Title = Annotated[str, AfterValidator(_check_visible)]
"""A name for display; empty: the name itself."""

Share = Annotated[float, Field(ge=0.0, le=1.0)]
Positive = Annotated[int, Field(ge=1)]

Device = Annotated[str, Field(pattern=r"^(auto|cpu|mps|cuda(:[0-9]+)?)$")]
"""Where a job computes, as named by PyTorch; only the job knows which GPUs exist."""


RENAMED = {
    "folds": "splits", "folds_by": "splits_by", "studies": "factors", "chat_studies": "chat_factors",
    "target": "evaluation_domain", "targets": "modules",
    "reference": "references", "other_references": "references",
}  # fmt: skip
"""Keys of version 1 and what they are called now."""
GONE = dict.fromkeys(["until", "settled"], "`fathom best` finds the best model on few pairs")
"""Keys of version 1 that are gone, and what takes their place."""

_SHOWN = 20  # number of known names in a hint
_SLIP = 0.85  # least similarity of a misspelt name; cs.AI and cs.CL have 0.6


class Section(BaseModel):
    """A part of the configuration; unknown keys are refused, and values cannot be changed."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _read_plain_values(cls, value: Any, info: ValidationInfo) -> Any:
        """Refuse true and false in place of a number: Python takes them for 1 and 0; take `null` for none."""
        annotation = cls.model_fields[info.field_name or ""].annotation
        if value == "null" and type(None) in get_args(annotation):
            return None  # snakemake reads the values of --config as text
        values = [value]
        if get_origin(annotation) in (dict, list) and isinstance(value, dict | list):
            values = list(value.values()) if isinstance(value, dict) else value
        takes = annotation is bool or bool in get_args(annotation)
        if not takes and any(isinstance(each, bool) for each in values):
            raise PydanticCustomError("boolean", "true and false are not valid here")
        return value


def describe_unknown(kind: str, name: str, known: Collection[str]) -> str:
    """Return the one sentence on a wrong name: what it should be the name of, and a hint.

    Examples
    --------
    >>> describe_unknown("domain", "fra", ["far", "near"])
    "unknown domain 'fra'; did you mean far?"
    """
    return f"unknown {kind} {name!r}; {suggest(name, known)}"


def refuse_unknown(kind: str, name: str, known: Collection[str], where: str) -> InputError:
    """Return the error for a wrong name, in the words of :func:`describe_unknown`."""
    return InputError(f"unknown {kind} {name!r}", where, suggest(name, known))


def suggest(name: str, known: Collection[str]) -> str:
    """Return a hint for a wrong name: the nearest known name, or the first known ones."""
    near = difflib.get_close_matches(name, known, n=1)
    if near:
        return f"did you mean {near[0]}?"
    more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
    return f"known: {', '.join(sorted(known)[:_SHOWN]) or 'none'}{more}"


def find_slip(name: str, known: Collection[str]) -> str | None:
    """Return the known name that another one misspells, if any."""
    near = difflib.get_close_matches(name, known, n=1, cutoff=_SLIP)
    return near[0] if near else None


def check_dates(since: date | None, until: date | None, keys: tuple[str, str] = ("since", "until")) -> None:
    """Raise `ValueError` if a period ends before it begins."""
    if since is not None and until is not None and since > until:
        raise ValueError(f"{keys[0]} = {since} is after {keys[1]} = {until}, which leaves no document")


def find_repeated(names: Iterable[str]) -> list[str]:
    """Return the names that occur more than once, sorted."""
    return sorted(name for name, count in Counter(names).items() if count > 1)


def check_case(names: Iterable[str], key: str) -> None:
    """Raise `ValueError` if two names differ only in case: some file systems take them for one folder."""
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(name.casefold(), name)
        if other != name:
            raise ValueError(f"{key}: {other!r} and {name!r} differ only in case; rename one of them")


def check_values(values: Any, model: type[Model], where: str) -> Model:
    """Return a section made of plain values; raise `InputError` that says `where` and names the wrong key."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise InputError(describe_errors(error, model), where) from error


def describe_errors(error: ValidationError, model: type[BaseModel]) -> str:
    """Describe each wrong value: key, value and reason; for an unknown key, also the nearest known one."""
    return "; ".join(_describe(problem, model) for problem in error.errors())


def _describe(problem: Any, model: type[BaseModel]) -> str:
    key = ".".join(str(part) for part in problem["loc"])
    if problem["type"] == "extra_forbidden":
        return _describe_key(key, str(problem["loc"][-1]), list(_known_keys(model, problem["loc"][:-1])))
    # a key may be a number where a text of it is known
    is_text = isinstance(problem["input"], str) and problem["loc"][-1] != "[key]"
    if problem["type"] == "literal_error" and is_text:
        kind = next(part for part in reversed(problem["loc"]) if isinstance(part, str) and "[" not in part)
        known = re.findall(r"'(.*?)'", problem["ctx"]["expected"])
        return f"{key}: {describe_unknown(kind, problem['input'], known)}"
    if problem["type"] == "missing":
        return f"key {key} is missing"
    empty = problem["type"] == "string_too_short"
    message = "this is empty" if empty else re.sub(r"^Value error, ", "", problem["msg"])
    if problem["type"] == "value_error":  # of a section, or of the whole, whose messages name the key
        return f"{key}: {message}" if key else message
    return f"{key} = {problem['input']!r}: {message}"


def _describe_key(key: str, last: str, known: Collection[str]) -> str:
    """Return what is wrong with a key that no section has; `last` is its last part."""
    if RENAMED.get(last) in known:
        return f"key {key} is called {RENAMED[last]} now"
    if last in GONE:
        return f"key {key} is gone: {GONE[last]}"
    return f"unknown key {key!r}; {suggest(last, known)}"


def _known_keys(model: type[BaseModel], location: tuple[Any, ...]) -> Iterator[str]:
    here: Any = model
    for part in location:
        if _is_section(here) and part in here.model_fields:
            here = here.model_fields[part].annotation
        else:  # a key of a mapping or an index of a list: continue with its value
            here = get_args(here)[-1] if get_args(here) else here
        # a section that may be null
        here = next(filter(_is_section, get_args(here)), here) if type(None) in get_args(here) else here
    if _is_section(here):
        yield from (field.alias or name for name, field in here.model_fields.items())


def _is_section(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)
