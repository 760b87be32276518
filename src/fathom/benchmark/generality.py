"""Phrases that are general: outside the domain they, or their words, are as frequent as inside."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from fathom.benchmark.normalise import Run
from fathom.benchmark.phrases import Use, count_uses
from fathom.config.benchmark import Keywords
from fathom.io.files import hash_text
from fathom.jobs.program import log

MOST_OUTSIDE = 8000
"""Most documents outside a domain that are read, drawn by a hash; more cost time and change little."""
LEAST_OUTSIDE = 100
"""Fewest documents outside a domain that tell what is general."""

# from 270 phrases of three fields, read: `system size` is below both, `phase diagram` above
_LOOSE = 0.25
_ONCE = 1.2

Documents = Collection[Sequence[Run]]


def draw_outside(doc_ids: Iterable[str]) -> list[str]:
    """Return up to :data:`MOST_OUTSIDE` documents, the same in any order of the others."""
    return sorted(doc_ids, key=lambda doc_id: (hash_text("outside", doc_id), doc_id))[:MOST_OUTSIDE]


def find_general(
    phrases: Iterable[str], uses: Mapping[str, Use], inside: Documents, outside: Documents, settings: Keywords
) -> dict[str, list[str]]:
    """Find phrases that name no subject of a domain, by what stands outside it.

    `used elsewhere` are phrases in not many more documents inside than outside, in proportion: `random walk`
    in a field of chemistry. `general` are pairs of words of which neither is much more frequent inside, that
    are joined loosely (neither word stands mostly in this phrase), and that documents name once and leave:
    `parameter space`, `inference time`.

    Parameters
    ----------
    phrases : iterable of str
        Phrases that may be keywords.
    uses : mapping
        Their uses inside.
    inside, outside : collection of documents
        Documents of the domain, and others; each a sequence of runs.
    settings : Keywords
        Its min_ratio and min_word_ratio.

    Returns
    -------
    dict
        Phrases by reason; nothing if fewer than :data:`LEAST_OUTSIDE` documents are outside.
    """
    if len(outside) < LEAST_OUTSIDE:
        if settings.min_ratio is not None or settings.min_word_ratio is not None:
            log.info(
                "%s documents are outside the domain, fewer than %s: only word lists tell general phrases",
                len(outside), LEAST_OUTSIDE,
            )  # fmt: skip
        return {}
    left = list(phrases)
    found: dict[str, list[str]] = {}
    if settings.min_ratio is not None:
        elsewhere = count_uses(outside, left)
        most = settings.min_ratio * len(inside) / len(outside)
        found["used elsewhere"] = [
            phrase
            for phrase in left
            if elsewhere[phrase].documents > 1 and uses[phrase].documents < most * elsewhere[phrase].documents
        ]
        left = sorted(set(left).difference(found["used elsewhere"]))
    if settings.min_word_ratio is not None:
        here, there = _count_words(inside), _count_words(outside)
        most = settings.min_word_ratio * here.total() / max(1, there.total())
        found["general"] = [
            phrase
            for phrase in left
            if _is_loose(phrase, uses[phrase], here)
            and all(here[word] < most * there[word] for word in phrase.split(" "))
        ]
    return found


def _count_words(documents: Documents) -> Counter[str]:
    """Return how often each word occurs."""
    counts: Counter[str] = Counter()
    for runs in documents:
        for run in runs:
            counts.update(run)
    return counts


def _is_loose(phrase: str, use: Use, counts: Mapping[str, int]) -> bool:
    """Return whether two words mostly stand apart, and the phrase mostly once in a document."""
    words = phrase.split(" ")
    if len(words) > 2 or not use.documents:
        return False
    return use.count < _ONCE * use.documents and all(use.count < _LOOSE * counts[word] for word in words)
