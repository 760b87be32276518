"""Slices: a large part of the corpus is read by one job, but split, embedded and matched by several."""

import math
import re
from typing import NamedTuple

_NAME = re.compile(r"^(?P<part>.+)\.(?P<number>\d+)-of-(?P<count>\d+)$")


class Slice(NamedTuple):
    """One of `total` slices of a part; numbers begin with 1."""

    part: str
    number: int = 1
    total: int = 1

    @property
    def name(self) -> str:
        """Name in paths: `PART.02-of-12`; a part in one slice keeps its name."""
        if self.total == 1:
            return self.part
        return f"{self.part}.{self.number:0{len(str(self.total))}d}-of-{self.total}"


def divide_part(part: str, megabytes: float, slice_mb: float) -> list[Slice]:
    """Return the slices of a part; they depend on its size alone, never on the number of cores."""
    count = max(1, math.ceil(megabytes / slice_mb))
    return [Slice(part, number, count) for number in range(1, count + 1)]


def read_slice(name: str) -> Slice:
    """Return the slice of a name."""
    found = _NAME.match(name)
    return Slice(found["part"], int(found["number"]), int(found["count"])) if found else Slice(name)
