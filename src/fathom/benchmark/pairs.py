"""Prompt-target pairs from the sentences and the vocabulary of a keyword [RawCorpora, Sec. 2.5].

Pairs from documents set aside are a reference for all others.
"""

import re
from array import array
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from fathom.benchmark.association import Associations, Bond
from fathom.benchmark.wordlists import find_stem, gives_away
from fathom.config.benchmark import Pairs
from fathom.corpus.characters import GAP
from fathom.errors import InputError
from fathom.io.contracts.benchmark import PAIRS
from fathom.io.files import hash_text, write_json_lines
from fathom.io.names import show_count
from fathom.io.tables import make_empty_table, write_table
from fathom.jobs.program import log, show_progress

Offsets = Sequence[tuple[int, int]]
"""Start and end of each token of a sentence, in characters, without special tokens."""

# A space precedes, and no letter, digit, underscore, hyphen or apostrophe follows. The possessive `++` takes
# whole words, so ` state` is not found inside ` states`.
_SPACED_WORDS = re.compile(r" (\w++)(?!['’-])")


@dataclass(frozen=True, slots=True)
class TermSpan:
    """A term in a sentence, in characters: from its leading space to before `end`."""

    start: int
    end: int

    def split(self, sentence: str) -> tuple[str, str]:
        """Return the prompt, which does not end in a space, and the target, which begins with one."""
        return sentence[: self.start], sentence[self.start : self.end]


def find_terms(sentence: str, words: frozenset[str]) -> list[TermSpan]:
    """Find the words of a vocabulary in a sentence, as whole words.

    Returned: in the order of the sentence. Exactly one space precedes each term, and text precedes the space.
    """
    return [
        TermSpan(found.start(), found.end())
        for found in _SPACED_WORDS.finditer(sentence)
        # a prompt must neither be empty nor end in white space
        if found[1] in words and found.start() and not sentence[found.start() - 1].isspace()
    ]


def find_targets(terms: Sequence[TermSpan], offsets: Offsets, settings: Pairs) -> list[TermSpan]:
    """Return the terms that can be the target: late enough, and not preceded by another term.

    Tokens are counted from 0. A term is at token `n` if `n` tokens end at or before its first letter. Its
    prompt then has `n` tokens, whether or not the tokenizer makes a space part of the next token. `settings`:
    `scan_from`: terms before this token are ignored; `min_tokens`: a target starts at or after this token;
    `earlier_terms`: which earlier terms rule a target out.
    """
    ends = [end for _, end in offsets]
    tokens = [bisect_right(ends, term.start + 1) for term in terms]
    placed = zip(terms, tokens, strict=True)
    scanned = [(term, token) for term, token in placed if token >= settings.scan_from]
    found: list[TermSpan] = []
    for number, (term, token) in enumerate(scanned):
        if settings.earlier_terms == "any":
            ruled_out = number > 0
        else:  # the term before this one ends where this one's space begins
            ruled_out = number > 0 and scanned[number - 1][0].end == term.start
        if token >= settings.min_tokens and not ruled_out:
            found.append(term)
    return found


def count_tokens_until(end: int, offsets: Offsets) -> int:
    """Return the number of tokens that begin before character `end`: the length of a pair that ends there."""
    return sum(1 for start, _ in offsets if start < end)


LEAST = 5
"""Pairs that a target may always have, for small benchmarks."""

_WORDS = re.compile(r"[^\W\d_]+|\d+")
_SIZE = 3
_NEAR = 0.5
"""Share of common sequences of three words from which one sentence copies another.

One changed word in ten leaves more than this; of two sentences on one subject hardly any sequence is shared.
"""

Text = tuple[str, str]
"""Prompt and target."""


class Accepted:
    """Pairs of a benchmark, each excluding some others."""

    def __init__(self, settings: Pairs) -> None:
        self._settings = settings
        self._count = 0
        self._targets: Counter[str] = Counter()
        self._begin()

    def _begin(self) -> None:
        self._own: set[Text] = set()
        self._others: set[Text] = set()
        self._sizes: list[int] = []
        self._places: dict[int, list[int]] = defaultdict(list)

    def begin_keyword(self) -> None:
        """Begin another keyword: with `in_other_keyword`, texts of earlier ones no longer count."""
        if self._settings.in_other_keyword:
            self._begin()
        self._others |= self._own
        self._own = set()

    def find_reason(self, pair: Text, sentence: str) -> str:
        """Return why a pair may not join, as a reason for leaving out its sentence; empty if it may."""
        if pair in self._own:
            return "same_pair"
        if pair in self._others:
            return "in_other_keyword"
        return "" if self._settings.near_copies or not self._has_copy(sentence) else "near_copy"

    def has_room(self, word: str) -> bool:
        """Return whether a target stays within its share with one more pair."""
        most = self._settings.max_target_share * (self._count + 1)
        return self._targets[find_stem(word.lower())] + 1 <= max(LEAST, most)

    def add(self, pair: Text, sentence: str) -> None:
        """Let a pair join."""
        self._own.add(pair)
        self._count += 1
        self._targets[find_stem(pair[1].strip().lower())] += 1
        found = _find_sequences(sentence)
        for sequence in found:
            self._places[sequence].append(len(self._sizes))
        self._sizes.append(len(found))

    def _has_copy(self, sentence: str) -> bool:
        found = _find_sequences(sentence)
        shared = Counter(place for sequence in found for place in self._places.get(sequence, ()))
        return any(
            count >= _NEAR * (len(found) + self._sizes[place] - count) for place, count in shared.items()
        )


def _find_sequences(sentence: str) -> set[int]:
    """Return hashes of the sequences of three words of a sentence; all numbers count as one word."""
    words = ["0" if word.isdigit() else word for word in _WORDS.findall(sentence.lower())]
    return {hash(tuple(words[at : at + _SIZE])) for at in range(max(1, len(words) - _SIZE + 1))}


EncodeOffsets = Callable[[list[str]], Sequence[Offsets]]
"""Returns, for each sentence, start and end of its tokens in characters, without special tokens."""

Numbers = npt.NDArray[np.int64]

REASONS = (
    "no_vocabulary", "too_few_characters", "no_term", "too_few_tokens", "no_target", "too_long",
    "gap_in_prompt", "target_in_prompt", "target_in_keyword", "weak_association",
    "gift", "spelled_out", "same_pair", "in_other_keyword", "near_copy", "target_share", "quota_reached",
)  # fmt: skip
"""Reasons why a sentence gives no pair, in the order in which they are checked."""

# the mark of a gap, or a preposition whose citation was removed: `the model of :`
_GAP = re.compile(rf"{GAP}| (?:as|at|by|for|from|in|of|on|than|to|with) ?[,.;:)](?= |$)")
_CHUNK = 32  # sentences tokenised at a time; does not change the result


@dataclass(frozen=True)
class PairSet:
    """Pairs that meet the contract PAIRS, and the report on them."""

    pairs: pl.DataFrame
    report: dict[str, Any]


def make_pairs(
    matches: Iterable[tuple[str, pl.DataFrame]],
    vocabulary: Mapping[str, frozenset[str]],
    find_dates: Callable[[Collection[str]], Mapping[str, str]],
    variant: str,
    settings: Pairs,
    encode_offsets: EncodeOffsets,
    associations: Associations | None = None,
) -> PairSet:
    """Make the pairs of every keyword [RawCorpora, Sec. 2.5].

    A sentence gives at most one pair per keyword. Targets take turns until the quota is reached. At its turn
    a target takes a sentence from the least used document. Hashes decide the order of the targets, and of
    sentences from equally used documents. Only the matches of one keyword are in memory at a time.

    A sentence that repeats another pair's, or nearly, is replaced by the next one, and so is a target that
    has reached its share of the benchmark. With `settings.in_other_keyword`, only sentences of the same
    keyword count. Raise `InputError` if no pair can be made, or a document is missing from the index.

    Parameters
    ----------
    matches : iterable of (str, polars.DataFrame)
        The domain's keywords, each with its matches in any order (contract MATCHES). Put keywords with
        fewest matches first, as they have the fewest alternatives.
    vocabulary : mapping of str to frozenset of str
        Terms of each keyword, without their leading spaces.
    variant : str
        tf or tfidf, the kind of `vocabulary`; or unused, for documents set aside.
    associations : Associations, optional
        Associations of the terms of all sentences; None: unknown, so no pair is left out for a weak one.
    """
    dropped: Counter[str] = Counter()
    rows: list[dict[str, Any]] = []
    counts: dict[str, int] = dict.fromkeys(vocabulary, 0)
    read = 0
    accepted = Accepted(settings)
    associations = associations or Associations.unknown()
    for keyword, group in show_progress(matches, "keywords"):
        counts.setdefault(keyword, 0)
        read += len(group)
        if not vocabulary.get(keyword):
            dropped["no_vocabulary"] += len(group)
            continue
        accepted.begin_keyword()
        chooser = _PairChooser(keyword, variant, settings, encode_offsets, associations, accepted)
        chooser.load(group, vocabulary[keyword])
        found = [chooser.make_row(number, span) for number, span in chooser.choose().items()]
        dropped.update(chooser.dropped)
        counts[keyword] = len(found)
        rows.extend(found)
    if not rows:
        raise InputError(
            f"no pair can be made from {show_count(read, 'matched sentence')} ({_describe(dropped)})",
            hint="add documents, or lower matches.min_cosine, vocabulary.min_cosine or "
            "pairs.min_association, or set pairs.gifts: true",
        )
    _add_dates(rows, find_dates)
    frame = pl.DataFrame(rows, schema=make_empty_table(PAIRS).schema).sort("keyword", "pair_id")
    report = _report(frame, counts, dropped, read, settings)
    log.info(
        "%s: %s pairs, %s targets, from %s matches; %s of %s keywords have fewer than %s; left out: %s",
        variant, f"{len(frame):,}", f"{report['distinct_targets']:,}", f"{read:,}",
        len(report["keywords_under_quota"]), len(counts), settings.per_keyword, _describe(dropped),
    )  # fmt: skip
    return PairSet(frame, report)


def _add_dates(
    rows: Sequence[dict[str, Any]], find_dates: Callable[[Collection[str]], Mapping[str, str]]
) -> None:
    dates = find_dates({row["doc_id"] for row in rows})
    for row in rows:
        if row["doc_id"] not in dates:
            raise InputError(
                f"document {row['doc_id']!r} is not in the index",
                "--index",
                "make matches and index from the same corpus",
            )
        row["date"] = dates[row["doc_id"]]


def _describe(dropped: Mapping[str, int]) -> str:
    parts = [f"{reason.replace('_', ' ')} {dropped[reason]:,}" for reason in REASONS if dropped.get(reason)]
    return ", ".join(parts) or "nothing"


class _PairChooser:
    """Chooses the pairs of one keyword; tokenises only the sentences that it looks at.

    Candidates are the sentences that are long enough and contain a term, numbered in the order of a hash. A
    keyword may have a million of them, so they stay in a data frame and their terms are found when needed.
    Pairs `accepted` earlier, for other keywords, exclude some of its own.
    """

    def __init__(
        self,
        keyword: str,
        variant: str,
        settings: Pairs,
        encode_offsets: EncodeOffsets,
        associations: Associations,
        accepted: Accepted,
    ) -> None:
        self.keyword, self.variant, self._associations = keyword, variant, associations
        self.settings, self.encode_offsets, self._accepted = settings, encode_offsets, accepted
        self.dropped: Counter[str] = Counter()
        self._outcomes: dict[int, TermSpan | str] = {}

    def load(self, group: pl.DataFrame, words: frozenset[str]) -> None:
        """Keep the candidates, and queue each for every term that it contains."""
        self._words = words
        rows = group.select("doc_id", "position", "clean", "cosine").sort("doc_id", "position", "clean")
        kept: list[int] = []
        hashes: list[bytes] = []
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
            hashes.append(bytes.fromhex(self._hash("sentence", sentence, doc_id)))
        order = sorted(range(len(kept)), key=hashes.__getitem__)
        self._candidates = rows[[kept[place] for place in order]]
        codes = self._candidates["doc_id"].rank("dense").to_numpy()
        self._documents: Numbers = codes.astype(np.int64)
        numbers = np.empty(len(order), dtype=np.int64)
        numbers[order] = np.arange(len(order))
        self._queues = {word: np.sort(numbers[list(queue)]) for word, queue in queues.items()}

    def _hash(self, what: str, *parts: str) -> str:
        """Return a hash that serves as a random number; it depends on content and seed alone."""
        return hash_text(what, str(self.settings.seed), self.keyword, self.variant, *parts)

    def choose(self) -> dict[int, TermSpan]:
        """Return up to `per_keyword` candidates, each with its target; count the others by reason."""
        turns = sorted(self._queues, key=lambda word: self._hash("target", word))
        chosen: dict[int, TermSpan] = {}
        uses = np.zeros(int(self._documents.max(initial=0)) + 1, dtype=np.int64)
        quota, before = self.settings.per_keyword, -1
        while turns and before < len(chosen) < quota:
            before = len(chosen)
            left = []
            for word in turns:
                if len(chosen) == quota or not self._accepted.has_room(word):
                    left.append(word)
                    continue
                taken = self._take_sentence(word, uses)
                outcome = None if taken is None else self._outcomes[taken]
                if taken is not None and isinstance(outcome, TermSpan):
                    chosen[taken] = outcome
                    uses[self._documents[taken]] += 1
                    left.append(word)
            turns = left
        self._count_rejected(chosen, full=len(chosen) == quota)
        return chosen

    def _take_sentence(self, word: str, uses: Numbers) -> int | None:
        """Take a target's next sentence from its queue, from the least used document first."""
        queue = self._queues[word]
        order = np.argsort(uses[self._documents[queue]], kind="stable")
        for place in range(len(order)):
            self._find_targets(queue[order[place : place + _CHUNK]].tolist())
            number = int(queue[order[place]])
            if self._accept(number, word):
                self._queues[word] = np.delete(queue, order[: place + 1])
                return number
        self._queues[word] = queue[:0]
        return None

    def _accept(self, number: int, word: str) -> bool:
        """Add a sentence's pair if its target is `word` and nothing excludes it; return whether it did."""
        outcome, sentence = self._outcomes[number], self._candidates["clean"][number]
        if isinstance(outcome, str):
            return False
        pair = outcome.split(sentence)
        if pair[1] != f" {word}":
            return False
        reason = self._accepted.find_reason(pair, sentence)
        if reason:
            self._outcomes[number] = reason
            return False
        self._accepted.add(pair, sentence)
        return True

    def _find_targets(self, numbers: Sequence[int]) -> None:
        """Tokenise sentences and find their targets, unless the first of them is done already."""
        if numbers[0] in self._outcomes:
            return
        numbers = [number for number in numbers if number not in self._outcomes]
        sentences = self._candidates["clean"][numbers].to_list()
        for number, offsets in zip(numbers, self.encode_offsets(sentences), strict=True):
            self._outcomes[number] = self._find_target(number, offsets)

    def _find_target(self, number: int, offsets: Offsets) -> TermSpan | str:
        """Return the target of a sentence, or the reason why there is none."""
        sentence: str = self._candidates["clean"][number]
        if len(offsets) < self.settings.min_tokens:
            return "too_few_tokens"
        kept: Sequence[TermSpan] = find_targets(find_terms(sentence, self._words), offsets, self.settings)
        checks: list[tuple[str, Callable[[TermSpan], bool]]] = [
            ("too_long", lambda span: count_tokens_until(span.end, offsets) <= self.settings.max_tokens)
        ]
        if not self.settings.gap_in_prompt:
            checks.append(("gap_in_prompt", lambda span: not has_gap(span.split(sentence)[0])))
        if not self.settings.target_in_prompt:
            checks.append(("target_in_prompt", lambda span: not gives_away(*span.split(sentence))))
        if not self.settings.target_in_keyword:
            checks.append(
                ("target_in_keyword", lambda span: not gives_away(self.keyword, span.split(sentence)[1]))
            )
        # unknown associations are neither weak nor gifts
        if least := self.settings.min_association:
            checks.append(
                ("weak_association", lambda span: not self._find_bond(number, span).association < least)
            )
        if not self.settings.gifts:
            checks.append(("gift", lambda span: not self._find_bond(number, span).gift))
            checks.append(("spelled_out", lambda span: not spells_out(*span.split(sentence))))
        reason = "no_target"
        for name, check in checks:
            if kept:
                kept, reason = [span for span in kept if check(span)], name
        if not kept:
            return reason
        return kept[int(self._hash("choice", sentence), 16) % len(kept)]

    def _find_bond(self, number: int, span: TermSpan) -> Bond:
        doc_id, position = self._candidates.row(number)[:2]
        return self._associations.find(doc_id, position, span.start + 1)

    def _count_rejected(self, chosen: Mapping[int, TermSpan], full: bool) -> None:
        """Count the candidates without a pair; once the quota is reached, the rest are not examined."""
        if full:
            self.dropped["quota_reached"] += len(self._candidates) - len(chosen)
            return
        reasons = [outcome for outcome in self._outcomes.values() if isinstance(outcome, str)]
        self.dropped.update(reasons)
        # their targets have reached their share, or were not sought as no target had room
        self.dropped["target_share"] += len(self._candidates) - len(chosen) - len(reasons)

    def make_row(self, number: int, span: TermSpan) -> dict[str, Any]:
        """Return a pair as a row of the contract PAIRS, without its date."""
        doc_id, _, sentence, cosine = self._candidates.row(number)
        prompt, target = span.split(sentence)
        return {
            "pair_id": hash_text(self.keyword, self.variant, prompt, target)[:16],
            "keyword": self.keyword,
            "variant": self.variant,
            "prompt": prompt,
            "target": target,
            "doc_id": doc_id,
            "cosine": cosine,
            "target_in_prompt": gives_away(prompt, target),
            "target_in_keyword": gives_away(self.keyword, target),
            "association": self._find_bond(number, span).association,
        }


def has_gap(prompt: str) -> bool:
    """Return whether a word is missing in place of a reference or a citation."""
    return _GAP.search(prompt) is not None


def _report(
    frame: pl.DataFrame,
    counts: Mapping[str, int],
    dropped: Mapping[str, int],
    sentences: int,
    settings: Pairs,
) -> dict[str, Any]:
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
    values = list(flags)
    return round(sum(values) / len(values), 4)


def write_pairs(pairs: pl.DataFrame, table: Path | str, json_lines: Path | str) -> None:
    """Write the pairs as parquet and as JSON lines, in the same order."""
    write_table(table, pairs, PAIRS)
    columns = PAIRS.names
    write_json_lines(json_lines, pairs.select(columns).iter_rows(named=True))


_HASH_RANGE = 16**12


def is_set_aside(doc_id: str, share: float) -> bool:
    """Say whether a document or group is set aside, by a hash of its id."""
    return int(hash_text("set aside", doc_id)[:12], 16) < share * _HASH_RANGE


def split_matches(
    matches: Iterable[tuple[str, pl.DataFrame]], share: float, aside: bool, groups: Mapping[str, str]
) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield the matches of each keyword in documents set aside, or in all others.

    A sentence that occurs in both kinds of documents is left out of those set aside. `groups`: group of each
    document that shares text with others; a group is set aside as a whole.
    """
    taken = repeated = 0
    for keyword, group in matches:
        documents = group["doc_id"].unique().to_list()
        names = [name for name in documents if is_set_aside(groups.get(name, name), share)]
        flag = pl.col("doc_id").is_in(pl.Series(names, dtype=pl.String).implode())
        rest = group.filter(~flag)
        if not aside:
            yield keyword, rest
            continue
        found = group.filter(flag)
        kept = found.filter(~pl.col("clean").is_in(rest["clean"].implode()))
        taken, repeated = taken + len(kept), repeated + len(found) - len(kept)
        yield keyword, kept
    if aside:
        log.info(
            "%s matches in documents set aside; %s more are left out, as other documents have the same "
            "sentence",
            f"{taken:,}", f"{repeated:,}",
        )  # fmt: skip


_LETTERS = re.compile(r"[^\W\d_]+")
_LEAST_LETTERS = 2
"""Fewest letters of an abbreviation."""
_SMALL_WORD = 3
"""Most letters of words that an abbreviation may skip."""


def spells_out(prompt: str, target: str) -> bool:
    """Return whether a prompt spells a target out.

    It does if the target is an abbreviation of words in a row (`convolutional neural network` gives `CNN`),
    or if the prompt has an abbreviation of its own last words and the target (`GUI (graphical user` gives
    `interface`). Parts of hyphenated words are words.
    """
    words, wanted = _LETTERS.findall(prompt), _LETTERS.findall(target)
    if not words or not wanted:
        return False
    short = _find_letters(wanted[0]) if len(wanted) == 1 else ""
    known = [letters for letters in map(_find_letters, words) if letters]
    # `SNR` has no letter for `to`, and `ROC` has one for `of`
    for kept in (words, [word for word in words if len(word) > _SMALL_WORD]):
        initials = "".join(word[0] for word in kept).lower()
        if short and short in initials:
            return True
        ending = initials + wanted[0][0].lower()
        if any(
            ending.endswith(letters[:count])
            for letters in known
            for count in range(_LEAST_LETTERS, len(letters) + 1)
        ):
            return True
    return False


def _find_letters(word: str) -> str:
    word = word.removesuffix("s")
    return word.lower() if word.isupper() and len(word) >= _LEAST_LETTERS else ""
