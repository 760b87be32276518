"""Rank of a target among the other targets of its benchmark, freed of how likely each word is anyway.

In the whole vocabulary a model gains ranks as soon as it knows which words a field uses. Here the candidates
are words of the field, the targets of one benchmark, and each counts by how much more likely a prompt makes
it than the benchmark's prompts do on average: by the log-probability of its first token less the mean of
that over all prompts. What is the same for every prompt (frequency, style, how much more than the word its
first token stands for) falls out, so models with other tokenizers compare.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from fathom.benchmark.target_words import find_forms, list_words
from fathom.models.tokens import encode_pairs

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_CONTEXT = "a"


class Rivals(NamedTuple):
    """The words that a benchmark's targets are compared with.

    Attributes
    ----------
    words : list of str
        Distinct targets, sorted.
    tokens : list of int
        First token of each.
    """

    words: list[str]
    tokens: list[int]


def choose_rivals(tokenizer: Any, targets: Sequence[str]) -> Rivals:
    """Return the distinct targets of a benchmark, the most frequent if they are many, with first tokens.

    Parameters
    ----------
    tokenizer : transformers tokenizer
    targets : sequence of str
        Of all pairs.
    """
    words = list_words(targets)
    encoded = encode_pairs(tokenizer, [_CONTEXT] * len(words), words)
    return Rivals(words, [pair.ids[pair.start] for pair in encoded])


class RivalRanks(NamedTuple):
    """How each pair's target does among its rivals.

    Attributes
    ----------
    rank : ndarray of shape (n_pairs,), float64
        1 + number of rivals that the prompt favours more, ties counted half; NaN where there are none.
    first : list of str
        The rival that each prompt favours most, without its blank; empty if the target is ahead of all.
    """

    rank: "NDArray[np.float64]"
    first: list[str]


def rank_among_rivals(
    rivals: Rivals,
    targets: Sequence[str],
    own: "NDArray[np.float64]",
    others: "NDArray[np.float32]",
) -> RivalRanks:
    """Rank the target of each pair among the benchmark's targets.

    Other forms of the target's word are no rivals.

    Parameters
    ----------
    rivals : Rivals
    targets : sequence of str
        A target that is no rival itself, as there are too many, has no rank.
    own : ndarray of shape (n_pairs,), float64
        Log-probability of each target's first token after its prompt, in nats.
    others : ndarray of shape (n_pairs, n_rivals), float32
        Log-probability of each rival's first token after each prompt.
    """
    import numpy as np

    usual = others.mean(0, dtype=np.float64)
    places = {word: place for place, word in enumerate(rivals.words)}
    allowed = ~find_forms(rivals.words)
    ranks, first = np.full(len(targets), np.nan), [""] * len(targets)
    for row, target in enumerate(targets):
        place = places.get(target)
        if place is None or not allowed[place].any():
            continue
        # in float32 as the others: a word with the target's first token ties
        favour = np.where(allowed[place], others[row] - usual, -np.inf)
        wanted = float(np.float32(own[row])) - usual[place]
        larger = favour > wanted
        ranks[row] = 1 + np.count_nonzero(larger) + np.count_nonzero(favour == wanted) / 2
        if larger.any():
            first[row] = rivals.words[int(favour.argmax())].strip()
    return RivalRanks(ranks, first)
