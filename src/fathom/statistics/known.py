"""Tables of what has a name: a name from a file that is none of them is a fault of the file."""

from collections.abc import Mapping
from typing import NoReturn, TypeVar

from fathom.errors import InputError

Value = TypeVar("Value")
_SHOWN = 80  # characters of a wrong name


class Known(dict[str, Value]):
    """Values by name; an unknown name raises `InputError`. `kind` says what the names are names of."""

    def __init__(self, kind: str, values: Mapping[str, Value]) -> None:
        super().__init__(values)
        self._kind = kind

    def __missing__(self, name: str) -> NoReturn:
        hint = f"known are {', '.join(self)}; a table that was not edited is made again by snakemake"
        raise InputError(f"there is no {self._kind} {name[:_SHOWN]!r}", f"column {self._kind}", hint)
