"""What rules hand on to Snakemake and to programs: patterns of wildcards, resources, options."""

import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from typing import Any


def one_of(names: Iterable[str]) -> str:
    """Return a wildcard constraint that matches exactly these names."""
    return "|".join(re.escape(name) for name in names) or "(?!)"


def grow(first: int) -> Callable[[Any, int], int]:
    """Return a resource that doubles with each attempt, so that a retry after a failure gets more."""

    def amount(wildcards: Any, attempt: int) -> int:
        return first << (attempt - 1)

    return amount


def list_options(option: str, places: Iterable[Sequence[str]], paths: Iterable[str]) -> str:
    """Return `--option PLACE ... FILE` for each path, as programs take tables and what they belong to.

    Parameters
    ----------
    option : str
        Name of the option.
    places : iterable of sequence of str
        What each table belongs to, such as its domain and model.
    paths : iterable of str
        The tables, as many as places.

    Raises
    ------
    ValueError
        If there are more or fewer tables than places.
    """
    return " ".join(f"--{option} {' '.join(place)} {path}" for place, path in zip(places, paths, strict=True))


def repeat_option(option: str, values: Iterable[Iterable[object]]) -> str:
    """Return `--option VALUE ...` for each group of values, quoted for the shell."""
    return " ".join(f"--{option} {shlex.join(map(str, some))}" for some in values)
