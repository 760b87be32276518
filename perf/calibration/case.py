"""What is calibrated, how it is simulated, and when what is found counts as a miss."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fathom.config.scoring import Summary
from fathom.io.contracts.column import Contract

INTERVAL, TEST, FAMILY, POWER = "interval", "test", "family", "power"
"""Kinds of outcomes: an interval holds the truth; a test finds what is not there; one of several does; a
sample that is as large as planned finds what there is."""

GOALS = {INTERVAL: (0.93, 0.97), TEST: (0.03, 0.07), FAMILY: (0.0, 0.05), POWER: (0.75, 0.85)}
"""Where the share of simulations should lie, by kind, at a confidence of 95 %."""

HOLDS, NARROW, WIDE, REFUSED = "holds", "misses", "cautious", "refused"
RESAMPLES = 500
"""Of a bootstrap here; the product's 1,000 cover 0.2 points more."""
"""Verdicts: within the goal; too sure; surer than it needs to be; no interval in most simulations."""


class Shape(NamedTuple):
    """How large simulated data is: number of clusters, and how many times the demo's pairs."""

    clusters: int
    times: int = 1


SHAPES = tuple(Shape(clusters, times) for times in (1, 10) for clusters in (20, 50, 200))
SMALL = SHAPES[:3]
"""Shapes of the demo's size, where the number of items is that of the clusters."""


class Outcome(NamedTuple):
    """What came of one simulation.

    Attributes
    ----------
    what : str
        Such as `trimmed mean rank`.
    kind : str
        INTERVAL, TEST or FAMILY.
    hit : bool or None
        Whether the interval holds the truth, or something is found that is not there; None: refused.
    """

    what: str
    kind: str
    hit: bool | None


@dataclass(frozen=True)
class Case:
    """A table of the product, or what else it says, and a simulation of it.

    Attributes
    ----------
    name : str
        The file, for readers.
    columns : tuple of (Contract, str)
        Which columns this calibrates; of an interval the lower end.
    simulate : callable
        Draws data, calls what writes the table, and yields what came of it.
    unit : str
        What is drawn as a whole.
    shapes : tuple of Shape
    share : float
        Of the rounds; slow simulations have fewer. Of larger data it is a quarter.
    """

    name: str
    columns: tuple[tuple[Contract, str], ...]
    simulate: Callable[[np.random.Generator, Shape, Summary], Iterable[Outcome]]
    unit: str = "keywords"
    shapes: tuple[Shape, ...] = SHAPES
    share: float = 1.0


class Result(NamedTuple):
    """Outcomes of many simulations.

    Attributes
    ----------
    case, what, kind, unit : str
    shape : Shape
    rounds, refused : int
        Simulations, and those without an interval.
    hits : int
        Among the others.
    """

    case: str
    what: str
    kind: str
    unit: str
    shape: Shape
    rounds: int
    refused: int
    hits: int

    @property
    def share(self) -> float:
        """Share of hits among simulations with an interval."""
        decided = self.rounds - self.refused
        return self.hits / decided if decided else math.nan

    @property
    def limits(self) -> tuple[float, float]:
        """95 % interval of the share by simulation: Wilson's."""
        decided, z = self.rounds - self.refused, 1.959964
        if not decided:
            return math.nan, math.nan
        middle = (self.hits + z * z / 2) / (decided + z * z)
        reach = z / (decided + z * z) * math.sqrt(self.hits * (decided - self.hits) / decided + z * z / 4)
        return max(0.0, middle - reach), min(1.0, middle + reach)

    @property
    def verdict(self) -> str:
        """HOLDS, NARROW, WIDE or REFUSED; the goal is missed if the whole interval lies outside it."""
        if 2 * self.refused > self.rounds:
            return REFUSED
        (low, high), (least, most) = self.limits, GOALS[self.kind]
        if self.kind in (INTERVAL, POWER):
            return NARROW if high < least else WIDE if low > most else HOLDS
        return NARROW if low > most else WIDE if high < least else HOLDS


def hold(what: str, truth: float, interval: Sequence[float]) -> Outcome:
    """Return whether an interval (its last two numbers, if there are three) holds the truth."""
    low, high = interval[-2:]
    return Outcome(what, INTERVAL, None if math.isnan(low + high) else bool(low <= truth <= high))


def run_case(case: Case, shape: Shape, rounds: int) -> Iterator[Result]:
    """Simulate a case; yield a result for each of its outcomes. Round i draws the same numbers in any run."""
    found: dict[tuple[str, str], list[bool | None]] = {}
    name = int.from_bytes(case.name.encode()[:8], "little")
    share = case.share / (1 if shape.times == 1 else 4)
    for number in range(max(1, round(rounds * share))):
        random = np.random.default_rng([name, *shape, number])
        settings = Summary(rounds=RESAMPLES, seed=number)
        for what, kind, hit in case.simulate(random, shape, settings):
            found.setdefault((what, kind), []).append(hit)
    for (what, kind), hits in found.items():
        yield Result(case.name, what, kind, case.unit, shape, len(hits), hits.count(None), hits.count(True))
