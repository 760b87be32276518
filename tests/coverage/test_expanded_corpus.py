"""The programs, and a corpus gathered from documents: stopped and resumed, the same bytes."""

import json

import numpy as np
import polars as pl
import pytest
from tests.coverage.conftest import SETTINGS
from tests.programs import MODELS, run_program

from fathom.coverage import expanded_corpus as rounds
from fathom.coverage.expanded_corpus import RoundFolder, divide_documents, gather_corpus
from fathom.coverage.sets import Space
from fathom.errors import InputError
from fathom.io.contracts.coverage import COVERAGE_MAP, EXPANSION, EXPANSION_MAP
from fathom.io.tables import check_table, read_table

NARROW = SETTINGS.model_copy(update={"bandwidth": 3.0})


def test_a_corpus_holds_something_of_each_topic_and_little_twice(space, tmp_path):
    found = gather_corpus(space, SETTINGS, RoundFolder(tmp_path / "rounds", "key"))
    kept = found.documents.filter(pl.col("round") > 0)
    assert set(kept["doc_id"].str.slice(1).cast(pl.Int32) % 4) == {0, 1, 2, 3}
    assert len(kept) < 35 < len(found.documents) == 40
    report = found.report
    assert report["redundancy"]["corpus"] < report["redundancy"]["domain"]
    assert report["corpus"]["coverage_at_points"] == report["rounds"][-1]["coverage"]
    assert report["held_out"] == {"sentences": 150, "points": 300 - len(space.sentences)}
    assert report["corpus"]["sentences"] == kept["sentences"].sum() == report["rounds"][-1]["size"]
    assert report["rounds"][-1]["joined"] == 0
    check_table(found.map.to_arrow(), EXPANSION_MAP)
    check_table(found.documents.to_arrow(), EXPANSION)
    on_disk = json.loads((tmp_path / "rounds" / "round-001.json").read_text())
    assert on_disk == report["rounds"][0]


@pytest.fixture(scope="module")
def many():
    """Return 400 documents of five sentences each about a place of their own; a tenth of these are points."""
    generator = np.random.default_rng(3)
    documents = np.repeat(np.arange(400), 5)
    vectors = 1 + generator.normal(size=(400, 32))[documents] + generator.normal(size=(2000, 32))
    vectors *= 15 / np.linalg.norm(vectors, axis=1, keepdims=True)
    sentences = pl.DataFrame({"doc_id": [f"d{each:03}" for each in documents], "position": [*range(5)] * 400})
    points = np.sort(generator.permutation(2000)[:200])
    return Space(sentences, vectors.astype(np.float32), points, {})


def test_which_documents_join_does_not_depend_on_the_points(many, tmp_path):
    def gather(own_points):
        settings = SETTINGS.model_copy(update={"own_points": own_points, "max_correlation": 0.15})
        return gather_corpus(many, settings, RoundFolder(tmp_path / str(own_points), "key")).report["corpus"]

    noise = 2 * np.sqrt(0.15 * 0.85 / 200)  # of the share of 200 points, two standard errors
    fair, unfair = gather(False), gather(True)
    assert 0.1 < fair["share"] < 0.2 and abs(fair["share_of_points"] - fair["share"]) < noise
    assert abs(fair["coverage_at_points"] - fair["coverage"]) < noise
    # compared at their own sentences, those that hold points join, and look as if they covered the domain
    assert unfair["share_of_points"] > 2 * unfair["share"]
    assert unfair["coverage_at_points"] > 2 * unfair["coverage"]


def test_a_stopped_run_goes_on_after_its_last_round(space, tmp_path, monkeypatch):
    whole = gather_corpus(space, NARROW, RoundFolder(tmp_path / "whole", "key"))

    def stop(done):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(rounds, "_tell", stop)
        gather_corpus(space, NARROW, RoundFolder(tmp_path / "stopped", "key"))
    densities = tmp_path / "stopped" / "densities.npy"
    date = densities.stat().st_mtime_ns
    again = gather_corpus(space, NARROW, RoundFolder(tmp_path / "stopped", "key"))
    assert densities.stat().st_mtime_ns == date
    assert again.report == whole.report and again.documents.equals(whole.documents)
    for path in (tmp_path / "whole").iterdir():
        assert (tmp_path / "stopped" / path.name).read_bytes() == path.read_bytes()
    RoundFolder(tmp_path / "stopped", "another key")
    assert [path.name for path in (tmp_path / "stopped").iterdir()] == ["key.json"]


def test_a_round_that_was_changed_is_refused(space, tmp_path):
    gather_corpus(space, NARROW, RoundFolder(tmp_path, "key"))
    (tmp_path / "round-001.parquet").write_bytes((tmp_path / "round-002.parquet").read_bytes())
    with pytest.raises(InputError, match="this round does not follow: it was changed"):
        gather_corpus(space, NARROW, RoundFolder(tmp_path, "key"))


def test_documents_are_divided_in_their_order(space):
    documents, starts = divide_documents(space.sentences, 7)
    assert starts.dtype == np.int64 and len(starts) == 6 and starts[0] == 0
    assert documents["doc_id"].to_list() == space.sentences["doc_id"].unique(maintain_order=True).to_list()
    sizes = documents.group_by("subset", maintain_order=True).agg(pl.col("sentences").sum())["sentences"]
    assert np.diff(np.append(starts, len(space.sentences))).tolist() == sizes.to_list()
    with pytest.raises(InputError, match="nothing can join"):
        gather_corpus(space, NARROW.model_copy(update={"documents": 40}), None)


def test_the_programs_write_what_the_library_returns(project, tmp_path):
    common = [
        *("--sentences", *project.sentences, "--embeddings", *project.embeddings, "--index", project.index),
        *("--domain", "d", "--settings", json.dumps({"coverage": NARROW.model_dump()})),
    ]
    files = {name: tmp_path / name for name in ("out.parquet", "map.parquet", "report.json")}
    done = run_program(
        "expand_corpus", *common, "--rounds", tmp_path / "rounds", "--documents", files["out.parquet"],
        "--map", files["map.parquet"], "--report", files["report.json"], "--threads", 2, imports=MODELS,
    )  # fmt: skip
    report = json.loads(files["report.json"].read_bytes())
    kept = read_table(files["out.parquet"], EXPANSION).filter(pl.col("round") > 0)
    assert len(kept) == report["corpus"]["documents"] and f"{len(kept)} of 40 documents" in done.stderr
    run_program(
        "measure_coverage", *common, "--pairs", project.pairs, "--map", files["map.parquet"],
        "--report", files["report.json"], imports=MODELS,
    )  # fmt: skip
    report = json.loads(files["report.json"].read_bytes())
    assert report["embedded_pairs"] == 0 and report["embedding"] == project.model
    assert read_table(files["map.parquet"], COVERAGE_MAP)["gap"].sum() == report["gaps"]
