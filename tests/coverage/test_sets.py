"""Which sentences stand for a domain, and which embeddings pairs have."""

import numpy as np
import polars as pl
import pytest
from tests.coverage.conftest import DIMENSION, SETTINGS

from fathom.coverage.sets import Slices, read_pairs, read_space, resolve_bandwidth
from fathom.errors import InputError
from fathom.io.contracts.benchmark import PAIRS
from fathom.io.tables import read_table


def _lengths(vectors):
    return np.linalg.norm(vectors, axis=1)


def test_a_space_has_the_sentences_of_its_domain(project, slices):
    space = read_space(slices, project.index, "d", SETTINGS)
    assert set(space.sentences["doc_id"]) == {f"d{number:02}" for number in range(40)}
    assert _lengths(space.vectors) == pytest.approx(15)
    assert space.report["left_out"] == {"documents": 0, "sentences": 0}
    doc_id, position = space.sentences.row(len(space.sentences) // 2)
    first = slices.read(slices.find(pl.DataFrame({"doc_id": [doc_id]})))[position]
    assert (space.vectors[len(space.sentences) // 2] == first * np.float32(15)).all()
    swapped = Slices(project.sentences[::-1], project.embeddings[::-1])
    again = read_space(swapped, project.index, "d", SETTINGS)
    assert again.sentences.equals(space.sentences) and (again.vectors == space.vectors).all()
    assert (again.points == space.points).all() and len(space.points) == 150


def test_of_a_large_domain_whole_documents_are_drawn_and_one_without_sentences_is_refused(project, slices):
    whole = read_space(slices, project.index, "d", SETTINGS)
    some = read_space(slices, project.index, "d", SETTINGS.model_copy(update={"sentences": 60, "points": 10}))
    count = len(some.sentences)
    assert 50 < count <= 60 and some.report["left_out"]["sentences"] == len(whole.sentences) - count
    assert some.sentences.equals(whole.sentences[:count])
    assert some.report["points"] == len(some.points) == 10
    with pytest.raises(InputError, match=r"coverage.sentences = 0"):
        read_space(slices, project.index, "d", SETTINGS.model_copy(update={"sentences": 0}))
    with pytest.raises(InputError, match="domain 'none' has no sentences"):
        read_space(slices, project.index, "none", SETTINGS)


def test_pairs_have_the_embedding_of_their_sentence_and_others_are_embedded(project, slices):
    pairs = read_table(project.pairs, PAIRS)
    known, embedded = read_pairs(slices, pairs, lambda texts: pytest.fail(str(texts)), 15.0)
    assert embedded == 0 and _lengths(known) == pytest.approx(15)
    first = slices.find(pl.DataFrame({"doc_id": ["d04"]})).filter(position=0)
    assert (known[pairs["doc_id"].to_list().index("d04")] == slices.read(first)[0] * np.float32(15)).all()
    strange = pairs[::-1].with_columns(
        doc_id=pl.when(pl.col("doc_id") == "d04").then(pl.lit("")).otherwise("doc_id")
    )
    texts = []

    def encode(some):
        texts.extend(some)
        return np.eye(DIMENSION, dtype=np.float32)[: len(some)]

    mixed, embedded = read_pairs(slices, strange, encode, 1.0)
    assert embedded == 1 and texts == ["sentence 0 of d04 is"]
    place = strange["doc_id"].to_list().index("")
    assert mixed[place].tolist() == np.eye(DIMENSION)[0].tolist()
    others = np.delete(np.arange(len(pairs)), place)
    assert (mixed[others] * np.float32(15) == known[::-1][others]).all()


def test_bandwidths(project, slices):
    space = read_space(slices, project.index, "d", SETTINGS)
    assert resolve_bandwidth(space, SETTINGS) == 5.0
    assert 0 < resolve_bandwidth(space, SETTINGS.model_copy(update={"bandwidth": "scott"})) < 15
    few = read_space(slices, project.index, "d", SETTINGS.model_copy(update={"sentences": 12}))
    with pytest.raises(InputError, match="more embeddings than dimensions"):
        resolve_bandwidth(few, SETTINGS.model_copy(update={"bandwidth": "scott"}))
