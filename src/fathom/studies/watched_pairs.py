"""The pairs of a watch: what is measured on them, their sentences, and the keywords that can be named."""

from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from fathom.benchmark.target_words import find_forms
from fathom.errors import InputError
from fathom.scoring.bits import find_known
from fathom.statistics.metrics import BITS, LOG_PROBABILITY, Metric

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MEASURES = {each.name: each for each in (BITS, LOG_PROBABILITY)}
"""What keywords can be tested by; the first one is the default."""
SEVERAL = 3
"""Different targets from which on a keyword can be named: one word that a model learns is no keyword."""
MOST_OF_ONE = 0.5
"""Share of a keyword's pairs that may have the same target."""
NO_KEYWORD = "(no keyword)"
_WORDS = 3  # first words of a prompt: pairs that share them are of one sentence, if no documents are known


class Sentences(NamedTuple):
    """What the pairs of a benchmark are put together to: independent sentences of keywords.

    Attributes
    ----------
    names : list of str
        Of the keywords.
    keywords : ndarray of shape (n_sentences,), int64
        The keyword of each sentence.
    places : ndarray of shape (n_pairs,), int64
        The sentence of each pair.
    targets : ndarray of shape (n_keywords,), int64
        How many different targets each keyword has; forms of one word are one.
    can_be_named : ndarray of shape (n_keywords,), bool
        Whether these are several, and none of them is that of most pairs.
    """

    names: list[str]
    keywords: "NDArray[np.int64]"
    places: "NDArray[np.int64]"
    targets: "NDArray[np.int64]"
    can_be_named: "NDArray[np.bool_]"

    def average(self, values: "NDArray[np.float64]") -> "NDArray[np.float64]":
        """Return the mean of each sentence's pairs."""
        import numpy as np

        return np.asarray(np.bincount(self.places, values) / np.bincount(self.places))


def group_sentences(pairs: pl.DataFrame) -> Sentences:
    """Put pairs of one document (without documents: of one sentence) and keyword together."""
    import numpy as np

    own = pairs["doc_id"] if "doc_id" in pairs.columns else [
        " ".join(prompt.split()[:_WORDS]) for prompt in pairs["prompt"]
    ]  # fmt: skip
    names, keywords = np.unique([name or NO_KEYWORD for name in pairs["keyword"]], return_inverse=True)
    sentences, places = np.unique(
        [f"{keyword:09d} {text}" for keyword, text in zip(keywords, own, strict=True)], return_inverse=True
    )
    words = [_count_targets(pairs["target"].filter(keywords == place)) for place in range(len(names))]
    targets = np.array([len(each) for each in words], dtype=np.int64)
    shares = np.array([max(each) / sum(each) for each in words])
    return Sentences(
        names.tolist(),
        np.array([int(each[:9]) for each in sentences]),
        places,
        targets,
        (targets >= SEVERAL) & (shares <= MOST_OF_ONE),
    )


def _count_targets(targets: pl.Series) -> list[int]:
    """Return how many pairs each different target has; a form of a word counts for its first form."""
    counts = targets.str.strip_chars().value_counts().sort(targets.name)
    words, sizes = counts[targets.name].to_list(), counts["count"].to_list()
    firsts = find_forms(words).argmax(axis=1).tolist()
    found: dict[int, int] = {}
    for first, size in zip(firsts, sizes, strict=True):
        found[first] = found.get(first, 0) + size
    return list(found.values())


class WatchedPairs(NamedTuple):
    """What a watch measures, and on which of its pairs.

    Attributes
    ----------
    metric : Metric
        One of MEASURES, by which keywords are tested.
    kept : ndarray of shape (n_pairs,), bool
        Which pairs have a value of it.
    sentences : Sentences
        Of the pairs that are kept.
    """

    metric: Metric
    kept: "NDArray[np.bool_]"
    sentences: Sentences

    def describe(self) -> str:
        """Return what is measured, on what, and what is left out."""
        names = _count(len(self.sentences.names), "keyword")
        left, few = int((~self.kept).sum()), int((~self.sentences.can_be_named).sum())
        parts = [f"{_count(int(self.kept.sum()), 'pair')} of {names}, by {self.metric.label}"]
        if left:
            parts.append(f"left out: {_count(left, 'pair')} without other targets to compare with")
        if few:
            parts.append(
                f"{_count(few, 'keyword')} cannot be named: fewer than {SEVERAL} different targets, or one"
                " that most pairs share"
            )
        return "; ".join(parts)


def _count(number: int, name: str) -> str:
    return f"{number:,} {name}{'' if number == 1 else 's'}"


def plan_watch(pairs: pl.DataFrame, by: str | None = None) -> WatchedPairs:
    """Return what is measured on which pairs.

    Parameters
    ----------
    pairs : DataFrame
    by : str, optional
        Name of one of MEASURES; None: bits if pairs have them, else log-probability.

    Raises
    ------
    InputError
        If no pair can have a value of it.
    """
    import numpy as np

    kept = find_known(pairs["target"].to_list(), pairs["keyword"].to_list())
    metric = MEASURES[by] if by else BITS if kept.any() else LOG_PROBABILITY
    if metric is not BITS:
        kept = np.ones(len(pairs), dtype=bool)
    if not kept.any():
        raise InputError(
            "these pairs have no bits: that takes two keywords and different targets",
            "--pairs",
            f"give each pair its keyword, or --by {LOG_PROBABILITY.name}",
        )
    return WatchedPairs(metric, kept, group_sentences(pairs.filter(pl.Series(kept))))
