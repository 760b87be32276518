"""Models that encode places in long sequences otherwise than in short ones, and what may share a batch then.

With `longrope` scaling (Phi-3 and later) one length decides for a whole batch which rotary frequencies it
gets. So that a sequence is read as if it were alone, long ones share batches, and prefixes, with long ones.
`dynamic` scaling begins where a model's context ends, so no sequence that is read gets there.
"""

from collections.abc import Sequence, Sized
from typing import Any


def find_long_length(model: Any) -> int | None:
    """Return how many tokens a sequence may have before a model reads it as long; None: any."""
    config = model.config.get_text_config()
    given = getattr(config, "rope_parameters", None) or {}
    own = getattr(config, "original_max_position_embeddings", None)
    scalings = [
        given,
        *(each for each in given.values() if isinstance(each, dict)),
    ]  # or one for a layer type
    lengths = [
        each.get("original_max_position_embeddings", own)
        for each in scalings
        if each.get("rope_type") == "longrope"
    ]
    return min((int(length) for length in lengths if length), default=None)


def count_alike(sequences: Sequence[Sized], start: int, size: int, long: int | None, more: int = 0) -> int:
    """Return how many of some sequences, the longest first, can share a batch with that at `start`.

    At most `size`; each may grow by `more` tokens, and all lie on one side of `long`, see
    :func:`find_long_length`.
    """
    chosen = sequences[start : start + size]
    if long is None or len(chosen[0]) + more <= long:
        return len(chosen)
    if len(chosen[0]) <= long:  # becomes long while it grows: alone
        return 1
    return sum(len(each) > long for each in chosen)
