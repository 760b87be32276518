"""Pages of logs: rankings of tasks, what is left out, what items can show, groups, and how all is packed."""

import base64
import gzip
import json
import math

import numpy as np
import polars as pl
import pytest
from scipy.stats import binomtest
from tests.explorer.item_logs import MODELS, SCHEMA, make_logs

from fathom.config.scoring import Summary
from fathom.explorer import data as page_data
from fathom.explorer.answers import answer, explain, to_text
from fathom.explorer.item_data import collect_items, describe_chance, describe_groups, size_task
from fathom.explorer.item_tasks import Task, collect_tasks
from fathom.explorer.page import render_page
from fathom.statistics.sizing import Variances, count_keywords, find_smallest

SETTINGS = Summary(rounds=100)


def collect(logs: pl.DataFrame) -> tuple[list[Task], list[str]]:
    notes: list[str] = []
    return collect_tasks(logs, SETTINGS, notes), notes


def write_scores(table: dict[str, list[float]], **columns: object) -> pl.DataFrame:
    """Return logs of some scores by model, each in the order of the items."""
    fixed = {"task": "task", "metric": "acc", "cluster": "", "group": "", "higher_is_better": True,
             "prompt": "", "target": "", "answer": "", "options": 0} | columns  # fmt: skip
    rows = [fixed | {"model": model, "item": str(place), "score": value}
            for model, scores in table.items() for place, value in enumerate(scores)]  # fmt: skip
    return pl.DataFrame(rows).select(pl.col(name).cast(kind) for name, kind in SCHEMA.items())


def say(logs: pl.DataFrame, metric: str = "acc") -> str:
    return to_text(answer(collect(logs)[0][0], metric))


@pytest.fixture(scope="module")
def logs():
    return make_logs(metrics=("acc", "loss"))


@pytest.fixture(scope="module")
def task(logs):
    return collect(logs)[0][0]


def test_models_stand_by_their_mean_with_intervals_and_letters(task, logs):
    ranking = task.rankings["acc"]
    means = dict(logs.filter(metric="acc").group_by("model").agg(pl.col("score").mean()).iter_rows())
    assert {each.model: each.value for each in ranking.models} == pytest.approx(means)
    assert [each.value for each in ranking.models] == sorted(means.values(), reverse=True)
    assert all(0 <= each.low < each.value < each.high <= 1 for each in ranking.models)
    assert [each.letters for each in ranking.models] == ["a", "a", "b"]
    assert len(ranking.comparisons) == 3 and [each.apart for each in ranking.comparisons].count(True) == 2


def test_every_two_models_have_mcnemars_p_beside_the_test(task, logs):
    right = logs.filter(metric="acc").pivot("model", index="item", values="score")
    for each in task.rankings["acc"].comparisons:
        gaps = right[each.better] - right[each.worse]
        better, worse = int((gaps > 0).sum()), int((gaps < 0).sum())
        assert each.p_signs == pytest.approx(binomtest(better, better + worse).pvalue)
        assert each.p >= each.p_signs - 1e-9 and (each.low <= 0 if each.p > 0.05 else each.low > 0)


def test_a_loss_is_best_where_it_is_lowest(task):
    ranking = task.rankings["loss"]
    assert [each.value for each in ranking.models] == sorted(each.value for each in ranking.models)
    assert ranking.models[-1].model == "gamma" and all(each.difference >= 0 for each in ranking.comparisons)
    assert "have the lowest loss on arithmetic" in to_text(answer(task, "loss"))
    assert to_text(explain(task, "loss", [task])[0]).startswith("beta has a loss of 0.2")
    assert to_text(explain(task, "acc", [task])[1]) == "The same model leads by loss."


def test_models_with_the_same_score_have_no_leader(logs):
    (tied,), _ = collect(logs.with_columns(score=pl.when(metric="acc").then(0.0).otherwise("score")))
    assert not any("leads" in to_text(each) for order in tied.orders for each in explain(tied, order, [tied]))


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ({"a": [1, 1, 0, 0]}, "a is the only model that was scored on task: its accuracy is 50.0 %."),
        (
            {"a": [1], "b": [0]},
            "Of two models, a has the highest accuracy on task; whether the models really differ cannot be"
            " said with a single item.",
        ),
        ({"a": [1, 0] * 5, "b": [0, 1] * 5}, "The two models have the same accuracy on task: 50.0 %."),
        (
            {"a": [1] * 9, "b": [1] * 9, "c": [1] * 9},
            "The three models have the same accuracy on task: 100.0 %.",
        ),
        ({"a": [1] * 40, "b": [0] * 40}, "Of two models, a has the highest accuracy on task."),
        (
            {"a": [1, 1, 1, 0] * 5, "b": [1, 1, 0, 1] * 5, "c": [1, 1, 0, 0] * 5},
            "The three models are not significantly different on task; a and b have the highest accuracy.",
        ),
    ],
)
def test_the_answer_speaks_of_scores(table, expected):
    assert say(write_scores(table)) == expected


def test_other_scores_are_numbers_without_a_scale():
    logs = write_scores({"a": [3.1, 4.0, 5.5] * 9, "b": [2.0, 3.9, 4.1] * 9}, metric="judge_score")
    (task,), _ = collect(logs)
    assert say(logs, "judge_score") == "Of two models, a has the highest judge score on task."
    assert task.rankings["judge_score"].models[0].value == pytest.approx(4.2)
    assert to_text(explain(task, "judge_score", [task])[0]).startswith(
        "a has a judge score of 4.2, b one of 3.333"
    )


def test_models_are_compared_on_the_items_that_all_have():
    nothing = math.nan
    logs = write_scores(
        {"a": [1, 0, 1, 1, nothing], "b": [1, 1, 0, nothing, nothing], "c": [nothing] * 4 + [1]}
    )
    (task,), notes = collect(logs)
    assert (
        task.scored["acc"].models == ["a", "b"]
        and task.scored["acc"].kept.tolist() == [True] * 3 + [False] * 2
    )
    assert {each.value for each in task.rankings["acc"].models} == {2 / 3}
    assert notes == [
        "task, acc: c left out, for no item is common to all other models and to it.",
        "task, acc: 1 of 4 items are left out, for not all models have them (b lacks 1).",
    ]


def test_samples_of_an_item_are_averaged():
    logs = pl.concat([write_scores({"a": [1, 0, 1], "b": [0, 0, 1]}), write_scores({"a": [0, 0, 1]})])
    (task,), notes = collect(logs)
    assert task.scored["acc"].values[0].tolist() == [0.5, 0.0, 1.0]
    assert "3 further samples" in notes[0]


def test_clusters_are_drawn_as_a_whole():
    score = [1.0, 0.0] * 30
    table = {"a": score, "b": [0.0] * 60}
    alone = collect(write_scores(table))[0][0].rankings["acc"]
    few = write_scores(table).with_columns(cluster=pl.col("item").cast(pl.Int32) // 20 + pl.lit(0))
    together = collect(few.with_columns(pl.col("cluster").cast(pl.String)))[0][0].rankings["acc"]
    assert alone.comparisons[0].apart and not together.comparisons[0].apart
    assert (alone.clusters, together.clusters) == ("items", "clusters")


def test_tasks_with_a_metric_in_common_make_one_of_all_their_items():
    one, other = (make_logs(items=30, tasks=[name]) for name in ("sums", "dates"))
    tasks, _ = collect(pl.concat([one, other]))
    assert [each.domain for each in tasks] == ["2 tasks together", "dates", "sums"]
    whole = tasks[0]
    assert whole.parts == 2 and set(whole.items["group"]) == {"sums", "dates"}
    values = {each.model: each.value for each in whole.rankings["acc"].models}
    means = pl.concat([one, other]).group_by("model").agg(pl.col("score").mean())
    assert values == pytest.approx(dict(means.iter_rows()))
    apart, _ = collect(pl.concat([one, other.with_columns(metric=pl.lit("em"))]))
    assert [each.domain for each in apart] == ["dates", "sums"]


def test_what_items_can_show_is_what_sizes_are_planned_with():
    spread = Variances(0.0, 0.0, 0.4, 150, 150)
    least = find_smallest(spread, 0.8, 0.95)
    assert abs(count_keywords(spread, 1, least, 0.8) - 150) <= 1


def test_alike_models_need_more_items_than_there_are(task):
    sizes = size_task(task, "acc")
    ((better, worse, difference, least, items, _),) = sizes.unsettled
    assert {better, worse} == {"alpha", "beta"} and sizes.smallest[0] <= least <= sizes.smallest[1]
    assert items > 120 and difference < least
    same = collect(write_scores({"a": [1, 0] * 5, "b": [1, 0] * 5}))[0][0]
    assert size_task(same, "acc").unsettled == [("a", "b", 0.0, None, None, None)]
    assert size_task(same, "acc").smallest == []


def test_a_model_is_strong_where_it_was_planted():
    random = np.random.default_rng(1)
    strong = [1.0 if place % 4 == 1 else float(random.random() < 0.4) for place in range(400)]
    table = {"a": strong} | {name: (random.random(400) < 0.5).astype(float).tolist() for name in "bcd"}
    logs = write_scores(table)
    logs = logs.with_columns(
        group=pl.concat_str(pl.lit("g"), (pl.col("item").cast(pl.Int32) % 4).cast(pl.String))
    )
    (task,), _ = collect(logs)
    found = describe_groups(task, task.scored["acc"], SETTINGS, 1)
    marks = {row[0]: row[-1] for row in found["groups"]}
    assert marks["g1"][0] and not any(marks["g1"][1:3]) and not any(marks["g0"][1:])
    means = logs.filter(model="a", group="g1")["score"].mean()
    assert found["groups"][1][2][0] == pytest.approx(means)


def unpack(text: str) -> object:
    return json.loads(gzip.decompress(base64.b64decode(text)))


def test_items_are_packed_in_their_natural_order_with_scores_and_answers(logs):
    data = collect_items("logs", logs, ["a note"], SETTINGS)
    described = data.overview["benchmarks"][0]
    assert data.overview["missing"] == ["a note"] and data.overview["kind"] == "items"
    texts, answers = unpack(data.blocks[described["texts"]]), unpack(data.blocks[described["answers"]])
    assert texts["ids"] == [str(place) for place in range(120)]
    assert texts["prompts"][11] == "Question 11 of arithmetic: what is it?"
    scores = data.blocks[described["statistics"]["acc"]["scores"]]
    values = np.frombuffer(gzip.decompress(base64.b64decode(scores)), dtype="<f4").reshape(3, 120)
    wanted = logs.filter(metric="acc", model="beta").sort(pl.col("item").cast(pl.Int32))
    assert values[1].tolist() == wanted["score"].to_list()
    assert [answers["words"][place] for place in answers["said"][1]] == wanted["answer"].to_list()
    tables = {each["name"]: each for each in unpack(data.blocks["tables"])}
    assert tables["models.csv"]["count"] == 6 and tables["comparisons.csv"]["columns"][-1] == "p_signs"


def test_the_order_of_rows_changes_no_byte(logs):
    first, second = (render_page(collect_items("logs", each, [], SETTINGS))
                     for each in (logs, logs.sample(fraction=1.0, shuffle=True, seed=4)))  # fmt: skip
    assert first == second


def test_long_texts_are_cut_and_too_many_are_left_out(monkeypatch):
    logs = make_logs(items=20).with_columns(prompt=pl.lit("x" * 5000 + "end"), answer=pl.lit("y" * 5000))
    data = collect_items("logs", logs, [], SETTINGS)
    texts = unpack(data.blocks["texts-0"])
    assert texts["prompts"][0].startswith("…xx") and texts["prompts"][0].endswith("end")
    assert len(texts["prompts"][0]) == 2001 and unpack(data.blocks["answers-0"])["words"] == ["y" * 600 + "…"]
    monkeypatch.setattr(page_data, "LIMIT", 10)
    less = collect_items("logs", logs, [], SETTINGS)
    assert (
        less.overview["benchmarks"][0]["texts"] == ""
        and "its items are left out" in less.overview["missing"][0]
    )


def test_a_page_of_three_hundred_tasks_stays_small():
    names = [f"task {place:03d}" for place in range(300)]
    logs = make_logs(dict(list(MODELS.items())[:2]), items=8, tasks=names, groups=0)
    data = collect_items("logs", logs, [], Summary(rounds=40))
    assert [each["id"] for each in data.overview["benchmarks"]][:2] == ["300 tasks together", "task 000"]
    assert len(json.dumps(data.overview)) < 600_000 and data.answer.endswith("highest accuracy.")


def test_models_that_are_not_better_than_guessing_are_said():
    scores = {
        "low": [1.0] * 30 + [0.0] * 70,
        "lower": [1.0] * 32 + [0.0] * 68,
        "high": [1.0] * 90 + [0.0] * 10,
    }
    known = collect_items("logs", write_scores(scores, options=4), [], SETTINGS)
    (details,) = [each["statistics"]["acc"]["details"] for each in known.overview["benchmarks"]]
    assert details[0] == [
        ["Guessing among the options scores 25.0 %: lower and low are not shown to be better.", False]
    ]
    surer = {name: values * 40 for name, values in scores.items()}
    assert "all models are better" in describe_chance(collect(write_scores(surer, options=4))[0][0], "acc")
    assert describe_chance(collect(write_scores(scores))[0][0], "acc") == "", "options are not known"
    lost = write_scores(scores, options=4, higher_is_better=False)
    assert describe_chance(collect(lost)[0][0], "acc") == "", "low is best"
