"""What a failed job said is found in its log."""

import os
import time
from dataclasses import replace

import pytest

from fathom.planning.failures import FailedJob, describe_failures, find_slurm_logs, find_start

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


@pytest.mark.parametrize(("line", "reason"), [
    ("slurmstepd-cpu1: error: StepId=34.0 exceeded memory limit (398 > 314), being killed", "out of memory"),
    ("slurmstepd: error: Detected 1 oom_kill event in StepId=34.batch.", "out of memory"),
    ("slurmstepd: error: *** JOB 34 ON cpu1 CANCELLED AT 2026-11-28 DUE TO TIME LIMIT ***", "out of time"),
    ("memory limit: a program's own words", ""),
])  # fmt: skip
def test_what_slurm_says_of_a_killed_job_is_said(tmp_path, line, reason):
    folder = tmp_path / "rule_embed" / "a_b_c"
    folder.mkdir(parents=True)
    for number, text in ((9, "slurmstepd: error: nothing"), (10, line)):
        (folder / f"{number}.log").write_text(f"started\n{text}\nended\n")
        os.utime(folder / f"{number}.log", (1000 + number, 1000 + number))
    logs = find_slurm_logs(tmp_path, "rule_embed", ["a", "b/c"])
    job = FailedJob("embed", ["none.log"], ["a", "b/c"], logs)
    text = describe_failures([[job]], 0)
    expected = f"Slurm killed it, {reason} [log: none.log, {folder / '10.log'}]"
    assert expected in text if reason else "it left no message" in text
    other = replace(job, wildcards=["z"])
    assert "embed failed 2 times" in describe_failures([[job], [other]], 0)
    assert "it left no message" in describe_failures([[job]], 2000)
    well = replace(job, logs=[str(tmp_path / "said.log")])
    (tmp_path / "said.log").write_text(MESSAGE)
    assert "cut off" in describe_failures([[well]], 0)
