"""A program in a warm process behaves as one in a process of its own."""

import os
import subprocess
import sys

import pytest
from tests.programs import run_program

SAY = "import os, sys; print(__name__, sys.argv[1:], os.getcwd(), os.environ['KEY'], file=sys.stderr); "


@pytest.mark.parametrize(
    "end",
    ["sys.exit(3)", "sys.exit('bad')", "import atexit; atexit.register(print, 'end')",
     "os.kill(os.getpid(), 9)"],
)  # fmt: skip
def test_exit_codes_streams_folder_and_environment_are_those_of_a_new_process(end, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(SAY + end)
    warm = run_program(program, "a", 1, folder=tmp_path, environment={"KEY": "value"}, code=None)
    command = [sys.executable, str(program), "a", "1"]
    fresh = subprocess.run(
        command, cwd=tmp_path, env=os.environ | {"KEY": "value"}, capture_output=True, text=True
    )
    assert (warm.returncode, warm.stdout, warm.stderr) == (fresh.returncode, fresh.stdout, fresh.stderr)
    assert "__main__ ['a', '1']" in warm.stderr


def test_a_program_leaves_nothing_to_the_next_one(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import os, sys, json; print('KEY' in os.environ, hasattr(json, 'mark')); "
                       "os.environ['KEY'] = json.mark = '1'; 1 / 0")  # fmt: skip
    for _ in range(2):
        done = run_program(program, code=None)
        assert (done.returncode, done.stdout) == (1, "False False\n")
        assert done.stderr.startswith("Traceback") and "ZeroDivisionError" in done.stderr
