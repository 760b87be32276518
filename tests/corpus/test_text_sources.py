"""Training text from data sets and files: what is read, what is left out, and what is refused."""

import gzip
import io
import tarfile
from pathlib import Path

import polars as pl
import pytest
from tests.programs import DATASETS, run_program
from tests.refusals import refuses

from fathom.config.corpus import TextSource
from fathom.config.section import check_values
from fathom.corpus.text_sources import gather_texts, read_rows, read_source
from fathom.io.contracts.corpus import TEXTS
from fathom.io.files import write_json_lines
from fathom.io.tables import read_table
from fathom.planning.rehearsal.hub_stub import serve_hub

WHERE = "models.texts.cs.AI"
LINES = ["the policy of an agent", "a reward", "two words"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a copy of a data set in two formats, plain files, archives, and a data set that is code."""
    write_json_lines(tmp_path / "lines/train.jsonl", [{"text": line, "n": 1} for line in LINES])
    (tmp_path / "table").mkdir()
    pl.DataFrame({"body": LINES, "n": [1, 2, 3]}).write_parquet(tmp_path / "table/train.parquet")
    (tmp_path / "a.txt").write_text("One.\nTwo.\n\nThree.\n")
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(b"Four.\n"))
    (tmp_path / "domain.tar.gz").write_bytes(
        make_archive({"cs.AI/train.txt": "\n".join(LINES), "x.txt": "no"})
    )
    (tmp_path / "code").mkdir()
    (tmp_path / "code/code.py").write_text("raise SystemExit(99)\n")
    (tmp_path / "bad.jsonl").write_text('{"text": "a"}\n{"text": \n')
    (tmp_path / "empty.jsonl").write_text("\n")
    return tmp_path


def make_archive(files: dict[str, str]) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return stream.getvalue()


def read(monkeypatch: pytest.MonkeyPatch, folder: Path, **settings: object) -> list[str | None]:
    monkeypatch.chdir(folder)
    return list(read_source(TextSource.model_validate(settings), WHERE))


def test_a_copy_of_a_data_set_plain_files_and_archives_are_read(monkeypatch, folder):
    assert read(monkeypatch, folder, dataset="lines") == LINES
    assert read(monkeypatch, folder, dataset="table", column="body") == LINES
    assert read(monkeypatch, folder, dataset="lines", files=["train.jsonl"]) == LINES
    archive = {"files": ["domain.tar.gz"], "member": "cs.AI/train.txt", "rows": "line"}
    assert read(monkeypatch, folder, **archive) == LINES
    documents = read(monkeypatch, folder, files=["a.txt", "b.txt.gz"])
    assert documents == ["One.\nTwo.\n\nThree.\n", "Four.\n"]
    assert read(monkeypatch, folder, files=["a.txt"], rows="paragraph") == ["One.\nTwo.", "Three.\n"]


@pytest.mark.parametrize(("settings", "message"), [
    ({"dataset": "lines", "column": "body"}, "unknown column 'body'"),
    ({"dataset": "lines", "column": "n"}, "column 'n' holds no text but int"),
    ({"dataset": "lines", "split": "test"}, "Available splits: ['train']\nHint: set `split`"),
    ({"dataset": "lines", "subset": "cs.CL"}, "BuilderConfig 'cs.CL' not found"),
    ({"dataset": "code"}, "its code is never run"),
    ({"files": ["bad.jsonl"]}, "bad.jsonl cannot be read: "),
    ({"files": ["empty.jsonl"]}, "split 'train' is empty"),
    ({"files": ["a.txt", "bad.jsonl"]}, "cannot read these files: .jsonl, .txt"),
    ({"files": ["domain.tar.gz"], "member": "cs.CL/train.txt"}, "Unable to find 'tar://cs.CL/train.txt"),
    ({"files": ["a.txt"], "member": "train.txt"}, "a.txt is not an archive"),
    ({"files": ["nothing.txt"]}, "nothing.txt cannot be read"),
])  # fmt: skip
def test_what_cannot_be_read_is_refused_with_its_key(monkeypatch, folder, settings, message):
    with refuses(WHERE, message):
        read(monkeypatch, folder, **settings)


@pytest.mark.parametrize(("settings", "message"), [
    ({}, "neither dataset nor files"),
    ({"dataset": "a/b", "revision": "main"}, "revision"),
    ({"files": ["a.txt"], "revision": "0" * 40}, "only a data set has one"),
    ({"dataset": "a/b", "member": "x"}, "it lies in archives"),
    ({"dataset": "a/b", "files": ["a.txt"], "subset": "x"}, "files say what is read"),
])  # fmt: skip
def test_settings_that_contradict_each_other_are_refused(settings, message):
    with refuses(message, "--settings"):
        check_values(settings, TextSource, "--settings")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("train.csv", b"text,text,n\none,two,3\n"),
        ("train.csv", b'\xef\xbb\xbf"n","text","text"\r\n3,one,two\r\n'),
        ("train.csv.gz", gzip.compress(b"text,text,n\none,two,3\n", mtime=0)),
        ("train.tsv", b"text\tn\ttext\none\t3\ttwo\n"),
        ("train.jsonl", b'{"text": "one", "text": "two"}\n'),
    ],
)
@pytest.mark.parametrize("keep", [False, True])
def test_a_column_twice_is_refused_by_name(monkeypatch, tmp_path, name, content, keep):
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / name).write_bytes(content)
    source = TextSource(dataset=str(tmp_path / "own"), split="train")
    with refuses("own", "text", "rename or remove one of them"):
        list(read_rows(source, WHERE, keep=keep))
    if name == "train.csv":
        with refuses(name, "text", "rename or remove one of them"):
            list(read_rows(TextSource(files=[str(tmp_path / "own" / name)]), WHERE))


def test_columns_that_are_numbered_are_read(tmp_path):
    (tmp_path / "train.csv").write_text("text,text.1\none,two\n")
    rows = list(read_rows(TextSource(dataset=str(tmp_path)), WHERE))
    assert rows == [{"text": "one", "text.1": "two"}]


def test_the_split_and_the_id_of_a_document_follow_from_its_text(caplog):
    caplog.set_level("INFO", "fathom")
    documents = [f"document {number}" for number in range(400)]
    texts = gather_texts([*documents, None, " \n", "document 7"], 0.1, 10**6, WHERE)
    assert sorted(texts["text"]) == sorted(documents)
    drawn = set(texts.filter(split="adapt-valid")["text"])
    assert 20 < len(drawn) < 60
    again = gather_texts(documents[200:], 0.1, 10**6, WHERE)
    assert set(again.filter(split="adapt-valid")["text"]) == drawn & {*documents[200:]}
    assert again.equals(gather_texts(reversed(documents[200:]), 0.1, 10**6, WHERE))
    assert "2 documents left out: empty" in caplog.text and "1 document left out: repeated" in caplog.text


def test_no_more_is_read_than_the_limit_takes():
    rows = iter(["a" * 60, "b" * 30, "c" * 30, "d" * 30])
    texts = gather_texts(rows, 0.0, 100, WHERE)
    assert set(texts["text"]) == {"a" * 60, "b" * 30} and list(rows) == ["d" * 30]
    # one document is taken though it is over the limit
    assert len(gather_texts(["a" * 200, "b"], 0.0, 100, WHERE)) == 1
    with refuses("row", "text"):
        gather_texts([None, ""], 0.0, 100, WHERE)


def test_a_data_set_of_the_hub_is_fetched_at_its_revision(tmp_path):
    with serve_hub() as hub:
        archive = make_archive({"cs.AI/train.txt": "\n".join(LINES)})
        old, _ = hub.add("org/set", {"cs.AI.tar.gz": archive}, {"cs.AI.tar.gz": b""})
        (locked,) = hub.add("org/gated", {"cs.AI.tar.gz": archive})
        hub.gated.add("org/gated")
        environment = {
            "HF_ENDPOINT": hub.address, "HF_HOME": str(tmp_path / "hub"), "HF_HUB_OFFLINE": "0",
            "HF_HUB_DISABLE_XET": "1",
        }  # fmt: skip

        def fetch(name: str, revision: str):
            source = TextSource(
                dataset=name, revision=revision, files=["cs.AI.tar.gz"], member="cs.AI/train.txt", rows="line"
            )
            return run_program(
                "fetch_texts", "--domain", "cs.AI", "--settings", source.model_dump_json(),
                "--max-characters", 1000, "--texts", tmp_path / "texts.parquet", environment=environment,
                    imports=DATASETS,
            )  # fmt: skip

        for arguments, message in [
            (("org/set", "0" * 40), f"org/set has no revision {'0' * 40}"),
            (("org/nothing", old), "org/nothing is not on the hub, or is private"),
            (("org/gated", locked), "org/gated is a gated dataset on the hub\nHint: ask for access"),
        ]:
            with refuses(f"Error: {WHERE}: {message}"):
                fetch(*arguments)
            assert not (tmp_path / "texts.parquet").exists()
        fetch("org/set", old)
        assert sorted(read_table(tmp_path / "texts.parquet", TEXTS)["text"]) == sorted(LINES)


def test_held_out_text_is_of_the_split_that_perplexity_reads(folder):
    source = TextSource(files=[str(folder / "domain.tar.gz")], member="cs.AI/train.txt", rows="line")
    run_program(
        "fetch_held_out", "--domain", "cs.AI", "--settings", source.model_dump_json(),
        "--max-characters", 1000, "--texts", folder / "texts.parquet", imports=DATASETS,
    )  # fmt: skip
    table = read_table(folder / "texts.parquet", TEXTS)
    assert sorted(table["text"]) == sorted(LINES)
    assert set(table["split"]) == {"adapt-test"}
