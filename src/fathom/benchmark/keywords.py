"""Keywords of a domain: candidates are filtered, ranked within quotas by length, near-duplicates merged.

Parts of a clause, such as `pass data` after `to`, and names of people, places and firms are excluded.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fathom.benchmark.generality import find_general
from fathom.benchmark.normalise import Run, split_into_runs
from fathom.benchmark.phrases import (
    Candidates,
    Use,
    build_trie,
    complete_phrases,
    count_uses,
    find_candidates,
    find_copied,
    find_modifiers,
    find_neighbours,
    find_truncated,
    find_uses,
)
from fathom.benchmark.wordlists import LEMMA_SOURCE, WordLists, drop_accents, find_kinds, is_verb_only
from fathom.config.benchmark import Keywords
from fathom.errors import InputError
from fathom.io.names import show_count
from fathom.jobs.program import log, show_progress

_EXAMPLES = 20

Encode = Callable[[list[str]], NDArray[np.float64]]
"""Takes phrases; returns float64 unit vectors of shape (n_phrases, dimension), each computed alone."""


@dataclass(frozen=True)
class Selected:
    """Result of selecting under quotas and merging.

    `quotas`: final number of keywords wanted of each length, after shifting between lengths. `surplus`:
    phrases that merging brought back beyond the quota of their length.
    """

    keywords: list[str]
    merged: dict[str, list[str]]
    quotas: dict[str, int]
    vectors: dict[str, NDArray[np.float64]]
    surplus: list[str] = field(default_factory=list)


class Extracted(NamedTuple):
    """Keywords of a domain.

    `vectors` (array of float64 of shape (n_keywords, dimension)): their unit vectors, in the order of the
    rows.
    """

    rows: list[tuple[Any, ...]]  # under :data:`COLUMNS`, by documents (most first), then alphabetically
    vectors: NDArray[np.float64]
    report: dict[str, Any]  # counts of what was found and left out, by reason


def extract_keywords(
    abstracts: Mapping[str, str],
    settings: Keywords,
    wordlists: WordLists,
    encode: Encode,
    outside: Mapping[str, str] | None = None,
) -> Extracted:
    """Extract the keywords of a domain from its abstracts [RawCorpora, Sec. 2.2, App. A.1].

    Raise `InputError` if there is no abstract, or no keyword is found.

    Parameters
    ----------
    abstracts : mapping
        Abstracts by doc_id, in any order; empty ones are skipped.
    encode : callable
        Returns float64 unit vectors of phrases, of shape (n_phrases, dimension).
    outside : mapping, optional
        Abstracts of documents outside the domain, to find general phrases.
    """
    documents, others = _read_runs(abstracts), _read_runs(outside or {})
    candidates = find_candidates([run for runs in documents for run in runs], settings)
    uses = count_uses(documents, candidates.phrases)
    dropped, eligible = _filter_candidates(candidates.phrases, uses, wordlists)
    eligible, longer = _mend_truncated(documents, eligible, uses, dropped, settings, wordlists)
    if settings.drop_verbs:
        dropped["verb"] = find_verbal(documents, eligible, wordlists)
    if settings.drop_names:
        dropped["name"] = find_names(abstracts.values(), eligible)
    dropped["rare"] = [phrase for phrase in eligible if uses[phrase].documents < settings.min_documents]
    if settings.min_documents > 1:
        dropped["rare"] = sorted({*dropped["rare"], *find_copied(documents, eligible)})
    no_terms = (dropped.get(reason, ()) for reason in ("verb", "name", "rare"))
    eligible = sorted(set(eligible).difference(*no_terms))
    general = find_general(eligible, uses, documents, others, settings, wordlists)
    dropped.update(general)
    ranked = _rank_by_length(set(eligible).difference(*general.values()), uses)
    selected = select_keywords(ranked, settings, encode)
    if not selected.keywords:
        raise InputError(
            f"no keyword in {show_count(len(documents), 'abstract')}",
            hint="more documents or a lower keywords.min_count are needed",
        )
    report = {
        "abstracts": len(documents),
        "abstracts_empty": len(abstracts) - len(documents),
        "abstracts_outside": len(others),
        **_describe_candidates(candidates, dropped, uses),
        **_describe_completed(longer, uses),
        **_describe_selection(selected, ranked, settings),
    }
    _log_shortage(report)
    rows = _make_rows(selected, uses)
    return Extracted(rows, np.stack([selected.vectors[row[0]] for row in rows]), report)


def _read_runs(abstracts: Mapping[str, str]) -> list[list[Run]]:
    texts = [text for _, text in sorted(abstracts.items()) if text.strip()]
    known: dict[str, str] = {}  # one copy of each word, which saves memory
    return [
        [[known.setdefault(word, word) for word in run] for run in split_into_runs(text)]
        for text in show_progress(texts, "abstracts")
    ]


def _filter_candidates(
    phrases: Sequence[str], uses: Mapping[str, Use], wordlists: WordLists
) -> tuple[dict[str, list[str]], list[str]]:
    dropped: dict[str, list[str]] = defaultdict(list)
    eligible = []
    for phrase in phrases:
        fault = wordlists.find_fault(phrase)
        if fault is None:
            eligible.append(phrase)
        else:
            dropped[fault].append(phrase)
    return dropped, eligible


def _mend_truncated(
    documents: Collection[Sequence[Run]],
    phrases: list[str],
    uses: dict[str, Use],
    dropped: dict[str, list[str]],
    settings: Keywords,
    wordlists: WordLists,
) -> tuple[list[str], dict[str, str]]:
    """Complete phrases and drop truncated ones; return them and the longer forms of completed ones.

    The uses of the longer forms are added to `uses`, phrases without a longer form to `dropped`.
    """
    longer: dict[str, str] = {}
    if settings.complete is not None:
        longer, incomplete = complete_phrases(
            documents, phrases, wordlists, settings.complete, settings.drop_modifiers
        )
        dropped["incomplete"] = sorted(incomplete)
        phrases = sorted({longer.get(phrase, phrase) for phrase in phrases if phrase not in incomplete})
        uses |= count_uses(documents, [phrase for phrase in phrases if phrase not in uses])
    if settings.drop_truncated is not None:
        truncated = find_truncated(phrases, uses, wordlists, settings.drop_truncated)
        dropped["truncated"] = sorted(truncated)
        phrases = [phrase for phrase in phrases if phrase not in truncated]
    if settings.drop_modifiers is not None:
        neighbours = find_neighbours(documents, phrases, wordlists)
        dropped["modifier"] = find_modifiers(neighbours, settings.drop_modifiers)
        phrases = sorted(set(phrases).difference(dropped["modifier"]))
    return phrases, longer


def name_length(phrase: str) -> str:
    """Return the length class of a phrase: `2`, `3`, `4` or `5+`."""
    words = phrase.count(" ") + 1
    return str(words) if words < 5 else "5+"


def _rank_by_length(phrases: Iterable[str], uses: Mapping[str, Use]) -> dict[str, list[str]]:
    """Return phrases by length class, each ranked by document frequency, count and alphabet."""
    ranked: dict[str, list[str]] = defaultdict(list)
    for phrase in sorted(phrases, key=lambda phrase: (-uses[phrase].documents, -uses[phrase].count, phrase)):
        ranked[name_length(phrase)].append(phrase)
    return ranked


def share_out(target: int, shares: Mapping[str, float], available: Mapping[str, int]) -> dict[str, int]:
    """Divide a number of keywords among length classes; shortfalls go to the others in proportion.

    Returned: quota by length class, at most what is available; the sum is `target` if enough are available.
    """
    quotas = dict.fromkeys(shares, 0)
    while True:
        left = target - sum(quotas.values())
        open_shares = {
            name: share
            for name, share in shares.items()
            if share > 0 and quotas[name] < available.get(name, 0)
        }
        if left <= 0 or not open_shares:
            return quotas
        for name, part in _divide(left, open_shares).items():
            quotas[name] = min(quotas[name] + part, available[name])


def _read_shares(settings: Keywords) -> dict[str, float]:
    return {str(name): share for name, share in settings.shares.items()}


def _divide(target: int, shares: Mapping[str, float]) -> dict[str, int]:
    """Divide an integer by shares, largest remainders first; at least one is given out."""
    total = sum(shares.values())
    exact = {name: target * share / total for name, share in shares.items()}
    parts = {name: int(value + 1e-9) for name, value in exact.items()}
    order = sorted(shares, key=lambda name: (-round(exact[name] - parts[name], 9), name))
    for name in order[: target - sum(parts.values())]:
        parts[name] += 1
    return parts


def select_keywords(ranked: Mapping[str, Sequence[str]], settings: Keywords, encode: Encode) -> Selected:
    """Fill the quotas by rank, merge near-duplicates, and refill until the target is met.

    Every round merges all phrases considered so far again, so the result does not depend on the round in
    which a phrase is added.
    """
    shares = _read_shares(settings)
    taken = dict.fromkeys(shares, 0)
    vectors: dict[str, NDArray[np.float64]] = {}
    kept: dict[str, list[str]] = {}
    while True:
        have = {name: sum(name_length(phrase) == name for phrase in kept) for name in shares}
        rest = {name: len(ranked.get(name, ())) - taken[name] for name in shares}
        quotas = share_out(settings.count, shares, {name: have[name] + rest[name] for name in have})
        fresh: list[str] = []
        for name in shares:
            wanted = max(0, quotas[name] - have[name])
            fresh += ranked.get(name, ())[taken[name] : taken[name] + wanted]
            taken[name] += wanted
        if not fresh:
            break
        vectors.update(zip(fresh, encode(fresh), strict=True))
        kept = merge_similar(list(vectors), np.stack(list(vectors.values())), settings.merge_above)
    keywords: list[str] = []
    surplus: list[str] = []
    for name in shares:
        here = [phrase for phrase in ranked.get(name, ())[: taken[name]] if phrase in kept]
        keywords += here[: quotas[name]]
        surplus += here[quotas[name] :]
    merged = {phrase: kept[phrase] for phrase in keywords if kept[phrase]}
    return Selected(keywords, merged, quotas, vectors, surplus)


def merge_similar(phrases: Sequence[str], vectors: NDArray[np.float64], above: float) -> dict[str, list[str]]:
    """Merge phrases whose cosine is above a threshold; the shorter string stays.

    Phrases are visited from the shortest to the longest in characters; ties go to the higher mean cosine to
    all others, then the alphabet. A phrase similar to a kept one is merged into the most similar of them; all
    others are kept. No chains form: each merged phrase is itself similar to the one that it is merged into.
    `vectors` (array of float64 of shape (n_phrases, dimension)): their unit vectors. Returned: merged phrases
    by kept phrase; both in the order of `phrases`.
    """
    means = [round(float(value), 9) for value in vectors @ vectors.mean(axis=0)]
    # rounded, because the last digits of a sum depend on the machine
    order = sorted(range(len(phrases)), key=lambda i: (len(phrases[i]), -means[i], phrases[i]))
    kept: list[int] = []
    merged: dict[int, list[int]] = {}
    for i in order:
        cosines = [round(float(value), 9) for value in vectors[kept] @ vectors[i]] if kept else []
        best = max(range(len(kept)), key=lambda k: (cosines[k], -k), default=None)
        if best is not None and cosines[best] > above:
            merged[kept[best]].append(i)
        else:
            kept.append(i)
            merged[i] = []
    return {phrases[i]: [phrases[j] for j in sorted(merged[i])] for i in sorted(kept)}


def _make_rows(selected: Selected, uses: Mapping[str, Use]) -> list[tuple[Any, ...]]:
    rows = []
    for phrase in sorted(selected.keywords, key=lambda phrase: (-uses[phrase].documents, phrase)):
        merged = "; ".join(f"{other} ({uses[other].documents})" for other in selected.merged.get(phrase, ()))
        rows.append((phrase, phrase.count(" ") + 1, uses[phrase].documents, uses[phrase].count, merged))
    return rows


def _describe_candidates(
    candidates: Candidates, dropped: Mapping[str, Sequence[str]], uses: Mapping[str, Use]
) -> dict[str, Any]:
    return {
        "lemmas": LEMMA_SOURCE,
        "candidates_after_pass": candidates.after_pass,
        "candidates_too_long": candidates.too_long,
        "dropped": {
            reason: {
                "count": len(phrases),
                "examples": sorted(phrases, key=lambda phrase: (-uses[phrase].documents, phrase))[:_EXAMPLES],
            }
            for reason, phrases in dropped.items()
        },
    }


def _describe_completed(longer: Mapping[str, str], uses: Mapping[str, Use]) -> dict[str, Any]:
    shown = sorted(longer, key=lambda phrase: (-uses[phrase].documents, phrase))[:_EXAMPLES]
    return {"completed": {"count": len(longer), "examples": {phrase: longer[phrase] for phrase in shown}}}


def _describe_selection(
    selected: Selected, ranked: Mapping[str, Sequence[str]], settings: Keywords
) -> dict[str, Any]:
    wanted = _divide(settings.count, _read_shares(settings))
    lengths = {}
    for name in settings.shares:
        found = sum(name_length(phrase) == name for phrase in selected.keywords)
        lengths[name] = {
            "candidates": len(ranked.get(name, ())),
            "quota": wanted[name],
            "quota_after_shift": selected.quotas[name],
            "found": found,
        }
    return {
        "asked": settings.count,
        "found": len(selected.keywords),
        "lengths": lengths,
        "merged": sum(len(others) for others in selected.merged.values()),
        "surplus": selected.surplus,
    }


def _log_shortage(report: Mapping[str, Any]) -> None:
    abstracts = show_count(report["abstracts"], "abstract")
    line = f"{report['found']:,} of {report['asked']:,} keywords in {abstracts}"
    if report["found"] < report["asked"]:
        line += (
            f": all candidates that the word lists and merging ({report['merged']:,} merged) have left; for "
            "more, add documents or lower keywords.min_count"
        )
    log.info("%s", line)


# before a verb, never before a noun that has no article
_BEFORE_VERB = frozenset(
    {"to", "can", "cannot", "could", "may", "might", "must", "shall", "should", "will", "would", "not", "i",
     "they", "we", "you"}
)  # fmt: skip
_DETERMINERS = frozenset({"a", "an", "its", "the", "their", "this"})
# before a verb in -s, never before a plural
_SUBJECTS = frozenset({"each", "he", "it", "one", "she", "that", "this", "which", "who"})
_BEFORE_PLURAL = frozenset(
    {"all", "any", "as", "at", "by", "for", "from", "in", "into", "its", "many", "no", "of", "on", "or",
     "our", "several", "some", "such", "the", "their", "these", "those", "to", "two", "when", "with", "your"}
)  # fmt: skip
_LIKELIER, _FEWEST = 5, 5
"""A form in -s is a verb in a corpus if so many uses, at this ratio to the others, can only be verbs."""
_CONTENT = (None, "academic")  # reasons why a word may still be an object
_BEGINS = 0.4  # shares of uses
_ENDS = 0.5
_ENDS_BEFORE_OBJECT = 0.65  # a plural before a noun is possible, but rare


def find_verbal(
    documents: Collection[Sequence[Run]], phrases: Sequence[str], wordlists: WordLists
) -> list[str]:
    """Return the phrases with a word that can only be a verb, and those of :func:`find_clauses`."""
    clauses = set(find_clauses(documents, phrases, wordlists))
    return [phrase for phrase in phrases if phrase in clauses or any(map(is_verb_only, phrase.split(" ")))]


def find_clauses(
    documents: Collection[Sequence[Run]], phrases: Iterable[str], wordlists: WordLists
) -> list[str]:
    """Find phrases that are parts of a clause, not terms: one end is a verb in most of their uses.

    Neighbours show whether a word is a noun or a verb: `trigger code execution` occurs after `to`,
    `function returns` before `the`, `command changes` before its object. A word in -s that is a verb nearly
    wherever neighbours decide is one in every phrase: `returns null`.
    """
    phrases = list(phrases)
    candidates = {}
    for phrase in phrases:
        first, *_, last = phrase.split(" ")
        candidates[phrase] = "verb" in find_kinds(first), "verb" in find_kinds(last), _is_inflected(last)
    has_content = cache(lambda word: wordlists.find_fault(word) in _CONTENT)
    trie = build_trie(phrase for phrase, (begins, ends, _) in candidates.items() if begins or ends)
    uses: Counter[str] = Counter()
    after_to: Counter[str] = Counter()
    before_noun: Counter[str] = Counter()
    before_object: Counter[str] = Counter()
    for runs in documents:
        for run in runs:
            for phrase, start, end in find_uses(run, trie):
                begins, ends, inflected = candidates[phrase]
                uses[phrase] += 1
                after_to[phrase] += begins and start > 0 and run[start - 1] in _BEFORE_VERB
                if ends and end < len(run):
                    noun = run[end] in _DETERMINERS
                    before_noun[phrase] += noun
                    before_object[phrase] += inflected and (noun or has_content(run[end]))
    verbs = _find_verbs(documents, phrases)
    return [
        phrase
        for phrase in phrases
        if not verbs.isdisjoint(phrase.split(" "))
        or after_to[phrase] >= _BEGINS * uses[phrase] > 0
        or before_noun[phrase] >= _ENDS * uses[phrase] > 0
        or before_object[phrase] >= _ENDS_BEFORE_OBJECT * uses[phrase] > 0
    ]


def _find_verbs(documents: Iterable[Sequence[Run]], phrases: Iterable[str]) -> set[str]:
    """Return words of phrases that end in -s and are verbs, not plurals, in these documents."""
    words = {word for phrase in phrases for word in phrase.split(" ")}
    forms = {word for word in words if _is_inflected(word) and "verb" in find_kinds(word)}
    verb: Counter[str] = Counter()
    plural: Counter[str] = Counter()
    for runs in documents:
        for run in runs:
            for place, word in enumerate(run):
                if word not in forms:
                    continue
                before, after = run[max(place - 1, 0)], run[min(place + 1, len(run) - 1)]
                if place and before in _BEFORE_PLURAL:
                    plural[word] += 1
                elif (place and before in _SUBJECTS) or after in _DETERMINERS:
                    verb[word] += 1
    return {word for word in forms if verb[word] >= max(_FEWEST, _LIKELIER * plural[word])}


def _is_inflected(word: str) -> bool:
    return word.endswith("s") and not word.endswith("ss")


_WORD = re.compile(r"[^\W\d_]+")
# on keywords of six manuals this finds 5 of 8 names of people, and none of 656 terms
_SHARE = 0.9


def find_names(texts: Iterable[str], phrases: Iterable[str]) -> list[str]:
    """Find phrases with nearly every use of every word, also outside the phrase, written as a name.

    A name begins with a capital and continues in small letters, unlike an acronym. `Martin Landa` is one:
    no table of English words has `landa`, and `martin` can only be a noun. `Orthogonal Matching Pursuit` is
    none. `phrases`: in lower case, without accents; words separated by one blank.
    """
    parts = {phrase: words for phrase in phrases if _may_be_name(words := _WORD.findall(phrase))}
    wanted = {word for words in parts.values() for word in words}
    uses: Counter[str] = Counter()
    as_name: Counter[str] = Counter()
    for text in texts:
        for word in _WORD.findall(drop_accents(text)):
            lower = word.lower()
            if lower in wanted:
                uses[lower] += 1
                as_name[lower] += word.istitle()
    names = {word for word, count in uses.items() if as_name[word] >= _SHARE * count}
    return [phrase for phrase, words in parts.items() if names.issuperset(words)]


def _may_be_name(words: Iterable[str]) -> bool:
    kinds = [find_kinds(word) for word in words]
    return frozenset() in kinds and all(each <= {"noun"} for each in kinds)
