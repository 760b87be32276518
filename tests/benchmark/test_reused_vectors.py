"""Vectors of an earlier run are reused by sentence if model, code and settings are the same."""

import io
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.refusals import refuses
from tests.tables import fill_table, tabulate_sentences

from fathom.benchmark import reused_vectors as module
from fathom.benchmark.reused_vectors import KnownVectors, describe_embedding, find_vectors, write_vectors
from fathom.config.benchmark import Embedding
from fathom.io.contracts.corpus import INDEX, SENTENCES
from fathom.io.files import write_json
from fathom.io.tables import write_table

METHOD = {"code": "1"}


@pytest.fixture
def previous(tmp_path: Path) -> Path:
    """Write an earlier run: two parts, the vector of a sentence is its length and its first letter."""
    parts = {"p": [("a", "one"), ("a", "two2"), ("b", "one")], "q": [("c", "three"), ("c", "one")]}
    index = fill_table(INDEX, doc_id=["a", "b", "c"], part=["p", "p", "q"])
    corpus = tmp_path / "corpus"
    write_table(corpus / "index.parquet", index, INDEX)
    for part, rows in parts.items():
        write_table(corpus / "sentences" / f"{part}.parquet", tabulate_sentences(rows), SENTENCES)
        (corpus / "embeddings").mkdir(exist_ok=True)
        texts = dict.fromkeys(text for _, text in rows)
        np.save(corpus / "embeddings" / f"{part}.npy", np.array([_vector(one) for one in texts], np.float32))
        write_json(corpus / "embeddings" / f"{part}.json", {"method": METHOD})
    return tmp_path


def _vector(text: str) -> tuple[float, float]:
    return len(text), ord(text[0])


def test_each_sentence_gets_its_own_vector(previous):
    texts = ["zero", "three", "one", "two2", "new"]
    table = tabulate_sentences([("c", text) for text in texts] + [("a", "one"), ("z", "zero")])
    known = find_vectors(previous, table, METHOD)
    rows, vectors = known.read(0, 5)
    assert rows.tolist() == known.places["row"].to_list() == [1, 2, 3]
    assert [vector.tolist() for vector in vectors] == [list(_vector(texts[row])) for row in rows]
    assert {vector.dtype for vector in vectors} == {np.dtype(np.float32)}
    rows, vectors = known.read(2, 4)
    assert rows.tolist() == [0, 1]
    assert [vector.tolist() for vector in vectors] == [list(_vector("one")), list(_vector("two2"))]


@pytest.mark.parametrize("method", [{}, {"code": "2"}])
def test_vectors_of_another_method_are_not_reused(previous, method):
    known = find_vectors(previous, tabulate_sentences([("a", "one")]), method)
    assert known.places.is_empty() and known.read(0, 1)[1] == []
    assert find_vectors(None, tabulate_sentences([("a", "one")]), METHOD).places.is_empty()


def test_parts_that_are_not_finished_and_documents_that_were_not_there(previous):
    (previous / "corpus" / "embeddings" / "q.json").unlink()
    known = find_vectors(previous, tabulate_sentences([("c", "three"), ("a", "two2")]), METHOD)
    assert known.places["row"].to_list() == [1]
    assert find_vectors(previous, tabulate_sentences([("new", "one")]), METHOD).places.is_empty()


def test_vectors_of_other_sentences_are_refused(previous):
    np.save(previous / "corpus" / "embeddings" / "p.npy", np.zeros((7, 2), np.float32))
    with refuses("7 embeddings", "2 distinct"):
        find_vectors(previous, tabulate_sentences([("a", "one")]), METHOD)


def test_the_method_names_model_settings_and_code():
    found = describe_embedding(Embedding(batch_tokens=64))
    assert len(found["model_files"]) == len(found["code"]) == 64
    assert found["settings"] == {"batch_tokens": 64}
    assert describe_embedding(Embedding(batch_tokens=128)) != found
    assert describe_embedding(Embedding(batch_tokens=64), "bfloat16") != found
    assert describe_embedding(Embedding(batch_tokens=64, device="cpu", precision="float32")) == found


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
