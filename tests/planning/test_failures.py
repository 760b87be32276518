"""What a failed job said is found in its log."""

import os
import time
from dataclasses import replace

import pytest

from fathom.planning.failures import FailedJob, describe_failures, find_start

MESSAGE = "[join_shard a] 200 of 400 records\n[join_shard a] Error: a.jsonl: cut off\nHint: get it again\n"


@pytest.fixture
def write(tmp_path):
    def write_log(name: str, text: str) -> FailedJob:
        (tmp_path / name).write_text(text)
        return FailedJob("join_shard", [str(tmp_path / name)])

    return write_log


def test_message_and_hint_come_last(write):
    job = write("a.log", MESSAGE)
    text = describe_failures([[job]], 0)
    assert text == f"join_shard failed: a.jsonl: cut off [log: {job.logs[0]}]\nHint: get it again"
    (line, _) = describe_failures([[replace(job, wildcards=["law", "tf"])]], 0).splitlines()
    assert line.startswith("join_shard (law, tf) failed: a.jsonl: cut off [log: ")


def test_equal_messages_are_said_once_and_many_are_counted(write):
    jobs = [[write(f"{number}.log", MESSAGE)] for number in range(3)]
    assert describe_failures(jobs, 0).count("Hint") == 1
    assert "join_shard failed 3 times" in describe_failures(jobs, 0)
    others = [[write(f"b{number}.log", f"[join_shard] Error: {number}\n")] for number in range(5)]
    text = describe_failures(others, 0)
    assert text.startswith("5 different failures, 3 shown") and text.count("failed: ") == 3


def test_a_killed_job_has_the_end_of_its_log_and_an_earlier_message_is_no_ending(write):
    text = describe_failures([[write("a.log", "[embed] one\n[embed] two\n")]], 0)
    assert "no message" in text.splitlines()[0] and "a.log" in text.splitlines()[0]
    assert text.splitlines()[2].startswith("[embed] two")
    assert "Hint:" in describe_failures([[FailedJob("embed", ["none.log"])]], 0)
    text = describe_failures([[write("a.log", MESSAGE + "[join_shard a] went on\n")]], 0)
    assert "no message" in text


def test_the_log_of_an_earlier_run_says_nothing(write):
    job = write("a.log", MESSAGE)
    os.utime(job.logs[0], (1000, 1000))
    assert "cut off" in describe_failures([[job]], 900)
    assert "cut off" not in describe_failures([[job]], 2000)


def test_a_clock_that_was_set_back_hides_no_message(write):
    job = write("a.log", MESSAGE)
    now = time.time()  # the run began 500 seconds ago, when the clock was an hour ahead
    for began in (now - 500, now + 3100):
        assert "cut off" in describe_failures([[job]], find_start(began, 500))
        os.utime(job.logs[0], (now - 1000, now - 1000))
        assert "cut off" not in describe_failures([[job]], find_start(began, 500))
        os.utime(job.logs[0], (now - 100, now - 100))


def test_of_a_group_those_that_said_something_are_shown(write):
    well, failed = write("well.log", "[join_shard] done\n"), write("a.log", MESSAGE)
    text = describe_failures([[well, failed]], 0)
    assert "a.log" in text and "well.log" not in text
    assert "well.log" in describe_failures([[well, write("b.log", "")]], 0)
