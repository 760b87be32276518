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

from fathom.benchmark import matches as module
from fathom.benchmark.gathered_matches import divide_by_keyword
from fathom.benchmark.matches import (
    check_embeddings,
    decide_matches,
    is_uncertain,
    load_keyword_vectors,
    match_sentences,
)
from fathom.io.contracts.benchmark import CANDIDATES, MATCHES
from fathom.io.contracts.corpus import INDEX, SENTENCES
from fathom.io.files import write_json
from fathom.io.tables import make_empty_table, read_table, write_table

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
    with refuses("2 vectors", "1 keywords"):
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
