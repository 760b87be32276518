"""A benchmark on one of four topics covers that one."""

import numpy as np
import polars as pl
import pytest
from tests.coverage.conftest import SETTINGS, TOPICS
from threadpoolctl import threadpool_limits

from fathom.coverage.benchmarks import measure_benchmark
from fathom.coverage.benchmarks import project as project_on_plane
from fathom.coverage.correlations_varied import vary_correlation
from fathom.coverage.density import correlate_densities
from fathom.coverage.expanded_corpus import RoundFolder, gather_corpus
from fathom.coverage.sets import read_pairs
from fathom.errors import InputError
from fathom.io.contracts.benchmark import PAIRS
from fathom.io.tables import read_table

NARROW = SETTINGS.model_copy(update={"bandwidth": 3.0})


def test_pairs_of_one_topic_leave_gaps_in_the_others(project, slices, space):
    pairs = read_table(project.pairs, PAIRS)
    vectors, _ = read_pairs(slices, pairs, lambda texts: None, 15.0)
    found = measure_benchmark(space, vectors, pairs["pair_id"], NARROW)
    sentences = found.map.filter(kind="sentence")
    topic = sentences["id"].str.slice(1, 2).cast(pl.Int32) % TOPICS
    gaps = sentences.with_columns(topic=topic).group_by("topic").agg(pl.col("gap").mean()).sort("topic")
    assert gaps["gap"][0] < 0.1 and gaps["gap"][1:].min() > 0.9
    report = found.report
    assert report["coverage"] == pytest.approx(1 - sentences["gap"].mean())
    assert report["coverage"] < report["coverage_at_random"] < 0.9
    assert (sentences["gap"] == (sentences["difference"] > 1e-9)).all()
    assert 0 < report["large_gaps"] == sentences["large"].sum() <= 0.4 * len(sentences)
    assert (
        sentences.filter("large")["difference"].min() > sentences.filter(~pl.col("large"))["difference"].max()
    )
    assert found.map.filter(kind="pair")["id"].to_list() == pairs["pair_id"].to_list()
    assert 0 < report["correlation"] < 1
    assert report["redundancy_of_pairs"] > report["redundancy_of_domain"] > 0
    again = measure_benchmark(space, vectors, pairs["pair_id"], NARROW, threads=2)
    assert again.map.equals(found.map) and again.report == report


def test_the_domain_itself_leaves_no_gap(space):
    names = pl.Series([str(row) for row in range(len(space.vectors))])
    found = measure_benchmark(space, space.vectors, names, NARROW)
    assert (found.report["coverage"], found.report["correlation"]) == (1, pytest.approx(1))
    assert found.report["coverage_at_random"] == 1  # as many sentences are all of them


def test_a_bandwidth_that_tells_nothing_apart_is_named(space, caplog):
    names = pl.Series(["p"])
    caplog.set_level("INFO", logger="fathom")
    wide = SETTINGS.model_copy(update={"bandwidth": 500.0})
    measure_benchmark(space, space.vectors[:1], names, wide)
    assert "the bandwidth is wide (coverage.bandwidth = 500" in caplog.text


def test_embeddings_that_are_all_the_same_are_refused(space, tmp_path):
    same = space._replace(vectors=np.ones_like(space.vectors))
    for measure in (lambda: measure_benchmark(same, same.vectors[:1], pl.Series(["p"]), SETTINGS),
                    lambda: gather_corpus(same, SETTINGS, RoundFolder(tmp_path / "rounds", "key")),
                    lambda: vary_correlation(same, SETTINGS)):  # fmt: skip
        with pytest.raises(InputError, match="embeddings are all the same"):
            measure()


def test_fewer_points_than_dimensions_have_densities(space):
    few = space._replace(points=space.points[:3])
    assert few.vectors.shape[1] > len(few.points)
    report = measure_benchmark(few, few.vectors[:2], pl.Series(["p", "q"]), SETTINGS).report
    assert 0 <= report["coverage"] <= 1 and np.isfinite(report["spread"])


def test_threads_of_the_linear_algebra_change_no_digit():
    generator = np.random.default_rng(1)
    points = generator.normal(size=(513, 384)) @ generator.normal(size=(384, 384)) / np.arange(1, 385) ** 0.5
    densities = generator.normal(size=(2, 20_000))
    found = set()
    for threads in (1, 2, 4, 8):
        with threadpool_limits(threads):
            found.add((project_on_plane(points.astype(np.float32))[1], correlate_densities(*densities)))
    assert len(found) == 1


def test_a_plane_shows_most_of_what_lies_in_it():
    generator = np.random.default_rng(0)
    flat = generator.normal(size=(300, 2)) * [3, 2] @ np.linalg.qr(generator.normal(size=(10, 2)))[0].T
    places, explained = project_on_plane(flat.astype(np.float32), flat[:5].astype(np.float32))
    assert explained == pytest.approx(1) and (places[300:] == places[:5]).all()
    distances = np.linalg.norm(flat - flat[0], axis=1)
    assert np.linalg.norm(places[:300] - places[0], axis=1) == pytest.approx(distances, abs=1e-3)
