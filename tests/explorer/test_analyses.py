"""What a page draws of multiple choice, layers, tuning and coverage: the numbers of finished tables."""

import shutil

import pytest
from tests.explorer.runs import SETTINGS, write_analyses, write_run

from fathom.explorer.analyses import MOST_POINTS, collect_analyses
from fathom.explorer.data import collect_data
from fathom.explorer.reader import read_run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    run = write_run(tmp_path_factory.mktemp("analyses") / "run", variants=["tf"])
    write_analyses(run)
    return run


@pytest.fixture
def copied(folder, tmp_path):
    return shutil.copytree(folder, tmp_path / "run")


def collect(folder):
    run = read_run(folder, SETTINGS)
    return collect_analyses(run), run.missing


def test_each_analysis_has_the_numbers_of_its_tables(folder):
    found, missing = collect(folder)
    assert missing == [] and list(found) == ["multiple-choice", "layers", "tuning", "coverage"]
    choices = found["multiple-choice"]
    assert (choices["questions"], choices["items"], choices["factors"]) == (
        ["set"], 40, ["options", "orders"],
    )  # fmt: skip
    moved = ["gamma+fine-tuned", "letter", "options", "right-B", "as-shipped", 1.0, 0.94, 1.0, 0.75, 0.7, 0.8,
             True]  # fmt: skip
    assert moved in choices["rows"]
    assert choices["verdicts"] == [["gamma+fine-tuned", "letter", "favours letter B"]]
    ranks, probabilities, rates = found["layers"]
    assert (ranks["id"], ranks["title"], ranks["lower"]) == ("physics/rank", "Physics", True)
    model, points = ranks["lines"][0]
    assert model == "alpha" and points[:2] == [[0, 2000.0, 1800.0, 2200.0], [1, 500.0, 450.0, 550.0]]
    assert points[2] == [2, 222.222, 200.0, 244.444] and len(points) == 5
    assert probabilities["id"] == "physics/probability" and rates["label"].endswith(
        "50 likeliest words, list of 1,200"
    )
    first, exam = found["tuning"]["tasks"]
    assert (first["task"], first["lower"], exam["lower"]) == ("physics-tf", True, False)
    assert first["rows"][1] == ["beta", 840.0, 510.0, 0.01, 0.02]
    assert found["tuning"]["taus"][1] == ["train-before-test", 0.4, 0.3, 0.5]
    (coverage,) = found["coverage"]
    assert (
        coverage["id"] == "physics/tf" and sum(coverage["counts"][:3]) == 4000 and coverage["counts"][3] == 60
    )
    assert 0 < len(coverage["sentences"]) <= MOST_POINTS and len(coverage["pairs"]) == 60
    assert [value for _, value in coverage["numbers"]] == [0.75, 0.8]


def test_all_sets_together_are_drawn_where_there_are_several(copied):
    path = copied / "choices/accuracy.csv"
    header, *lines = path.read_text().splitlines()
    other = [line.replace(",set,", ",all,").replace(",40,", ",80,") for line in lines]
    path.write_text("\n".join([header, *lines, *other]) + "\n")
    choices = collect(copied)[0]["multiple-choice"]
    assert (choices["questions"], choices["items"], len(choices["rows"])) == (["set"], 80, len(other))


def test_a_analysis_without_tables_is_left_out_and_one_of_another_version_is_named(copied):
    for path in ("tuning.csv", "physics/benchmark/tf/coverage.parquet"):
        (copied / path).unlink()
    path = copied / "physics/layers/layers.csv"
    path.write_text(path.read_text().replace("projection", "lens", 1))
    found, missing = collect(copied)
    assert list(found) == ["multiple-choice"]
    assert missing == ["layers.csv was written by another version of Fathom and is left out."]
    data = collect_data(read_run(copied, SETTINGS), SETTINGS)
    assert data.overview["analyses"] == ["multiple-choice"] and data.overview["missing"] == missing


def test_a_run_of_multiple_choice_alone_has_a_page(copied):
    for path in copied.iterdir():
        if path.name != "choices":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    run = read_run(copied, SETTINGS)
    assert run.benchmarks == [] and list(collect_analyses(run)) == ["multiple-choice"]
