"""Two runs of one benchmark: what both have is compared, the rest is counted or named."""

import shutil

import polars as pl
import pytest
from tests.explorer.runs import write_run
from tests.refusals import refuses

from fathom.commands.main import main
from fathom.config.scoring import Summary
from fathom.io.contracts.scoring import SCORES
from fathom.io.contracts.statistics import RUN_CHANGES
from fathom.io.delimited import read_rows
from fathom.io.files import read_json, write_json
from fathom.io.tables import read_table, write_table
from fathom.ranking.paired_runs import compare_runs
from fathom.statistics.metrics import METRICS

SETTINGS = Summary(rounds=400)
MODELS = {"alpha": 1.0, "beta": 1.1, "gamma": 30.0}


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    return write_run(tmp_path_factory.mktemp("runs") / "first", MODELS, keywords=20, variants=["tf"])


@pytest.fixture
def runs(original, tmp_path):
    copies = tmp_path / "first", tmp_path / "second"
    for each in copies:
        shutil.copytree(original, each)
    return copies


def change_scores(run, model, change) -> None:
    path = run / "physics" / "scores" / "tf" / f"{model}.parquet"
    write_table(path, change(read_table(path, SCORES)), SCORES)


def test_a_run_does_not_differ_from_its_copy(runs):
    (found,) = compare_runs(*runs, SETTINGS).benchmarks
    assert (found.pairs, found.first_only, found.second_only) == (199, 0, 0)  # one is in training text
    for each in found.models:
        assert each.difference == (0, 0, 0) and not each.apart
        assert each.first_letters == each.second_letters


def test_a_model_that_became_worse_is_found_and_the_others_are_not(runs):
    change_scores(runs[1], "alpha", lambda scores: scores.with_columns(pl.col("bits") - 2))
    (found,) = compare_runs(*runs, SETTINGS).benchmarks
    changed = {each.model: each for each in found.models}
    assert {name for name, each in changed.items() if each.apart} == {"alpha"}
    assert found.resampled.metric == METRICS["bits"]
    alpha = changed["alpha"]
    assert alpha.difference.value == pytest.approx(-2)
    assert alpha.difference.low <= alpha.difference.value <= alpha.difference.high < 0
    assert not set(alpha.first_letters) & set(alpha.second_letters)


def test_what_one_run_has_alone_is_counted_and_named(runs):
    for model in MODELS:
        change_scores(runs[1], model, lambda scores: scores[:150])
    pairs = runs[1] / "physics" / "benchmark" / "tf" / "pairs.parquet"
    table = pl.read_parquet(pairs)[:150]
    table.write_parquet(pairs)
    (runs[1] / "physics" / "scores" / "tf" / "beta.parquet").unlink()
    found = compare_runs(*runs, SETTINGS)
    (benchmark,) = found.benchmarks
    assert (benchmark.pairs, benchmark.first_only, benchmark.second_only) == (149, 50, 0)
    assert found.first_only == ["beta on physics, tf"] and found.second_only == []


def test_what_else_changed_is_listed(runs, tmp_path, capsys):
    path = runs[1] / "physics" / "benchmark" / "tf" / "manifest.json"
    manifest = read_json(path)
    manifest["parameters"]["corpus"]["source"] = "folder"
    manifest["inputs"][0]["sha256"] = "2" * 64
    write_json(path, manifest)
    for run, fingerprint in zip(runs, ("aa", "bb"), strict=True):
        write_json(run / "physics" / "scores" / "tf" / "alpha.json", {"fingerprint": fingerprint, "pairs": 7})
    main(["compare-runs", *map(str, runs), "--output", str(tmp_path / "out")])
    said = capsys.readouterr().out
    listed = read_json(tmp_path / "out" / "changes.json")["settings"]
    assert ["parameters.corpus.source", "arxiv", "folder"] in listed
    assert ["inputs.metadata.json.sha256", "1" * 64, "2" * 64] in listed
    assert ["alpha: fingerprint", "aa", "bb"] in listed and len(listed) == 3
    assert "arxiv -> folder" in said and "199 pairs of both runs" in said
    rows = read_rows(tmp_path / "out" / "changes.csv", RUN_CHANGES)
    assert [row["model"] for row in rows] == ["alpha", "beta", "gamma"]


def test_runs_with_nothing_in_common_are_refused(runs, tmp_path):
    (tmp_path / "empty").mkdir()
    with refuses("empty", "no scores"):
        compare_runs(runs[0], tmp_path / "empty", SETTINGS)
    unscored = write_run(tmp_path / "unscored", {"delta": 1.0}, keywords=2, variants=["tf"])
    shutil.rmtree(unscored / "physics" / "scores")
    with refuses("unscored", "no scores", "target compare"):
        compare_runs(runs[0], unscored, SETTINGS)
    other = write_run(tmp_path / "other", {"delta": 1.0}, keywords=2, variants=["tf"])
    with refuses("no model was scored", "physics/tf/alpha", "physics/tf/delta"):
        compare_runs(runs[0], other, SETTINGS)
    for model in MODELS:
        change_scores(runs[1], model, lambda scores: scores[:0])
    pairs = runs[1] / "physics" / "benchmark" / "tf" / "pairs.parquet"
    pl.read_parquet(pairs)[:0].write_parquet(pairs)
    (runs[1] / "physics" / "benchmark" / "tf" / "overlap.parquet").unlink()
    with refuses("no common pair"):
        compare_runs(*runs, SETTINGS)
