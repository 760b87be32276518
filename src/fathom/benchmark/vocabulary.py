"""Target vocabularies: the terms that stand out in a keyword's sentences [RawCorpora, Sec. 2.4]."""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fathom.benchmark.matches import DECIMALS, MARGIN, Encoder, is_uncertain
from fathom.config.benchmark import Variant, Vocabulary
from fathom.errors import InputError
from fathom.io.files import read_delimited, write_delimited
from fathom.running.program import log

TOKEN_PATTERN = r"\s*\w+\b"  # noqa: S105 -- a pattern of words, which keep what white space precedes them
COLUMNS = ("keyword", "term", "count", "score", "share", "cosine")

_TOKEN = re.compile(TOKEN_PATTERN)
_SENTENCES = 1000
_ROUNDING = 1e-12  # a score that equals the mean may differ from it in its last bits


@dataclass(frozen=True)
class Entry:
    """One term of a keyword's vocabulary; the term carries its one leading blank."""

    keyword: str
    term: str
    count: int
    score: float
    share: float
    cosine: float


def build_vocabulary(
    matches: Iterable[tuple[str, pl.DataFrame]],
    variant: Variant,
    settings: Vocabulary,
    stopwords: frozenset[str],
    encoder: Encoder,
) -> list[Entry]:
    """Choose the terms of every keyword's vocabulary [RawCorpora, Sec. 2.4].

    All clean sentences of a keyword form one document; terms in too many of the documents fall away; a term's
    score is its count (tf) or its TF-IDF weight among the documents (tfidf, scikit-learn's defaults). Memory
    holds the sentences of one keyword, and the counts of all.

    Parameters
    ----------
    matches : iterable of (str, polars.DataFrame)
        The domain's keywords, each once with its clean sentences (column `clean`) in any order.
    variant : {"tf", "tfidf"}
        What the score is.
    settings : Vocabulary
        Thresholds.
    stopwords : frozenset of str
        Words in lower case that are never terms.
    encoder : Encoder
        Embeds terms and keywords.

    Returns
    -------
    list of Entry
        By keyword, falling score, term.

    Raises
    ------
    InputError
        If there are no sentences, or no keyword has a single term.
    """
    keywords, names, counts = _count_terms(matches)
    if not keywords:
        raise InputError("no sentence matches any keyword", hint="add documents, or lower matches.min_cosine")
    entries = _find_candidates(keywords, names, counts, variant, settings, stopwords)
    kept = _keep_similar(entries, settings.min_cosine, encoder)
    empty = sorted(set(keywords) - {entry.keyword for entry in kept})
    if not kept:
        raise InputError(
            f"none of {len(keywords)} keywords has a term in its {variant} vocabulary",
            hint=f"terms in more than {settings.max_share[variant]:.0%} of keyword documents are left out, "
            "so a few keywords are not enough: add documents or keywords, or raise vocabulary.max_share",
        )
    log.info(
        "%s vocabulary: %s terms for %s of %s keywords; %s keywords have none",
        variant, f"{len(kept):,}", f"{len(keywords) - len(empty):,}", f"{len(keywords):,}", f"{len(empty):,}",
    )  # fmt: skip
    return sorted(kept, key=lambda entry: (entry.keyword, -entry.score, entry.term))


def _find_candidates(
    keywords: Sequence[str],
    names: NDArray[Any],
    counts: Any,
    variant: Variant,
    settings: Vocabulary,
    stopwords: frozenset[str],
) -> list[Entry]:
    """Return, by keyword, the terms that pass everything but the cosine."""
    # the same as max_df, which raises where nothing is left, and the shares are wanted anyway
    documents = np.bincount(counts.indices, minlength=len(names))
    left = np.flatnonzero(documents <= settings.max_share[variant] * len(keywords))
    names, shares, counts = names[left], documents[left] / len(keywords), counts[:, left].tocsr()
    counts.sort_indices()
    scores = counts.astype(np.float64)
    if variant == "tfidf" and len(names):
        from sklearn.feature_extraction.text import TfidfTransformer

        scores = TfidfTransformer().fit_transform(counts)
    allowed = np.array([_is_term(name, settings.min_characters, stopwords) for name in names], dtype=bool)
    entries = []
    for row, keyword in enumerate(keywords):
        inside = slice(counts.indptr[row], counts.indptr[row + 1])
        columns, values = counts.indices[inside], scores.data[inside]
        mean = math.fsum(values) / len(values) if len(values) else 0.0
        for place in np.flatnonzero(allowed[columns] & (values >= mean * (1 - _ROUNDING))):
            score, share = round(float(values[place]), 6), round(float(shares[columns[place]]), 6)
            count = int(counts.data[inside][place])
            entries.append(Entry(keyword, str(names[columns[place]]), count, score, share, 0.0))
    return entries


def _count_terms(matches: Iterable[tuple[str, pl.DataFrame]]) -> tuple[list[str], NDArray[Any], Any]:
    """Count terms by keyword document.

    Returns
    -------
    keywords : list of str
        In rising order.
    names : array of str, shape [terms]
        As the pattern found them, with what white space precedes them.
    counts : scipy.sparse.csr_matrix, shape [keywords, terms]
        By keyword in that order.
    """
    from sklearn.feature_extraction.text import CountVectorizer

    keywords: list[str] = []

    def read_documents() -> Iterator[pl.Series]:
        for keyword, rows in matches:
            keywords.append(keyword)
            yield rows["clean"].sort()

    vectorizer = CountVectorizer(analyzer=_find_tokens)
    try:
        counts = vectorizer.fit_transform(read_documents())
    except ValueError as error:  # scikit-learn: not one word in any document
        if not keywords:
            return [], np.empty(0, dtype=object), None
        raise InputError(f"the matched sentences hold no words: {error}") from error
    return keywords, vectorizer.get_feature_names_out(), counts


def _find_tokens(sentences: pl.Series) -> Iterator[str]:
    """Yield the tokens of a keyword's document, some sentences in memory at a time.

    A line end stands between sentences: with a blank, each sentence's first word would count as one that a
    blank precedes; the pattern gives it the line end instead, so it is no term.
    """
    before = ""
    for start in range(0, len(sentences), _SENTENCES):
        yield from _TOKEN.findall(before + "\n".join(sentences[start : start + _SENTENCES].to_list()))
        before = "\n"


def _is_term(name: str, min_characters: int, stopwords: frozenset[str]) -> bool:
    """Say whether a token may be a target: one blank, then letters and digits, long enough, no stopword."""
    word = name[1:]
    return (
        name.startswith(" ")
        and word.isalnum()
        and len(word) >= min_characters
        and word.lower() not in stopwords
    )


def _keep_similar(entries: Sequence[Entry], min_cosine: float, encoder: Encoder) -> list[Entry]:
    """Return the entries whose term is similar enough to its keyword, with the cosine."""
    if not entries:
        return []
    words = sorted({entry.term[1:] for entry in entries})
    keywords = sorted({entry.keyword for entry in entries})
    of_word = dict(zip(words, encoder.encode(words), strict=True))
    of_keyword = dict(zip(keywords, encoder.encode(keywords), strict=True))
    cosines = np.array([float(of_word[entry.term[1:]] @ of_keyword[entry.keyword]) for entry in entries])

    near = cosines >= min_cosine - MARGIN  # nobody asks for the third decimal of what falls away
    uncertain = np.flatnonzero(near & is_uncertain(cosines, min_cosine)).tolist()
    if len(uncertain):  # so the decision and the third decimal are the same on every machine
        texts = sorted(
            {text for place in uncertain for text in (entries[place].term[1:], entries[place].keyword)}
        )
        exact = dict(zip(texts, encoder.encode_exactly(texts), strict=True))
        for place in uncertain:
            entry = entries[place]
            cosines[place] = math.fsum(exact[entry.term[1:]] * exact[entry.keyword])
    return [
        replace(entry, cosine=round(float(cosine), DECIMALS))
        for entry, cosine in zip(entries, cosines, strict=True)
        if cosine >= min_cosine
    ]


def write_vocabulary(path: Path | str, entries: Sequence[Entry]) -> None:
    """Write vocabulary.tsv: one line for each term, in the order given."""
    rows = (
        (e.keyword, e.term, e.count, f"{e.score:.6f}", f"{e.share:.6f}", f"{e.cosine:.3f}") for e in entries
    )
    write_delimited(path, COLUMNS, rows)


def read_vocabulary(path: Path | str) -> dict[str, frozenset[str]]:
    """Read vocabulary.tsv as the words of each keyword's terms, without their leading blanks.

    Raises
    ------
    InputError
        If a column is missing, or a term is no single word after exactly one blank.
    """
    words: dict[str, set[str]] = {}
    for line, row in enumerate(read_delimited(path), start=2):
        missing = {"keyword", "term"} - set(row)
        if missing:
            raise InputError(f"columns are missing: {', '.join(sorted(missing))}", str(path))
        term = row["term"]
        if not term.startswith(" ") or not term[1:].isalnum():
            raise InputError(
                f"the term {term!r} is no word after one blank",
                f"{path}, line {line}",
                "a term keeps its one leading blank",
            )
        words.setdefault(row["keyword"], set()).add(term[1:])
    return {keyword: frozenset(found) for keyword, found in words.items()}
