"""A command that is waited for: it ends in its own way, whoever is told to end."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import fathom

CHILD = """
import signal, sys, time
from pathlib import Path

def end(*_):
    time.sleep(0.5)  # as Snakemake waits for its jobs
    Path("ended").touch()
    sys.exit(1)

signal.signal(signal.SIGTERM, end)
signal.signal(signal.SIGINT, end)
Path("started").touch()
time.sleep(60)
"""
PARENT = """
import argparse, sys
from fathom.planning.starting import run_to_end
from fathom.jobs.program import run_logged
arguments = argparse.Namespace(log=None)
run_logged(lambda _: sys.exit(run_to_end([sys.executable, *sys.argv[1:]])), arguments, "it")
"""


def start(folder: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PARENT, *words], cwd=folder, text=True, stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(Path(fathom.__file__).parents[1])}, start_new_session=True,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "to_all", "code"),
    [(signal.SIGTERM, False, 143), (signal.SIGTERM, True, 143), (signal.SIGINT, True, 130)],
)
def test_a_signal_is_passed_on_and_the_end_is_waited_for(tmp_path, kind, to_all, code):
    with start(tmp_path, "-c", CHILD) as process:
        while not (tmp_path / "started").exists():
            assert process.poll() is None
            time.sleep(0.02)
        (os.killpg if to_all else os.kill)(process.pid, kind)
        _, said = process.communicate(timeout=60)
    assert process.returncode == code
    assert (tmp_path / "ended").exists(), "it was killed, or is still at work"
    assert "Traceback" not in said


@pytest.mark.parametrize("code", [0, 3])
def test_an_exit_code_is_handed_on(tmp_path, code):
    with start(tmp_path, "-c", f"raise SystemExit({code})") as process:
        assert process.wait(timeout=60) == code


@pytest.mark.parametrize("started_by", ["run_to_end", "another"])
def test_a_command_ends_when_what_started_it_is_killed(tmp_path, started_by):
    """As SIGTERM ends it; one that something else started goes on."""
    asks = "from fathom.planning.starting import end_with_parent\nend_with_parent()\n"
    if started_by == "another":
        asks = f"import os\nos.environ['FATHOM_PARENT'] = '1'\n{asks}"
    with start(tmp_path, "-c", asks + CHILD.replace("sleep(60)", "sleep(2)")) as process:
        while not (tmp_path / "started").exists():
            assert process.poll() is None
            time.sleep(0.02)
        process.kill()
    deadline = time.monotonic() + (20 if started_by == "run_to_end" else 1.5)
    while not (tmp_path / "ended").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert (tmp_path / "ended").exists() == (started_by == "run_to_end")
