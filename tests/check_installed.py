"""Check a wheel that is installed, and the sdist beside it: `make dist` runs this in a fresh environment."""

import subprocess
import sys
import tarfile
import tempfile
from contextlib import redirect_stdout, suppress
from importlib.util import find_spec
from io import StringIO
from pathlib import Path

import fathom
from fathom.commands.main import main
from fathom.explorer.page import read_libraries
from fathom.figures import style

_ROOT = Path(__file__).resolve().parents[1]
_LEFT_OUT = {".gitignore", ".editorconfig", ".pre-commit-config.yaml", "slurm"}
"""Git's files and editors', and a link."""
_VERBS = ("build", "score", "best", "plan", "summary", "questions", "page", "export", "request",
          "contamination", "check-gpu", "scores", "watch")  # fmt: skip


def check_package() -> None:
    """Check that the package is the installed one, and whole."""
    folder = Path(fathom.__file__).parent
    assert folder.is_relative_to(sys.prefix), folder
    source = _ROOT / "src" / "fathom"
    files = {path.relative_to(source) for path in source.rglob("*") if path.is_file()}
    files = {path for path in files if "__pycache__" not in path.parts}
    wrong = [path for path in files if (folder / path).read_bytes() != (source / path).read_bytes()]
    assert not wrong, wrong
    assert read_libraries(".js")
    assert Path(style.__file__).with_name("fathom.mplstyle").is_file()


def check_command() -> None:
    """Check that the command and all its verbs explain themselves."""
    command = Path(sys.prefix) / "bin" / "fathom"
    done = subprocess.run([command, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"fathom {fathom.__version__}\n"
    for verb in _VERBS:
        with suppress(SystemExit), redirect_stdout(StringIO()) as shown:
            main([verb, "--help"])
        assert shown.getvalue().startswith(f"usage: fathom {verb} "), verb


def check_scoring() -> None:
    """Check that a tiny model is scored, by the library's own requirements; the workflow's are named."""
    from tests.tiny import make_byte_tokenizer, make_config, make_model

    assert not find_spec("snakemake") and not find_spec("spacy")
    text = "The agent learns a policy"
    with tempfile.TemporaryDirectory() as folder:
        tokenizer = make_byte_tokenizer([text], 270)
        tokenizer.save_pretrained(folder)
        ends = {"bos_token_id": tokenizer.eos_token_id, "eos_token_id": tokenizer.eos_token_id}
        make_model(make_config("gpt2", len(tokenizer), 64, **ends)).save_pretrained(folder)
        # targets alike, whose forms are compared
        pairs = [{"prompt": "The agent learns a", "target": target} for target in (" policy", " policies")]
        scores = fathom.score(folder, pairs)
    assert scores["rank"].is_between(1, len(tokenizer)).all() and len(scores) == 2
    command = Path(sys.prefix) / "bin" / "fathom"
    words = [command, "build", "texts", "--models", "gpt2", "--yes"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    assert "fathom-lm[workflow]" in done.stderr and "Traceback" not in done.stderr, done.stderr


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
    sys.path.append(str(_ROOT))
    check_scoring()
    (sdist,) = Path(sys.argv[1]).glob("fathom_lm-*.tar.gz")
    count = check_sdist(sdist)
    print(f"fathom {fathom.__version__}: the wheel is whole, runs and scores; the sdist has {count} files.")
