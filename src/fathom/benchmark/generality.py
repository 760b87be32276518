"""General phrases: they, or their words, are as frequent outside the domain as inside."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from fathom.benchmark.background import find_in_manuals, measure_keyness
from fathom.benchmark.normalise import Run
from fathom.benchmark.phrases import Use, count_uses
from fathom.benchmark.wordlists import WordLists
from fathom.config.benchmark import Keywords
from fathom.config.language import ENGLISH
from fathom.io.files import hash_text
from fathom.io.names import show_count
from fathom.jobs.program import log

MOST_OUTSIDE = 8000
"""Most documents to read outside a domain, drawn by a hash; more cost time and change little."""
LEAST_OUTSIDE = 100
"""Fewest documents outside a domain needed to find general phrases."""

# from reading 270 phrases of three fields: `system size` is below both, `phase diagram` above
_LOOSE = 0.25
_ONCE = 1.2

Documents = Collection[Sequence[Run]]


def draw_outside(doc_ids: Iterable[str]) -> list[str]:
    """Return up to :data:`MOST_OUTSIDE` documents, the same in any order of the others."""
    return sorted(doc_ids, key=lambda doc_id: (hash_text("outside", doc_id), doc_id))[:MOST_OUTSIDE]


def needs_manuals(source: str, outside: int) -> bool:
    """Return whether manuals of programs decide which phrases are general.

    True for a folder of documents. Papers may be about what manuals only mention, such as operating
    systems; for them, enough documents outside the domain decide.
    """
    return source == "folder" or outside < LEAST_OUTSIDE


def find_general(
    phrases: Iterable[str],
    uses: Mapping[str, Use],
    inside: Documents,
    outside: Documents,
    settings: Keywords,
    wordlists: WordLists,
) -> dict[str, list[str]]:
    """Find phrases that name no subject of a domain, by text outside it and by general English.

    `used elsewhere` are phrases in not many more documents inside than outside, in proportion: `random walk`
    in a field of chemistry. `general` are pairs of words of which neither is much more frequent inside, that
    are joined loosely (neither word stands mostly in this phrase), and that documents name once and leave:
    `parameter space`, `inference time`. `generic` are pairs of words that name data, quality, effort or means
    of any study: `image quality`. `common` are phrases that general English has as well: `error message`;
    with the word lists' manuals, also what manuals of programs have, whatever the program, and what is on a
    program as such: `bug tracker`. Phrases that are rare outside may be frequent in general English.
    Returned: phrases by reason.

    Parameters
    ----------
    inside, outside : collection of documents
        Documents of the domain, and others; each a sequence of runs. Fewer than :data:`LEAST_OUTSIDE` others
        tell nothing.
    wordlists : WordLists
        Its lemmas unite the forms of a word; its manuals, if any, tell what is general in documents.
    """
    enough = len(outside) >= LEAST_OUTSIDE
    _log_sources(len(outside), enough, settings, wordlists)
    left = list(phrases)
    found: dict[str, list[str]] = {}
    here, there = _count_words(inside), _count_words(outside)
    ratios = _compare_documents(left, uses, inside, outside) if enough else {}
    if enough and settings.min_ratio is not None:
        found["used elsewhere"] = [phrase for phrase in left if ratios[phrase] < settings.min_ratio]
        left = sorted(set(left).difference(found["used elsewhere"]))
    if enough and settings.min_word_ratio is not None:
        most = settings.min_word_ratio * here.total() / max(1, there.total())
        found["general"] = [
            phrase
            for phrase in left
            if _is_loose(phrase, uses[phrase], here)
            and all(here[word] < most * there[word] for word in phrase.split(" "))
        ]
        left = sorted(set(left).difference(found["general"]))
    if settings.drop_generic:
        found["generic"] = [phrase for phrase in left if _is_generic(phrase, uses[phrase], here, wordlists)]
        left = sorted(set(left).difference(found["generic"]))
    if settings.min_keyness is not None:
        keyness = measure_keyness(left, inside, wordlists.find_lemma)
        if enough:
            for phrase in left:
                specific = ratios[phrase] * _compare_words(phrase, here, there)
                keyness[phrase] *= max(1.0, specific) ** 2
        if wordlists.manuals:
            # frequent on the web or not, they name no subject of this domain
            manual = find_in_manuals(left, inside, wordlists)
            manual |= {phrase for phrase in left if is_on_project(phrase, wordlists)}
            keyness |= dict.fromkeys(manual, 0.0)
        found["common"] = [phrase for phrase in left if keyness[phrase] < settings.min_keyness]
    return found


def is_on_project(phrase: str, wordlists: WordLists) -> bool:
    """Return whether a phrase is about a program itself: people, papers, versions, or how to run it."""
    words = phrase.split(" ")
    last = wordlists.find_lemma(words[-1])
    ends = {last, " ".join([*words[-2:-1], last])}
    return words[0] in ENGLISH.project_starts or not ends.isdisjoint(ENGLISH.project_ends)


def _is_generic(phrase: str, use: Use, counts: Mapping[str, int], wordlists: WordLists) -> bool:
    """Return whether a word of two names data, quality, effort or means, and the other occurs elsewhere."""
    words = phrase.split(" ")
    if len(words) != 2:
        return False
    first, last = words
    end = wordlists.find_lemma(last)
    if {phrase, f"{first} {end}"} & ENGLISH.generic_phrases:
        return True
    others = [first] if end in ENGLISH.generic_ends or last in ENGLISH.generic_ends else []
    others += [last] if first in ENGLISH.generic_starts else []
    return any(use.count < _LOOSE * counts[word] for word in others)


def _compare_documents(
    phrases: Sequence[str], uses: Mapping[str, Use], inside: Documents, outside: Documents
) -> dict[str, float]:
    """Return the ratio of document shares inside and outside; infinite if at most one is outside."""
    elsewhere = count_uses(outside, phrases)
    return {
        phrase: uses[phrase].documents * len(outside) / (elsewhere[phrase].documents * len(inside))
        if elsewhere[phrase].documents > 1
        else math.inf
        for phrase in phrases
    }


def _compare_words(phrase: str, here: Counter[str], there: Counter[str]) -> float:
    words = phrase.split(" ")
    ratios = [here[word] * there.total() / (max(there[word], 0.5) * here.total()) for word in words]
    return math.prod(ratios) ** (1 / len(words))


def _log_sources(outside: int, enough: bool, settings: Keywords, wordlists: WordLists) -> None:
    sources = []
    if settings.min_ratio is not None or settings.min_word_ratio is not None:
        if enough:
            sources.append(f"{show_count(outside, 'document')} outside the domain")
        else:
            log.info(
                "%s outside the domain, fewer than %s: too few to find general phrases",
                show_count(outside, "document"), LEAST_OUTSIDE,
            )  # fmt: skip
    if settings.min_keyness is not None:
        sources.append("frequencies of general English (symspellpy)")
        if wordlists.manuals:
            sources.append("manuals of programs")
    if sources:
        log.info("general phrases are found by %s", " and ".join(sources))


def _count_words(documents: Documents) -> Counter[str]:
    counts: Counter[str] = Counter()
    for runs in documents:
        for run in runs:
            counts.update(run)
    return counts


def _is_loose(phrase: str, use: Use, counts: Mapping[str, int]) -> bool:
    """Return whether two words mostly occur apart, and the phrase mostly once in a document."""
    words = phrase.split(" ")
    if len(words) > 2 or not use.documents:
        return False
    return use.count < _ONCE * use.documents and all(use.count < _LOOSE * counts[word] for word in words)
