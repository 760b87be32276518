import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fathom.benchmark import matches as module
from fathom.benchmark.matches import check_embeddings, is_uncertain, match_sentences
from fathom.errors import InputError
from fathom.io.contracts.benchmark import MATCHES
from fathom.io.contracts.corpus import SENTENCES
from fathom.io.tables import write_table

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


def _sentences(texts: list[str], doc_ids: list[str] | None = None) -> pl.DataFrame:
    distinct = list(dict.fromkeys(texts))
    return pl.DataFrame(
        {
            "doc_id": doc_ids or ["d"] * len(texts),
            "position": list(range(len(texts))),
            "sentence": texts,
            "clean": [f"clean {text}" for text in texts],
            "row": [distinct.index(text) for text in texts],
        },
        schema_overrides={"position": pl.Int32, "row": pl.Int32},
    )


def _match(texts: list[str], keywords: list[str], encoder: PlaneEncoder, floor: float = 0.5) -> pl.DataFrame:
    vectors = encoder.encode(list(dict.fromkeys(texts)))
    return match_sentences(_sentences(texts), vectors, keywords, encoder, floor)


def test_sentences_match_from_the_threshold() -> None:
    found = _match(["10.0", "59.0", "61.0", "10.0"], ["0.0", "90.0"], PlaneEncoder())
    assert found.select("keyword", "position", "cosine").rows() == [
        ("0.0", 0, 0.985), ("0.0", 1, 0.515), ("0.0", 3, 0.985), ("90.0", 1, 0.857), ("90.0", 2, 0.875),
    ]  # fmt: skip
    assert found["clean"][0] == "clean 10.0"


@pytest.mark.parametrize("error", [-1e-6, 0.0, 1e-6])
@pytest.mark.parametrize(
    ("cosine", "stored"),
    [
        (0.5 - 1e-7, None), (0.5 + 1e-7, 0.5), (0.6125 - 1e-7, 0.612), (0.6125 + 1e-7, 0.613),
        (0.5005 + 2e-7, 0.501), (0.5005 - 2e-7, 0.5), (0.7, 0.7), (0.45, None),
    ],
)  # fmt: skip
def test_decision_and_stored_cosine_are_those_of_float64(
    cosine: float, stored: float | None, error: float
) -> None:
    found = _match([_angle(cosine)], ["0.0"], PlaneEncoder(error))
    assert found["cosine"].to_list() == ([] if stored is None else [stored])


def test_only_uncertain_cosines_are_computed_again() -> None:
    encoder = PlaneEncoder()
    near = _angle(0.6125 + 1e-7)
    _match([_angle(0.7001), near, _angle(0.3)], ["0.0"], encoder)
    assert encoder.exact == [near, "0.0"]


@settings(max_examples=200)
@given(st.floats(0, 1), st.floats(-4e-6, 4e-6), st.floats(0, 1))
def test_certain_cosines_stand_errors_below_the_margin(cosine: float, error: float, floor: float) -> None:
    if not is_uncertain(np.array([cosine]), floor)[0]:
        assert (cosine >= floor) == (cosine + error >= floor)
        assert np.round(cosine, 3) == np.round(cosine + error, 3)


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [str(float(number * 37 % 90)) for number in range(100)]
    whole = _match(texts, ["0.0", "45.0", "90.0"], PlaneEncoder())
    monkeypatch.setattr(module, "_BLOCK", 7)
    assert _match(texts, ["0.0", "45.0", "90.0"], PlaneEncoder()).equals(whole)
    assert len(whole) > 100


def test_part_without_sentences_gives_an_empty_table(tmp_path: Path) -> None:
    found = match_sentences(_sentences([]), np.empty((0, 2), np.float32), ["0.0"], PlaneEncoder(), 0.5)
    write_table(tmp_path / "m.parquet", found, MATCHES)
    assert len(found) == 0


def test_embeddings_of_another_model_are_refused() -> None:
    with pytest.raises(InputError, match="3 dimensions"):
        match_sentences(_sentences(["1.0"]), np.ones((1, 3), np.float32), ["0.0"], PlaneEncoder(), 0.5)


def test_embeddings_of_another_table_are_refused() -> None:
    sentences = _sentences(["1.0", "2.0", "1.0"])
    check_embeddings(sentences, np.ones((2, 2), np.float32), "p.npy")
    with pytest.raises(InputError, match="3 embeddings for 2 distinct") as error:
        check_embeddings(sentences, np.ones((3, 2), np.float32), "p.npy")
    assert "make it again" in str(error.value)


def test_program_names_the_array_to_make_again(tmp_path: Path) -> None:
    write_table(tmp_path / "s.parquet", _sentences(["1.0", "2.0"]), SENTENCES)
    np.save(tmp_path / "e.npy", np.ones((3, 2), np.float32))
    (tmp_path / "k.tsv").write_text("keyword\nx\n", encoding="utf-8")
    names = ("sentences", "s.parquet"), ("embeddings", "e.npy"), ("index", "i.parquet"), ("keywords", "k.tsv")
    options = [word for name, file in names for word in (f"--{name}", str(tmp_path / file))]
    done = subprocess.run(
        [sys.executable, "scripts/benchmark/match_sentences.py", *options, "--domain", "x",
         "--output", "m.parquet"],
        cwd=_ROOT, capture_output=True, text=True, check=False, env={"PYTHONPATH": "src", "PATH": ""},
    )  # fmt: skip
    assert done.returncode == 1
    assert "e.npy: 3 embeddings for 2 distinct sentences" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (_ROOT / "m.parquet").exists()
