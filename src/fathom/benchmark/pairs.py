"""Prompt-target pairs: which sentence of a keyword asks for which term (000: 2.5; spec 1.5)."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from fathom.benchmark.targets import Match, Offsets, count_tokens_until, find_targets, find_terms
from fathom.config.benchmark import Pairs, Variant
from fathom.errors import InputError
from fathom.files import hash_text, write_json_lines
from fathom.program import log, show_progress
from fathom.tables import PAIRS, make_empty_table, write_table

EncodeOffsets = Callable[[list[str]], Sequence[Offsets]]
"""Takes sentences; returns start and end, in characters, of each token, without special tokens."""

REASONS = (
    "no_vocabulary", "too_few_characters", "no_term", "too_few_tokens", "no_target", "too_long",
    "target_in_prompt", "target_in_keyword", "same_pair", "quota_reached",
)  # fmt: skip
"""Why a sentence gave no pair, in the order of the checks."""

_WORD = re.compile(r"\w+")
_CHUNK = 32  # sentences tokenised at once; the result does not depend on it


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence of one keyword that holds a term of its vocabulary."""

    doc_id: str
    sentence: str
    cosine: float
    terms: list[Match]


@dataclass(frozen=True)
class Benchmark:
    """Pairs under the contract PAIRS, and what the report says about them."""

    pairs: pl.DataFrame
    report: dict[str, Any]


def make_pairs(
    matches: pl.DataFrame,
    vocabulary: Mapping[str, frozenset[str]],
    dates: Mapping[str, str],
    variant: Variant,
    settings: Pairs,
    encode_offsets: EncodeOffsets,
) -> Benchmark:
    """Make the pairs of every keyword, each keyword for itself (000: 2.5; spec 1.5).

    A sentence gives at most one pair per keyword. Targets take turns, in an order drawn by hash, until the
    quota is reached; a target's turn goes to the sentence from the least used document, and
    among those to the first in an order drawn by hash.

    Parameters
    ----------
    matches : polars.DataFrame
        Matches of one domain, under the contract MATCHES, in any order.
    vocabulary : mapping of str to frozenset of str
        Words of each keyword's terms, without leading blanks.
    dates : mapping of str to str
        Date of each document.
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
    groups = _group_by_keyword(matches)
    for keyword, group in show_progress(groups, "keywords", matches["keyword"].n_unique()):
        counts.setdefault(keyword, 0)
        if not vocabulary.get(keyword):
            dropped["no_vocabulary"] += len(group)
            continue
        maker = _KeywordPairs(keyword, variant, settings, encode_offsets)
        maker.read(group, vocabulary[keyword])
        found = [maker.describe(candidate, match, dates) for candidate, match in maker.choose()]
        dropped.update(maker.dropped)
        counts[keyword] = len(found)
        rows.extend(sorted(found, key=lambda row: row["pair_id"]))
    if not rows:
        raise InputError(
            f"not one pair can be made from {len(matches):,} matched sentences ({_describe(dropped)})",
            hint="take more documents, or lower matches.min_cosine or vocabulary.min_cosine",
        )
    frame = pl.DataFrame(rows, schema=make_empty_table(PAIRS).schema)
    report = _report(frame, counts, dropped, len(matches), settings)
    log.info(
        "%s: %s pairs, %s targets, from %s matches; %s of %s keywords have fewer than %s; left out: %s",
        variant, f"{len(frame):,}", f"{report['distinct_targets']:,}", f"{len(matches):,}",
        len(report["keywords_under_quota"]), len(counts), settings.per_keyword, _describe(dropped),
    )  # fmt: skip
    return Benchmark(frame, report)


def _group_by_keyword(matches: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield each keyword with its matches, sorted; slices, so that nothing is copied twice."""
    matches = matches.sort("keyword", "doc_id", "position", "clean")
    start = 0
    for keyword, length in matches.group_by("keyword", maintain_order=True).len().iter_rows():
        yield keyword, matches.slice(start, length)
        start += length


def _describe(dropped: Mapping[str, int]) -> str:
    """Return the reasons and their counts as text."""
    parts = [f"{reason.replace('_', ' ')} {dropped[reason]:,}" for reason in REASONS if dropped.get(reason)]
    return ", ".join(parts) or "nothing"


@dataclass
class _KeywordPairs:
    """Chooses the pairs of one keyword; tokenises no more sentences than the choice asks for."""

    keyword: str
    variant: str
    settings: Pairs
    encode_offsets: EncodeOffsets
    candidates: list[Candidate] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)
    _outcomes: dict[int, Match | str] = field(default_factory=dict)

    def read(self, group: pl.DataFrame, words: frozenset[str]) -> None:
        """Keep the sentences that are long enough and hold a term, in an order drawn by hash."""
        drawn: list[tuple[str, Candidate]] = []
        for doc_id, sentence, cosine in group.select("doc_id", "clean", "cosine").iter_rows():
            if len(sentence) < self.settings.min_characters:
                self.dropped["too_few_characters"] += 1
                continue
            terms = find_terms(sentence, words)
            if terms:
                drawn.append(
                    (self._draw("sentence", sentence, doc_id), Candidate(doc_id, sentence, cosine, terms))
                )
            else:
                self.dropped["no_term"] += 1
        drawn.sort(key=lambda item: item[0])
        self.candidates = [candidate for _, candidate in drawn]

    def _draw(self, what: str, *parts: str) -> str:
        """Return a hash that stands for a random number, and depends on content and seed alone."""
        return hash_text(what, str(self.settings.seed), self.keyword, self.variant, *parts)

    def choose(self) -> list[tuple[Candidate, Match]]:
        """Return at most `per_keyword` sentences, each with its target; count the others by reason."""
        queues: dict[str, list[int]] = defaultdict(list)
        for number, candidate in enumerate(self.candidates):
            for word in {candidate.sentence[term.start + 1 : term.end] for term in candidate.terms}:
                queues[word].append(number)
        turns = sorted(queues, key=lambda word: self._draw("target", word))
        chosen: dict[int, Match] = {}
        seen: set[tuple[str, str]] = set()
        uses: Counter[str] = Counter()
        quota = self.settings.per_keyword
        while turns and len(chosen) < quota:
            left = []
            for word in turns:
                taken = self._take(word, queues, uses, seen) if len(chosen) < quota else None
                match = None if taken is None else self._outcomes[taken]
                if taken is not None and isinstance(match, Match):
                    chosen[taken] = match
                    uses[self.candidates[taken].doc_id] += 1
                    left.append(word)
            turns = left
        self._count(chosen, full=len(chosen) == quota)
        return [(self.candidates[number], match) for number, match in chosen.items()]

    def _take(
        self, word: str, queues: dict[str, list[int]], uses: Counter[str], seen: set[tuple[str, str]]
    ) -> int | None:
        """Take a target's next sentence off its queue: least used document first, then the queue's order."""
        levels: dict[int, list[int]] = defaultdict(list)
        for number in queues[word]:
            levels[uses[self.candidates[number].doc_id]].append(number)
        done: set[int] = set()
        for level in sorted(levels):
            for place, number in enumerate(levels[level]):
                self._examine(levels[level][place : place + _CHUNK])
                done.add(number)
                if self._fits(number, word, seen):
                    queues[word] = [number for number in queues[word] if number not in done]
                    return number
        queues[word] = []
        return None

    def _fits(self, number: int, word: str, seen: set[tuple[str, str]]) -> bool:
        """Say whether a sentence's target is `word`, in a pair that is not there yet; note the pair."""
        match = self._outcomes[number]
        if isinstance(match, str):
            return False
        pair = match.split(self.candidates[number].sentence)
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
        offsets = self.encode_offsets([self.candidates[number].sentence for number in numbers])
        for number, of_sentence in zip(numbers, offsets, strict=True):
            self._outcomes[number] = self._find_target(self.candidates[number], of_sentence)

    def _find_target(self, candidate: Candidate, offsets: Offsets) -> Match | str:
        """Return the target of a sentence, or the reason why it has none."""
        if len(offsets) < self.settings.min_tokens:
            return "too_few_tokens"
        kept: Sequence[Match] = find_targets(candidate.terms, offsets, self.settings)
        checks: list[tuple[str, Callable[[Match], bool]]] = [
            ("too_long", lambda match: count_tokens_until(match.end, offsets) <= self.settings.max_tokens)
        ]
        if not self.settings.target_in_prompt:
            checks.append(
                ("target_in_prompt", lambda match: not is_in_prompt(*match.split(candidate.sentence)))
            )
        if not self.settings.target_in_keyword:
            checks.append(
                (
                    "target_in_keyword",
                    lambda match: not is_in_keyword(match.split(candidate.sentence)[1], self.keyword),
                )
            )
        reason = "no_target"
        for name, check in checks:
            if kept:
                kept, reason = [match for match in kept if check(match)], name
        if not kept:
            return reason
        return kept[int(self._draw("choice", candidate.sentence), 16) % len(kept)]

    def _count(self, chosen: Mapping[int, Match], full: bool) -> None:
        """Count the candidates without a pair; with a full quota, nobody asks what the others would give."""
        if full:
            self.dropped["quota_reached"] += len(self.candidates) - len(chosen)
            return
        self.dropped.update(outcome for outcome in self._outcomes.values() if isinstance(outcome, str))

    def describe(self, candidate: Candidate, match: Match, dates: Mapping[str, str]) -> dict[str, Any]:
        """Return a pair as a row under the contract PAIRS."""
        prompt, target = match.split(candidate.sentence)
        if candidate.doc_id not in dates:
            raise InputError(
                f"document {candidate.doc_id!r} is not in the index", "--index", "make both from one corpus"
            )
        return {
            "pair_id": hash_text(self.keyword, self.variant, prompt, target)[:16],
            "keyword": self.keyword,
            "variant": self.variant,
            "prompt": prompt,
            "target": target,
            "doc_id": candidate.doc_id,
            "date": dates[candidate.doc_id],
            "cosine": candidate.cosine,
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
