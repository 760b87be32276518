"""Logs of other programs become one table of scores; what they lack or break ends with one message."""

import gzip
import json
import random
from decimal import Decimal

import polars as pl
import pytest
from tests.refusals import refuses

from fathom.logs.items import ITEMS, read_logs

_TIME = "2026-11-25T03-37-49.471098"
_GROUP = {"mmlu": ["mmlu_stem"], "mmlu_stem": ["mmlu_physics", "mmlu_biology"]}
_LINE = {
    "doc_id": 0, "doc": {"question": "1 + 1?", "subject": "sums"}, "target": "1",
    "arguments": {f"gen_args_{place}": {"arg_0": "1 + 1?", "arg_1": f" {place + 1}"} for place in range(2)},
    "resps": [[["-2.5", "False"]], [["-1.5", "False"]]],
    "filtered_resps": [["-2.5", "False"], ["-1.5", "False"]],
    "filter": "none", "metrics": ["acc", "word_perplexity", "brier"], "doc_hash": "h0", "acc": 1.0,
    "word_perplexity": [-3.0, 7], "brier": 0.25,
}  # fmt: skip


def write_harness(folder, model="org/one", tasks=("sums",), count=4, groups=None, time=_TIME, **changed):
    """Write the samples and results of one call of lm-evaluation-harness."""
    folder.mkdir(parents=True, exist_ok=True)
    for task in tasks:
        lines = [_LINE | {"doc_id": number, "doc_hash": f"h{number}", "acc": number % 2} | changed
                 for number in range(count)]  # fmt: skip
        (folder / f"samples_{task}_{time}.jsonl").write_text(
            "".join(json.dumps(line) + "\n" for line in lines)
        )
    directions = {task: {"acc": True, "brier": False, "word_perplexity": False} for task in tasks}
    results = {"model_name": model, "higher_is_better": directions, "group_subtasks": groups or {},
               "results": {name: {"acc,none": 0.5} for name in groups or {} if name != "mixed"}}  # fmt: skip
    (folder / f"results_{time}.json").write_text(json.dumps(results))
    return folder


def write_table(path, rows):
    pl.DataFrame(rows).write_csv(path)
    return path


def test_samples_of_the_harness_are_read(tmp_path):
    items, notes = read_logs(
        [write_harness(tmp_path / "org__one"), write_harness(tmp_path / "b", "/models/two")]
    )
    assert items.columns == [column.name for column in ITEMS]
    assert items["model"].unique(maintain_order=True).to_list() == ["org/one", "two"]
    found = items.filter(model="org/one", metric="acc")
    assert found["score"].to_list() == [0, 1, 0, 1]
    assert found["group"].unique().to_list() == ["sums"]
    assert found.select("prompt", "target", "answer", "options").row(0) == ("1 + 1?", "2", "2", 2)
    assert dict(items.select("metric", "higher_is_better").unique().iter_rows()) == {
        "acc": True,
        "brier": False,
    }
    (note,) = notes
    assert "8 values of word_perplexity" in note


@pytest.mark.parametrize("results", [None, {"results": {}}])
def test_a_model_without_a_name_has_that_of_its_folder_and_metrics_their_usual_direction(tmp_path, results):
    path = write_harness(tmp_path / "org__one") / f"results_{_TIME}.json"
    path.unlink()
    if results is not None:
        path.write_text(json.dumps(results))
    items = read_logs([tmp_path]).items
    assert set(items["model"]) == {"org/one"}
    directions = items.select("metric", "higher_is_better").unique().iter_rows()
    assert dict(directions) == {"acc": True, "brier": False}


@pytest.mark.parametrize(
    ("changed", "target", "answer"),
    [({"target": "0"}, "1", "2"), ({"target": "2"}, "2", "2"), ({"target": "B"}, "B", "2"),
     ({"filtered_resps": ["It is 2."], "target": "2"}, "2", "It is 2."), ({"filtered_resps": None}, "1", "")],
)  # fmt: skip
def test_of_options_the_right_and_the_likeliest_are_shown_else_what_was_written(
    tmp_path, changed, target, answer
):
    items = read_logs([write_harness(tmp_path, **changed)]).items
    assert set(items.select("target", "answer").rows()) == {(target, answer)}


def test_a_long_question_is_shown_by_its_end_and_an_answer_by_its_beginning(tmp_path):
    text = f"{'word ' * 400}end?"
    write_harness(tmp_path, arguments=[[text, " 1"], [text, " 2"]], target=text)
    row = {"model": "a", "item": "1", "score": 1.0, "prompt": text, "target": text}
    write_table(tmp_path / "table.csv", [row])
    row = {"model_id": "m", "evaluation_name": "law", "sample_id": "p", "evaluation": {"score": 1.0},
           "input": {"raw": text, "reference": text}}  # fmt: skip
    (tmp_path / "law.jsonl").write_text(json.dumps(row) + "\n")
    items = read_logs([tmp_path]).items
    assert set(items["task"]) == {"sums", "table", "law"}
    for prompt, target in items.select("prompt", "target").iter_rows():
        assert len(prompt) == len(target) == 300
        assert prompt.startswith("... ") and prompt.endswith("word end?")
        assert target.startswith("word word") and target.endswith(" ...")


def test_options_are_counted_where_one_of_them_is_right(tmp_path):
    def count(name, **changed):
        (options,) = set(read_logs([write_harness(tmp_path / name, **changed)]).items["options"])
        return options

    beginnings = [["He", " ran"], ["She", " ran"], ["It", " ran"]]
    without = [["1 + 1?", " 1"], ["1 + 1?", " 2"], ["", " 1"], ["", " 2"]]
    assert count("beginnings", arguments=beginnings) == 3
    assert count("without the question", arguments=without) == 2
    assert count("several right", target=["1", "2"]) == 0
    assert count("written", arguments=[["1 + 1?", {"until": ["."]}]]) == 0


def test_tasks_of_a_group_are_its_parts_and_filters_name_metrics(tmp_path):
    folder = write_harness(tmp_path, tasks=_GROUP["mmlu_stem"], groups=_GROUP)
    path = folder / f"samples_mmlu_physics_{_TIME}.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    strict = [line | {"filter": "strict", "acc": 0.0} for line in lines]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines + strict))
    items, _ = read_logs([folder])
    mixed = read_logs([write_harness(tmp_path / "mixed", groups={"mixed": ["sums"]})]).items
    assert mixed["task"].unique().to_list() == ["sums"], "a group of unlike tasks has no score"
    within = read_logs([write_harness(tmp_path / "within", groups={"all": ["sums", "all"]})]).items
    assert within["task"].unique().to_list() == ["all"], "a group within itself"
    assert items["task"].unique().to_list() == ["mmlu"]
    assert set(items["group"]) == {"mmlu_physics", "mmlu_biology"}
    assert set(items["metric"]) == {"acc", "acc,none", "acc,strict", "brier", "brier,none", "brier,strict"}
    assert items.filter(metric="acc,strict")["higher_is_better"].all()
    assert items.filter(metric="acc")["item"].to_list() == [f"mmlu_biology:{number}" for number in range(4)]


def test_models_of_folders_have_as_much_of_their_path_as_tells_them_apart(tmp_path):
    models = ("/a/run-1/final", "/b/run-2/final", "./best", "out/big/last", "org/final", "/b/run-2/final/")
    models += ("runs/models/small/weights", "runs/models/large/weights", "./large/weights", "weights")
    for number, model in enumerate(models):
        write_harness(tmp_path / str(number), model, tasks=[f"task-{number}"])
    names = set(read_logs([tmp_path]).items["model"])
    ours = {"small", "models/large", "large", "weights"}  # as a run has them
    assert names == {"run-1/final", "run-2/final", "best", "last", "org/final"} | ours


def test_instances_of_every_eval_ever_are_read(tmp_path):
    rows = [{"schema_version": "0.3.0", "evaluation_id": "e", "evaluation_result_id": "e#rank",
             "model_id": "org/one", "evaluation_name": "law", "sample_id": f"p{number}",
             "sample_hash": f"h{number}",
             "input": {"raw": "The court hears the", "reference": [" appeal"]}, "output": {"raw": []},
             "answer_attribution": [[], [{"extracted_value": "verdict"}, None], [None, {}]][number],
             "evaluation": {"score": number + 1.0, "is_correct": number == 0},
             "metadata": {}} for number in range(3)]  # fmt: skip
    (tmp_path / "a_samples.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    config = {"metric_kind": "rank", "lower_is_better": True}
    result = {"evaluation_result_id": "e#rank", "metric_config": config}
    (tmp_path / "a.json").write_text(json.dumps({"evaluation_results": [result]}))
    items, _ = read_logs([tmp_path])
    assert items["score"].to_list() == [1, 2, 3]
    assert set(items["metric"]) == {"rank"} and not items["higher_is_better"].any()
    assert items.select("prompt", "target", "answer").row(0) == ("The court hears the", "appeal", "")
    assert items["answer"].to_list() == ["", "verdict", ""]


@pytest.mark.parametrize(
    ("config", "metric", "is_high"),
    [({"metric_name": "cer"}, "cer", False), ({"metric_name": "cer", "lower_is_better": False}, "cer", True),
     ({}, "score", True), (None, "score", True)],
)  # fmt: skip
def test_what_an_aggregate_does_not_say_of_its_metric_is_guessed(tmp_path, config, metric, is_high):
    row = {"evaluation_result_id": "e", "model_id": "m", "evaluation_name": "law", "sample_id": "p",
           "evaluation": {"is_correct": True}}  # fmt: skip
    (tmp_path / "a.jsonl").write_text(json.dumps(row) + "\n")
    result = {"evaluation_result_id": "e", "metric_config": config}
    (tmp_path / "a.json").write_text(json.dumps({"evaluation_results": [result]}))
    items = read_logs([tmp_path]).items
    assert items.select("metric", "higher_is_better", "score").rows() == [(metric, is_high, 1.0)]


def test_tables_of_any_kind_give_the_same_items(tmp_path):
    rows = [{"Model": model, "item": str(number), "score": float(number % 2), "group": "g",
             "cluster": f"c{number % 2}"}
            for model in ("one", "two") for number in range(4)]  # fmt: skip
    table = pl.DataFrame(rows)
    table.write_csv(tmp_path / "task.csv")
    table.write_csv(tmp_path / "task.tsv", separator="\t")
    table.write_parquet(tmp_path / "task.parquet")
    table.write_ndjson(tmp_path / "task.jsonl")
    first, *others = (
        read_logs([tmp_path / f"task.{end}"]).items for end in ("csv", "tsv", "parquet", "jsonl")
    )
    assert set(first["task"]) == {"task"} and set(first["cluster"]) == {"c0", "c1"}
    assert set(first["options"]) == {0}
    assert all(first.equals(other) for other in others)


def test_whole_numbers_as_floats_are_items_and_decimals_scores(tmp_path):
    """A column of ids with a gap is one of floats in pandas; DuckDB writes numbers as decimals."""
    table = pl.DataFrame({"model": ["a", "a"], "item": [1.0, 12.0], "score": [Decimal("0.5"), Decimal(1)]})
    table.write_parquet(tmp_path / "task.parquet")
    items, _ = read_logs([tmp_path / "task.parquet"])
    assert items.select("item", "score").rows() == [("1", 0.5), ("12", 1.0)]


def test_the_order_of_logs_does_not_matter(tmp_path):
    folders = [write_harness(tmp_path / name, name) for name in "abc"]
    first = read_logs(folders)
    random.Random(1).shuffle(folders)
    again = read_logs(folders[::-1])
    assert first.items.equals(again.items) and first.notes == again.notes


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl.csv"])
def test_rows_that_a_program_left_open_are_counted(tmp_path, name):
    (tmp_path / name).write_text("model,item,score\na,1,\na,2,1\na,3,nan\na,4,NA\nb,2,0\nb,3,1\n")
    items, notes = read_logs([tmp_path])
    assert items.sort("model", "item").select("model", "item").rows() == [("a", "2"), ("b", "2"), ("b", "3")]
    assert any("3 rows without a score" in note and "line 2" in note for note in notes)
    (tmp_path / name).write_text("model,item,score\na,1,\na,2,1\nb,2,0\n")
    assert any("1 row without a score" in note for note in read_logs([tmp_path]).notes)


@pytest.mark.parametrize(
    ("changed", "parts"),
    [
        ({"metrics": None}, ("line 1", "no metrics")),
        ({"doc_id": None}, ("line 1", "doc_id")),
    ],
)
def test_what_is_no_sample_is_named_with_its_line(tmp_path, changed, parts):
    with refuses("samples_sums", "Hint:", *parts):
        read_logs([write_harness(tmp_path, **changed)])


@pytest.mark.parametrize(
    ("changed", "reason"),
    [({"acc": None}, "acc: 'None' is no finite number"), ({"acc": float("nan")}, "acc: 'nan' is no"),
     ({"acc": float("inf")}, "acc: 'inf' is no finite number"), ({"acc": 10**400}, "is no finite number"),
     ({"acc": ["D", "G"]}, "1 value of acc"),
     ({"metrics": ["bypass"], "bypass": 999}, "--predict_only")],
    ids=["None", "NaN", "Infinity", "large", "list", "placeholder"],
)  # fmt: skip
def test_what_is_no_score_is_left_out_counted_and_placed(tmp_path, changed, reason):
    path = write_harness(tmp_path, "whole", count=2) / f"samples_sums_{_TIME}.jsonl"
    rows = [json.loads(path.read_text().splitlines()[0])] * 2
    rows[1] = rows[1] | {"doc_id": 7} | changed
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    items, notes = read_logs([tmp_path])
    assert items.filter(metric="acc")["item"].to_list() == ["0"]
    (note,) = (note for note in notes if reason in note)
    assert note.startswith("Left out: 1 ") and "line 2" in note
    path.write_text(json.dumps(rows[1] | {"metrics": changed.get("metrics", ["acc"])}) + "\n")
    with refuses("no scores of items", reason, "line 1"):  # nothing else is left
        read_logs([tmp_path])


def test_a_task_without_scores_of_items_is_left_out_beside_others(tmp_path):
    write_harness(tmp_path, tasks=("sums",))
    write_harness(tmp_path, tasks=("pages",), time="2026-05-04T10-11-12.2", metrics=["word_perplexity"])
    items, notes = read_logs([tmp_path])
    assert items["task"].unique().to_list() == ["sums"]
    assert any(note.startswith("Left out: 8 values of word_perplexity") for note in notes)


def test_half_a_surrogate_is_shown_as_a_replacement(tmp_path):
    path = write_harness(tmp_path, count=3) / f"samples_sums_{_TIME}.jsonl"
    path.write_text(path.read_text().replace("1 + 1?", "1 + \\ud835?", 2))
    assert "1 + \ufffd?" in read_logs([tmp_path]).items["prompt"].to_list()


@pytest.mark.parametrize(
    ("name", "value"),
    [("higher_is_better", {"sums": None}), ("group_subtasks", {"g": None}), ("higher_is_better", None)],
)
def test_results_that_say_nothing_are_read(tmp_path, name, value):
    path = write_harness(tmp_path) / f"results_{_TIME}.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {name: value}))
    assert len(read_logs([tmp_path]).items) == 8


@pytest.mark.parametrize(
    ("name", "value"),
    [("higher_is_better", {"sums": 3}), ("higher_is_better", 3), ("group_subtasks", {"g": 3}),
     ("group_subtasks", 3)],
)  # fmt: skip
def test_results_of_another_kind_are_refused(tmp_path, name, value):
    path = write_harness(tmp_path) / f"results_{_TIME}.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {name: value}))
    with refuses(path.name, "not results of lm-evaluation-harness"):
        read_logs([tmp_path])


def test_samples_without_filter_or_with_a_number_as_arguments_are_read(tmp_path):
    path = write_harness(tmp_path, arguments=5) / f"samples_sums_{_TIME}.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    del rows[0]["filter"], rows[1]["filter"]
    rows[2]["filter"] = "strict"
    path.write_text("".join(json.dumps(row) + "\n\n" for row in rows))  # with empty lines
    assert set(read_logs([tmp_path]).items["metric"]) == {
        "acc,none",
        "acc,strict",
        "brier,none",
        "brier,strict",
    }


@pytest.mark.parametrize(
    "value",
    [3, "word", [1], {"evaluation_results": 3}, {"evaluation_results": [5]},
     {"evaluation_results": [{"metric_config": "x"}]},
     {"evaluation_results": [{"metric_config": {"metric_kind": [1]}}]}],
)  # fmt: skip
def test_aggregates_of_another_kind_are_refused(tmp_path, value):
    row = {"evaluation_result_id": "e", "model_id": "m", "evaluation_name": "law", "sample_id": "p",
           "evaluation": {"score": 1.0}, "answer_attribution": []}  # fmt: skip
    (tmp_path / "a_samples.jsonl").write_text(json.dumps(row) + "\n")
    assert len(read_logs([tmp_path / "a_samples.jsonl"]).items) == 1
    (tmp_path / "a.json").write_text(json.dumps(value))
    with refuses("a.json"):
        read_logs([tmp_path / "a_samples.jsonl"])


@pytest.mark.parametrize("damage", ["cut", "broken", "none"])
def test_a_compressed_log_that_is_damaged_is_named(tmp_path, damage):
    path = write_harness(tmp_path) / f"samples_sums_{_TIME}.jsonl"
    content = bytearray(gzip.compress(path.read_bytes()))
    if damage == "broken":
        content[30:60] = bytes(30)
    path.unlink()
    path.with_name(f"{path.name}.gz").write_bytes(
        {"cut": content[:-20], "broken": content, "none": b"plain"}[damage]
    )
    with refuses(f"{path.name}.gz", "cannot be decompressed"):
        read_logs([tmp_path / f"{path.name}.gz"])


def test_a_log_is_never_shown_in_the_notation_of_python(tmp_path):
    rows = {"model": ["a"], "item": ["1"], "score": [1.0], "prompt": [[{"role": "user", "content": "Why?"}]],
            "target": [["yes", "no"]], "answer": [[{"x": True}]]}  # fmt: skip
    (tmp_path / "t.jsonl").write_text(json.dumps({name: values[0] for name, values in rows.items()}) + "\n")
    row = read_logs([tmp_path / "t.jsonl"]).items.row(0, named=True)
    assert (row["prompt"], row["target"], row["answer"]) == ("Why?", "yes no", '[{"x": true}]')


def test_a_log_that_was_cut_short_is_named(tmp_path):
    path = write_harness(tmp_path) / f"samples_sums_{_TIME}.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    with refuses("line 4", "cut short"):
        read_logs([tmp_path])


def test_a_line_that_is_too_long_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("fathom.logs.raw.LINE_MB", 0)
    with refuses("line 1", "a line of more than"):
        read_logs([write_harness(tmp_path)])


def test_a_log_without_samples_is_refused_beside_others(tmp_path):
    write_harness(tmp_path, count=2)
    write_harness(tmp_path / "none", "two", count=0)
    with refuses("none/samples_sums", "no scores of items in this log"):
        read_logs([tmp_path])


def test_one_model_with_two_logs_of_a_task_is_refused(tmp_path):
    write_harness(tmp_path)
    write_harness(tmp_path, time="2026-11-26T03-37-49.471098")
    with refuses("two logs", "2026-11-25", "2026-11-26", "org/one"):
        read_logs([tmp_path])


def test_an_item_with_another_text_is_refused(tmp_path):
    write_harness(tmp_path / "a", "one")
    write_harness(tmp_path / "b", "two", doc_hash="other")
    write_harness(tmp_path / "c", "three")
    with refuses("another text", "item '0'", "4 items", "a/samples", "b/samples"):
        read_logs([tmp_path])


@pytest.mark.parametrize(
    ("word", "is_high"),
    [("TRUE", True), ("yes", True), ("1", True), ("false", False), ("no", False), ("0", False), ("", False)],
)
def test_a_table_says_whether_a_high_score_is_good(tmp_path, word, is_high):
    row = {"model": "a", "item": "1", "metric": "Loss", "score": 1.0, "higher_is_better": word}
    table = write_table(tmp_path / "t.csv", [row])
    assert read_logs([table]).items["higher_is_better"].to_list() == [is_high]
    with refuses("t.csv, line 2", "higher_is_better is 'maybe'"):
        read_logs([write_table(table, [row | {"higher_is_better": "maybe"}])])


def test_models_that_disagree_on_what_is_good_are_refused(tmp_path):
    rows = {"item": ["1", "2"], "score": [1.0, 0.0]}
    write_table(tmp_path / "a.csv", rows | {"model": "one", "task": "t", "higher_is_better": "true"})
    write_table(tmp_path / "b.csv", rows | {"model": "two", "task": "t", "higher_is_better": "false"})
    with refuses("whether a high", "'score' of 't'"):
        read_logs([tmp_path])


def test_folders_without_logs_say_what_is_missing(tmp_path):
    with refuses("no log in this folder", "Hint: lm-evaluation-harness, Inspect"):
        read_logs([tmp_path])
    (write_harness(tmp_path) / f"samples_sums_{_TIME}.jsonl").unlink()
    with refuses("no log in this folder", "--log_samples"):
        read_logs([tmp_path])
    with refuses("results without samples", "--log_samples"):
        read_logs([tmp_path / f"results_{_TIME}.json"])
    write_table(tmp_path / "empty.csv", {"model": [], "item": [], "score": []})
    with refuses("empty.csv", "no scores of items"):
        read_logs([tmp_path / "empty.csv"])
    with refuses("no such file"):
        read_logs([tmp_path / "gone"])


def test_files_that_are_no_logs_are_counted_in_a_folder_and_refused_alone(tmp_path):
    write_harness(tmp_path)
    (tmp_path / "notes.txt").write_text("nothing")
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    (tmp_path / "gone.csv").symlink_to("nowhere")
    assert "Left out: 3 files of other kinds." in read_logs([tmp_path]).notes
    twice = tmp_path / "twice" / "t.csv"
    twice.parent.mkdir()
    twice.write_text("model,item,score,Score\na,1,0,1\n")
    fault = f"{twice}, line 2: duplicate columns: score"
    notes = read_logs([tmp_path]).notes
    assert f"Left out: 1 table that cannot be read (the first: {fault})." in notes
    assert "Left out: 3 files of other kinds." in notes
    with refuses("no log in this folder", fault):
        read_logs([twice.parent])
    with refuses("notes.txt", "not a log"):
        read_logs([tmp_path / "notes.txt"])
    with refuses("other.csv", "no column model, item, score"):
        read_logs([tmp_path / "other.csv"])


def test_scores_that_are_no_numbers_are_named_with_their_line(tmp_path):
    path = write_table(tmp_path / "t.csv", {"model": ["a", "a"], "item": ["1", "2"], "score": ["1", "good"]})
    with refuses("t.csv, line 3", "'good' is no finite number"):
        read_logs([path])
    write_table(tmp_path / "t.csv", {"model": ["a", "a"], "item": ["1", "2"], "score": ["1", "1_0"]})
    with refuses("t.csv, line 3", "'1_0' is no finite number"):
        read_logs([path])
    rows = {"model": ["a", "a"], "item": ["1", "2"], "prompt": ["two\nlines", ""], "score": ["1", "good"]}
    with refuses("lines.csv, line 4"):
        read_logs([write_table(tmp_path / "lines.csv", rows)])
    truth = write_table(
        tmp_path / "truth.csv",
        {"model": ["a"] * 4, "item": list("1234"), "score": ["yes", "no", "True", "FALSE"]},
    )
    assert read_logs([truth]).items["score"].to_list() == [1, 0, 1, 0]
