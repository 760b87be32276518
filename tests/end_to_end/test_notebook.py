"""The notebook of the documentation runs from first to last, with a tiny model for the real one."""

import json
import os
import re
import shutil
import subprocess
import sys
from html import unescape
from pathlib import Path

import nbformat
import pytest
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from tests.end_to_end.project import find_warm_python
from tests.tables import MODEL_COLUMNS
from tests.tiny import make_byte_tokenizer, make_config, make_model

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = ("pipeline", "scoring", "ranking", "coverage", "corpus", "contamination", "layers", "questions",
         "compare", "following", "claims", "models")  # fmt: skip


def write_place(folder: Path) -> None:
    """Write what the notebook finds in its working folder: pages of the documentation, a table of models."""
    (folder / "docs").mkdir()
    for name in PAGES:
        shutil.copy2(DOCS / f"{name}.md", folder / "docs")
    tokenizer = make_byte_tokenizer([(DOCS / f"{name}.md").read_text() for name in PAGES], 2000)
    model = make_model(make_config("gpt2", len(tokenizer), 256, width=16, heads=2, layers=1))
    model.save_pretrained(folder / "model")
    tokenizer.save_pretrained(folder / "model")
    (folder / "config").mkdir()
    row = ("SmolLM2-135M-Instruct-Q4_1", "tiny", str(folder / "model"), "", "chat", "", "5000", "", "float32")
    (folder / "config" / "models.tsv").write_text("\t".join(MODEL_COLUMNS) + "\n" + "\t".join(row) + "\n")


def read_output(cell: nbformat.NotebookNode, kind: str = "text/plain") -> str:
    """Return what a cell showed last."""
    return next(each.data[kind] for each in reversed(cell.outputs) if "data" in each)


def make_client(folder: Path, notebook: nbformat.NotebookNode) -> NotebookClient:
    """Return what runs a notebook in a folder."""
    spec = folder / "kernels" / "warm"
    spec.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    # what it starts has its packages imported already
    command += [f"--IPKernelApp.exec_lines=import sys; sys.executable = {find_warm_python()!r}"]
    kernel = {"argv": command, "display_name": "warm", "language": "python"}
    (spec / "kernel.json").write_text(json.dumps(kernel))
    manager = AsyncKernelManager(kernel_name="warm")
    manager.kernel_spec_manager = KernelSpecManager(kernel_dirs=[str(spec.parent)])
    place = {"metadata": {"path": str(folder)}}
    return NotebookClient(notebook, km=manager, timeout=300, startup_timeout=200, resources=place)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return the folder after the notebook has run, and the notebook with what it showed."""
    folder = tmp_path_factory.mktemp("notebook")
    write_place(folder)
    notebook = nbformat.read(DOCS / "notebook.ipynb", 4)
    make_client(folder, notebook).execute(env=os.environ | {"HF_HUB_OFFLINE": "1"})
    return folder, [cell for cell in notebook.cells if cell.cell_type == "code"]


def test_it_says_what_it_finds_and_ends_with_the_page(folder):
    place, (found, scored, shown, pairs) = folder
    assert f"{len(PAGES)} files" in read_output(found)
    said = "".join(each.get("text", "") for each in scored.outputs)
    assert "Configuration: docs.yaml" in said and "(100%) done" in said
    frame = read_output(shown, "text/html")
    page = (place / "results" / "docs" / "index.html").read_text()
    assert unescape(re.fullmatch(r'<iframe .* srcdoc="(.*)"></iframe>', frame, re.S)[1]) == page
    assert "allow-same-origin" not in frame
    assert "keyword" in read_output(pairs)


def test_the_command_after_it_has_nothing_to_do(folder):
    place, _ = folder
    page = place / "results" / "docs" / "index.html"
    before = page.stat().st_mtime_ns
    done = subprocess.run(
        [find_warm_python(), "-m", "fathom.commands", "build", "docs", "--models", "smollm2", "--yes"],
        cwd=place, env=os.environ | {"HF_HUB_OFFLINE": "1"}, stdin=subprocess.DEVNULL, capture_output=True,
        text=True,
    )  # fmt: skip
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert "docs.yaml (as it was)" in said and "Nothing to be done" in said
    assert page.stat().st_mtime_ns == before
