"""Columns of a page whose lines run across all of them, found by the gap that the lines share."""

import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

Box = tuple[float, float, float]
"""Left, right and bottom of a character."""
Run = list[int]
"""The visible characters of a line, by their number on the page."""

_SAMPLES = 12
_FEWEST = 5
_SHARE = 0.7
"""Least share of the widest lines that have the gap."""
_WIDE = 0.6
"""Least share of the text's width of a line that runs across columns."""
_GAP = 4.0
"""Narrowest gap between columns, in points."""
_SHORTEST = 12
"""Median of the characters on either side: a table's column of numbers has fewer."""
_MIDDLE = (0.2, 0.8)


@dataclass(frozen=True)
class _Extent:
    run: Run
    left: float
    right: float


def order_columns(runs: list[Run], find_box: Callable[[int], Box]) -> list[Run]:
    """Return lines cut at the gap between columns, the left column first.

    Lines that cross the gap, such as headings, divide the page: text above them comes first. A page without
    a gap is unchanged.

    Parameters
    ----------
    runs : list of list of int
        Lines in the order of the page's content.
    find_box : callable
        Returns the box of a character.
    """
    if len(runs) < _FEWEST:
        return runs
    extents = [_Extent(run, find_box(run[0])[0], find_box(run[-1])[1]) for run in runs]
    gutter = _find_gutter(extents, find_box)
    if gutter is None:
        return runs
    ordered: list[Run] = []
    left: list[Run] = []
    right: list[Run] = []
    for extent in extents:
        if extent.right <= gutter:
            left.append(extent.run)
        elif extent.left >= gutter:
            right.append(extent.run)
        else:
            gaps = _iterate_gaps(extent.run, find_box)
            cut = next((before for a, b, before in gaps if a <= gutter <= b), None)
            if cut is None:
                ordered += [*left, *right, extent.run]
                left, right = [], []
            else:
                left.append(extent.run[:cut])
                right.append(extent.run[cut:])
    return [*ordered, *order_columns(left, find_box), *order_columns(right, find_box)]


def _find_gutter(extents: list[_Extent], find_box: Callable[[int], Box]) -> float | None:
    """Return a place in the gap that nearly all wide lines share; None if there is none."""
    start, end = min(each.left for each in extents), max(each.right for each in extents)
    wide = [each.run for each in extents if each.right - each.left >= _WIDE * (end - start)]
    samples = wide[:: max(1, len(wide) // _SAMPLES)]
    may_lack = len(samples) - math.ceil(max(_FEWEST, _SHARE * len(samples)))
    if may_lack < 0:
        return None
    low, high = (start + share * (end - start) for share in _MIDDLE)
    lacking: dict[float, int] = {}
    sides: dict[float, list[tuple[int, int]]] = defaultdict(list)
    for number, run in enumerate(samples):
        gaps = list(_iterate_gaps(run, find_box))
        for place in list(lacking):
            before = next((count for a, b, count in gaps if a <= place <= b), None)
            if before is not None:
                sides[place].append((before, len(run) - before))
            elif lacking[place] == may_lack:
                del lacking[place]
            else:
                lacking[place] += 1
        if number <= may_lack:  # at most so many lines lack the gap, so one of these has it
            new = {(a + b) / 2: before for a, b, before in gaps if low <= a and b <= high}
            lacking |= {place: number for place in new if place not in lacking}
            for place, before in new.items():
                sides[place].append((before, len(run) - before))
        elif not lacking:
            return None
    prose = [
        place for place in lacking
        if min(statistics.median(side) for side in zip(*sides[place], strict=True)) >= _SHORTEST
    ]  # fmt: skip
    return min(prose, key=lambda place: (lacking[place], place), default=None)


def _iterate_gaps(run: Run, find_box: Callable[[int], Box]) -> Iterator[tuple[float, float, int]]:
    """Yield left and right end of the gaps between words, and how many visible characters precede each."""
    for number in range(1, len(run)):
        if run[number] - run[number - 1] > 1:  # a blank between them
            right_of, left_of = find_box(run[number - 1])[1], find_box(run[number])[0]
            if left_of - right_of >= _GAP:
                yield right_of, left_of, number
