"""Target vocabularies: the terms that stand out in a keyword's sentences (000: 2.4; spec 1.4)."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fathom.benchmark.matches import DECIMALS, MARGIN, Encoder, is_uncertain
from fathom.config.benchmark import Variant, Vocabulary
from fathom.errors import InputError
from fathom.files import read_delimited, write_delimited
from fathom.program import log

TOKEN_PATTERN = r"\s*\w+\b"  # noqa: S105 -- a pattern of words, which keep what white space precedes them
COLUMNS = ("keyword", "term", "count", "score", "share", "cosine")

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
    matches: pl.DataFrame,
    variant: Variant,
    settings: Vocabulary,
    stopwords: frozenset[str],
    encoder: Encoder,
) -> list[Entry]:
    """Choose the terms of every keyword's vocabulary (000: 2.4; spec 1.4).

    All clean sentences of a keyword form one document; terms in too many of the documents fall away; a term's
    score is its count (tf) or its TF-IDF weight among the documents (tfidf, scikit-learn's defaults).

    Parameters
    ----------
    matches : polars.DataFrame
        Matches of one domain, under the contract MATCHES, in any order.
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
    if matches.is_empty():
        raise InputError("no sentence matches any keyword", hint="add documents, or lower matches.min_cosine")
    keywords = matches["keyword"].unique().sort().to_list()
    entries = [
        entry
        for keyword, candidates in zip(
            keywords, _find_candidates(matches, keywords, variant, settings, stopwords), strict=True
        )
        for entry in candidates
    ]
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


def _join_sentences(matches: pl.DataFrame, keywords: Sequence[str]) -> Iterator[str]:
    """Yield the document of each keyword.

    A line end stands between sentences: with a blank, each sentence's first word would count as one that a
    blank precedes; the pattern gives it the line end instead, so it is no term.
    """
    sentences = matches.select("keyword", "clean").sort("keyword", "clean")
    groups = sentences.partition_by("keyword", as_dict=True, include_key=False)
    for keyword in keywords:
        yield "\n".join(groups[(keyword,)]["clean"].to_list())


def _find_candidates(
    matches: pl.DataFrame,
    keywords: Sequence[str],
    variant: Variant,
    settings: Vocabulary,
    stopwords: frozenset[str],
) -> Iterator[list[Entry]]:
    """Yield, for each keyword, the terms that pass everything but the cosine."""
    names, counts, shares = _count_terms(matches, keywords, settings.max_share[variant])
    scores = counts.astype(np.float64)
    if variant == "tfidf" and len(names):
        from sklearn.feature_extraction.text import TfidfTransformer

        scores = TfidfTransformer().fit_transform(counts)
    allowed = np.array([_is_term(name, settings.min_characters, stopwords) for name in names], dtype=bool)
    for row, keyword in enumerate(keywords):
        inside = slice(counts.indptr[row], counts.indptr[row + 1])
        columns, values = counts.indices[inside], scores.data[inside]
        mean = math.fsum(values) / len(values) if len(values) else 0.0
        kept = np.flatnonzero(allowed[columns] & (values >= mean * (1 - _ROUNDING)))
        yield [
            Entry(
                keyword,
                str(names[columns[place]]),
                int(counts.data[inside][place]),
                round(float(values[place]), 6),
                round(float(shares[columns[place]]), 6),
                0.0,
            )
            for place in kept
        ]


def _count_terms(
    matches: pl.DataFrame, keywords: Sequence[str], max_share: float
) -> tuple[NDArray[Any], Any, NDArray[np.float64]]:
    """Count terms by keyword document; leave out those in more than `max_share` of the documents.

    Returns
    -------
    names : array of str, shape [terms]
        As the pattern found them, with what white space precedes them.
    counts : scipy.sparse.csr_matrix, shape [keywords, terms]
        Sorted by term in each row.
    shares : array of float64, shape [terms]
        Share of the documents that hold the term.
    """
    from sklearn.feature_extraction.text import CountVectorizer

    # the same as max_df, which raises where nothing is left, and the shares are wanted anyway
    vectorizer = CountVectorizer(token_pattern=TOKEN_PATTERN, lowercase=False, min_df=0.0)
    try:
        counts = vectorizer.fit_transform(_join_sentences(matches, keywords))
    except ValueError as error:  # scikit-learn: not one word in any document
        raise InputError(f"the matched sentences hold no words: {error}") from error
    names = vectorizer.get_feature_names_out()
    documents = np.bincount(counts.indices, minlength=len(names))
    kept = np.flatnonzero(documents <= max_share * len(keywords))
    counts = counts[:, kept].tocsr()
    counts.sort_indices()
    return names[kept], counts, documents[kept] / len(keywords)


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
