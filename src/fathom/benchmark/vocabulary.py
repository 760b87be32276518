"""Target vocabularies: the terms that characterise a keyword's sentences [RawCorpora, Sec. 2.4]."""

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
from fathom.io.contracts.benchmark import VOCABULARY
from fathom.io.delimited import scan_rows, write_rows
from fathom.io.names import show_count
from fathom.jobs.program import log

TOKEN_PATTERN = r"\s*\w+\b"  # noqa: S105 -- words with the white space before them

_TOKEN = re.compile(TOKEN_PATTERN)
_SENTENCES = 1000
_ROUNDING = 1e-12  # a score that equals the mean may differ from it in its last bits


@dataclass(frozen=True)
class VocabularyTerm:
    """One term of a keyword's vocabulary; `term` includes its leading space."""

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
) -> list[VocabularyTerm]:
    """Choose the terms of every keyword's vocabulary [RawCorpora, Sec. 2.4].

    The clean sentences of a keyword form one document. Terms that occur in too many documents are left out. A
    term's score is its count (tf) or its TF-IDF weight with scikit-learn's defaults (tfidf) [ScikitLearn].
    The sentences of one keyword, and the counts of all keywords, are in memory at a time. Raise `InputError`
    if there are no sentences, or every vocabulary is empty. Returned: sorted by keyword, descending score and
    term. `matches`: each of the domain's keywords once, with its clean sentences (column `clean`) in any
    order. `stopwords`: lower-case words that are never terms.
    """
    keywords, names, counts = _count_terms(matches)
    if not keywords:
        raise InputError("no sentence matches any keyword", hint="add documents, or lower matches.min_cosine")
    entries = _find_candidates(keywords, names, counts, variant, settings, stopwords)
    kept = _keep_similar(entries, settings.min_cosine, encoder)
    empty = sorted(set(keywords) - {entry.keyword for entry in kept})
    if not kept:
        raise InputError(
            f"none of {show_count(len(keywords), 'keyword')} has a term in its {variant} vocabulary",
            hint=f"terms in more than {settings.max_share[variant]:.0%} of the keywords' documents are left "
            "out, which needs more than a few keywords: add documents or keywords, or raise "
            "vocabulary.max_share",
        )
    log.info(
        "%s vocabulary: %s for %s of %s keywords; %s without one",
        variant, show_count(len(kept), "term"), f"{len(keywords) - len(empty):,}", f"{len(keywords):,}",
        show_count(len(empty), "keyword"),
    )  # fmt: skip
    return sorted(kept, key=lambda entry: (entry.keyword, -entry.score, entry.term))


def _find_candidates(
    keywords: Sequence[str],
    names: NDArray[Any],
    counts: Any,
    variant: Variant,
    settings: Vocabulary,
    stopwords: frozenset[str],
) -> list[VocabularyTerm]:
    # equivalent to scikit-learn's max_df, which raises if nothing is left; the shares are needed anyway
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
        averaged = values[allowed[columns]] if settings.mean_of == "terms" else values
        mean = math.fsum(averaged) / len(averaged) if len(averaged) else 0.0
        for place in np.flatnonzero(allowed[columns] & (values >= mean * (1 - _ROUNDING))):
            score, share = round(float(values[place]), 6), round(float(shares[columns[place]]), 6)
            count = int(counts.data[inside][place])
            entries.append(VocabularyTerm(keyword, str(names[columns[place]]), count, score, share, 0.0))
    return entries


def _count_terms(matches: Iterable[tuple[str, pl.DataFrame]]) -> tuple[list[str], NDArray[Any], Any]:
    """Return keywords, terms with the white space before them, and how often each keyword has each term.

    Counts are a sparse matrix of int64, of shape (n_keywords, n_terms).
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
    except ValueError as error:  # scikit-learn: no word in any document
        if not keywords:
            return [], np.empty(0, dtype=object), None
        raise InputError(f"the matched sentences contain no words: {error}") from error
    return keywords, vectorizer.get_feature_names_out(), counts


def _find_tokens(sentences: pl.Series) -> Iterator[str]:
    """Yield the tokens of a keyword's document, reading a limited number of sentences at a time.

    Sentences are joined by newlines. After a space, the first word of a sentence would count as a term; after
    a newline, the pattern takes the newline as its leading white space, which rules it out.
    """
    before = ""
    for start in range(0, len(sentences), _SENTENCES):
        yield from _TOKEN.findall(before + "\n".join(sentences[start : start + _SENTENCES].to_list()))
        before = "\n"


def _is_term(name: str, min_characters: int, stopwords: frozenset[str]) -> bool:
    """Return whether a token can be a target: one space, then a long enough word that is not a stopword."""
    word = name[1:]
    return (
        name.startswith(" ")
        and word.isalnum()
        and len(word) >= min_characters
        and word.lower() not in stopwords
    )


def _keep_similar(
    entries: Sequence[VocabularyTerm], min_cosine: float, encoder: Encoder
) -> list[VocabularyTerm]:
    if not entries:
        return []
    words = sorted({entry.term[1:] for entry in entries})
    keywords = sorted({entry.keyword for entry in entries})
    of_word = dict(zip(words, encoder.encode(words), strict=True))
    of_keyword = dict(zip(keywords, encoder.encode(keywords), strict=True))
    cosines = np.array([float(of_word[entry.term[1:]] @ of_keyword[entry.keyword]) for entry in entries])

    near = cosines >= min_cosine - MARGIN  # rejected entries need no exact third decimal
    uncertain = np.flatnonzero(near & is_uncertain(cosines, min_cosine)).tolist()
    if len(uncertain):  # makes the decision and the third decimal the same on every machine
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


def write_vocabulary(path: Path | str, entries: Sequence[VocabularyTerm]) -> None:
    """Write vocabulary.tsv, one row per term, in the order given."""
    write_rows(path, ((e.keyword, e.term, e.count, e.score, e.share, e.cosine) for e in entries), VOCABULARY)


def read_vocabulary(path: Path | str) -> dict[str, frozenset[str]]:
    """Read vocabulary.tsv as the terms of each keyword, without their leading spaces.

    Raise `InputError` if a column is missing, or a term is not one space followed by one word.
    """
    words: dict[str, set[str]] = {}
    for where, row in scan_rows(path, VOCABULARY, ("keyword", "term")):
        term = row["term"]
        if not term.startswith(" ") or not term[1:].isalnum():
            raise InputError(
                f"the term {term!r} is not one space followed by one word",
                where,
                "keep the leading space of each term",
            )
        words.setdefault(row["keyword"], set()).add(term[1:])
    return {keyword: frozenset(found) for keyword, found in words.items()}
