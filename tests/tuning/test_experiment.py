"""Whole tunings: chat models, what is reported, the folder of scores."""

from copy import deepcopy

import polars as pl
import pytest
from tests.refusals import refuses
from tests.tables import read_delimited
from tests.tuning.conftest import COMPLETION, LORA, make_model

from fathom.config.ranking import RankingSettings
from fathom.config.tuning import Lora, Task, TrainBeforeTest
from fathom.jobs.resume import Resume
from fathom.models.loading import Pointer
from fathom.models.tokens import find_answer_end
from fathom.ranking.score_folder import read_folder
from fathom.tuning import experiment
from fathom.tuning.examples import limit_examples, make_completions, make_questions
from fathom.tuning.experiment import (
    Candidate,
    Result,
    choose_results,
    describe_results,
    encode_training,
    join_outcomes,
    run_experiment,
)
from fathom.tuning.score_tables import pick_outcomes, write_examples, write_scores
from fathom.tuning.task_scores import Encoder

CHAT = "{% for message in messages %}<u>{{ message.content }}</u>{% endfor %}"


def make_result(chat: bool, before: float, scores: list[float], direct: float, tuned: float) -> Result:
    def outcomes(value: float) -> pl.DataFrame:
        count = 100
        right = [1.0] * round(value * count) + [0.0] * round((1 - value) * count)
        return pl.DataFrame({
            "example_id": [str(n) for n in range(count)], "keyword": [""] * count, "value": right,
            "weight": 1.0, "gold": 0, "chosen": 0,
        })  # fmt: skip

    epoch = 1 + scores.index(max(scores))
    return Result(chat, before, scores, epoch, max(scores), outcomes(direct), outcomes(tuned), [], 0)


@pytest.mark.parametrize(("before", "scores", "tuned", "epoch", "reported"), [
    (0.3, [0.4, 0.6, 0.5], 0.55, 2, (0.55, 0.55, 0.55)),
    # worse on validation, better on the test split by chance: only what is floored knows of it
    (0.6, [0.4, 0.5], 0.33, 2, (0.33, 0.31, 0.33)),
    (0.3, [0.4, 0.5], 0.25, 2, (0.25, 0.25, 0.31)),  # better on validation, worse on the test split
])  # fmt: skip
def test_a_model_that_does_not_improve_keeps_its_score(before, scores, tuned, epoch, reported):
    report = describe_results([make_result(False, before, scores, 0.31, tuned)], "acc", 0.2)
    assert (report["direct"], report["epoch"]) == (0.31, epoch)
    assert tuple(report[name] for name in ("tuned", "chosen", "floored")) == reported


def test_score_error_and_examples_are_of_one_model(tmp_path):
    """A model that did not improve has its direct score; nothing of its tuned one may stand beside it."""
    task = Task(kind="choice", domain="x")
    results = {
        "kept": make_result(False, 0.6, [0.5], 0.31, 0.90),
        "risen": make_result(False, 0.3, [0.5], 0.31, 0.90),
    }
    reports = {(model, "a"): describe_results([result], "acc", 0.2) for model, result in results.items()}
    outcomes = {model: join_outcomes([result], "acc") for model, result in results.items()}
    write_scores(tmp_path, reports, {"a": task})
    parts = {model: pick_outcomes(reports[model, "a"], "chosen") for model in results}
    write_examples(tmp_path / "examples.csv", outcomes, parts)
    examples = read_delimited(tmp_path / "examples.csv", ",")
    for row, error in zip(
        read_delimited(tmp_path / "train_before_test.csv", ","),
        read_delimited(tmp_path / "train_before_test_stderr.csv", ","),
        strict=True,
    ):
        model, score = row["model"], float(row["a"])
        values = [float(line[model]) for line in examples]
        assert sum(values) / len(values) == pytest.approx(score)
        assert float(error["a"]) == pytest.approx((score * (1 - score) / len(values)) ** 0.5, rel=0.1)
    assert {row["model"]: row["a"] for row in read_delimited(tmp_path / "train_before_test.csv", ",")} == {
        "kept": "0.31", "risen": "0.9"}  # fmt: skip


def run_once(pointer, examples, task, lora, chat, resume) -> Result:
    """Run the experiment inside a chat template or outside of it."""
    candidate = Candidate(pointer, examples, task, lora, 0.2, chat)
    return run_experiment(candidate, resume)


def test_the_better_template_counts_under_each_condition():
    results = [make_result(False, 0.5, [0.6], 0.50, 0.61), make_result(True, 0.4, [0.8], 0.45, 0.80)]
    direct, tuned = choose_results(results, "acc")
    assert (direct.chat, tuned.chat) == (False, True)
    report = describe_results(results, "acc", 0.2)
    assert (report["direct"], report["tuned"]) == (0.5, 0.8)
    assert report["templates"] == {"direct": "plain", "tuned": "chat"}
    assert report["validation"] == {"plain": [0.5, 0.6], "chat": [0.4, 0.8]}


def test_a_chat_model_is_tuned_inside_its_template(pairs, model_folder, tokenizer, tmp_path):
    task = Task(kind="choice", domain="x", options=3)
    examples, _ = limit_examples(make_questions(pairs, 3), TrainBeforeTest().limits)
    pointer = Pointer("chatty", model_folder, kind="chat")
    (model_folder / "chat_template.jinja").write_text(CHAT)
    settings = Lora(**LORA | {"epochs": 1})
    plain, chat = (
        run_once(pointer, examples, task, settings, way, Resume(tmp_path / "o", str(way)))
        for way in (False, True)
    )
    assert plain.chat is False
    assert chat.chat is True
    assert plain.curve[0][2] != chat.curve[0][2], "other tokens, another loss"
    assert not plain.direct.equals(chat.direct)


def test_a_resumed_tuning_does_not_score_directly_again(pairs, model_folder, tmp_path, monkeypatch):
    examples, _ = limit_examples(make_completions(pairs), TrainBeforeTest().limits)
    inputs = (
        Pointer("small", model_folder), examples, Task(**COMPLETION), Lora(**LORA | {"epochs": 1}), False,
    )  # fmt: skip
    whole = run_once(*inputs, Resume(tmp_path / "whole", "key"))
    evaluate, tune = experiment.evaluate_examples, experiment.tune
    scored = []

    def evaluate_and_note(model, some, *arguments):
        scored.append(some["split"][0])
        return evaluate(model, some, *arguments)

    monkeypatch.setattr(experiment, "evaluate_examples", evaluate_and_note)
    monkeypatch.setattr(experiment, "tune", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        run_once(*inputs, Resume(tmp_path / "stopped", "key"))
    assert scored == ["test", "valid"]
    monkeypatch.setattr(experiment, "tune", tune)
    again = run_once(*inputs, Resume(tmp_path / "stopped", "key"))
    assert scored == ["test", "valid", "valid", "test"], "only after the epoch, and at the end"
    assert again.direct.select(sorted(again.direct.columns)).equals(
        whole.direct.select(sorted(whole.direct.columns))
    )
    assert (again.before, again.scores, again.cut) == (whole.before, whole.scores, whole.cut)
    assert again.tuned.equals(whole.tuned)


def test_the_published_loss_is_of_question_and_answer_and_chooses_the_epoch(pairs, model_folder, tmp_path):
    examples, _ = limit_examples(make_questions(pairs, 3), TrainBeforeTest().limits)
    task, pointer = Task(kind="choice", domain="x", options=3), Pointer("small", model_folder)
    ours, published = (
        run_once(pointer, examples, task, Lora(**LORA | {"epochs": 3} | more), False,
                 Resume(tmp_path / str(len(more)), "key"))
        for more in ({}, {"loss": "all", "epoch_by": "loss", "modules": "peft"})
    )  # fmt: skip
    assert all(0 <= score <= 1 for score in ours.scores)
    assert published.epoch == 1 + published.scores.index(min(published.scores))
    assert min(published.scores) > 1, "a loss in nats, not an accuracy"
    assert 0 <= published.validated <= 1
    assert ours.validated == ours.scores[ours.epoch - 1]


def test_generated_answers_are_learned_with_their_end(tokenizer):
    examples = pl.DataFrame(
        {"prompts": [["What is deep?"]], "targets": [[" model"]], "gold": [0], "split": ["train"]}
    )
    task = Task(kind="harness", task="gsm8k", metric="exact_match")
    encoder = Encoder(make_model("gpt2"), tokenizer, Lora())
    (pair,) = encode_training(examples, encoder, task, "answer")
    assert tokenizer.decode(pair.ids[pair.start :]) == " model<|end|>"
    question = Task(kind="choice", domain="x")
    (pair,) = encode_training(examples, encoder, question, "answer")
    assert tokenizer.decode(pair.ids[pair.start :]) == " model", "an option is compared, not generated"
    (pair,) = encode_training(examples, encoder, question, "all")
    assert tokenizer.decode(pair.ids) == "What is deep? model<|end|>"
    assert pair.start == 1


@pytest.mark.parametrize(
    ("template", "end"),
    [(CHAT, "<|end|>"), (CHAT.replace("</u>", "<|turn|>\n"), "<|turn|>")],
)
def test_an_answer_in_a_chat_ends_as_the_template_ends_it(tokenizer, template, end):
    chatty = deepcopy(tokenizer)
    chatty.add_special_tokens({"additional_special_tokens": ["<|turn|>"]})
    chatty.chat_template = template
    assert chatty.decode(find_answer_end(chatty, chat=True)) == end


def test_too_few_validation_examples(pairs, model_folder, tmp_path):
    examples = make_completions(pairs)
    few = pl.concat(
        [examples.filter(pl.col("split") != "valid"), examples.filter(pl.col("split") == "valid")[:3]]
    )
    with refuses("3 validation examples", "4"):
        run_once(
            Pointer("small", model_folder), few, Task(**COMPLETION), Lora(**LORA), False,
            Resume(tmp_path / "o", ""),
        )  # fmt: skip


def test_the_folder_of_scores_is_one_that_rankings_read(tmp_path):
    tasks = {
        "a": Task(**COMPLETION, category="one"),
        "b": Task(kind="choice", domain="x"),
        "c": Task(kind="text", domain="x"),
    }
    reports = {
        (model, task): {
            "direct": 10.0 + place + shift,
            "tuned": 5.0 + place,
            "chosen": 6.0 + place,
            "direct_error": 0.5,
            "tuned_error": 0.25,
            "chosen_error": 0.3,
        }
        for place, model in enumerate(["m1", "m2", "m3", "m4"])
        for shift, task in enumerate(tasks)
    }
    folder = tmp_path / "scores"
    folder.mkdir()
    write_scores(folder, reports, tasks)
    table = read_folder(folder, RankingSettings(), {})
    assert table.conditions == ("direct_eval", "train_before_test")
    assert [(each.name, each.lower_is_better, each.corpus) for each in table.benchmarks] == [
        ("a", True, False),
        ("b", False, False),
        ("c", True, True),
    ]
    lines = read_delimited(folder / "train_before_test.csv", ",")
    assert lines[1] == {"model": "m2", "a": "7.0", "b": "7.0", "c": "7.0"}
    with refuses("1 of 12", "m3 on b"):
        write_scores(folder, {key: value for key, value in reports.items() if key != ("m3", "b")}, tasks)


@pytest.mark.parametrize(("values", "names"), [
    ({"kind": "completion"}, ["domain"]), ({"kind": "harness", "domain": "x"}, ["task"]),
    ({"kind": "text"}, ["domain", "file"]),
    ({"kind": "choice", "domain": "x", "metric": "exact_match"}, ["exact_match"]),
])  # fmt: skip
def test_tasks_that_make_no_sense(values, names):
    with refuses(values["kind"], *names, error=ValueError):
        Task(**values)
