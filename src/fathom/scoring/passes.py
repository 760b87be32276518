"""Which token sequences a model must read to score all pairs: each beginning once (spec 8).

A causal model's state at a token depends on what stands before it only. A pair whose tokens begin another
pair's tokens is therefore scored in the other's pass, and equal ones in one pass: the same sentence under
several keywords, or cut at several places, as in the two variants of a benchmark.
"""

from collections.abc import Sequence
from typing import NamedTuple

from fathom.models.tokens import Encoded


class Pass(NamedTuple):
    """One sequence that the model reads.

    Attributes
    ----------
    ids : tuple of int
        Tokens that are read; the last token of a pair predicts nothing and is left out.
    wanted : list of (int, int)
        Position in `ids` and the token that is to come after it, sorted.
    """

    ids: tuple[int, ...]
    wanted: list[tuple[int, int]]


class Plan(NamedTuple):
    """Passes, the longest first, and where each pair finds its tokens' scores.

    Attributes
    ----------
    passes : list of Pass
        They depend on what the pairs are, not on their order.
    rows : list of lists of int
        For each pair, its target tokens among the wanted ones of all passes, one after the other.
    """

    passes: list[Pass]
    rows: list[list[int]]


def plan_passes(encoded: Sequence[Encoded]) -> Plan:
    """Return the passes that score all pairs, and each pair's place in them."""
    heads = _find_heads(sorted({tuple(pair.ids[:-1]) for pair in encoded}))
    wanted: dict[tuple[int, ...], set[tuple[int, int]]] = {}
    for pair in encoded:
        head = heads[tuple(pair.ids[:-1])]
        wanted.setdefault(head, set()).update(_list_wanted(pair))
    passes = [Pass(head, sorted(wanted[head])) for head in sorted(wanted, key=lambda ids: (-len(ids), ids))]
    rows: dict[tuple[int, ...], dict[tuple[int, int], int]] = {}
    count = 0
    for found in passes:
        rows[found.ids] = {want: count + place for place, want in enumerate(found.wanted)}
        count += len(found.wanted)
    places = [rows[heads[tuple(pair.ids[:-1])]] for pair in encoded]
    return Plan(
        passes,
        [[of[want] for want in _list_wanted(pair)] for of, pair in zip(places, encoded, strict=True)],
    )


def _list_wanted(pair: Encoded) -> list[tuple[int, int]]:
    """Return, for each target token, the position that predicts it, and the token."""
    return [(place - 1, pair.ids[place]) for place in range(pair.start, len(pair.ids))]


def _find_heads(sequences: list[tuple[int, ...]]) -> dict[tuple[int, ...], tuple[int, ...]]:
    """Return for each of some sorted sequences a longest one that begins with it."""
    heads: dict[tuple[int, ...], tuple[int, ...]] = {}
    after: tuple[int, ...] = ()
    for ids in reversed(sequences):
        # whatever begins with a sequence follows it at once in sorted order
        heads[ids] = heads[after] if after[: len(ids)] == ids else ids
        after = ids
    return heads
