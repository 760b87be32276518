"""What every program shares: exit codes, log, settings, progress."""

import argparse
import logging
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.programs import run_command
from tests.programs import run_program as run_warm
from tests.refusals import refuses

from fathom.config.benchmark import Matches, Pairs
from fathom.errors import InputError
from fathom.io.files import write_atomically
from fathom.jobs.program import read_settings, run_logged, set_allocator, show_progress

_SOURCE = Path(__file__).resolve().parents[2] / "src"
_PROGRAM = """\
import argparse
from fathom.errors import InputError
from fathom.jobs.program import log, run_program

def main(arguments):
    log.info("started with %s", arguments.how)
    if arguments.how == "input":
        raise InputError("the id is empty", "shard.jsonl, line 3", "check the file")
    if arguments.how == "interrupt":
        raise KeyboardInterrupt
    if arguments.how == "memory":
        raise MemoryError("Unable to allocate 9 GiB")
    if arguments.how == "gpu":
        import torch
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 9 GiB")
    if arguments.how == "defect":
        raise ValueError("a defect of ours")
    if arguments.how == "print":
        print("a line for nobody")
    if arguments.how == "print much":
        print("a line for nobody\\n" * 100_000)
    if arguments.how == "print letters":
        print("\u03c4 = 0.9, caf\u00e9")
    if arguments.how == "other pipe":
        raise BrokenPipeError("of a child")

parser = argparse.ArgumentParser(prog="try_program.py")
parser.add_argument("--how", required=True)
run_program(parser, main)
"""


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    (folder / "p.py").write_text(_PROGRAM)
    return run_warm(folder / "p.py", *arguments, code=None)


@pytest.mark.parametrize(("how", "code"), [("well", 0), ("input", 1), ("interrupt", 130)])
def test_exit_codes_without_a_traceback(tmp_path, how, code):
    run = _run(tmp_path, "--how", how, "--log", str(tmp_path / "logs" / "l.txt"))
    assert run.returncode == code
    assert run.stdout == ""
    assert "Traceback" not in run.stderr
    assert (tmp_path / "logs" / "l.txt").read_text() == run.stderr
    assert run.stderr.startswith(f"[try_program l] started with {how}\n")


@pytest.mark.parametrize(
    ("how", "said"),
    [("input", "Error: shard.jsonl, line 3: the id is empty\nHint: check the file"),
     ("memory", "Unable to allocate 9 GiB\n"),
     ("gpu", "CUDA out of memory. Tried to allocate 9 GiB\n"),
     ("defect", "Traceback")],
)  # fmt: skip
def test_what_went_wrong_is_said_and_only_a_defect_shows_its_traceback(tmp_path, how, said):
    done = _run(tmp_path, "--how", how)
    assert done.returncode == 1 and said in done.stderr
    assert ("Traceback" in done.stderr) == (how == "defect")


def test_a_defect_is_in_the_log_and_its_reason_comes_last(tmp_path):
    done = _run(tmp_path, "--how", "defect", "--log", str(tmp_path / "l.txt"))
    for text in (done.stderr, (tmp_path / "l.txt").read_text()):
        assert text.count("Traceback") == 1
        *_, reason, hint = text.splitlines()
        assert "Error: " in reason and "ValueError: a defect of ours" in reason and "p.py, line" in reason
        assert hint.startswith("Hint: ")


@pytest.mark.parametrize("already", [None, ":16:8", ":0:0"])
@pytest.mark.parametrize("command", ["program", "verb"])
def test_products_are_deterministic_before_torch_is_imported(tmp_path, command, already):
    # PyTorch reads the variable once: what is set after the first product on a GPU comes too late
    (tmp_path / "torch.py").write_text(
        "import os\nfound = [os.getenv(name, 'nothing') for name in"
        " ('CUBLAS_WORKSPACE_CONFIG', 'PYTORCH_CUDA_ALLOC_CONF')]\n"
        "raise SystemExit('torch sees ' + ', '.join(found))\n"
    )
    (tmp_path / "pairs.jsonl").write_text('{"prompt": "a", "target": " b"}\n')
    environment = {"PYTHONPATH": f"{_SOURCE}{os.pathsep}{tmp_path}", "CUBLAS_WORKSPACE_CONFIG": already or ""}
    if command == "program":
        options = ("--task", "--model", "--examples", "--outcomes", "--report", "--curve")
        places = [word for option in options for word in (option, "x")]
        places += ["--settings", '{"task": {"kind": "text", "domain": "x"}}']
        run = run_warm("tune_model", *places, environment=environment, code=None)
    else:
        (tmp_path / "model.safetensors").touch()
        (tmp_path / "config.json").write_text("{}")
        run = run_command("score", tmp_path, tmp_path / "pairs.jsonl", environment=environment, code=None)
    workspace = already if already == ":16:8" else ":4096:8"
    assert f"torch sees {workspace}, expandable_segments:True" in run.stderr


@pytest.mark.parametrize(("named", "release", "seen"), [
    ({}, "6.8.0-generic", "expandable_segments:True"),
    ({}, "5.15.0-microsoft-standard-WSL2", None),
    ({"PYTORCH_ALLOC_CONF": "backend:native"}, "6.8.0-generic", None),
    ({"PYTORCH_CUDA_ALLOC_CONF": ""}, "6.8.0-generic", ""),
])  # fmt: skip
def test_memory_of_a_gpu_grows_in_place_unless_drivers_refuse_or_the_user_chose(
    monkeypatch, named, release, seen
):
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr("platform.release", lambda: release)
    monkeypatch.setattr("os.environ", named)
    set_allocator()
    assert named.get("PYTORCH_CUDA_ALLOC_CONF") == seen


def test_a_log_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "logs").touch()
    run = _run(tmp_path, "--how", "well", "--log", str(tmp_path / "logs" / "l.txt"))
    assert run.returncode == 1 and "Traceback" not in run.stderr
    assert f"Error: {tmp_path}/logs/l.txt: " in run.stderr and "Hint:" in run.stderr


@pytest.mark.parametrize("how", ["print", "print much"])
def test_full_or_closed_standard_output_is_said_or_does_no_harm(tmp_path, how):
    (tmp_path / "p.py").write_text(_PROGRAM)
    command = f"{sys.executable} {tmp_path / 'p.py'} --how '{how}'"
    environment = os.environ | {"PYTHONPATH": str(_SOURCE)}
    for place, code, text in [
        (">/dev/full", 1, "standard output: no space left"),
        (">&-", 0, "started with"),
    ]:
        run = subprocess.run(
            ["sh", "-c", f"{command} {place}"], capture_output=True, text=True, env=environment
        )
        assert run.returncode == code and text in run.stderr
        assert "Traceback" not in run.stderr and "Exception ignored" not in run.stderr


def test_letters_that_the_locale_lacks_are_written_in_another_way(tmp_path):
    (tmp_path / "p.py").write_text(_PROGRAM)
    bare = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "PYTHON"))}
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONPATH": str(_SOURCE)}
    command = [sys.executable, "p.py", "--how", "print letters"]
    done = subprocess.run(command, cwd=tmp_path, env=bare | locale, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "\\u03c4 = 0.9, caf\\xe9\n"), done.stderr


def test_a_reader_that_has_seen_enough_is_no_fault(tmp_path):
    (tmp_path / "p.py").write_text(_PROGRAM)
    for how, code, traceback in [("print", 141, False), ("other pipe", 1, True)]:
        reading, writing = os.pipe()
        if how == "print":
            os.close(reading)
        command = [sys.executable, tmp_path / "p.py", "--how", how]
        environment = os.environ | {"PYTHONPATH": str(_SOURCE)}
        run = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, env=environment)
        os.close(writing)
        assert run.returncode == code
        assert ("Traceback" in run.stderr) == traceback
        assert "Exception ignored" not in run.stderr


def test_wrong_arguments(tmp_path):
    assert _run(tmp_path).returncode == 2


def test_settings_are_checked():
    assert read_settings('{"min_cosine": 0.4}', Matches).min_cosine == 0.4
    for text, message in (("{", "--settings: not valid JSON"),
                          ('{"min_cosin": 1}', "unknown key 'min_cosin'; did you mean min_cosine?"),
                          ('{"min_cosine": 7}', "min_cosine = 7"),
                          ("[]", "--settings")):  # fmt: skip
        with refuses(message):
            read_settings(text, Matches)
    with refuses("tokenizer is missing"):
        read_settings("{}", Pairs)


def test_errors_read_well_whatever_is_known():
    assert str(InputError("a")) == "a"
    assert str(InputError("a", "b")) == "b: a"
    assert str(InputError("a", hint="c")) == "a\nHint: c"


def test_progress_yields_everything_once():
    assert list(show_progress(range(5), "rows")) == [0, 1, 2, 3, 4]
    assert list(show_progress(iter("ab"), "rows", total=2)) == ["a", "b"]
    assert list(show_progress([], "rows")) == []


def test_a_plain_line_says_after_ten_seconds_how_much_time_is_left(monkeypatch, caplog):
    now = [0.0]
    monkeypatch.setattr("fathom.jobs.program.time", SimpleNamespace(monotonic=lambda: now[0]))
    with caplog.at_level(logging.INFO, "fathom"):
        for _ in show_progress(range(100), "rows"):
            now[0] += 1.5
    assert [record.message for record in caplog.records] == [
        "7 of 100 rows, 2 min left",
        "28 of 100 rows, 2 min left",
        "49 of 100 rows, 76 s left",
        "70 of 100 rows, 45 s left",
        "91 of 100 rows, 14 s left",
    ]


def test_no_time_left_is_told_from_the_first_item_alone_which_waits_for_loading(monkeypatch, caplog):
    now = [0.0]
    monkeypatch.setattr("fathom.jobs.program.time", SimpleNamespace(monotonic=lambda: now[0]))
    with caplog.at_level(logging.INFO, "fathom"):
        for row in show_progress(range(100), "rows"):
            now[0] += 30 if row == 0 else 2
    first, second, *_ = [record.message for record in caplog.records]
    assert (first, second) == ("1 of 100 rows", "17 of 100 rows, 5 min left")


@pytest.mark.parametrize("variables", [{}, {"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_errors_are_red_on_a_terminal_that_shows_colours(tmp_path, variables):
    (tmp_path / "program.py").write_text(_PROGRAM)
    terminal, end = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": str(_SOURCE), "TERM": "xterm", "NO_COLOR": "", **variables}
    subprocess.run(
        [sys.executable, "program.py", "--how", "input"], cwd=tmp_path, stderr=end, env=environment
    )
    os.close(end)
    said = os.read(terminal, 10_000).decode()
    os.close(terminal)
    assert "the id is empty" in said and ("\x1b[31m" in said) == (not variables)


@pytest.fixture
def signals():
    """Leave the signals' handlers as they were."""
    earlier = {number: signal.getsignal(number) for number in (signal.SIGHUP, signal.SIGTERM)}
    yield
    for number, handler in earlier.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("signals")
@pytest.mark.parametrize(("before", "left"), [(signal.SIG_DFL, []), (signal.SIG_IGN, ["f"])])
def test_a_closed_terminal_ends_a_program_that_nohup_did_not_start(tmp_path, before, left):
    def write(_: argparse.Namespace) -> None:
        with write_atomically(tmp_path / "f") as temporary:
            temporary.write_text("half")
            signal.raise_signal(signal.SIGHUP)

    signal.signal(signal.SIGHUP, before)
    if before is signal.SIG_IGN:
        run_logged(write, argparse.Namespace(log=None), "it")
    else:
        with pytest.raises(SystemExit) as ended:
            run_logged(write, argparse.Namespace(log=None), "it")
        assert ended.value.code == 129
    assert [path.name for path in tmp_path.iterdir()] == left


_IMPORTS = """
import argparse, os, signal, sys
from fathom.jobs.program import run_logged

class Finder:
    def find_spec(self, name, *_):
        if name == "orjson.orjson":
            sys.modules.pop("json", None)
        if name == "json" and "orjson" in sys.modules:
            os.kill(os.getpid(), int(sys.argv[1]))

sys.meta_path.insert(0, Finder())
def main(_):
    import orjson
run_logged(main, argparse.Namespace(log=None), "it")
"""


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_while_modules_are_imported_ends_a_program_as_any_other(kind):
    """Orjson crashes if what it imports is interrupted."""
    environment = {**os.environ, "PYTHONPATH": str(_SOURCE)}
    done = subprocess.run(
        [sys.executable, "-c", _IMPORTS, str(int(kind))], env=environment, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (128 + kind, "")


@pytest.mark.usefixtures("signals")
def test_messages_are_what_no_terminal_obeys(capsys):
    def refuse(_: argparse.Namespace) -> None:
        raise InputError("wrong \x1b[2J", "https://me:SECRET@host/v1, a\nError: b\u202e")

    with pytest.raises(SystemExit):
        run_logged(refuse, argparse.Namespace(log=None), "it")
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "SECRET" not in said and said.isascii() and "\x1b" not in said


@pytest.mark.usefixtures("signals")
def test_a_working_folder_that_is_gone_is_said(tmp_path, monkeypatch, capsys):
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    with pytest.raises(SystemExit) as ended:
        run_logged(lambda _: Path.cwd(), argparse.Namespace(log=None), "it")
    said = capsys.readouterr().err
    assert ended.value.code == 1 and "working folder" in said and "Traceback" not in said
