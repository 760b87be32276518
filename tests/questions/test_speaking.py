"""A chat model behind a service answers sets of questions, as a job that may be killed."""

import json
import os
import subprocess
import sys
import time

import pytest
from tests.answering.chat_stub import SECRET, VARIABLE, serve
from tests.plans import count_jobs, list_commands, plan
from tests.programs import LIGHT, find_program, run_program
from tests.refusals import refuses
from tests.tables import read_delimited

from fathom.answering.prompts import make_prompt
from fathom.config.questions import Evaluation
from fathom.io.contracts.questions import ANSWERED, QUESTION_SCORES
from fathom.io.files import read_json
from fathom.io.tables import read_table
from fathom.questions.answer_files import prepare_questions

SETTINGS = Evaluation(by="text", shots=2, max_tokens=6)


@pytest.fixture
def chat(monkeypatch):
    with serve(monkeypatch) as stub:
        yield stub


@pytest.fixture
def arguments(chat, files, tmp_path):
    """Return the options of the program."""
    speaker = {"service": chat.url, "model": "talk", "key_variable": VARIABLE,
               "input_price": 10, "output_price": 30}  # fmt: skip
    settings = {"evaluation": SETTINGS.model_dump(), "speaker": speaker, "served": {"retries": 1}}
    return ["--model", "talker", "--questions", f"courses={files.questions}", "--vectors", files.vectors,
            "--chunks", files.chunks, "--embeddings", files.embeddings,
            "--answers", tmp_path / "run" / "talker.parquet", "--finished", tmp_path / "run" / "finished",
            "--settings", json.dumps(settings), "--log", tmp_path / "run" / "talker.log"]  # fmt: skip


def know(files):
    """Return a rule that answers rightly."""
    known = {}
    for each in prepare_questions(files, SETTINGS):
        item = each.items[0]
        text = ", ".join(item.right_letters) or item.answer
        known[make_prompt(item).render(chat=True)] = text
    return lambda body: known[body["messages"][0]["content"]]


def test_answers_are_scored_like_those_of_other_models(chat, files, questions, arguments, tmp_path):
    chat.rule = know(files)
    done = run_program("answer_questions", *arguments)
    asked = prepare_questions(files, SETTINGS)
    assert len(chat.asked) == len(set(chat.messages))
    assert (
        f"talker: {len(chat.asked):,} requests, about " in done.stderr
        and "price at most about" in done.stderr
    )
    answers = read_table(tmp_path / "run" / "talker.parquet", ANSWERED)
    assert len(answers) == len(asked) and answers["answered"].all()
    report = read_json(tmp_path / "run" / "talker.json")
    assert report["requests"] == len(chat.asked) and report["output_tokens"] == 42 * len(chat.asked)
    run_program(
        "score_answers", "--questions", f"courses={files.questions}",
        "--answers", f"courses/talker={tmp_path / 'run' / 'talker.parquet'}", "--scores", tmp_path / "s.csv",
        "--differences", tmp_path / "d.csv", "--settings", json.dumps({"rounds": 50}), imports=LIGHT,
    )  # fmt: skip
    scores = read_delimited(tmp_path / "s.csv", ",", QUESTION_SCORES.names)
    found = {row["form"]: float(row["value"]) for row in scores if row["metric"] == "accuracy"}
    assert set(found) >= {"binary", "multiple-choice", "multiple-answer"} and set(found.values()) == {1.0}
    every = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert all(SECRET.encode() not in path.read_bytes() for path in every)
    # again: nothing is asked
    (tmp_path / "run" / "finished" / "courses.answers" / "key.json").unlink()
    before = len(chat.asked)
    assert "0 requests" in run_program("answer_questions", *arguments).stderr and len(chat.asked) == before


def test_a_killed_job_goes_on_without_asking_twice(chat, files, arguments, tmp_path):
    rule, replies = know(files), tmp_path / "run" / "finished" / "replies.jsonl"

    def answer_slowly(body):
        time.sleep(0.01)
        return rule(body)

    chat.rule = answer_slowly
    command = [sys.executable, str(find_program("answer_questions")), *map(str, arguments)]
    job = subprocess.Popen(command, env=dict(os.environ), stderr=subprocess.DEVNULL)
    while not replies.is_file() or len(replies.read_text().splitlines()) < 5:
        assert job.poll() is None
        time.sleep(0.01)
    job.kill()
    job.wait()
    time.sleep(0.5)  # what was on its way to the service arrives
    kept = {json.loads(line)["request"] for line in replies.read_text().splitlines()}
    first = len(chat.asked)
    chat.rule = rule
    run_program("answer_questions", *arguments)
    every = [json.loads(line)["request"] for line in replies.read_text().splitlines()]
    assert len(kept) >= 5 and len(every) == len(set(every)) and set(every) > kept
    assert len(chat.asked) - first == len(every) - len(kept)


def test_a_refused_key_ends_the_job_with_one_message(chat, arguments, tmp_path):
    chat.rule = lambda _: (401, {"error": {"message": f"Incorrect API key provided: {SECRET}"}})
    with refuses("Error: talker", "answers 401", f"check the key in {VARIABLE}") as found:
        run_program("answer_questions", *arguments)
    assert SECRET not in str(found.value)
    assert SECRET not in (tmp_path / "run" / "talker.log").read_text()


def test_a_speaker_has_a_job_of_its_own_without_any_weights():
    talker = "talker: {service: http://host/v1, model: m, key_variable: TALKER_KEY}"
    done = plan(
        f"models={{speaking: {{{talker}}}}}", "coverage={evaluation: {models: [small, talker]}}",
        files="config/courses.yaml", targets="coverage",
    )  # fmt: skip
    jobs = count_jobs(done)
    assert (jobs["answer_questions"], jobs["answer_questions_served"], jobs["fetch_model"]) == (1, 1, 0)
    commands = list_commands(done, "answer_questions")
    (served,) = [command for command in commands if "--model talker" in command]
    assert '"by": "text"' in served and '"key_variable": "TALKER_KEY"' in served and "--gpus 0" in served
    (other,) = [command for command in commands if command != served]
    assert "speaker" not in other
    (scoring,) = list_commands(done, "score_answers")
    assert "answers/talker.parquet" in scoring
