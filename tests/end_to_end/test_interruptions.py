"""Disks, folders and inputs that fail while the workflow runs: one message, nothing lost or half-written."""

import base64
import gzip
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import orjson
import polars as pl
import pytest
import zstandard
from tests.commands.test_build import write_folder
from tests.end_to_end.project import ROOT, copy_project, find_warm_python, run_snakemake, write_tiny_config
from tests.explorer.runs import write_run
from tests.programs import find_program, run_command

from fathom.io.contracts.corpus import SENTENCES, TEXTS
from fathom.io.files import hash_file, hash_folder
from fathom.io.tables import make_empty_table, write_table

INDEX = "results/tiny/corpus/index.parquet"
DOCUMENTS = 60
# longer than what the language of a text is judged by
ENGLISH = "The model is fitted to the data, and its errors are compared with those of a plain mean. " * 20


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a copy of the project with two shards of text most of which does not compress."""
    folder = copy_project(tmp_path)
    (folder / "input").mkdir()
    for name in ("a.jsonl", "b.jsonl.gz"):
        lines = b"".join(
            orjson.dumps({"id": f"{name}-{number}", "abstract": "On it.", "categories": ["near", "far"],
                          "text": f"{ENGLISH} {os.urandom(12_000).hex()}"}) + b"\n"
            for number in range(DOCUMENTS)
        )  # fmt: skip
        (folder / "input" / name).write_bytes(gzip.compress(lines, mtime=0) if name.endswith("gz") else lines)
    return folder


def read_corpus(folder: Path, *arguments: str, code: int | None = 0) -> subprocess.CompletedProcess[str]:
    """Run the workflow up to the index."""
    config = write_tiny_config(folder, sorted((folder / "input").iterdir()))
    return run_snakemake(folder, "-c1", *arguments, "--configfile", config, "--", INDEX, code=code)


def count_documents(folder: Path) -> dict[str, int]:
    """Return the documents of each part that has its final name; each must be readable."""
    paths = (folder / "results").rglob("documents/*.parquet")
    return {path.name.removesuffix(".parquet"): len(pl.read_parquet(path)) for path in paths}


def hash_corpus(folder: Path) -> dict[str, str]:
    """Return the hashes of what a run wrote of its corpus, but for logs and timings."""
    top = folder / "results" / "tiny" / "corpus"
    return {str(path.relative_to(top)): hash_file(path) for path in top.rglob("*") if path.is_file()}


def check_message(done: subprocess.CompletedProcess[str], *texts: str) -> None:
    """Check that a run failed with these texts and without a traceback."""
    assert done.returncode != 0
    for text in (*texts, "Hint: "):
        assert text in done.stderr, done.stderr
    assert "Traceback" not in done.stderr
    assert "Logging error" not in done.stderr


@contextmanager
def mount(folder: Path, *options: str) -> Iterator[None]:
    """Mount something on a folder; skip where that is not allowed."""
    folder.mkdir(parents=True, exist_ok=True)
    command = ["mount", *options, str(folder)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("needs the right to mount a file system")
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_stops_the_run_which_goes_on_when_there_is_space(project):
    results = project / "results"
    with mount(results, "-t", "tmpfs", "-o", "size=1200k", "none"):
        check_message(
            read_corpus(project, code=None), "no space left on the disk while writing", "free some space"
        )
        assert set(count_documents(project).values()) <= {DOCUMENTS}
        assert not [path for path in results.rglob("*") if path.name.endswith((".tmp", ".temporary"))]
        subprocess.run(["mount", "-o", "remount,size=100m", str(results)], check=True)
        read_corpus(project)
        assert count_documents(project) == {"a.jsonl": DOCUMENTS, "b.jsonl.gz": DOCUMENTS}


@pytest.mark.parametrize(
    ("program", "arguments"),
    [("embed_sentences.py", ["--report", "r.json"]),
     ("train_tokenizer.py", ["--settings", '{"domain": "near"}'])],
)  # fmt: skip
def test_libraries_that_do_not_name_a_full_disk_are_understood(program, arguments, tmp_path):
    words = [" ".join(f"{os.urandom(3).hex()}" for _ in range(8)) for _ in range(400)]
    if program == "embed_sentences.py":
        table = {"doc_id": ["a"] * 400, "position": range(400), "sentence": words, "clean": words,
                 "row": range(400)}  # fmt: skip
        frame = pl.DataFrame(table, schema=make_empty_table(SENTENCES).schema)
        write_table(tmp_path / "t.parquet", frame, SENTENCES)
        given = ["--sentences", "t.parquet", "--embeddings", "full/e.npy"]
    else:
        texts = {"doc_id": [str(n) for n in range(400)], "split": ["adapt-train"] * 400, "text": words}
        write_table(tmp_path / "t.parquet", pl.DataFrame(texts), TEXTS)
        given = ["--texts", "t.parquet", "--tokenizer", "full/tokenizer"]
    with mount(tmp_path / "full", "-t", "tmpfs", "-o", "size=40k", "none"):
        done = subprocess.run(
            [find_warm_python(), str(find_program(program)), *given, *arguments],
            cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT / "src")}, capture_output=True, text=True,
        )  # fmt: skip
        check_message(done, "no space left on the disk while writing", "full/")
        assert list((tmp_path / "full").iterdir()) == []


def test_a_page_on_a_full_disk_leaves_nothing(tmp_path):
    write_run(tmp_path / "run")
    before = hash_folder(tmp_path / "run")
    with mount(tmp_path / "full", "-t", "tmpfs", "-o", "size=100k", "none"):
        options = ["page", tmp_path / "run", "--output", tmp_path / "full" / "page.html"]
        check_message(run_command(*options, code=1), "no space left on the disk while writing", "page.html")
        assert list((tmp_path / "full").iterdir()) == []
    with Path("/dev/full").open("w") as full:
        command = [find_warm_python(), "-m", "fathom.commands", "summary", str(tmp_path / "run")]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1 and "no space left" in done.stderr
    assert "Traceback" not in done.stderr and hash_folder(tmp_path / "run") == before


def test_a_log_that_finds_no_space_is_no_traceback_for_each_of_its_lines(project):
    notes = project / ".snakemake"
    with mount(project.parent / "log", "-t", "tmpfs", "-o", "size=4k", "none"):
        (project.parent / "log" / "filled").write_bytes(bytes(4096))
        notes.mkdir(exist_ok=True)
        (notes / "log").symlink_to(project.parent / "log")
        done = read_corpus(project)
    assert "Logging error" not in done.stderr
    assert count_documents(project) == {"a.jsonl": DOCUMENTS, "b.jsonl.gz": DOCUMENTS}


@pytest.mark.parametrize("filled", [16, 12])
def test_a_build_on_a_full_disk_ends_with_one_message(tmp_path, filled):
    """Either its configuration has no place, or the notes of Snakemake have none."""
    write_folder(tmp_path, law=30)
    with mount(tmp_path / "own", "-t", "tmpfs", "-o", "size=16k", "none"):
        (tmp_path / "own" / "filled").write_bytes(bytes(filled << 10))
        options = ["build", tmp_path / "texts", "--models", "smollm2", "--yes"]
        command = [find_warm_python(), "-m", "fathom.commands", *map(str, options)]
        done = subprocess.run(command, cwd=tmp_path / "own", capture_output=True, text=True)
        check_message(done, "no space left on the disk")
        assert done.stderr.count("Error") == 1
        left = {path.name for path in (tmp_path / "own").iterdir() if path.is_file()}
        assert left == ({"filled"} if filled == 16 else {"filled", "texts.yaml"})


def test_a_run_that_is_cut_twice_has_the_bytes_of_one_that_was_not(project):
    read_corpus(project)
    whole = hash_corpus(project)
    shutil.rmtree(project / "results")
    shutil.rmtree(project / ".snakemake")
    config = project / "config" / "tiny.yaml"
    command = [
        sys.executable,
        "-m",
        "fathom.commands",
        "run",
        "-c1",
        "--configfile",
        str(config),
        "--",
        INDEX,
    ]
    # a terminal tells all processes, `kill` one
    for kind, tell, parts in ((signal.SIGINT, os.killpg, 0), (signal.SIGTERM, os.kill, 1)):
        variables = os.environ | {"PYTHONPATH": str(project / "src")}
        with subprocess.Popen(
            command, cwd=project, env=variables, stderr=subprocess.PIPE, text=True, start_new_session=True
        ) as cut:
            while not (list(project.glob(".snakemake/locks/*")) and len(count_documents(project)) >= parts):
                assert cut.poll() is None, "it ended before it was cut"
                time.sleep(0.02)
            tell(cut.pid, kind)
            try:
                cut.communicate(timeout=300)
            finally:
                if cut.poll() is None:  # else leaving the block would wait for ever
                    os.killpg(cut.pid, signal.SIGKILL)
        assert cut.returncode == 128 + kind
        assert not list(project.glob(".snakemake/locks/*"))
        assert set(count_documents(project).values()) <= {DOCUMENTS}
    read_corpus(project)
    assert hash_corpus(project) == whole


def test_a_read_only_results_folder_is_named(project):
    read_corpus(project)
    shutil.copy(project / "input" / "a.jsonl", project / "input" / "c.jsonl")
    before = count_documents(project)
    with mount(project / "results", "--bind", str(project / "results")):
        subprocess.run(["mount", "-o", "remount,ro,bind", str(project / "results")], check=True)
        check_message(read_corpus(project, code=None), "results/tiny: this folder cannot be written")
    assert count_documents(project) == before


def test_shards_that_are_cut_off_are_named_and_the_others_go_on(project):
    folder = project / "input"
    lines = (folder / "a.jsonl").read_bytes()
    (folder / "c.jsonl.zst").write_bytes(zstandard.ZstdCompressor().compress(lines))
    whole = {path: path.read_bytes() for path in sorted(folder.iterdir())}
    (folder / "d.jsonl").write_bytes(lines)
    for path, content in whole.items():
        path.write_bytes(content[: len(content) // 2])
    done = read_corpus(project, "--keep-going", code=None)
    for path in whole:
        check_message(done, f"input/{path.name}: the ", "cut off", "get the file again")
    assert count_documents(project) == {"d.jsonl": DOCUMENTS}
    assert not (project / INDEX).exists()
    for path, content in whole.items():
        path.write_bytes(content)
    read_corpus(project)
    assert count_documents(project) == {path.name: DOCUMENTS for path in folder.iterdir()}


@contextmanager
def download(path: Path) -> Iterator[None]:
    """Append to a file every millisecond, blank lines, as if its download were still at work."""
    ended = threading.Event()

    def append() -> None:
        with path.open("ab", buffering=0) as stream:
            while not ended.wait(0.001):
                stream.write(b"\n")

    thread = threading.Thread(target=append)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def test_a_shard_that_changes_while_it_is_read_is_named_and_the_others_go_on(project):
    with download(project / "input" / "a.jsonl"):
        done = read_corpus(project, "--keep-going", code=None)
    check_message(
        done, "input/a.jsonl: the file changed while it was read", "wait until its download or copy"
    )
    assert count_documents(project) == {"b.jsonl.gz": DOCUMENTS}
    assert not (project / INDEX).exists()
    read_corpus(project)
    assert count_documents(project) == {"a.jsonl": DOCUMENTS, "b.jsonl.gz": DOCUMENTS}


def test_a_second_snakemake_is_turned_away_and_harms_nothing(project):
    config = write_tiny_config(project, sorted((project / "input").iterdir()))
    command = [sys.executable, "-m", "snakemake", "-c1", "--configfile", str(config), "--", INDEX]
    with subprocess.Popen(command, cwd=project, stderr=subprocess.DEVNULL) as first:
        while not any(lock.stat().st_size for lock in project.glob(".snakemake/locks/*output*")):
            assert first.poll() is None, "the first run ended before it was seen"
            time.sleep(0.02)
        first.send_signal(signal.SIGSTOP)  # it waits until the second one has ended, however slow that is
        try:
            second = read_corpus(project, code=None)
        finally:
            first.send_signal(signal.SIGCONT)
        assert first.wait(timeout=300) == 0
    check_message(second, f"{project}: this folder is locked: another Snakemake is running", "--unlock")
    assert "Directory cannot be locked" in second.stderr
    assert count_documents(project) == {"a.jsonl": DOCUMENTS, "b.jsonl.gz": DOCUMENTS}


def test_after_a_kill_the_same_command_goes_on_once_the_folder_is_unlocked(project):
    read_corpus(project)
    locks, incomplete = (project / ".snakemake" / name for name in ("locks", "incomplete"))
    # as a run leaves it that is killed when it has written a file, and has not noted yet that it is whole
    locks.mkdir(exist_ok=True)
    (locks / "0.output.lock").write_text(INDEX + "\n")
    (incomplete / base64.urlsafe_b64encode(INDEX.encode()).decode()).write_text("{}")
    (project / INDEX).write_bytes(b"half")
    check_message(
        read_corpus(project, code=None), "this folder is locked: another Snakemake is running in it"
    )
    read_corpus(project, "--unlock")
    assert "this folder is locked" not in read_corpus(project).stderr
    assert len(pl.read_parquet(project / INDEX)) == 2 * DOCUMENTS


def test_two_programs_that_write_one_file_leave_a_whole_one(project, tmp_path):
    script = [find_warm_python(), str(find_program("read_jsonlines")), "--shard", "input/a.jsonl"]
    settings = '{"domains": {"near": {"categories": ["near"]}}}'
    command = [*script, "--settings", settings, "--documents", "o/a.parquet", "--report", "o/a.json"]
    variables = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    hashes = set()
    for together in (1, 3):
        jobs = [subprocess.Popen(command, cwd=project, env=variables) for _ in range(together)]
        assert [job.wait(timeout=120) for job in jobs] == [0] * together
        hashes.add(hash_file(project / "o" / "a.parquet"))
    assert len(hashes) == 1
    assert sorted(path.name for path in (project / "o").iterdir()) == ["a.json", "a.parquet"]


def test_content_and_not_the_date_says_whether_a_shard_is_read_again(project):
    read_corpus(project)
    shard = project / "input" / "a.jsonl"
    assert shard.stat().st_size > 1_000_000, "snakemake itself compares the content of small files"
    os.utime(shard)
    assert "Nothing to be done" in read_corpus(project, "-n").stdout
    changed = shard.read_bytes().replace(b"On it.", b"At it.", 1)
    shard.write_bytes(changed)
    assert "read_jsonlines" in read_corpus(project, "-n").stdout
    os.utime(shard, (1_000_000_000, 1_000_000_000))
    assert "read_jsonlines" in read_corpus(project, "-n").stdout
    read_corpus(project)
    assert "Nothing to be done" in read_corpus(project, "-n").stdout
