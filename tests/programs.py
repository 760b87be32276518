"""The programs of the workflow: where they lie, and how a test runs one without paying for its imports."""

import atexit
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]
_SCRIPTS = _ROOT / "scripts"
LIGHT = ("argparse", "numpy", "orjson", "pydantic", "yaml")
"""What nearly every program imports; polars, whose threads do not survive a fork, is imported after it."""
MODELS = (*LIGHT, "torch", "transformers", "safetensors.torch")
"""What programs import that load a model."""

SNAKEMAKE = (
    "argparse", "orjson", "pydantic", "yaml", "snakemake.cli", "snakemake_executor_plugin_slurm",
    "pandas", "requests", "smart_open", "jinja2", "docutils.core", "snakemake.report.html_reporter",
)  # fmt: skip
"""What a dry run of Snakemake imports."""


def list_programs() -> list[Path]:
    """Return all programs, sorted."""
    return sorted(_SCRIPTS.glob("*/*.py"))


def find_program(name: str) -> Path:
    """Return the file of a program by its name, with or without `.py`."""
    (path,) = _SCRIPTS.glob(f"*/{name.removesuffix('.py')}.py")
    return path


def run_program(
    name: str | Path,
    *arguments: object,
    folder: Path = _ROOT,
    environment: Mapping[str, str] | None = None,
    imports: tuple[str, ...] = LIGHT,
) -> subprocess.CompletedProcess[str]:
    """Run a program, in a process that has its imports already, and return what it printed.

    Parameters
    ----------
    name : str or Path
        A program of the workflow, or any file.
    *arguments : object
        Its arguments, made strings.
    folder : Path
        The folder that it runs in.
    environment : mapping of str to str, optional
        Variables beside those of this process and PYTHONPATH.
    imports : tuple of str
        Packages to have imported, once for all programs with the same ones.
    """
    path = name if isinstance(name, Path) else find_program(name)
    return run_warm([str(path), *map(str, arguments)], folder, _variables(environment), imports)


def run_command(
    *arguments: object,
    folder: Path = _ROOT,
    environment: Mapping[str, str] | None = None,
    imports: tuple[str, ...] = LIGHT,
) -> subprocess.CompletedProcess[str]:
    """Run the command `fathom` in the same way as :func:`run_program` a program."""
    return run_warm(["fathom.commands", *map(str, arguments)], folder, _variables(environment), imports)


def _variables(more: Mapping[str, str] | None) -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(_ROOT / "src")} | (more or {})


def run_snakemake(*arguments: str, folder: Path = _ROOT) -> subprocess.CompletedProcess[str]:
    """Run `snakemake` with arguments in a folder."""
    return run_warm(["snakemake", *arguments], folder, os.environ, SNAKEMAKE)


def run_warm(
    command: list[str],
    folder: Path,
    environment: Mapping[str, str],
    imports: tuple[str, ...],
    seconds: int = 600,
) -> subprocess.CompletedProcess[str]:
    """Run a file, or a module by its name, as a fork of a process that has imported packages."""
    with tempfile.TemporaryDirectory() as streams:
        out, err = Path(streams, "out"), Path(streams, "err")
        request = {
            "command": command, "folder": str(folder), "environment": dict(environment), "imports": imports,
            "streams": [os.devnull, str(out), str(err)], "seconds": seconds,
        }  # fmt: skip
        out.touch()
        err.touch()
        code = _ask(_start(imports), json.dumps(request))
        return subprocess.CompletedProcess(command, code, out.read_text(), err.read_text())


@cache
def _start(imports: tuple[str, ...]) -> subprocess.Popen[str]:
    """Start the process that has the imports; it ends with this one."""
    variables = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    server = subprocess.Popen(
        [sys.executable, str(_ROOT / "tests" / "warm_process.py")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=variables, cwd=_ROOT,
    )  # fmt: skip
    atexit.register(server.communicate)
    return server


def _ask(server: subprocess.Popen[str], request: str) -> int:
    assert server.stdin and server.stdout
    server.stdin.write(request + "\n")
    server.stdin.flush()
    answer = server.stdout.readline()
    assert answer, "the process that runs programs has ended; its message stands above"
    return int(answer)
