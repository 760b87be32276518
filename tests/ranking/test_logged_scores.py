"""Logs of other programs become a folder of scores that rankings read."""

import numpy as np
import polars as pl
import pytest
from tests.refusals import refuses

from fathom.commands.main import main
from fathom.config.ranking import RankingSettings
from fathom.logs.items import read_logs
from fathom.ranking.logged_scores import write_score_folder
from fathom.ranking.score_folder import read_folder

MODELS = ("one", "two", "three", "four")
TASKS = ("law", "sums", "speed")


def make_logs(folder, condition, lift=0.0, metrics=("acc",), models=MODELS, tasks=TASKS, clusters=0):
    """Write tables of scores, in which the task speed is better the lower it is, and read them."""
    folder.mkdir(parents=True, exist_ok=True)
    for place, task in enumerate(tasks):
        random = np.random.default_rng([len(condition), place])
        low = task == "speed"
        rows = [
            {"task": task, "metric": metric, "model": model, "item": f"i{item:02d}",
             "higher_is_better": not low, "cluster": f"c{item % clusters}" if clusters else "",
             "score": float(random.random() < 0.3 + lift + 0.1 * skill)}
            for metric in metrics for skill, model in enumerate(models) for item in range(40)
        ]  # fmt: skip
        pl.DataFrame(rows).write_csv(folder / f"{task}.csv")
    return read_logs([folder]).items


@pytest.fixture
def conditions(tmp_path):
    return {name: make_logs(tmp_path / name, name, lift) for name, lift in (("direct", 0.0), ("tuned", 0.2))}


def test_a_folder_is_what_rankings_read(conditions, tmp_path):
    write_score_folder(conditions, tmp_path / "scores")
    table = read_folder(tmp_path / "scores", RankingSettings(), {})
    assert table.conditions == ("direct", "tuned")
    assert {each.name: each.lower_is_better for each in table.benchmarks} == {
        "law": False, "speed": True, "sums": False
    }  # fmt: skip
    names = [each.name for each in table.benchmarks]
    place, model = names.index("law"), [each.name for each in table.models].index("two")
    scores = conditions["tuned"].filter(task="law", model="two")["score"].to_numpy()
    assert table.scores[1, model, place] == pytest.approx(scores.mean(), abs=1e-5)
    assert table.errors[1, model, place] == pytest.approx(scores.std(ddof=1) / np.sqrt(40), rel=1e-4)
    assert np.isfinite(table.paired).all()


def test_errors_are_those_of_clusters(tmp_path):
    items = make_logs(tmp_path / "a", "direct", clusters=5)
    write_score_folder({"direct": items}, tmp_path / "scores")
    table = read_folder(tmp_path / "scores", RankingSettings(), {})
    scores = items.filter(task="law", model="one")["score"].to_numpy().reshape(8, 5)
    gaps = (scores - scores.mean()).sum(axis=0)
    expected = np.sqrt((gaps**2).sum() * 5 / 4) / 40
    model = [each.name for each in table.models].index("one")
    column = [each.name for each in table.benchmarks].index("law")
    assert table.errors[0, model, column] == pytest.approx(expected, rel=1e-4)


def test_items_of_one_cluster_count_alone(tmp_path):
    """A single cluster says nothing of the error: its items stand for themselves, as in paired tests."""
    for clusters in (0, 1):
        items = make_logs(tmp_path / str(clusters), "direct", clusters=clusters)
        thirds = items.with_columns(score=(pl.col("score") + 1) / 3)  # means that are rounded
        write_score_folder({"direct": thirds}, tmp_path / f"scores{clusters}")
    alone, one = (read_folder(tmp_path / f"scores{each}", RankingSettings(), {}) for each in (0, 1))
    assert np.isfinite(one.errors).all() and np.array_equal(one.errors, alone.errors)


def test_items_that_a_model_lacks_are_left_out_for_all(conditions, tmp_path):
    law, lacking = pl.col("task") == "law", pl.col("item").is_in(["i00", "i01"]) & (pl.col("model") == "one")
    conditions["tuned"] = conditions["tuned"].filter(~(law & lacking))
    write_score_folder(conditions, tmp_path / "scores")
    examples = pl.read_csv(tmp_path / "scores" / "direct_examples" / "law.csv")
    assert len(examples) == 38
    assert len(pl.read_csv(tmp_path / "scores" / "direct_examples" / "sums.csv")) == 40


def test_what_cannot_be_compared_is_refused(conditions, tmp_path):
    short = conditions | {"tuned": conditions["tuned"].filter(pl.col("model") != "two")}
    with refuses("'two' has no log of", "'tuned'"):
        write_score_folder(short, tmp_path / "scores")
    other = conditions["tuned"].with_columns(item=pl.lit("x") + pl.col("item"))
    with refuses("no common item", "law"):
        write_score_folder(conditions | {"tuned": other}, tmp_path / "scores")
    assert not (tmp_path / "scores").exists()


def test_of_several_metrics_one_is_chosen(tmp_path, capsys):
    for name in ("direct", "tuned"):
        make_logs(tmp_path / name, name, metrics=("acc", "acc_norm"))
    words = ["scores", *(f"{name}={tmp_path / name}" for name in ("direct", "tuned"))]
    with pytest.raises(SystemExit) as ended:
        main([*words, "--output", str(tmp_path / "scores")])
    assert ended.value.code == 1
    assert "--metric acc" in capsys.readouterr().err
    main([*words, "--output", str(tmp_path / "scores"), "--metric", "acc_norm"])
    assert len(pl.read_csv(tmp_path / "scores" / "direct.csv")) == len(MODELS)
    with pytest.raises(SystemExit):
        main([*words, "--output", str(tmp_path / "scores")])
    assert f"--output {tmp_path / 'scores'}: " in capsys.readouterr().err


def test_all_tasks_whose_metric_is_unclear_are_named_with_a_choice(tmp_path):
    two = make_logs(tmp_path / "a", "direct", metrics=("acc", "f1"), tasks=("law",))
    other = make_logs(tmp_path / "b", "direct", metrics=("exact", "loose"), tasks=("sums",))
    with refuses("sums", "--metric f1 exact"):
        write_score_folder({"direct": pl.concat([two, other])}, tmp_path / "scores", ["f1"])
    with refuses("law", "sums", "--metric acc exact"):
        write_score_folder({"direct": pl.concat([two, other])}, tmp_path / "scores")
