"""Check a wheel that is installed, and the sdist beside it: `make dist` runs this in a fresh environment."""

import subprocess
import sys
import tarfile
import tempfile
import time
from contextlib import redirect_stdout, suppress
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from random import Random

import fathom
from fathom.commands.main import main
from fathom.explorer.page import read_libraries
from fathom.figures import style
from fathom.io.places import find_root

_ROOT = Path(__file__).resolve().parents[1]
_LEFT_OUT = {".gitignore", ".editorconfig", ".pre-commit-config.yaml", "profiles", "slurm"}
"""Git's files and editors', and links."""
COMMAND = str(Path(sys.prefix) / "bin" / "fathom")
_VERBS = ("demo", "build", "run", "score", "best", "plan", "summary", "questions", "page", "export",
          "request", "models", "contamination", "check-gpu", "scores", "watch")  # fmt: skip


def check_package() -> None:
    """Check that the package is the installed one, and whole."""
    folder = Path(fathom.__file__).parent
    assert folder.is_relative_to(sys.prefix), folder
    source = _ROOT / "src" / "fathom"
    files = {path.relative_to(source) for path in source.rglob("*") if path.is_file()}
    files = {path for path in files if "__pycache__" not in path.parts}
    wrong = [path for path in files if (folder / path).read_bytes() != (source / path).read_bytes()]
    assert not wrong, wrong
    for name in ("Snakefile", "config", "envs", "scripts", "workflow"):
        for path in [_ROOT / name] if name == "Snakefile" else (_ROOT / name).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                assert (find_root() / path.relative_to(_ROOT)).read_bytes() == path.read_bytes(), path
    assert read_libraries(".js")
    assert Path(style.__file__).with_name("fathom.mplstyle").is_file()


def check_command() -> None:
    """Check that the command and all its verbs explain themselves."""
    done = run([COMMAND, "--version"], Path(sys.prefix))
    assert done.stdout == f"fathom {fathom.__version__}\n"
    for verb in _VERBS:
        with suppress(SystemExit), redirect_stdout(StringIO()) as shown:
            main([verb, "--help"])
        assert shown.getvalue().startswith(f"usage: fathom {verb} "), verb


def check_pages(folder: Path) -> float:
    """Check that a page is made of 10,000 scores without a model's packages; return its seconds."""
    assert not find_spec("torch") and not find_spec("transformers") and not find_spec("snakemake")
    draw = Random(1)
    rates = {"a": 0.5, "b": 0.55, "c": 0.6, "d": 0.8}
    lines = [
        f"{model},{item},{int(draw.random() < rate)}" for model, rate in rates.items() for item in range(2500)
    ]
    (folder / "log.csv").write_text("\n".join(["model,item,score", *lines]))
    run([COMMAND, "scores", "direct=log.csv", "--output", "scores"], folder)
    start = time.monotonic()
    run([COMMAND, "page", "log.csv"], folder)
    seconds = time.monotonic() - start
    assert (folder / "log.csv.html").stat().st_size > 100_000
    for words, extra in (
        (["score", "gpt2", "log.csv"], "models"),
        (["build", "texts", "--models", "a"], "workflow"),
    ):
        done = run([COMMAND, *words], folder, code=1)
        assert f"fathom-lm[{extra}]" in done.stderr and "Traceback" not in done.stderr, done.stderr
    return seconds


def run(words: list[str], folder: Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder, and check its exit code."""
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    assert done.returncode == code, done.stdout + done.stderr
    return done


def measure_packages() -> int:
    """Return the megabytes of all that is installed but for pip, which an environment has from the start."""
    place = Path(fathom.__file__).parents[1]
    files = (path for path in place.rglob("*") if path.is_file())
    sizes = [
        path.stat().st_size
        for path in files
        if not path.relative_to(place).parts[0].startswith(("pip", "setuptools"))
    ]
    return round(sum(sizes) / 1e6)


def check_sdist(file: Path) -> int:
    """Check that the sdist has every file that git knows, but for its own; return how many."""
    with tarfile.open(file) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    done = subprocess.run(["git", "ls-files"], cwd=_ROOT, capture_output=True, text=True, check=True)
    tracked = set(done.stdout.splitlines()) - _LEFT_OUT
    assert not tracked - names, sorted(tracked - names)
    return len(tracked)


if __name__ == "__main__":
    check_package()
    check_command()
    with tempfile.TemporaryDirectory() as folder:
        seconds = check_pages(Path(folder))
    (sdist,) = Path(sys.argv[1]).glob("fathom_lm-*.tar.gz")
    count = check_sdist(sdist)
    print(f"fathom {fathom.__version__}: the wheel is whole, and runs; the sdist has {count} files.")
    print(f"Without extras: {measure_packages()} MB installed, {seconds:.1f} s for a page of 10,000 scores.")
