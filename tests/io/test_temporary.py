"""What killed jobs leave on the way to an output is removed; what running ones write is not."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fathom.io.files import SUFFIX, prefix_temporary, write_atomically, write_text

_SOURCE = Path(__file__).resolve().parents[2] / "src"
_PROGRAM = """\
import argparse, time
from pathlib import Path
from fathom.io.files import write_atomically
from fathom.jobs.program import run_program

def main(arguments):
    with write_atomically(Path("out.txt")) as temporary:
        temporary.write_text("half")
        print("writing", flush=True)
        time.sleep(600)

run_program(argparse.ArgumentParser(), main)
"""


def _left(folder):
    return sorted(path.name for path in folder.iterdir() if path.name.startswith("."))


def _start(folder):
    job = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM], cwd=folder, stdout=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONPATH": str(_SOURCE)},
    )  # fmt: skip
    assert job.stdout is not None and job.stdout.readline() == "writing\n"
    assert len(_left(folder)) == 1
    return job


def test_a_job_that_is_told_to_end_leaves_nothing(tmp_path):
    job = _start(tmp_path)
    job.send_signal(signal.SIGTERM)
    assert job.wait(60) == 143
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_job_leaves_is_removed_and_what_a_running_one_writes_is_not(tmp_path):
    running, killed = _start(tmp_path), None
    (tmp_path / "elsewhere").mkdir()
    try:
        [other] = _left(tmp_path)
        with write_atomically(tmp_path / "out.txt") as own:
            own.write_text("own")
            write_text(tmp_path / "out.txt", "mine")  # of this process, too
            assert own.exists()
        assert _left(tmp_path) == [other]
        killed = _start(tmp_path / "elsewhere")
    finally:
        for job in filter(None, (running, killed)):
            job.kill()
            job.wait()
    write_text(tmp_path / "out.txt.gz", "an output of another name")
    assert _left(tmp_path) == [other]
    write_text(tmp_path / "out.txt", "again")
    assert _left(tmp_path) == []


@pytest.mark.parametrize("form", [".out.txt.abcd1234", ".out.txt.ffffff-1.abcd1234"])
@pytest.mark.parametrize(("days", "left"), [(1, True), (8, False)])
def test_what_other_machines_left_goes_after_a_week(tmp_path, form, days, left):
    then = time.time() - days * 24 * 3600
    folder, file = tmp_path / f"{form}{SUFFIX}", tmp_path / f"{form[:-1]}5{SUFFIX}"
    folder.mkdir()
    for path in (file, folder / "part"):
        path.write_text("half")
    for path in (file, folder / "part", folder):
        os.utime(path, (then, then))
    write_text(tmp_path / "out.txt", "whole")
    assert bool(_left(tmp_path)) is left
    assert prefix_temporary(tmp_path / "out.txt").startswith(".out.txt.")
