"""Knowledge in bits, and ranks among rivals: a target among the other targets of its benchmark.

Each candidate counts by how much more likely a prompt makes its first token than the prompts of other
keywords do, in logarithms; a softmax over the candidates, at a temperature fitted on other keywords, gives
the target a share p of K candidates. Bits are log2 K + log2 p: 0 where the prompt tells nothing, log2 K where
the model is always sure of the target. With targets of equal frequency their mean is a lower bound on the
mutual information of prompt and target [InfoNCE, Sec. 2.3; MIBounds, Sec. 2.3]. With others it exceeds that
bound by log2 K minus the entropy of the targets, the same for every model.

In the whole vocabulary a model gains ranks as soon as it knows which words a field uses. Among rivals a
word counts by its log-probability minus its mean over all prompts. Whatever is the same for every prompt
(frequency, style, other words with the same first token) cancels, so models with different tokenizers
compare.
"""

import hashlib
from collections.abc import Callable, Sequence
from functools import cache
from itertools import compress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fathom.benchmark.target_words import find_forms, list_words
from fathom.models.tokens import encode_pairs

Array = NDArray[np.float64]


_CONTEXTS = ("a", ",", ")", "1")
"""Text before words whose first tokens are looked up; a tokenizer may merge a word with some of them."""


class Rivals(NamedTuple):
    """The words that a benchmark's targets are compared with: distinct targets, and their first tokens."""

    words: list[str]
    tokens: list[int]


def choose_rivals(tokenizer: Any, targets: Sequence[str]) -> Rivals:
    """Return the distinct targets of all pairs, the most frequent if they are many, with first tokens."""
    words = list_words(targets)
    for context in _CONTEXTS:
        encoded = encode_pairs(tokenizer, [context] * len(words), words)
        if not any(pair.backed_off for pair in encoded):
            break
    return Rivals(words, [pair.ids[pair.start] for pair in encoded])


class RivalRanks(NamedTuple):
    """Rank of each pair's target among its rivals.

    `rank` (ndarray of shape (n_pairs,), float64): 1 + number of rivals that the prompt favours more, ties
    counted half; NaN without rivals. `first`: the rival that each prompt favours most, without its space;
    empty if the target is ahead of all.
    """

    rank: NDArray[np.float64]
    first: list[str]


def rank_among_rivals(
    rivals: Rivals, targets: Sequence[str], own: NDArray[np.float64], others: NDArray[np.float32]
) -> RivalRanks:
    """Rank the target of each pair among the benchmark's targets except other forms of its word.

    A target that is no rival itself, as there are too many, has no rank. `own` (ndarray of shape (n_pairs,),
    float64): log-probability of each target's first token after its prompt, in nats; NaN for a pair that does
    not count, see :class:`fathom.scoring.ranks.FirstTokens`. `others` (ndarray of shape (n_pairs, n_rivals),
    float32): log-probability of each rival's first token after each prompt.
    """
    counts = ~np.isnan(own)
    usual = others[counts].mean(0, dtype=np.float64) if counts.any() else np.zeros(others.shape[1])
    places = {word: place for place, word in enumerate(rivals.words)}
    allowed = ~find_forms(rivals.words)
    ranks, first = np.full(len(targets), np.nan), [""] * len(targets)
    for row, target in enumerate(targets):
        place = places.get(target)
        if place is None or not counts[row] or not allowed[place].any():
            continue
        # in float32 as the others: a word with the target's first token ties
        favour = np.where(allowed[place], others[row] - usual, -np.inf)
        wanted = float(np.float32(own[row])) - usual[place]
        larger = favour > wanted
        ranks[row] = 1 + np.count_nonzero(larger) + np.count_nonzero(favour == wanted) / 2
        if larger.any():
            first[row] = rivals.words[int(favour.argmax())].strip()
    return RivalRanks(ranks, first)


FOLDS = 5
SHARPNESSES = (0.0, *(2.0 ** (step / 4) for step in range(-20, 13)))
"""Inverse temperatures to try, from 1/32 to 8; 0: a model's preferences carry no information."""
_CHUNK = 4_000_000
"""Most numbers in memory at once."""


class PairBits(NamedTuple):
    """What prompts tell a model about their targets.

    `bits` (ndarray of shape (n_pairs,), float64): negative where the model prefers other targets; NaN where
    there is no other keyword or no candidate. `ceiling` (ndarray of shape (n_pairs,), float64): log2 of the
    number of candidates, the most that `bits` can be; NaN as `bits`. `sharpness`: inverse temperature of each
    fold, fitted on the keywords of the others; None where there are none. If names put all keywords in one
    fold, each is its own, in the order of names.
    """

    bits: Array
    ceiling: Array
    sharpness: list[float | None]


class _Given(NamedTuple):
    """Data for measuring shares; `usual` is by keyword, `codes` gives each pair's keyword."""

    own: Array
    others: NDArray[np.float32]
    usual: Array
    codes: NDArray[np.int64]
    places: NDArray[np.int64]
    allowed: NDArray[np.bool_]
    known: NDArray[np.bool_]


def choose_fold(keyword: str) -> int:
    """Return the fold of a keyword, which depends only on its name."""
    return int.from_bytes(hashlib.sha256(keyword.encode()).digest()[:8], "big") % FOLDS


def find_known(targets: Sequence[str], keywords: Sequence[str]) -> NDArray[np.bool_]:
    """Return which pairs of a benchmark have bits, whatever the model.

    Their target is a candidate, others are no forms of it, and there is another keyword with such pairs.
    """
    words = list_words(targets)
    counts = (~find_forms(words)).sum(axis=1)
    candidates = {word for word, count in zip(words, counts, strict=True) if count}
    known = np.array([target in candidates for target in targets], dtype=bool)
    return known & (len(set(compress(keywords, known))) > 1)


def measure_bits(
    rivals: Rivals,
    targets: Sequence[str],
    keywords: Sequence[str],
    own: Array,
    others: NDArray[np.float32],
) -> PairBits:
    """Measure bits of the target of each pair; other forms of its word are not candidates.

    A target that is no rival itself, as there are too many, has no bits. `own` (ndarray of shape (n_pairs,),
    float64): log-probability of each target's first token after its prompt, in nats; NaN for a pair that does
    not count, see :class:`fathom.scoring.ranks.FirstTokens`. `others` (ndarray of shape (n_pairs, n_rivals),
    float32): log-probability of each rival's first token after each prompt.
    """
    places = {word: place for place, word in enumerate(rivals.words)}
    found = np.array([places.get(target, -1) for target in targets], dtype=np.int64)
    names, codes = np.unique(np.array(keywords, dtype=str), return_inverse=True)
    allowed = ~find_forms(rivals.words)  # of others; a target is its own candidate
    counts = 1 + allowed.sum(axis=1)
    read = ~np.isnan(own)
    known = read & (found >= 0) & (counts[found] > 1)
    nothing = np.full(len(targets), np.nan)
    if len(np.unique(codes[read])) < 2 or not known.any():
        return PairBits(nothing, nothing.copy(), [])
    given = _Given(own, others, _average_others(others, codes, read), codes, found, allowed, known)
    folds = np.array([choose_fold(str(name)) for name in names])[codes]
    if len(np.unique(folds[known])) == 1:  # few keywords: each is fitted on all others
        folds = codes
    ceiling = np.where(known, np.log2(counts[found]), np.nan)
    bits = nothing.copy()
    sharpness: list[float | None] = []

    @cache
    def measure(place: int) -> Array:
        return _measure_logs(given, SHARPNESSES[place])

    for fold in range(max(FOLDS, int(folds.max()) + 1)):
        fitted_on = known & (folds != fold)
        if not fitted_on.any():
            sharpness.append(None)
            continue
        best = _climb(measure, fitted_on)
        inside = folds == fold
        bits[inside] = np.where(known, 0.0, np.nan)[inside]
        if SHARPNESSES[best]:
            bits[inside] = measure(best)[inside] / np.log(2) + ceiling[inside]
        sharpness.append(SHARPNESSES[best])
    return PairBits(bits, np.where(np.isnan(bits), np.nan, ceiling), sharpness)


def _climb(measure: Callable[[int], Array], rows: NDArray[np.bool_]) -> int:
    """Return the place of the best sharpness; the likelihood is concave in it, so every hill is the top."""
    place = SHARPNESSES.index(1.0)
    for step in (-1, 1):
        while 0 <= place + step < len(SHARPNESSES):
            if measure(place + step)[rows].mean() <= measure(place)[rows].mean():
                break
            place += step
    return place


def _average_others(others: NDArray[np.float32], codes: NDArray[np.int64], read: NDArray[np.bool_]) -> Array:
    """Return the mean of each rival over the prompts of all other keywords that are read, by keyword."""
    count = int(codes.max()) + 1
    sizes = np.bincount(codes[read], minlength=count)
    sums = np.stack([others[read & (codes == code)].sum(axis=0, dtype=np.float64) for code in range(count)])
    return np.asarray((sums.sum(axis=0) - sums) / (sizes.sum() - sizes)[:, None])


def _measure_logs(given: _Given, sharpness: float) -> Array:
    """Return ln of each target's share of the candidates; NaN if unknown."""
    logs = np.full(len(given.others), np.nan)
    rows = np.flatnonzero(given.known)
    step = max(1, _CHUNK // given.others.shape[1])
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        places, usual = given.places[part], given.usual[given.codes[part]]
        # in float32 as the others: a word with the target's first token ties
        wanted = given.own[part].astype(np.float32) - usual[np.arange(len(part)), places]
        ahead = given.others[part] - usual - wanted[:, None]
        ahead[~given.allowed[places]] = -np.inf
        ahead *= sharpness or 1.0
        if not sharpness:
            ahead[np.isfinite(ahead)] = 0.0
        most = np.maximum(ahead.max(axis=1, keepdims=True), 0.0)
        logs[part] = -most[:, 0] - np.log(np.exp(ahead - most).sum(axis=1) + np.exp(-most[:, 0]))
    return logs
