"""Atomic writing, compressed reading, and hashes."""

import bz2
import errno
import gzip
import hashlib
import io
import lzma
import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.refusals import refuses

from fathom.errors import InputError
from fathom.io import files


def _left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_appears_under_its_final_name_only_when_complete(tmp_path):
    with files.write_atomically(tmp_path / "a" / "b.txt") as temporary:
        temporary.write_text("half")
        assert not (tmp_path / "a" / "b.txt").exists()
        assert temporary.parent == tmp_path / "a"
    assert (tmp_path / "a" / "b.txt").read_text() == "half"
    assert _left(tmp_path / "a") == ["b.txt"]


def test_an_exception_leaves_what_was_there_before(tmp_path):
    files.write_text(tmp_path / "f", "old")
    with pytest.raises(KeyError), files.write_atomically(tmp_path / "f") as temporary:
        temporary.write_text("new")
        raise KeyError
    assert (tmp_path / "f").read_text() == "old"
    assert _left(tmp_path) == ["f"]


def test_a_folder_is_written_and_replaced_whole(tmp_path):
    for name in ("one", "two"):
        with files.write_atomically(tmp_path / "folder") as temporary:
            temporary.mkdir()
            (temporary / name).write_text(name)
    assert _left(tmp_path / "folder") == ["two"]
    with pytest.raises(ValueError, match="stop"), files.write_atomically(tmp_path / "folder") as temporary:
        temporary.mkdir()
        raise ValueError("stop")
    assert (_left(tmp_path), _left(tmp_path / "folder")) == (["folder"], ["two"])


def test_a_kill_while_a_folder_is_replaced_leaves_a_whole_one(tmp_path, monkeypatch):
    def write(names):
        with files.write_atomically(tmp_path / "folder") as temporary:
            temporary.mkdir()
            for name in names:
                (temporary / name).write_text(name)

    def stop(folder, **_):
        (Path(folder) / "1").unlink()
        raise KeyboardInterrupt

    write(["1", "2"])
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(shutil, "rmtree", stop)
        write(["3", "4"])
    assert _left(tmp_path / "folder") in (["1", "2"], ["3", "4"])


def test_a_refused_output_leaves_no_folder_that_was_made_for_it(tmp_path):
    (tmp_path / "there").mkdir()
    with pytest.raises(ValueError), files.write_atomically(tmp_path / "there" / "a" / "b" / "f") as temporary:
        temporary.write_text("half")
        raise ValueError
    assert _left(tmp_path / "there") == []


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_said_and_leaves_nothing(tmp_path, number):
    with refuses("no space left", tmp_path / "f"), files.write_atomically(tmp_path / "f") as temporary:
        temporary.write_text("half")
        raise OSError(number, "full")
    assert _left(tmp_path) == []


def test_a_full_disk_that_shows_late_leaves_nothing(tmp_path, monkeypatch):
    def fail(descriptor):
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(files.os, "fsync", fail)
    with pytest.raises(InputError, match="no space left"):
        files.write_json(tmp_path / "f.json", {})
    assert _left(tmp_path) == []


class _OtherError(Exception):
    """An error of a library that is no OSError."""


def test_full_disks_that_libraries_describe_in_their_own_way(tmp_path, monkeypatch):
    with pytest.raises(InputError, match="no space left"), files.write_atomically(tmp_path / "f"):
        raise _OtherError("I/O error: No space left on device (os error 28)")
    for free, expected in ((0, InputError), (1 << 40, OSError)):  # numpy's has no number
        monkeypatch.setattr(files.shutil, "disk_usage", lambda path, free=free: SimpleNamespace(free=free))
        with pytest.raises(expected) as caught, files.write_atomically(tmp_path / "f"):
            raise OSError("1000 requested and 10 written")
        assert ("no space left" in str(caught.value)) == (free == 0)
    assert _left(tmp_path) == []


def test_a_full_disk_that_is_being_handled_is_not_met_again(tmp_path):
    try:
        raise OSError(errno.ENOSPC, "full")
    except OSError:
        files.write_json(tmp_path / "f.json", {})
    assert (tmp_path / "f.json").is_file()


def test_a_place_that_cannot_be_written_is_named_and_other_errors_stay_what_they_are(tmp_path):
    with pytest.raises(InputError, match="cannot be written"), files.write_atomically(tmp_path / "f"):
        raise OSError(errno.EROFS, "Read-only file system")
    with pytest.raises(FileNotFoundError), files.write_atomically(tmp_path / "f"):
        (tmp_path / "missing").read_text()
    with pytest.raises(PermissionError), files.write_atomically(tmp_path / "f"):
        raise PermissionError(errno.EACCES, "no", "/somewhere/else")
    with pytest.raises(InputError, match="cannot be written"), files.write_atomically(tmp_path / "f"):
        raise PermissionError(errno.EACCES, "no", str(tmp_path / "f"))


def test_a_folder_is_hashed_by_names_and_bytes(tmp_path):
    hashes = set()
    for name, content in (("a", "1"), ("a", "2"), ("deep/a", "2"), (".hidden", "2")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
        hashes.add(files.hash_folder(tmp_path))
    assert len(hashes) == 3


@pytest.mark.parametrize(
    ("place", "message"),
    [("folder", "folder: this is a folder; a file is needed"),
     ("file/f", "file: this folder cannot be made: "),
     ("file/deep/f", "file/deep: this folder cannot be made: "),
     ("n" * 300, ": nothing can be written here: ")],
)  # fmt: skip
def test_an_output_that_cannot_be_one_is_named(tmp_path, place, message):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("kept")
    with refuses(tmp_path, message):
        files.write_text(tmp_path / place, "new")
    if place.startswith("file"):
        with pytest.raises(InputError, match="this folder cannot be made"):
            files.choose_scratch(tmp_path / place)
    assert _left(tmp_path) == ["file", "folder"] and (tmp_path / "file").read_text() == "kept"


def test_a_folder_above_that_may_not_be_made_is_named(tmp_path, monkeypatch):
    def refuse(path, **more):
        raise PermissionError(errno.EACCES, "Permission denied", str(tmp_path))

    monkeypatch.setattr(files.Path, "mkdir", refuse)
    with pytest.raises(InputError, match=r"deep: this folder cannot be made: Permission denied"):
        files.write_text(tmp_path / "deep" / "f", "new")


def test_a_device_or_pipe_is_not_replaced_by_a_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/dev/null")
    for name in ("pipe", "link"):
        with refuses(tmp_path / name, "pipe, socket or device"):
            files.write_text(tmp_path / name, "text")
        with refuses(tmp_path / name, "pipe, socket or device"):
            files.require_file_name(tmp_path / name)
    assert (tmp_path / "pipe").is_fifo() and (tmp_path / "link").is_symlink()
    assert _left(tmp_path) == ["link", "pipe"]


def test_a_folder_does_not_replace_a_file(tmp_path):
    (tmp_path / "f").write_text("kept")
    with refuses("a file has this name"), files.write_atomically(tmp_path / "f") as folder:
        folder.mkdir()
    assert _left(tmp_path) == ["f"] and (tmp_path / "f").read_text() == "kept"


def test_a_name_that_no_file_can_have_is_known_before(tmp_path):
    (tmp_path / "file").touch()
    files.require_file_name(tmp_path / "deep" / "f")
    files.require_file_name(tmp_path / "file")
    for place, message in ((".", "this is a folder"), ("file/deep/f", "file: this is a file; a folder")):
        with pytest.raises(InputError, match=message):
            files.require_file_name(tmp_path / place)


def test_json_has_one_form(tmp_path):
    files.write_json(tmp_path / "a", {"b": 1, "a": [0.1, "é"]})
    assert (tmp_path / "a").read_text() == '{\n  "a": [\n    0.1,\n    "é"\n  ],\n  "b": 1\n}\n'
    files.write_json_lines(tmp_path / "l", [{"b": 1, "a": "x\ny"}, {}])
    assert (tmp_path / "l").read_bytes() == b'{"b":1,"a":"x\\ny"}\n{}\n'
    assert files.read_json_lines(tmp_path / "l") == [{"b": 1, "a": "x\ny"}, {}]


@pytest.mark.parametrize(
    ("text", "reader", "message"),
    [("{", files.read_json, "not valid JSON"),
     ('{"a": 1}\n[1]\n', files.read_json_lines, "line 2: not a JSON object"),
     ('{"a": 1}\n{\n', files.read_json_lines, "line 2: not valid JSON")],
)  # fmt: skip
def test_a_broken_file_is_named_with_its_line(tmp_path, text, reader, message):
    (tmp_path / "f").write_text(text, encoding="latin-1")
    with refuses(tmp_path / "f", message):
        reader(tmp_path / "f")


def test_a_byte_order_mark_is_no_part_of_a_file_and_a_missing_one_is_named(tmp_path):
    (tmp_path / "l").write_bytes(b'\xef\xbb\xbf{"a": 1}\n')
    assert files.read_json_lines(tmp_path / "l") == [{"a": 1}]
    with refuses("no such file"):
        files.read_json(tmp_path / "f")


@given(st.lists(st.binary(max_size=200), max_size=4), st.sampled_from(["", ".gz", ".zst"]))
def test_decompressed_bytes_and_hash_in_one_reading(tmp_path_factory, chunks, ending):
    import zstandard

    whole = b"".join(chunks)
    assume(
        ending or not whole.startswith((b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK", b"PAR1", b"ARROW1", b"\xfd"))
    )
    pack = {"": bytes, ".gz": gzip.compress, ".zst": zstandard.ZstdCompressor().compress}[ending]
    path = tmp_path_factory.mktemp("f") / f"f.jsonl{ending}"
    path.write_bytes(b"".join(pack(chunk) for chunk in chunks))
    with files.open_decompressed(path) as stream:
        assert stream.read() == b"".join(chunks)
    raw = files.HashingReader(path)
    with files.open_decompressed(path, raw) as stream:
        assert stream.read() == b"".join(chunks)
        digest = raw.hexdigest()
    assert digest == files.hash_file(path) == hashlib.sha256(path.read_bytes()).hexdigest()


def test_the_hash_is_of_the_whole_file_though_only_part_was_read(tmp_path):
    (tmp_path / "f").write_bytes(b"line\n" * 1000)
    raw = files.HashingReader(tmp_path / "f")
    with files.open_decompressed(tmp_path / "f", raw) as stream:
        stream.readline()
        assert raw.hexdigest() == files.hash_file(tmp_path / "f")


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_a_cut_stream_is_an_error(tmp_path, ending):
    import random

    import zstandard

    text = random.Random(0).randbytes(50_000)
    packed = gzip.compress(text) if ending == ".gz" else zstandard.ZstdCompressor().compress(text)
    (tmp_path / f"f{ending}").write_bytes(packed[:-1000])
    error, message = (EOFError, "ended before") if ending == ".gz" else (OSError, "Truncated")
    with pytest.raises(error, match=message), files.open_decompressed(tmp_path / f"f{ending}") as stream:
        while stream.read(io.DEFAULT_BUFFER_SIZE):
            pass


def test_hash_of_parts_is_not_that_of_other_parts():
    assert files.hash_text("ab", "c") != files.hash_text("a", "bc") != files.hash_text("abc")
    assert files.hash_text("a") != files.hash_text("a", "")
    assert files.hash_text("\ud800") != files.hash_text("?")
    assert (
        files.hash_text("a", "b") == hashlib.sha256(b"\1" + bytes(7) + b"a\1" + bytes(7) + b"b").hexdigest()
    )


@pytest.mark.parametrize(
    ("pack", "word"), [(gzip.compress, ".gz"), (bz2.compress, "unpack"), (lzma.compress, "unpack")]
)
def test_text_that_is_packed_otherwise_than_its_name_says_is_refused(tmp_path, pack, word):
    path = tmp_path / "t.jsonl.packed"
    path.write_bytes(pack(b'{"text": "a"}\n'))
    with refuses(path, word):
        files.open_decompressed(path)
