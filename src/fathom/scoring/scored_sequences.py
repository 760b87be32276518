"""The token sequences that a model must read to score all pairs, each shared prefix once.

A causal model's hidden state at a token depends only on the tokens before it. So a pair whose tokens are a
prefix of another pair's tokens is scored in the same sequence, and pairs with equal tokens share one: the
same sentence under several keywords, or cut at several positions, as in the two variants of a benchmark.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from fathom.models.tokens import EncodedPair

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class TokenScores(NamedTuple):
    """Scores of single target tokens.

    `others` (ndarray of shape (n_tokens, n_others), float32): log-probabilities, in place of each token, of
    other requested tokens.
    """

    rank: "NDArray[np.int64]"  # shape (n_tokens,), int64: 1 + number of strictly larger logits
    ties: "NDArray[np.int64]"  # shape (n_tokens,), int64: other vocabulary entries with an equal logit
    log_probability: "NDArray[np.float64]"  # shape (n_tokens,), float64: in nats
    others: "NDArray[np.float32] | None" = None

    def pick(self, rows: list[int]) -> "TokenScores":
        """Return the scores of some tokens."""
        return TokenScores(*(column[rows] for column in self.to_arrays().values()))

    def to_arrays(self) -> "dict[str, NDArray[Any]]":
        """Return the existing columns by name."""
        return {name: column for name, column in self._asdict().items() if column is not None}


def join_token_scores(parts: Sequence[TokenScores]) -> TokenScores:
    """Concatenate the scores of several batches, in their order."""
    import numpy as np

    if not parts:
        return TokenScores(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    columns = zip(*(part.to_arrays().values() for part in parts), strict=True)
    return TokenScores(*(np.concatenate(each) for each in columns))


class ScoredSequence(NamedTuple):
    """One token sequence that the model reads."""

    ids: tuple[int, ...]  # input tokens. The last token of a pair predicts nothing and is left out.
    targets: list[tuple[int, int]]  # position in `ids` and the token to be predicted after it, sorted


class ScoringPlan(NamedTuple):
    """Sequences to read, the longest first, and where each pair finds its tokens' scores.

    `rows`: for each pair, the indices of its target tokens among the targets of all sequences, concatenated.
    """

    sequences: list[ScoredSequence]  # they do not depend on the order of the pairs
    rows: list[list[int]]


def plan_sequences(encoded: Sequence[EncodedPair], long: int | None = None) -> ScoringPlan:
    """Return the sequences that score all pairs, and where each pair's scores are found.

    Sequences above `long`, see :func:`fathom.models.text_model.find_long_length`, contain no shorter ones.
    """
    wanted = sorted({tuple(pair.ids[:-1]) for pair in encoded})
    containing = find_containing([ids for ids in wanted if long is None or len(ids) <= long])
    containing |= find_containing([ids for ids in wanted if ids not in containing])
    targets: dict[tuple[int, ...], set[tuple[int, int]]] = {}
    for pair in encoded:
        targets.setdefault(containing[tuple(pair.ids[:-1])], set()).update(_list_targets(pair))
    longest_first = sorted(targets, key=lambda ids: (-len(ids), ids))
    sequences = [ScoredSequence(ids, sorted(targets[ids])) for ids in longest_first]
    rows: dict[tuple[int, ...], dict[tuple[int, int], int]] = {}
    count = 0
    for sequence in sequences:
        rows[sequence.ids] = {target: count + index for index, target in enumerate(sequence.targets)}
        count += len(sequence.targets)
    rows_of_pairs = [rows[containing[tuple(pair.ids[:-1])]] for pair in encoded]
    return ScoringPlan(
        sequences,
        [
            [found[target] for target in _list_targets(pair)]
            for found, pair in zip(rows_of_pairs, encoded, strict=True)
        ],
    )


def _list_targets(pair: EncodedPair) -> list[tuple[int, int]]:
    """Return each target token with the position that predicts it: (position, token)."""
    return [(index - 1, pair.ids[index]) for index in range(pair.start, len(pair.ids))]


def find_containing(sequences: list[tuple[int, ...]]) -> dict[tuple[int, ...], tuple[int, ...]]:
    """Map each of some sorted sequences to a longest one that it is a prefix of."""
    containing: dict[tuple[int, ...], tuple[int, ...]] = {}
    following: tuple[int, ...] = ()
    for ids in reversed(sequences):
        # in sorted order, the sequences that start with `ids` come right after it
        containing[ids] = containing[following] if following[: len(ids)] == ids else ids
        following = ids
    return containing
