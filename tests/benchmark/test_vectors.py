"""Vectors are written a piece at a time, in the bytes that all at once would have."""

import io

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fathom.benchmark import reused_vectors as module
from fathom.benchmark.reused_vectors import KnownVectors, write_vectors

DIMENSION = 3


def embed(sentences):
    assert len(sentences) > 0
    return np.array([[float(text), 0.5, -1.0] for text in sentences], dtype=np.float32)


def make_known(rows: list[int], parts: int) -> KnownVectors:
    """Return vectors of some rows, told by their last number, dealt out to several arrays."""
    dealt = [rows[part::parts] for part in range(parts)]
    places = [(row, part, place) for part, own in enumerate(dealt) for place, row in enumerate(own)]
    arrays = [np.array([[float(row), 0.5, 2.0] for row in own], dtype=np.float32) for own in dealt]
    schema = dict.fromkeys(("row", "array", "place"), pl.Int64)
    return KnownVectors(pl.DataFrame(sorted(places), schema, orient="row"), arrays)


@given(
    total=st.integers(0, 12), piece=st.integers(1, 13), parts=st.integers(1, 3),
    known=st.sets(st.integers(0, 11)),
)  # fmt: skip
def test_pieces_give_the_bytes_of_the_whole(total, piece, parts, known):
    rows = sorted(row for row in known if row < total)
    wanted = np.array(
        [[row, 0.5, 2.0 if row in rows else -1.0] for row in range(total)], dtype=np.float32
    ).reshape(total, DIMENSION if total else 0)
    whole, stream = io.BytesIO(), io.BytesIO()
    np.save(whole, wanted)
    sentences = pl.Series([str(row) for row in range(total)], dtype=pl.String)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "PIECE", piece)
        write_vectors(stream, sentences, make_known(rows, parts), embed)
    assert stream.getvalue() == whole.getvalue()
