import gzip
import hashlib
import os
import tracemalloc
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.refusals import refuses

from fathom.corpus.lines import JsonLines, parse_object
from fathom.errors import InputError

ROWS = [{"id": str(number), "text": "x" * (number % 50)} for number in range(20_000)]


def read(path: Path, max_malformed: float = 0.01) -> tuple[list[dict], dict]:
    lines = JsonLines(path, max_malformed)
    return list(lines.parse(parse_object)), lines.report()


@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.jsonl.gz", "a.jsonl.zst"])
def test_every_compression_gives_the_rows_and_the_hash_of_the_file(dump, tmp_path, name):
    path = dump.write(tmp_path / name, ROWS)
    rows, report = read(path)
    assert rows == ROWS
    content = path.read_bytes()
    expected = {"file": name, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    assert report["input"] == expected
    assert report["lines"] == len(ROWS)


def test_zstd_frames_one_after_the_other_are_one_file(dump, tmp_path):
    path = tmp_path / "a.jsonl.zst"
    frame = zstandard.ZstdCompressor().compress(dump.encode(ROWS))
    path.write_bytes(frame + frame)
    assert read(path)[0] == ROWS + ROWS


def test_line_ends_of_any_kind_blank_lines_and_a_byte_order_mark(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"id": 1}\r\n\n  \n{"id": 2}')
    assert read(path)[0] == [{"id": 1}, {"id": 2}]


def test_malformed_lines_are_counted_and_named(dump, tmp_path):
    rows = [*ROWS, b"{nonsense", b'["list"]', b'{"a": "\xff"}', *ROWS[:10]]
    found, report = read(dump.write(tmp_path / "a.jsonl.gz", rows))
    assert len(found) == len(ROWS) + 10
    assert report["malformed"]["count"] == 3
    assert [(each["line"], each["reason"]) for each in report["malformed"]["first"]] == [
        (20_001, "not JSON"), (20_002, "not a JSON object"), (20_003, "invalid UTF-8"),
    ]  # fmt: skip


def test_the_report_keeps_twenty_of_many(dump, tmp_path):
    _, report = read(dump.write(tmp_path / "a.jsonl", [b"?"] * 50 + [{}]), max_malformed=1.0)
    assert report["malformed"]["count"] == 50
    assert [each["line"] for each in report["malformed"]["first"]] == list(range(1, 21))


def test_too_many_malformed_lines_refuse_the_file(dump, tmp_path):
    path = dump.write(tmp_path / "a.jsonl", [b"<html>"] * 6 + ROWS[:100])
    with refuses("6 of 106 lines", "line 1: not JSON", path, "corpus.max_malformed"):
        read(path)
    assert len(read(dump.write(path, [b"<html>"] * 5 + ROWS[:1]))[0]) == 1  # a few never do


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.jsonl.zst"])
@pytest.mark.parametrize("share", [0.3, 0.5, 0.999])
def test_a_cut_compressed_file_says_so(dump, tmp_path, name, share):
    path = dump.write(tmp_path / name, ROWS)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    with refuses(path, "cut off", "had been read", "get the file again"):
        read(path)


@pytest.mark.parametrize(("name", "content", "named"), [
    ("a.json", -12, ["line 20000"]), ("a.jsonl.gz", None, ["decompressed", "0 lines", "wrong ending"]),
    ("a.jsonl.zst", None, ["decompressed", "0 lines", "wrong ending"]),
])  # fmt: skip
def test_a_plain_file_that_is_cut_or_has_a_wrong_ending_says_so(dump, tmp_path, name, content, named):
    (tmp_path / name).write_bytes(dump.encode(ROWS)[:content])
    with refuses(name, *named):
        read(tmp_path / name)


def test_a_missing_file_says_so(tmp_path):
    with refuses("no such file", "none.jsonl"):
        read(tmp_path / "none.jsonl")


def test_memory_does_not_grow_with_the_file(dump, tmp_path):
    path = tmp_path / "a.jsonl.gz"
    line = dump.encode([{"id": "x", "text": "y" * 1000}])
    path.write_bytes(gzip.compress(line * 60_000, compresslevel=1))  # 60 MB
    tracemalloc.start()
    count = sum(1 for _ in JsonLines(path, 0.01).parse(parse_object))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 60_000
    assert peak < 16e6


def _append(path: Path) -> None:
    with path.open("ab") as stream:
        stream.write(path.read_bytes())


def _exchange(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(path.read_bytes())
    os.utime(other, (1, 1))
    other.replace(path)


def _cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst"])
@pytest.mark.parametrize("change", [_append, _exchange, _cut, Path.unlink])
def test_a_file_that_changes_while_it_is_read_is_refused(dump, tmp_path, name, change):
    rows = [{"id": str(number), "text": os.urandom(300).hex()} for number in range(10_000)]
    path = dump.write(tmp_path / name, rows)
    lines = JsonLines(path, 0.01).parse(parse_object)
    next(lines)
    change(path)
    with refuses("changed", path, "wait"):
        list(lines)


_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=40)
@given(
    rows=st.lists(st.dictionaries(st.text(), _values, max_size=4), max_size=8),
    ending=st.sampled_from([".jsonl", ".jsonl.gz", ".jsonl.zst"]),
)
def test_what_is_written_is_read(dump, tmp_path_factory, rows, ending):
    path = dump.write(tmp_path_factory.getbasetemp() / f"hypothesis-{os.getpid()}{ending}", rows)
    assert read(path)[0] == rows


@given(noise=st.binary(max_size=200))
def test_noise_is_counted_or_refused_never_a_crash(tmp_path_factory, noise):
    path = tmp_path_factory.getbasetemp() / f"noise-{os.getpid()}.jsonl"
    path.write_bytes(b'{"id": 1}\n' + noise)
    try:
        rows, report = read(path)
    except InputError:
        return
    assert rows[0] == {"id": 1}
    assert report["lines"] == len(rows) + report["malformed"]["count"]


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst"])
def test_a_line_over_the_limit_is_malformed_and_never_held(tmp_path, name):
    text = b'{"id": "long", "text": "%s"}\n' % (b"x" * 60_000_000)
    content = b'{"id": 1}\n' + text + b'{"id": 2}\n' + b"\0" * 60_000_000
    packed = {".gz": gzip.compress, ".zst": zstandard.ZstdCompressor().compress}
    path = tmp_path / name
    path.write_bytes(packed.get(path.suffix, bytes)(content))
    del content, text
    tracemalloc.start()
    lines = JsonLines(path, 0.01, max_line_mb=4)
    assert list(lines.parse(parse_object)) == [{"id": 1}, {"id": 2}]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20_000_000
    report = lines.report()
    assert (report["lines"], report["malformed"]["count"]) == (4, 2)
    assert [each["line"] for each in report["malformed"]["first"]] == [2, 4]
    assert all("corpus.max_line_mb" in each["reason"] for each in report["malformed"]["first"])


def test_a_line_of_the_limit_is_read(tmp_path):
    row = {"text": "x" * (1_000_000 - 12)}
    (tmp_path / "a.jsonl").write_bytes(b'{"text":"%s"}\n' % row["text"].encode())
    assert (tmp_path / "a.jsonl").stat().st_size == 1_000_000
    assert list(JsonLines(tmp_path / "a.jsonl", 0.0, max_line_mb=1).parse(parse_object)) == [row]
