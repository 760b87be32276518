"""Tasks that the harness does not have are refused before the first job, with near names."""

import sys

import pytest
from tests.documents import put
from tests.refusals import refuses

from fathom.config.whole import read_config
from fathom.planning.task_checks import check_tasks


@pytest.fixture(autouse=True)
def harness(tmp_path, monkeypatch):
    """A harness of three tasks that must not be imported, and a working folder with a task of the user's."""
    put(tmp_path, "lm_eval/__init__.py", "raise AssertionError('imported')")
    put(
        tmp_path,
        "lm_eval/tasks/a/quiz.yaml",
        "task: valve_quiz\ndataset_path: own\nprocess: !function utils.read\n",
    )
    put(tmp_path, "lm_eval/tasks/a/b/deep.yaml", '"dataset_name": "x"\n"task": "valve_flow"  # the second\n')
    put(
        tmp_path,
        "lm_eval/tasks/a/group.yaml",
        "group: valves\ntask:\n  - task: 'valve_wear'\n    num_fewshot: 3\n",
    )
    put(tmp_path, "own.yaml", "task: own\n")
    monkeypatch.delitem(sys.modules, "lm_eval", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)


def check(task, in_environments=False):
    tasks = {"quiz": {"kind": "harness", "task": task}}
    check_tasks(read_config({"train_before_test": {"tasks": tasks}}, "test"), in_environments)


@pytest.mark.parametrize("task", ["valve_quiz", "valve_flow", "valve_wear", "own.yaml"])
def test_tasks_of_the_harness_and_files_are_found_without_importing_it(task):
    check(task)


@pytest.mark.parametrize(
    ("task", "hint"), [("valve_quizz", "did you mean valve_quiz?"), ("zzzz", "lm_eval ls tasks")]
)
def test_a_task_that_the_harness_does_not_have_is_refused_with_a_near_name(task, hint):
    with refuses("train_before_test.tasks.quiz.task", f"no task '{task}'", hint):
        check(task)
    check(task, in_environments=True)  # jobs may have it


def test_a_task_file_that_is_not_there_is_refused():
    with refuses("train_before_test.tasks.quiz.task", "no such task file: none.yaml"):
        check("none.yaml", in_environments=True)
