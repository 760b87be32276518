"""A remembered hash is believed only while the file is what it was."""

import os
import time
from pathlib import Path

import pytest

from fathom.io.files import hash_file, write_json
from fathom.jobs import file_contents as module
from fathom.jobs import file_hashes
from fathom.jobs.file_contents import is_unchanged, sample_content
from fathom.jobs.file_hashes import hash_once


@pytest.fixture
def hashed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Let files be large from three bytes on, and old enough; return the list of files that are hashed."""
    found: list[Path] = []

    def hash_and_note(path: Path) -> str:
        found.append(path)
        return hash_file(path)

    monkeypatch.setattr(file_hashes, "hash_file", hash_and_note)
    monkeypatch.setattr(file_hashes, "LARGE", 3)
    monkeypatch.setattr(file_hashes, "_SETTLED", -60.0)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return found


def test_a_large_file_is_hashed_once_under_all_its_names(tmp_path, hashed):
    (tmp_path / "file").write_bytes(b"weights")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    wanted = hash_file(tmp_path / "file")
    for name in ("file", "link", "file"):
        assert hash_once(tmp_path / name) == wanted
    assert hashed == [tmp_path / "file"]
    assert not list(tmp_path.glob(".*"))  # nothing beside the file


def test_another_size_or_time_is_hashed_again(tmp_path, hashed):
    file = tmp_path / "file"
    for place, content in enumerate((b"weights", b"more weights", b"less weights")):
        file.write_bytes(content)
        os.utime(file, (1, 1 + place // 2))  # the second has another size, the third another time
        assert hash_once(file) == hash_file(file)
    times = file.stat()
    time.sleep(0.05)
    file.write_bytes(b"LESS WEIGHTS")
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))  # as `cp -p` does
    assert hash_once(file) == hash_file(file)
    assert len(hashed) == 4


def test_a_damaged_memory_is_not_believed(tmp_path, hashed):
    file = tmp_path / "file"
    file.write_bytes(b"weights")
    wanted = hash_once(file)
    (memory,) = (tmp_path / "cache" / "fathom" / "hashes").iterdir()
    for damaged in ("", "{", "[]", "{}"):
        memory.write_text(damaged)
        assert hash_once(file) == wanted
    assert len(hashed) == 5


def test_small_files_new_files_and_a_read_only_place_are_not_remembered(tmp_path, hashed, monkeypatch):
    small, new = tmp_path / "small", tmp_path / "new"
    small.write_bytes(b"ab")
    new.write_bytes(b"abcd")
    monkeypatch.setattr(file_hashes, "_SETTLED", 60.0)
    for file in (small, new):
        assert hash_once(file) == hash_once(file) == hash_file(file)
    assert not (tmp_path / "cache").exists()
    monkeypatch.setattr(file_hashes, "_SETTLED", -60.0)
    (tmp_path / "cache").touch()  # no folder can be made here
    assert hash_once(new) == hash_file(new)


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
