"""The index of a corpus, sorted in buckets."""

from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest

from fathom.corpus import index as module
from fathom.corpus.index import build_index, iterate_documents
from fathom.corpus.records import add_text
from fathom.io.contracts.corpus import DOCUMENTS, INDEX
from fathom.io.tables import read_table, write_table_in_batches


def _write_parts(folder: Path) -> list[Path]:
    """Write three parts: some documents stand in several, in versions of other length, title or nothing."""
    paths = []
    for part in range(3):
        paths.append(folder / f"p{part}.parquet")
        with write_table_in_batches(paths[-1], DOCUMENTS, 4) as writer:
            rows = []
            for number in range(part, 60, 1 + part):
                record = {
                    "doc_id": f"d{number * 37 % 60:02}", "title": f"t{part if number % 5 == 0 else 0}",
                    "abstract": "a", "categories": ["c"], "date": "", "domains": ["x", "y"][: 1 + number % 2],
                    "split": "benchmark",
                }  # fmt: skip
                rows.append(add_text(record, "w" * (part if number % 7 == 0 else 1)))
            writer.write(rows + rows[:2])
    return paths


def _choose_plainly(paths: list[Path]) -> list[tuple[object, ...]]:
    """Choose the version of each document that counts, all in memory."""
    best: dict[str, tuple[tuple[object, ...], str, dict[str, object]]] = {}
    for path in sorted(paths):
        for row in pl.read_parquet(path).to_dicts():
            key = (row["characters"], row["text_hash"], row["title"], row["abstract"], row["date"],
                   "\n".join(row["domains"]))  # fmt: skip
            if row["doc_id"] not in best or key > best[row["doc_id"]][0]:
                best[row["doc_id"]] = (key, path.name.removesuffix(".parquet"), row)
    names = INDEX.names
    return [
        tuple({**row, "part": part}[name] for name in names) for _, (_, part, row) in sorted(best.items())
    ]


def test_ids_that_stand_in_several_files_are_said(tmp_path, caplog):
    paths = _write_parts(tmp_path)
    build_index(paths[:1], tmp_path / "one.parquet")
    assert caplog.records == []
    build_index(paths, tmp_path / "all.parquet")
    assert "50 documents share their id" in caplog.text


@pytest.mark.parametrize(("bucket", "batch"), [(100_000, 20_000), (7, 5), (1, 1), (60, 3)])
def test_buckets_change_nothing(tmp_path, monkeypatch, bucket, batch):
    paths = _write_parts(tmp_path)
    monkeypatch.setattr(module, "_BUCKET", bucket)
    monkeypatch.setattr(module, "_BATCH", batch)
    counts = build_index(paths[::-1], tmp_path / "out" / "index.parquet")
    index = read_table(tmp_path / "out" / "index.parquet", INDEX)
    assert index.rows() == _choose_plainly(paths)
    assert counts == {"rows": 116, "duplicates_in_parts": 6, "duplicates_across_parts": 50, "near_copies": 0}
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["index.parquet"]
    groups = pq.ParquetFile(tmp_path / "out" / "index.parquet").metadata
    assert all(groups.row_group(place).num_rows <= batch for place in range(groups.num_row_groups))


def test_a_corpus_without_documents_has_an_empty_index(tmp_path):
    with write_table_in_batches(tmp_path / "p.parquet", DOCUMENTS):
        pass
    assert build_index([tmp_path / "p.parquet"], tmp_path / "i.parquet")["rows"] == 0
    assert read_table(tmp_path / "i.parquet", INDEX).is_empty()


def test_only_row_groups_with_a_wanted_document_are_read_in_full(tmp_path, monkeypatch):
    (path, *_) = _write_parts(tmp_path)
    build_index([path], tmp_path / "index.parquet")
    index = read_table(tmp_path / "index.parquet", INDEX).filter(pl.col("doc_id") == "d37")
    sizes = []
    scan = module.scan_table

    def watch(*arguments):
        for frame in scan(*arguments):
            sizes.append(len(frame))
            yield frame

    monkeypatch.setattr(module, "scan_table", watch)
    assert [row["doc_id"] for row in iterate_documents(path, "p0", index)] == ["d37"]
    assert sizes == [4]
