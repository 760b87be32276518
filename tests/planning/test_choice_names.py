"""Files of multiple-choice questions, and plans that ask them."""

from itertools import product
from types import MappingProxyType

import pytest
from tests.plans import count_jobs, plan
from tests.refusals import refuses

from fathom.config.whole import read_config
from fathom.planning.question_files import ChoiceNames

HUB = {"hub": "cais/mmlu", "revision": "0" * 40}


def names(
    models=("gpt2", "Qwen2-0.5B-Instruct@chat"), chosen=(), speaking=MappingProxyType({}), **choices
) -> ChoiceNames:
    questions = {"college_computer_science": HUB, "own": {"folder": "here", "subject": "things"}}
    choices |= {"questions": questions, "models": list(chosen)}
    values = {"choices": choices, "models": {"score": list(models), "speaking": dict(speaking)}}
    return ChoiceNames(read_config(values, "test"), "results/demo")


def test_models_that_are_scored_are_asked_unless_some_are_named():
    assert len(names().places) == 4
    assert names(chosen=["gpt2"]).places == [("college_computer_science", "gpt2"), ("own", "gpt2")]
    assert names().name_subject("college_computer_science") == "college computer science"
    assert names().name_subject("own") == "things"
    assert ChoiceNames(read_config({"scores": "x"}, "test"), "results/demo").list_tables() == []


def test_figures_are_those_of_the_factors_that_some_model_takes_part_in():
    every = {*product(("examples", "options", "styles", "orders"), ("letter", "text"))}
    assert {*names().varied} == every
    assert {*names(["gpt2"]).varied} == {*product(("examples", "orders"), ("letter", "text"))}
    assert names(["gpt2"], shots=0, orders=False).varied == []
    chat = {each for each in every if each[0] != "examples"}
    assert {*names(["Qwen2-0.5B-Instruct@chat"]).varied} == chat
    # one behind a service gives no letters
    talker = {"talker": {"service": "http://host/v1", "model": "m"}}
    assert {*names(["gpt2"], ["talker"], talker).varied} == {each for each in chat if each[1] == "text"}
    assert {*names(["gpt2"], ["gpt2", "talker"], talker).varied} == every - {
        ("options", "letter"), ("styles", "letter")}  # fmt: skip


def test_files_lie_in_a_folder_or_on_the_hub(tmp_path):
    assert names().find_files("college_computer_science", tmp_path) == []
    assert names().find_folder("college_computer_science", tmp_path) is None
    with refuses("no such file", "choices.questions.own", "here/own_dev.csv"):
        names().find_files("own", tmp_path)


@pytest.mark.parametrize(
    ("choices", "message"),
    [({"questions": {"x": {}}}, "give either folder or hub"),
     ({"questions": {"x": {"hub": "a/b"}}}, "revision belongs to hub"),
     ({"questions": {"x": {"folder": "f"}}, "chat_factors": ["examples"]}, "no examples are shown in a chat"),
     ({"questions": {"x": {"folder": "f"}}, "models": ["gtp2"]},
      "choices.models.0: unknown scored model 'gtp2'"),
     ({"questions": {"x": {"folder": "f"}}, "ways": ["letter", "letter"]}, "letter is named twice")],
)  # fmt: skip
def test_bad_settings_are_named(choices, message):
    with refuses(message):
        read_config({"choices": choices, "models": {"score": ["gpt2"]}}, "test")


def test_questions_need_a_model():
    with refuses("model", "ask"):
        read_config({"choices": {"questions": {"x": {"folder": "f"}}}}, "test")


def test_the_papers_choices_plan_one_load_of_each_model_and_no_corpus():
    done = plan(targets="choices", files="config/papers/raw-corpora-choices.yaml")
    counts = count_jobs(done)
    assert counts.pop("fetch_model") == counts.pop("answer_choices") == 14
    assert counts == {"read_choices": 2, "compare_choices": 1, "plot_choices": 8, "choices": 1}
    assert "'college computer science'" in done.stdout


def test_a_folder_without_questions_is_named():
    with refuses("choices.questions.law: nowhere/law_dev.csv: there is no such file"):
        plan("choices={questions: {law: {folder: nowhere}}}", files="config/choices-demo.yaml")
