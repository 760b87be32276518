"""Which sentences name which keywords: the words of the phrase side by side, in any form."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import polars as pl

from fathom.benchmark.wordlists import find_stem

_PIECE = 20_000
"""Sentences to divide into words at once."""
# hyphens join, so `fine-tuned` is two adjacent words; other punctuation separates words
_WORDS = r"[\p{L}\p{N}]+|[^\p{L}\p{N}\s_\-]"
_OUTSIDE = -1

Phrases = dict[int, list[tuple[tuple[int, ...], int]]]
"""By first word: the words of each phrase that begins with it, and the place of its keyword."""


def find_named(sentences: pl.Series, keywords: Sequence[str]) -> pl.DataFrame:
    """Find the keywords that sentences name.

    A sentence names a keyword if it has its words one after the other, whatever their case, accents, hyphens
    and endings: `Graph-neural networks` name `graph neural network`. Punctuation between the words divides
    them. Returned: columns place, the index of a sentence, and keyword, by both; each once.
    """
    numbers, phrases = _number_phrases(keywords)
    found = [
        named
        for start in range(0, len(sentences), _PIECE)
        for named in _find_in_piece(sentences.slice(start, _PIECE), start, numbers, phrases)
    ]
    schema = {"place": pl.Int64, "keyword": pl.Int64}
    names = pl.DataFrame({"name": list(keywords)}, schema={"name": pl.String}).with_row_index("keyword")
    return (
        pl.DataFrame(found, schema=schema, orient="row")
        .join(names.with_columns(pl.col("keyword").cast(pl.Int64)), on="keyword")
        .select("place", keyword="name")
        .unique()
        .sort("place", "keyword")
    )


def select_named(
    sentences: pl.DataFrame, documents: pl.DataFrame, keywords: Mapping[str, Sequence[str]]
) -> pl.DataFrame:
    """Keep the sentences that name a keyword of a domain of their document.

    `documents`: columns doc_id and domains, the names of its domains. Returned: under SENTENCES, in the same
    order, with distinct sentences numbered from 0 again.
    """
    numbered = sentences.with_row_index("place").with_columns(pl.col("place").cast(pl.Int64))
    places = [pl.Series("place", [], dtype=pl.Int64)]
    for domain, names in keywords.items():
        inside = documents.filter(pl.col("domains").list.contains(domain))
        here = numbered.join(inside, on="doc_id", how="semi", maintain_order="left")
        places.append(here["place"].gather(find_named(here["clean"], names)["place"].unique()))
    kept = sentences[pl.concat(places).unique().sort()]
    return kept.with_columns(row=pl.col("row").rank("dense").cast(pl.Int32) - 1)


def keep_named(matches: pl.DataFrame) -> pl.DataFrame:
    """Keep the rows under CANDIDATES or MATCHES whose sentence names their keyword, in their order."""
    found = find_named(matches["clean"], matches["keyword"].unique().sort().to_list())
    numbered = matches.with_row_index("place").with_columns(pl.col("place").cast(pl.Int64))
    return numbered.join(found, on=["place", "keyword"], how="semi", maintain_order="left").drop("place")


def _number_phrases(keywords: Sequence[str]) -> tuple[dict[str, int], Phrases]:
    """Return a number for each stem of a keyword, and the keywords as such numbers."""
    numbers: dict[str, int] = {}
    phrases: Phrases = defaultdict(list)
    plain = pl.Series(list(keywords), dtype=pl.String)
    for place, words in enumerate(_divide(plain)):
        stems = [numbers.setdefault(find_stem(word), len(numbers)) for word in words]
        if stems:
            phrases[stems[0]].append((tuple(stems[1:]), place))
    return numbers, phrases


def _divide(texts: pl.Series) -> pl.Series:
    return (
        texts.str.to_lowercase()
        .str.normalize("NFKD")
        .str.replace_all(r"\p{M}", "")
        .str.replace_all(r"['’]s\b", "")
        .str.extract_all(_WORDS)
    )


def _find_in_piece(
    sentences: pl.Series, start: int, numbers: dict[str, int], phrases: Phrases
) -> list[tuple[int, int]]:
    words = (
        pl.DataFrame({"word": _divide(sentences)})
        .with_row_index("place", offset=start)
        .explode("word", empty_as_null=False)
    )
    if words.is_empty() or not phrases:
        return []
    distinct = words["word"].unique()
    known = {word: numbers.get(find_stem(word), _OUTSIDE) for word in distinct}
    flat = words.with_columns(number=pl.col("word").replace_strict(known, return_dtype=pl.Int64))
    stems, places = flat["number"].to_list(), flat["place"].to_list()
    begins = flat.with_row_index("at").filter(pl.col("number").is_in(list(phrases)))["at"].to_list()
    found: list[tuple[int, int]] = []
    for at in begins:
        for rest, keyword in phrases[stems[at]]:
            end = at + len(rest)
            if tuple(stems[at + 1 : end + 1]) == rest and end < len(places) and places[end] == places[at]:
                found.append((places[at], keyword))
    return found
