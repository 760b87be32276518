"""Check that an installed workflow runs without a clone: `make dist` runs this in a fresh environment."""

import shutil
import sys
import tempfile
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(_ROOT))

from tests.check_installed import COMMAND, run  # noqa: E402
from tests.tiny import make_byte_tokenizer, make_config, make_model  # noqa: E402

_PAGES = ("pipeline", "scoring", "ranking", "coverage", "corpus", "contamination", "layers", "questions",
          "compare", "following", "claims", "models")  # fmt: skip
_COLUMNS = ("name", "family", "source", "revision", "kind", "base_of", "parameters", "tokens", "dtype")


def write_place(folder: Path) -> None:
    """Write documents, and a tiny model under the name of one that would have to be downloaded."""
    (folder / "docs").mkdir()
    for name in _PAGES:
        shutil.copy2(_ROOT / "docs" / f"{name}.md", folder / "docs")
    tokenizer = make_byte_tokenizer([path.read_text() for path in (folder / "docs").iterdir()], 2000)
    model = make_model(make_config("gpt2", len(tokenizer), 256, width=16, heads=2, layers=1))
    model.save_pretrained(folder / "model")
    tokenizer.save_pretrained(folder / "model")
    (folder / "config").mkdir()
    row = ("SmolLM2-135M-Instruct-Q4_1", "tiny", str(folder / "model"), "", "chat", "", "5000", "", "float32")
    (folder / "config" / "models.tsv").write_text("\t".join(_COLUMNS) + "\n" + "\t".join(row) + "\n")


def main() -> None:
    """Plan the demo in an empty folder, and go from documents to the page."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        planned = run([COMMAND, "plan"], folder).stdout
        assert "train_model" in planned and " jobs, " in planned, planned
        run([COMMAND, "run", "-n", "-c1", "--quiet", "all", "--configfile", "config/courses.yaml"], folder)
        run([COMMAND, "run", "-n", "--profile", "slurm", "--quiet", "all"], folder)
        refused = run([COMMAND, "run", "-n", "-c1", "--sdm", "conda"], folder, code=1)
        assert "clone" in refused.stderr, refused.stderr
        write_place(folder)
        shutil.copytree(folder / "model", folder / "own")
        done = run([COMMAND, "build", "docs", "--models", "./own,smollm2", "--yes"], folder)
        page = folder / "results" / "docs" / "index.html"
        assert f"Page: {page.relative_to(folder)}" in done.stdout and page.stat().st_size > 100_000
        again = run([COMMAND, "run", "-c1", "--configfile", "docs.yaml"], folder)
        assert "Nothing to be done" in again.stdout + again.stderr
        assert "./own" in (folder / "results" / "docs" / "models.tsv").read_text()
        assert "summary" in run([COMMAND, "summary", "results/docs"], folder).stdout
    print("The workflow plans the demo, and goes from documents to the page, without a clone.")


if __name__ == "__main__":
    main()
