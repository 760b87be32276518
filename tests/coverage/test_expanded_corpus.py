"""A corpus that grows, stopped and resumed with the same bytes."""

import json

import numpy as np
import polars as pl
import pytest
from tests.coverage.conftest import SETTINGS
from tests.programs import MODELS, run_program

from fathom.coverage import expanded_corpus as rounds
from fathom.coverage.density import COLUMNS, TOLERANCE, find_gaps, measure_log_density
from fathom.coverage.expanded_corpus import (
    Expansion,
    HeldOut,
    RoundFolder,
    divide_documents,
    gather_corpus,
    measure_subsets,
)
from fathom.coverage.sets import Space, read_space
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


_POINTS = np.linspace(0, 1, 200)
_NONE = np.full(len(_POINTS), -1)
"""Points that belong to no subset."""


def _bump(place: float, width: float = 0.02) -> np.ndarray:
    return (-((_POINTS - place) ** 2) / (2 * width**2)).astype(np.float32)


def _expand(*places: float, most: float = 0.05) -> Expansion:
    densities = np.array([_bump(place) for place in places])
    expansion = Expansion(densities, np.ones(len(places), dtype=np.int64), _NONE, most)
    while not expansion.is_finished:
        expansion.run_round()
    return expansion


def test_what_is_held_already_does_not_join():
    expansion = _expand(0.1, 0.101, 0.5, 0.102, 0.9, 0.501)
    assert expansion.joined.tolist() == [1, 0, 1, 0, 1, 0]
    assert np.isnan(expansion.correlations[0]) and 0.4 < expansion.correlations[1] < 0.7
    first, last = expansion.rounds[0].report, expansion.rounds[-1].report
    assert (first["joined"], first["left"], first["size"]) == (3, 3, 3)
    assert last["joined"] == 0 and len(expansion.rounds) == 2


def test_what_was_refused_can_join_a_corpus_that_has_grown():
    # alone, the first bump is like the second; among others its place counts for less
    expansion = _expand(0.1, 0.13, 0.3, 0.5, 0.7, 0.9, most=0.35)
    assert expansion.joined[1] == 2


def test_a_corpus_without_gaps_is_finished_though_more_could_join():
    expansion = _expand(0.3, 0.7, most=1.0)
    assert not expansion.gaps.any()
    assert expansion.joined.tolist() == [1, 1] and len(expansion.rounds) == 1
    assert expansion.rounds[0].report["coverage"] == 1


def test_gaps_are_those_of_the_densities():
    expansion = _expand(0.1, 0.11, 0.6, 0.9, most=-1.0)
    assert expansion.joined.tolist() == [1, 0, 0, 0]
    every = np.logaddexp.reduce([_bump(place) for place in (0.1, 0.11, 0.6, 0.9)]) - np.log(4)
    assert (expansion.gaps == find_gaps(every, _bump(0.1))).all()
    assert 0 < expansion.gaps.mean() < 1


def test_a_subset_is_not_compared_at_points_of_its_own():
    densities = np.array([_bump(0.3), _bump(0.31)])
    own = np.where(np.abs(_POINTS - 0.9) < 0.01, 1, -1)
    densities[1, own == 1] = 2.0  # a peak at its own points
    joined = []
    for owners in (_NONE, own, np.ones(len(_POINTS))):
        expansion = Expansion(densities, np.ones(2, dtype=np.int64), owners, 0.7)
        found = expansion.run_round().subsets
        joined.append(found["joined"][1])
    assert joined == [True, False, False]
    assert np.isnan(found["correlation"][1])  # all points are its own


def test_rounds_can_be_repeated_from_their_tables_but_only_in_order():
    done = _expand(0.1, 0.13, 0.3, 0.5, 0.7, 0.9, most=0.35)
    places = np.array([_bump(place) for place in (0.1, 0.13, 0.3, 0.5, 0.7, 0.9)])
    again = Expansion(places, np.ones(6, dtype=np.int64), _NONE, 0.35)
    with pytest.raises(ValueError, match="does not follow"):
        again.repeat(done.rounds[1].subsets)
    for each in done.rounds:
        again.repeat(each.subsets)
    assert again.is_finished and again.of_corpus.tobytes() == done.of_corpus.tobytes()
    assert [each.report for each in again.rounds] == [each.report for each in done.rounds]


@pytest.mark.parametrize("threads", [1, 2])
def test_densities_of_subsets_are_those_of_each_alone(threads):
    generator = np.random.default_rng(0)
    vectors = generator.normal(size=(2 * COLUMNS + 300, 24)).astype(np.float32) * 3
    # subsets that begin and end anywhere, one longer than a tile, one of a single vector
    starts = np.array([0, 5, 6, 700, COLUMNS, COLUMNS + 9, 2 * COLUMNS + 90])
    points = vectors[::40]
    found = np.empty((len(starts), len(points)), dtype=np.float32)
    measure_subsets(points, vectors, starts, 2.0, found, threads=threads)
    for row, (start, end) in enumerate(zip(starts, [*starts[1:], len(vectors)], strict=True)):
        alone = measure_log_density(points, vectors[start:end], 2.0) + np.log(end - start)
        assert np.abs(found[row] - alone).max() < TOLERANCE


def test_sentences_that_are_held_out_are_no_points(project, slices):
    few = SETTINGS.model_copy(update={"points": 30})
    space = read_space(slices, project.index, "d", few)
    found = HeldOut(space, 3.0)
    assert found.report == {"sentences": 30, "points": 0}
    assert not set(found.rows) & set(space.points) and (np.diff(found.rows) > 0).all()


@pytest.mark.parametrize("points", [100, 155])
def test_points_are_drawn_only_when_nothing_else_is_left(project, slices, points):
    space = read_space(slices, project.index, "d", SETTINGS.model_copy(update={"points": points}))
    others = len(space.vectors) - points
    found = HeldOut(space, 3.0)
    assert found.report == {"sentences": points, "points": points - others}
    assert set(range(len(space.vectors))) - set(space.points) <= set(found.rows)


def test_coverage_is_the_share_where_the_corpus_is_as_dense():
    # two places far apart, one with three sentences; the corpus holds the other
    places = np.array([0.0, 0.1, 0.2, 50.0])
    sentences = pl.DataFrame({"doc_id": list("abcd"), "position": [0] * 4})
    space = Space(sentences, np.stack([places, 0 * places], axis=1).astype(np.float32), np.arange(4), {})
    found = HeldOut(space, 1.0)
    assert found.report == {"sentences": 4, "points": 4}
    assert found.measure_coverage(np.array([False, False, False, True])) == 0.25
    assert found.measure_coverage(np.array([True, True, True, False])) == 0.75
    assert found.measure_coverage(np.ones(4, dtype=bool)) == 1.0
