"""Tokenization of whole documents for perplexity, and which of their tokens count."""

from collections.abc import Sequence
from itertools import compress
from typing import Any, NamedTuple

from fathom.jobs.bounded_calls import call_tokenizer
from fathom.models.tokens import PLAIN, uses_bos


class Document(NamedTuple):
    """Token ids of one document, and which of them are scored.

    Attributes
    ----------
    bos : int or None
        BOS token that every window starts with; never scored itself.
    start : int
        Index of the first scored token: 0 after a BOS token, otherwise at least 1.
    size : int
        UTF-8 bytes of the scored text, from token `start` on.
    left_out : int
        UTF-8 bytes of the text before it.
    overlap : frozenset of int
        Indices of the scored tokens that do not count.
    overlap_size : int
        UTF-8 bytes of their text, a part of `size`.
    offsets : list of (int, int)
        First character of each token, and the one after its last; blanks between tokens may be in none.
    """

    ids: list[int]
    bos: int | None
    start: int
    size: int
    left_out: int
    overlap: frozenset[int] = frozenset()
    overlap_size: int = 0
    offsets: Sequence[tuple[int, int]] = ()


def encode_document(
    tokenizer: Any, text: str, add_bos: bool | None = None, stretches: Sequence[tuple[int, int]] = ()
) -> Document:
    """Encode a whole document for perplexity; see :class:`Document`.

    Without a BOS token the first token has no context and cannot be scored. If it covers only part of a
    character, the other tokens of that character are left out too, so that byte counts are exact.

    Parameters
    ----------
    add_bos : bool, optional
        Whether a BOS token comes first; None: the tokenizer's default.
    stretches : sequence of (int, int)
        First characters of stretches whose tokens do not count, and the characters after their last ones.
    """
    bos = tokenizer.bos_token_id if uses_bos(tokenizer, add_bos) else None
    source = str(tokenizer.name_or_path)
    found = call_tokenizer(tokenizer, text, source, return_offsets_mapping=True, **PLAIN)
    ids, offsets = list(found["input_ids"]), found["offset_mapping"]
    if bos is not None and ids and ids[0] != bos:
        return Document(ids, bos, 0, len(text.encode()), 0, *_mark(text, offsets, 0, stretches), offsets)
    start, end = min(1, len(ids)), offsets[0][1] if ids else 0
    while bos is None and start < len(ids) and offsets[start][0] < end:
        end = max(end, offsets[start][1])
        start += 1
    if start == len(ids):
        end = len(text)
    size, left_out = len(text[end:].encode()), len(text[:end].encode())
    if bos is not None:  # the tokenizer reads the start of the text as a BOS token: do not add another
        ids, offsets, start = ids[1:], offsets[1:], 0
    marked = _mark(text, offsets, start, stretches, end)
    return Document(ids, bos, start, size, left_out, *marked, offsets)


def _mark(
    text: str,
    offsets: Sequence[tuple[int, int]],
    start: int,
    stretches: Sequence[tuple[int, int]],
    first: int = 0,
) -> tuple[frozenset[int], int]:
    """Return the scored tokens that lie in stretches, wholly or partly, and the bytes of their text.

    Tokens that share a character count together or not at all, so bytes are exact. `first`: where the scored
    text starts; characters without a token belong to the stretch that they lie in.
    """
    marked = bytearray(len(text))
    for begin, end in stretches:
        marked[begin:end] = b"\1" * (end - begin)
    tokens: set[int] = set()
    while True:
        more = {
            index for index in range(start, len(offsets))
            if index not in tokens and any(marked[slice(*offsets[index])])
        }  # fmt: skip
        if not more:
            break
        tokens |= more
        for index in more:
            begin, end = offsets[index]
            marked[begin:end] = b"\1" * (end - begin)
    return frozenset(tokens), len("".join(compress(text[first:], marked[first:])).encode())
