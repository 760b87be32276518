"""Prompt-target pairs: which sentence of a keyword asks for which term [RawCorpora, Sec. 2.5]."""

import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from fathom.benchmark.targets import Match, Offsets, count_tokens_until, find_targets, find_terms
from fathom.config.benchmark import Pairs, Variant
from fathom.errors import InputError
from fathom.io.contracts.benchmark import PAIRS
from fathom.io.files import hash_text, write_json_lines
from fathom.io.tables import make_empty_table, write_table
from fathom.running.program import log, show_progress

EncodeOffsets = Callable[[list[str]], Sequence[Offsets]]
"""Takes sentences; returns start and end, in characters, of each token, without special tokens."""

Numbers = npt.NDArray[np.int64]

REASONS = (
    "no_vocabulary", "too_few_characters", "no_term", "too_few_tokens", "no_target", "too_long",
    "target_in_prompt", "target_in_keyword", "same_pair", "quota_reached",
)  # fmt: skip
"""Why a sentence gave no pair, in the order of the checks."""

_WORD = re.compile(r"\w+")
_CHUNK = 32  # sentences tokenised at once; the result does not depend on it


@dataclass(frozen=True)
class Benchmark:
    """Pairs under the contract PAIRS, and what the report says about them."""

    pairs: pl.DataFrame
    report: dict[str, Any]


def make_pairs(
    matches: Iterable[tuple[str, pl.DataFrame]],
    vocabulary: Mapping[str, frozenset[str]],
    find_dates: Callable[[Collection[str]], Mapping[str, str]],
    variant: Variant,
    settings: Pairs,
    encode_offsets: EncodeOffsets,
) -> Benchmark:
    """Make the pairs of every keyword, each keyword for itself [RawCorpora, Sec. 2.5].

    A sentence gives at most one pair per keyword. Targets take turns, in an order drawn by hash, until the
    quota is reached; a target's turn goes to the sentence from the least used document, and
    among those to the first in an order drawn by hash. Memory holds the matches of one keyword.

    Parameters
    ----------
    matches : iterable of (str, polars.DataFrame)
        The domain's keywords in rising order, each with its matches under MATCHES, in any order.
    vocabulary : mapping of str to frozenset of str
        Words of each keyword's terms, without leading blanks.
    find_dates : callable
        Takes ids of documents, returns their dates.
    variant : {"tf", "tfidf"}
        Which vocabulary it is.
    settings : Pairs
        Quota and limits.
    encode_offsets : callable
        The tokenizer of the smallest model.

    Returns
    -------
    Benchmark
        Pairs by keyword and pair_id; counts of what was left out.

    Raises
    ------
    InputError
        If not one pair can be made, or a document has no date in the index.
    """
    dropped: Counter[str] = Counter()
    rows: list[dict[str, Any]] = []
    counts: dict[str, int] = dict.fromkeys(vocabulary, 0)
    read = 0
    for keyword, group in show_progress(matches, "keywords"):
        counts.setdefault(keyword, 0)
        read += len(group)
        if not vocabulary.get(keyword):
            dropped["no_vocabulary"] += len(group)
            continue
        maker = _KeywordPairs(keyword, variant, settings, encode_offsets)
        maker.read(group, vocabulary[keyword])
        found = [maker.describe(number, match) for number, match in maker.choose().items()]
        dropped.update(maker.dropped)
        counts[keyword] = len(found)
        rows.extend(sorted(found, key=lambda row: row["pair_id"]))
    if not rows:
        raise InputError(
            f"not one pair can be made from {read:,} matched sentences ({_describe(dropped)})",
            hint="take more documents, or lower matches.min_cosine or vocabulary.min_cosine",
        )
    _add_dates(rows, find_dates)
    frame = pl.DataFrame(rows, schema=make_empty_table(PAIRS).schema)
    report = _report(frame, counts, dropped, read, settings)
    log.info(
        "%s: %s pairs, %s targets, from %s matches; %s of %s keywords have fewer than %s; left out: %s",
        variant, f"{len(frame):,}", f"{report['distinct_targets']:,}", f"{read:,}",
        len(report["keywords_under_quota"]), len(counts), settings.per_keyword, _describe(dropped),
    )  # fmt: skip
    return Benchmark(frame, report)


def _add_dates(
    rows: Sequence[dict[str, Any]], find_dates: Callable[[Collection[str]], Mapping[str, str]]
) -> None:
    """Give each pair the date of its document."""
    dates = find_dates({row["doc_id"] for row in rows})
    for row in rows:
        if row["doc_id"] not in dates:
            raise InputError(
                f"document {row['doc_id']!r} is not in the index", "--index", "make both from one corpus"
            )
        row["date"] = dates[row["doc_id"]]


def _describe(dropped: Mapping[str, int]) -> str:
    """Return the reasons and their counts as text."""
    parts = [f"{reason.replace('_', ' ')} {dropped[reason]:,}" for reason in REASONS if dropped.get(reason)]
    return ", ".join(parts) or "nothing"


class _KeywordPairs:
    """Chooses the pairs of one keyword; tokenises no more sentences than the choice asks for.

    Candidates are sentences that are long enough and hold a term, numbered in an order drawn by hash. They
    stay in a frame, and terms are found again when asked for: a keyword may have a million of them.
    """

    def __init__(self, keyword: str, variant: str, settings: Pairs, encode_offsets: EncodeOffsets) -> None:
        self.keyword, self.variant = keyword, variant
        self.settings, self.encode_offsets = settings, encode_offsets
        self.dropped: Counter[str] = Counter()
        self._outcomes: dict[int, Match | str] = {}

    def read(self, group: pl.DataFrame, words: frozenset[str]) -> None:
        """Keep the candidates, and queue them up behind each term that they hold."""
        self._words = words
        rows = group.select("doc_id", "position", "clean", "cosine").sort("doc_id", "position", "clean")
        kept: list[int] = []
        draws: list[bytes] = []
        queues: dict[str, array[int]] = defaultdict(lambda: array("i"))
        for row, (doc_id, sentence) in enumerate(rows.select("doc_id", "clean").iter_rows()):
            if len(sentence) < self.settings.min_characters:
                self.dropped["too_few_characters"] += 1
                continue
            found = {sentence[term.start + 1 : term.end] for term in find_terms(sentence, words)}
            if not found:
                self.dropped["no_term"] += 1
                continue
            for word in found:
                queues[word].append(len(kept))
            kept.append(row)
            draws.append(bytes.fromhex(self._draw("sentence", sentence, doc_id)))
        order = sorted(range(len(kept)), key=draws.__getitem__)
        self._candidates = rows[[kept[place] for place in order]]
        codes = self._candidates["doc_id"].rank("dense").to_numpy()
        self._documents: Numbers = codes.astype(np.int64)
        numbers = np.empty(len(order), dtype=np.int64)
        numbers[order] = np.arange(len(order))
        self._queues = {word: np.sort(numbers[list(queue)]) for word, queue in queues.items()}

    def _draw(self, what: str, *parts: str) -> str:
        """Return a hash that stands for a random number, and depends on content and seed alone."""
        return hash_text(what, str(self.settings.seed), self.keyword, self.variant, *parts)

    def choose(self) -> dict[int, Match]:
        """Return at most `per_keyword` candidates, each with its target; count the others by reason."""
        turns = sorted(self._queues, key=lambda word: self._draw("target", word))
        chosen: dict[int, Match] = {}
        seen: set[tuple[str, str]] = set()
        uses = np.zeros(int(self._documents.max(initial=0)) + 1, dtype=np.int64)
        quota = self.settings.per_keyword
        while turns and len(chosen) < quota:
            left = []
            for word in turns:
                taken = self._take(word, uses, seen) if len(chosen) < quota else None
                match = None if taken is None else self._outcomes[taken]
                if taken is not None and isinstance(match, Match):
                    chosen[taken] = match
                    uses[self._documents[taken]] += 1
                    left.append(word)
            turns = left
        self._count(chosen, full=len(chosen) == quota)
        return chosen

    def _take(self, word: str, uses: Numbers, seen: set[tuple[str, str]]) -> int | None:
        """Take a target's next sentence off its queue: least used document first, then the queue's order."""
        queue = self._queues[word]
        order = np.argsort(uses[self._documents[queue]], kind="stable")
        for place in range(len(order)):
            self._examine(queue[order[place : place + _CHUNK]].tolist())
            number = int(queue[order[place]])
            if self._fits(number, word, seen):
                self._queues[word] = np.delete(queue, order[: place + 1])
                return number
        self._queues[word] = queue[:0]
        return None

    def _fits(self, number: int, word: str, seen: set[tuple[str, str]]) -> bool:
        """Say whether a sentence's target is `word`, in a pair that is not there yet; note the pair."""
        match = self._outcomes[number]
        if isinstance(match, str):
            return False
        pair = match.split(self._candidates["clean"][number])
        if pair[1] != f" {word}":
            return False
        if pair in seen:
            self._outcomes[number] = "same_pair"
            return False
        seen.add(pair)
        return True

    def _examine(self, numbers: Sequence[int]) -> None:
        """Tokenise sentences and find their targets, if the first of them is not done yet."""
        if numbers[0] in self._outcomes:
            return
        numbers = [number for number in numbers if number not in self._outcomes]
        sentences = self._candidates["clean"][numbers].to_list()
        for number, sentence, offsets in zip(numbers, sentences, self.encode_offsets(sentences), strict=True):
            self._outcomes[number] = self._find_target(sentence, offsets)

    def _find_target(self, sentence: str, offsets: Offsets) -> Match | str:
        """Return the target of a sentence, or the reason why it has none."""
        if len(offsets) < self.settings.min_tokens:
            return "too_few_tokens"
        kept: Sequence[Match] = find_targets(find_terms(sentence, self._words), offsets, self.settings)
        checks: list[tuple[str, Callable[[Match], bool]]] = [
            ("too_long", lambda match: count_tokens_until(match.end, offsets) <= self.settings.max_tokens)
        ]
        if not self.settings.target_in_prompt:
            checks.append(("target_in_prompt", lambda match: not is_in_prompt(*match.split(sentence))))
        if not self.settings.target_in_keyword:
            checks.append(
                (
                    "target_in_keyword",
                    lambda match: not is_in_keyword(match.split(sentence)[1], self.keyword),
                )
            )
        reason = "no_target"
        for name, check in checks:
            if kept:
                kept, reason = [match for match in kept if check(match)], name
        if not kept:
            return reason
        return kept[int(self._draw("choice", sentence), 16) % len(kept)]

    def _count(self, chosen: Mapping[int, Match], full: bool) -> None:
        """Count the candidates without a pair; with a full quota, nobody asks what the others would give."""
        if full:
            self.dropped["quota_reached"] += len(self._candidates) - len(chosen)
            return
        self.dropped.update(outcome for outcome in self._outcomes.values() if isinstance(outcome, str))

    def describe(self, number: int, match: Match) -> dict[str, Any]:
        """Return a pair as a row under the contract PAIRS, but for its date."""
        doc_id, _, sentence, cosine = self._candidates.row(number)
        prompt, target = match.split(sentence)
        return {
            "pair_id": hash_text(self.keyword, self.variant, prompt, target)[:16],
            "keyword": self.keyword,
            "variant": self.variant,
            "prompt": prompt,
            "target": target,
            "doc_id": doc_id,
            "cosine": cosine,
            "target_in_prompt": is_in_prompt(prompt, target),
            "target_in_keyword": is_in_keyword(target, self.keyword),
        }


def is_in_prompt(prompt: str, target: str) -> bool:
    """Say whether a target stands in its prompt as a word, in the same case, or in a hyphened one."""
    return target[1:] in _WORD.findall(prompt)


def is_in_keyword(target: str, keyword: str) -> bool:
    """Say whether a target is a word of the keyword, whatever its case, or a part of a hyphened one."""
    return target[1:].lower() in _WORD.findall(keyword.lower())


def _report(
    frame: pl.DataFrame,
    counts: Mapping[str, int],
    dropped: Mapping[str, int],
    sentences: int,
    settings: Pairs,
) -> dict[str, Any]:
    """Return the counts of a benchmark."""
    return {
        "keywords": len(counts),
        "keywords_with_pairs": sum(1 for count in counts.values() if count),
        "keywords_under_quota": {
            keyword: count for keyword, count in sorted(counts.items()) if count < settings.per_keyword
        },
        "per_keyword": settings.per_keyword,
        "pairs": len(frame),
        "documents": frame["doc_id"].n_unique(),
        "distinct_targets": frame["target"].n_unique(),
        "target_in_prompt": _share(frame["target_in_prompt"]),
        "target_in_keyword": _share(frame["target_in_keyword"]),
        "sentences": sentences,
        "left_out": {reason: dropped.get(reason, 0) for reason in REASONS},
    }


def _share(flags: Iterable[bool]) -> float:
    """Return the share of true values, four decimals."""
    values = list(flags)
    return round(sum(values) / len(values), 4)


def write_pairs(pairs: pl.DataFrame, table: Path | str, json_lines: Path | str) -> None:
    """Write the pairs as parquet and as JSON lines, in the same order."""
    write_table(table, pairs, PAIRS)
    columns = [column.name for column in PAIRS]
    write_json_lines(json_lines, pairs.select(columns).iter_rows(named=True))
