"""Whether an input file changed is told by its content."""

import os
from pathlib import Path

import pytest

from fathom.io.files import hash_file, write_json
from fathom.jobs import file_contents as module
from fathom.jobs.file_contents import is_unchanged, sample_content


@pytest.fixture
def read(tmp_path: Path) -> tuple[Path, Path, Path]:
    """Return a file, the report on it, and where its hash would be kept; the file's date is the newer one."""
    path, report, memory = (tmp_path / name for name in ("a.jsonl", "a.json", "dates/a.json"))
    path.write_bytes(b"x" * 300_000)
    write_json(report, {"input": {"bytes": 300_000, "sha256": hash_file(path)}})
    touch(path, 100)
    return path, report, memory


def touch(path: Path, seconds: int) -> None:
    now = path.stat().st_mtime
    os.utime(path, (now + seconds, now + seconds))


def test_a_new_date_on_equal_bytes_is_no_change(read):
    assert is_unchanged(*read)
    assert read[2].is_file()


def test_the_file_is_hashed_once_for_each_date(read, monkeypatch):
    assert is_unchanged(*read)
    monkeypatch.setattr(module, "hash_file", lambda path: "read again")
    assert is_unchanged(*read)
    touch(read[0], 100)
    assert not is_unchanged(*read)


@pytest.mark.parametrize("content", [b"x" * 300_001, b"x" * 100_000 + b"y" + b"x" * 199_999])
def test_other_bytes_are_a_change(read, content):
    read[0].write_bytes(content)
    touch(read[0], 100)
    assert not is_unchanged(*read)


def test_without_a_report_or_with_an_older_date_there_is_nothing_to_say(read):
    touch(read[0], -1000)
    assert not is_unchanged(*read)
    read[1].unlink()
    assert not is_unchanged(*read)


def test_a_sample_is_of_content_alone(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(os.urandom(1_000_000))
    before = sample_content(path)
    touch(path, 50)
    assert sample_content(path) == before
    content = bytearray(path.read_bytes())
    for place in (0, 500_000, 999_999):
        content[place] ^= 1
        path.write_bytes(content)
        assert sample_content(path) != before
        content[place] ^= 1
    path.write_bytes(content + b"x")
    assert sample_content(path) != before
    path.write_bytes(b"")
    assert sample_content(path).startswith("0 ")
