"""Clozes: a random content word of a held-out sentence, to be predicted from what stands before it.

They are an independent reference for benchmarks, made without keywords, vocabularies or embeddings.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import polars as pl

from fathom.benchmark.pairs import EncodeOffsets, Offsets, TermSpan, count_tokens_until
from fathom.benchmark.wordlists import gives_away
from fathom.config.benchmark import Pairs, Sentences
from fathom.config.claims import CLOZES
from fathom.corpus.sentences import Splitter, split_document
from fathom.errors import InputError
from fathom.io.contracts.benchmark import PAIRS
from fathom.io.files import hash_text
from fathom.io.names import show_count
from fathom.io.tables import make_empty_table
from fathom.jobs.program import log, show_progress

# whole words of letters after one space; no part of `k-means` or `user's`
_WORD = re.compile(r"(?<=\S) ([^\W\d_]++)(?![\w’'-])")
_MIN_LETTERS = 3
_CHUNK = 128  # sentences tokenised at a time; does not change the result


class ClozeRules(NamedTuple):
    """Rules for clozes: excluded words, and limits of sentences and pairs."""

    function_words: frozenset[str]
    sentences: Sentences
    pairs: Pairs


class Clozes(NamedTuple):
    """Clozes under contract PAIRS, and a report with their counts."""

    pairs: pl.DataFrame
    report: dict[str, Any]


def draw_clozes(
    texts: pl.DataFrame, count: int, limits: ClozeRules, splitter: Splitter, encode_offsets: EncodeOffsets
) -> Clozes:
    """Draw clozes from documents, at most one for each sentence.

    Hashes decide which sentences are taken, and which word of each. The word has only letters, is no function
    word, and has as many tokens before it as the target of a pair. `encode_offsets`: tokenises sentences for
    the smallest model. Returned: the pairs have no date. Their `keyword` is the document, so that intervals
    draw documents.
    """
    dropped: Counter[str] = Counter()
    found = _list_sentences(texts, limits, splitter, dropped)
    ordered = sorted(found, key=lambda sentence: hash_text("cloze", str(limits.pairs.seed), sentence))
    rows: list[dict[str, Any]] = []
    for start in range(0, len(ordered), _CHUNK):
        some = ordered[start : start + _CHUNK]
        for sentence, offsets in zip(some, encode_offsets(some), strict=True):
            span = _choose_word(sentence, offsets, limits) if len(rows) < count else None
            if span:
                rows.append(_make_row(found[sentence], *span.split(sentence)))
            else:
                dropped["no_word" if len(rows) < count else "count_reached"] += 1
        if len(rows) == count:
            dropped["count_reached"] += len(ordered) - start - len(some)
            break
    if not rows:
        raise InputError(
            f"no cloze can be drawn from {show_count(len(texts), 'document')}",
            "held-out text",
            "give corpus.splits.adapt-valid more documents, or set claims.clozes: 0",
        )
    frame = pl.DataFrame(rows, make_empty_table(PAIRS).schema)
    report = {
        "pairs": len(rows),
        "documents": frame["doc_id"].n_unique(),
        "left_out": dict(sorted(dropped.items())),
    }
    log.info(
        "%s clozes from %s documents; left out: %s", f"{len(rows):,}", report["documents"], report["left_out"]
    )
    return Clozes(frame.sort("keyword", "pair_id"), report)


def _list_sentences(
    texts: pl.DataFrame, limits: ClozeRules, splitter: Splitter, dropped: Counter[str]
) -> dict[str, str]:
    found: dict[str, str] = {}
    rows = texts.select("doc_id", "text").sort("doc_id").iter_rows()
    for doc_id, text in show_progress(rows, "documents", len(texts)):
        for sentence in split_document({"title": "", "abstract": "", "text": text}, splitter):
            if len(sentence) < limits.pairs.min_characters:
                dropped["too_few_characters"] += 1
            elif len(sentence) > limits.sentences.max_characters:
                dropped["too_long"] += 1
            elif sentence in found:
                dropped["same_sentence"] += 1
            else:
                found[sentence] = doc_id
    return found


def _choose_word(sentence: str, offsets: Offsets, limits: ClozeRules) -> TermSpan | None:
    spans = list(_list_words(sentence, offsets, limits))
    if not spans:
        return None
    return spans[int(hash_text("word", str(limits.pairs.seed), sentence), 16) % len(spans)]


def _list_words(sentence: str, offsets: Sequence[tuple[int, int]], limits: ClozeRules) -> Iterator[TermSpan]:
    ends = [end for _, end in offsets]
    for match in _WORD.finditer(sentence):
        word = match[1]
        if word.lower() in limits.function_words or len(word) < _MIN_LETTERS:
            continue
        before = sum(end <= match.start() + 1 for end in ends)
        length = count_tokens_until(match.end(), offsets)
        if before >= limits.pairs.min_tokens and length <= limits.pairs.max_tokens:
            yield TermSpan(match.start(), match.end())


def _make_row(doc_id: str, prompt: str, target: str) -> dict[str, Any]:
    return {
        "pair_id": hash_text(doc_id, CLOZES, prompt, target)[:16],
        "keyword": doc_id,
        "variant": CLOZES,
        "prompt": prompt,
        "target": target,
        "doc_id": doc_id,
        "date": "",
        "cosine": float("nan"),
        "target_in_prompt": gives_away(prompt, target),
        "target_in_keyword": False,
        "association": float("nan"),
    }
