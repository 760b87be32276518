"""Documents that are set aside: pairs from them are a reference for those from all others."""

from collections.abc import Iterable, Iterator, Mapping

import polars as pl

from fathom.io.files import hash_text
from fathom.jobs.program import log

_HASH_RANGE = 16**12


def is_set_aside(doc_id: str, share: float) -> bool:
    """Say whether a document, or a group of them, is set aside; a hash of its id decides."""
    return int(hash_text("set aside", doc_id)[:12], 16) < share * _HASH_RANGE


def split_matches(
    matches: Iterable[tuple[str, pl.DataFrame]], share: float, aside: bool, groups: Mapping[str, str]
) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield the matches of each keyword in documents that are set aside, or in all others.

    A sentence that occurs in both kinds of documents is left out of those set aside.

    Parameters
    ----------
    groups : mapping of str to str
        Group of each document that shares text with others; a group is set aside as a whole.
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
            "%s matches in documents set aside; %s more are left out, for others have the same sentence",
            f"{taken:,}", f"{repeated:,}",
        )  # fmt: skip
