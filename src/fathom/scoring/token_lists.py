"""Which tokens of a vocabulary are content words, and which belong to a keyword [RawCorpora, App. A.3.1]."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from fathom.benchmark.wordlists import read_word_list
from fathom.errors import InputError
from fathom.io.contracts.benchmark import SENTENCE_OVERLAP
from fathom.io.contracts.scoring import TOKEN_LISTS
from fathom.io.row_groups import scan_groups
from fathom.io.tables import make_empty_table, read_table
from fathom.jobs.program import show_progress
from fathom.models.tokens import count_entries, decode_texts, encode_texts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MIN_CHARACTERS = 3
_SENTENCES = 4096  # encoded in one call
_REPLACEMENT = "\ufffd"  # decoded form of a token that is only part of a character


class KeywordTokens(NamedTuple):
    """Which tokens are content words, of shape (n_tokens,), bool, and which belong to a keyword."""

    content: "NDArray[np.bool_]"
    lists: pl.DataFrame
    owned: Mapping[str, list[int]]


def list_keyword_tokens(
    tokenizer: Any, sentences: Path, stopwords: Path, length: int, overlap: Path | None = None
) -> KeywordTokens:
    """Return content words and token lists, `length` entries at most, under a tokenizer.

    For `overlap` see :func:`scan_sentences`.
    """
    names = decode_vocabulary(tokenizer)
    content = find_content_tokens(names, read_word_list(stopwords))
    groups = scan_sentences(sentences, overlap)
    lists = make_token_lists(tokenizer, groups, names, content, length)
    owned = {str(keyword): group["token_id"].to_list() for (keyword,), group in lists.group_by("keyword")}
    return KeywordTokens(content, lists, owned)


def scan_sentences(sentences: Path, overlap: Path | None = None) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield keywords with the sentences that count, column `clean`; keywords without any are left out.

    Sentences of `overlap`, under SENTENCE_OVERLAP, occur in training text and do not count.
    """
    occurring = None if overlap is None else read_table(overlap, SENTENCE_OVERLAP)["clean"].implode()
    for keyword, group in scan_groups(sentences, "keyword", ["clean"]):
        kept = group if occurring is None else group.filter(~pl.col("clean").is_in(occurring))
        if len(kept):
            yield keyword, kept


def decode_vocabulary(tokenizer: Any) -> list[str]:
    """Return the text of every token by id, without markers of spaces or word continuations.

    Special tokens, such as `</s>`, have an empty text.
    """
    from tokenizers import decoders

    ids = [[number] for number in range(count_entries(tokenizer))]
    texts = decode_texts(tokenizer, ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)
    continuation = "##" if isinstance(tokenizer.backend_tokenizer.decoder, decoders.WordPiece) else ""
    return [text.replace(_REPLACEMENT, "").strip().removeprefix(continuation) for text in texts]


def find_content_tokens(names: Collection[str], stopwords: Collection[str]) -> "NDArray[np.bool_]":
    """Return which tokens, given the text of each by id, are content words, of shape (n_tokens,), bool.

    They have at least three characters and are no stopword, which are in lower case. Raise `InputError` if
    there is none.
    """
    import numpy as np

    found = [len(name) >= MIN_CHARACTERS and name.lower() not in stopwords for name in names]
    if not any(found):
        raise InputError(
            f"no token of the vocabulary has {MIN_CHARACTERS} characters and is not a stopword",
            "attribute rate",
            "use a tokenizer with a larger vocabulary",
        )
    return np.array(found, dtype=np.bool_)


def make_token_lists(
    tokenizer: Any,
    sentences: Iterable[tuple[str, pl.DataFrame]],
    names: list[str],
    content: "NDArray[np.bool_]",
    length: int,
) -> pl.DataFrame:
    """List the most frequent content tokens of each keyword's clean sentences, under TOKEN_LISTS.

    Keywords come sorted. At most `length` tokens, by decreasing count; ties by text, then by id.
    """
    parts = [make_empty_table(TOKEN_LISTS)]
    for keyword, group in show_progress(sentences, "keywords"):
        counts = _count_tokens(tokenizer, group["clean"], len(names))
        tokens = [token for token in counts.nonzero()[0].tolist() if content[token]]
        tokens.sort(key=lambda token: (-counts[token], names[token], token))
        tokens = tokens[:length]
        rows = {
            "keyword": [keyword] * len(tokens),
            "token_id": tokens,
            "token": [names[token] for token in tokens],
            "count": [int(counts[token]) for token in tokens],
        }
        parts.append(pl.DataFrame(rows, schema=parts[0].schema))
    return pl.concat(parts)


def _count_tokens(tokenizer: Any, texts: pl.Series, size: int) -> "NDArray[np.int64]":
    """Return how often each token occurs in some texts, as an array of shape (size,)."""
    import numpy as np

    counts = np.zeros(size, dtype=np.int64)
    for start in range(0, len(texts), _SENTENCES):
        encoded = encode_texts(tokenizer, texts[start : start + _SENTENCES].to_list())
        counts += np.bincount(np.array([i for ids in encoded for i in ids], dtype=np.int64), minlength=size)
    return counts
