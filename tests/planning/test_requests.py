"""What models behind a service are asked is said before a run: requests, tokens, price."""

import json
import re
from pathlib import Path

import pytest
from tests.answering.chat_stub import SECRET, VARIABLE, serve
from tests.plans import ROOT
from tests.programs import run_command, run_snakemake
from tests.questions.conftest import catalogue, files, questions

from fathom.config.whole import read_config
from fathom.io.files import read_json, write_text
from fathom.planning.requests import describe_speakers
from fathom.questions.answer_files import prepare_questions

__all__ = ["catalogue", "files", "questions"]  # a set of questions

TALKER = {"service": "http://127.0.0.1:9/v1", "model": "talk", "key_variable": VARIABLE,
          "input_price": 10, "output_price": 30}  # fmt: skip
SETS = {"python_libraries": {"folder": "config/choices", "subject": "Python libraries"}}


def configure(**talker: object):
    """Return a configuration in which a talker answers a set of questions."""
    tables, templates = (f"config/questions/courses/{name}.yaml" for name in ("tables", "templates"))
    coverage = {"questions": {"courses": {"tables": tables, "templates": templates, "first": 100}},
                "evaluation": {"models": ["talker"], "shots": 2, "max_tokens": 6}}  # fmt: skip
    return read_config({"models": {"speaking": {"talker": TALKER | talker}}, "coverage": coverage}, "test")


def test_questions_that_are_not_made_are_guessed(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, SECRET)
    (line,) = describe_speakers(configure(), str(tmp_path), ROOT)
    assert line.startswith("talker: 240 requests, about ") and "not made yet" in line
    assert SECRET not in line


def test_questions_that_are_made_are_counted(files, tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, SECRET)
    folder = tmp_path / "questions" / "courses"
    folder.mkdir(parents=True)
    (folder / "questions.parquet").symlink_to(files.questions)
    (folder / "chunks.parquet").symlink_to(files.chunks)
    config = configure(thinking=100)
    (line,) = describe_speakers(config, str(tmp_path), ROOT)
    asked = prepare_questions(files, config.coverage.evaluation)
    found = re.fullmatch(
        r"talker: (\S+) requests, about (\S+) tokens in, at most (\S+) out, price at most about (\S+)", line
    )
    assert found, line
    requests, read, written = (int(value.replace(",", "")) for value in found.groups()[:3])
    assert requests == len(asked) and 106 * requests <= written <= 124 * requests
    assert abs(float(found[4]) - (10 * read + 30 * written) / 1e6) < 0.01
    # what is answered is not asked
    (folder / "answers").mkdir()
    (folder / "answers" / "talker.parquet").touch()
    assert describe_speakers(config, str(tmp_path), ROOT) == []


@pytest.fixture
def own(tmp_path, monkeypatch):
    """Return a folder with a configuration that lets a talker answer multiple choice, and its service."""
    with serve(monkeypatch) as chat:
        chat.rule = lambda _: "B"
        choices = {"questions": SETS, "models": ["talker"], "orders": False, "chat_factors": ["styles"]}
        talker = TALKER | {"service": chat.url}
        values = {"run": "talk", "models": {"speaking": {"talker": talker}}, "choices": choices}
        write_text(tmp_path / "own.yaml", json.dumps(values))
        yield tmp_path, chat


def test_a_plan_the_start_of_a_run_and_its_job_say_the_same(own):
    folder, chat = own
    answers = "results/talk/choices/answers/python_libraries/talker.parquet"
    workflow = ("--snakefile", ROOT / "Snakefile", "--configfile", "own.yaml")
    planned = run_command("plan", *workflow, "--", answers, folder=folder).stdout
    (line,) = [line.strip() for line in planned.splitlines() if "talker: " in line]
    assert not chat.asked
    ran = run_snakemake(*workflow, "-c1", "--", answers, folder=folder).stderr
    assert ran.count(line) == 2 and ran.index(line) < ran.index("rule answer_choices_served")
    requests = int(re.match(r"talker: (\d+) requests", line)[1])
    assert requests == len(chat.asked) == len(set(chat.messages)) == 24 * 6
    report = read_json(Path(folder, answers).with_suffix(".json"))
    assert report["requests"] == requests and report["no_letter"] == 0
    every = [path for path in folder.rglob("*") if path.is_file()]
    assert all(SECRET.encode() not in path.read_bytes() for path in every)
    # a run that asks nothing says nothing
    assert "talker: " not in run_command("plan", *workflow, "--", answers, folder=folder).stdout
