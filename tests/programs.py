"""The programs of the workflow: where they lie, and how a test runs one without paying for its imports."""

import atexit
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from fathom.errors import InputError

_ROOT = Path(__file__).resolve().parents[1]
_SCRIPTS = _ROOT / "scripts"
LIGHT = ("argparse", "numpy", "orjson", "pydantic", "yaml")
"""What nearly every program imports; polars, whose threads do not survive a fork, is imported after it."""
STATISTICS = (
    *LIGHT, "scipy.stats", "matplotlib.figure", "matplotlib.backends.backend_pdf",
    "matplotlib.backends.backend_agg",
)  # fmt: skip
"""What programs import that compare models or rankings, or draw them."""
DATASETS = (*LIGHT, "torch", "pandas", "pyarrow.dataset", "aiohttp")
"""What `datasets` imports; not itself, nor transformers: when imported, they read where the hub is."""
SNAKEMAKE = (
    "argparse", "orjson", "pydantic", "yaml", "snakemake.cli", "snakemake_executor_plugin_slurm",
    "pandas", "requests", "smart_open", "jinja2", "docutils.core", "snakemake.report.html_reporter",
)  # fmt: skip
"""What a dry run of Snakemake imports."""
MODELS = (
    *SNAKEMAKE, *STATISTICS, "torch", "accelerate", "aiohttp", "gensim.models.phrases", "peft",
    "pyarrow.dataset", "safetensors.torch", "sklearn.decomposition", "sklearn.feature_extraction.text",
    "spacy", "transformers.models.auto.modeling_auto", "transformers.models.bert.modeling_bert",
    "transformers.models.gpt2.modeling_gpt2", "transformers.models.llama.modeling_llama",
    "transformers.trainer",
)  # fmt: skip
"""What programs import that load, tune or embed with a model, and a run of the workflow with all its jobs.

One process for all of them: each start of PyTorch and transformers costs as much as many programs.
"""


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
    code: int | None = 0,
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
    code : int, optional
        The exit code that it has to have; None: any.

    Raises
    ------
    InputError
        If it ends with a message instead.
    """
    path = name if isinstance(name, Path) else find_program(name)
    done = _run([str(path), *map(str, arguments)], folder, environment, imports)
    return _check(done, code)


def run_command(
    *arguments: object,
    folder: Path = _ROOT,
    environment: Mapping[str, str] | None = None,
    imports: tuple[str, ...] = LIGHT,
    code: int | None = 0,
) -> subprocess.CompletedProcess[str]:
    """Run the command `fathom` in the same way as :func:`run_program` a program."""
    done = _run(["-m", "fathom.commands", *map(str, arguments)], folder, environment, imports)
    return _check(done, code)


def run_snakemake(
    *arguments: object, folder: Path = _ROOT, code: int | None = 0
) -> subprocess.CompletedProcess[str]:
    """Run `snakemake` with arguments in a folder in the same way."""
    return _check(_run(["-m", "snakemake", *map(str, arguments)], folder, None, SNAKEMAKE), code)


def _check(done: subprocess.CompletedProcess[str], code: int | None) -> subprocess.CompletedProcess[str]:
    said = done.stderr + done.stdout
    if code == 0 and done.returncode == 1 and "Traceback" not in done.stderr:
        raise InputError(said)
    assert code in (None, done.returncode), said
    return done


def _run(
    command: list[str], folder: Path, environment: Mapping[str, str] | None, imports: tuple[str, ...]
) -> subprocess.CompletedProcess[str]:
    variables = os.environ | {"PYTHONPATH": str(_ROOT / "src")} | (environment or {})
    return subprocess.run(
        [find_python(imports), *command],
        cwd=folder, env=variables, capture_output=True, text=True, timeout=900,
    )  # fmt: skip


@cache
def find_python(imports: tuple[str, ...] = LIGHT, **environment: str) -> str:
    """Return an executable that runs files and modules as Python does, but has packages imported already.

    It is a file `python` in a folder of its own, the client of a process that ends with this one.

    Parameters
    ----------
    imports : tuple of str
        Packages.
    **environment : str
        What that process has to have in its environment from the start, as PYTHONHASHSEED, else 0.
    """
    folder = Path(tempfile.mkdtemp(prefix="python-"))
    address, executable = str(folder / "socket"), folder / "python"
    server = _ROOT / "tests" / "warm_process.py"
    executable.write_text(
        f"#!{sys.executable} -IS\nimport sys\nsys.path.append({str(server.parent)!r})\n"
        f"from warm_process import ask\nask({address!r}, {str(executable)!r})\n"
    )
    executable.chmod(0o755)
    # what programs set before they import transformers: no test needs the network
    variables = {**os.environ, "HF_HUB_OFFLINE": "1", "PYTHONHASHSEED": "0", **environment}
    variables.pop("PYTHONPATH", None)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        process = subprocess.Popen(
            [sys.executable, str(server), str(listener.fileno()), *imports],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, pass_fds=[listener.fileno()], env=variables,
        )  # fmt: skip
    atexit.register(_end, process, folder)
    return str(executable)


def _end(process: subprocess.Popen[bytes], folder: Path) -> None:
    process.communicate()
    shutil.rmtree(folder)
