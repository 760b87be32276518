from pathlib import Path
from typing import Any

import polars as pl

from fathom.corpus.index import build_index, iterate_documents
from fathom.corpus.jsonlines import read_jsonlines
from fathom.io.contracts.corpus import INDEX
from fathom.io.tables import read_table


def read(dump, folder: Path, rows: list[Any], **corpus: Any) -> tuple[pl.DataFrame, dict]:
    path = dump.write(folder / "own.jsonl", rows)
    report = read_jsonlines(path, dump.select(**corpus), folder / "own.jsonl.parquet")
    return pl.read_parquet(folder / "own.jsonl.parquet"), report


def test_all_keys_and_only_the_id(dump, tmp_path):
    rows = [
        {
            "id": " 1 ", "title": "A  b", "abstract": "c\nd", "text": "e\nf", "categories": "x y",
            "date": "2020-02-29",
        },
        {"id": "arXiv:2", "text": "First\npart.\n\nSecond part.", "categories": ["x"], "unknown": {"a": 1}},
        {"id": "3"},
        {"id": "4", "title": "only a title", "date": None, "abstract": None},
    ]  # fmt: skip
    frame, report = read(dump, tmp_path, rows)
    assert frame["doc_id"].to_list() == ["1", "arXiv:2", "4"]
    assert frame["title"].to_list() == ["A b", "", "only a title"]
    assert frame["abstract"].to_list() == ["c d", "First part. Second part.", ""]
    assert frame["text"].to_list() == ["e\nf", "First\npart.\n\nSecond part.", ""]
    assert frame["categories"].to_list() == [["x", "y"], ["x"], []]
    assert frame["date"].to_list() == ["2020-02-29", "", ""]
    assert report["left_out"] == {"no title, abstract or text": 1}
    assert report["part"] == "own.jsonl"


WRONG = [
    ({"id": 1}, "the id 1 is not a string"), ({"ID": "1"}, "no id"), ({"id": " "}, "no id"),
    ({"id": "1", "title": 2}, "title is not a string"), ({"id": "1", "text": ["a"]}, "text is not a string"),
    ({"id": "1", "date": "29.2.2020"}, "date '29.2.2020' is not a date in the form YYYY-MM-DD"),
    ({"id": "1", "date": "2021-02-29"}, "date '2021-02-29' is not a date in the form YYYY-MM-DD"),
    ({"id": "1", "date": 2020}, "date is not a string"),
    ({"id": "1", "categories": [1]}, "categories is neither a string nor a list of strings"),
]  # fmt: skip


def test_wrong_types_are_named(dump, tmp_path):
    _, report = read(dump, tmp_path, [row for row, _ in WRONG], max_malformed=1.0)
    assert [each["reason"] for each in report["malformed"]["first"]] == [reason for _, reason in WRONG]


def test_full_text_can_be_required(dump, tmp_path):
    rows = [
        {"id": "1", "abstract": "a"},
        {"id": "2", "text": "b"},
        {"id": "3", "title": "a", "text": " \n"},
    ]
    frame, report = read(dump, tmp_path, rows, require_fulltext=True)
    assert frame["doc_id"].to_list() == ["2"]
    assert report["left_out"] == {"no full text": 2}


def test_rows_that_differ_in_the_title_alone_count_once(dump, tmp_path):
    rows = [{"id": "1", "title": title, "text": "same"} for title in ("b", "a", "b", "c")]
    frame, _ = read(dump, tmp_path, rows)
    assert len(frame) == 4
    path = tmp_path / "own.jsonl.parquet"
    counts = build_index([path], tmp_path / "index.parquet")
    index = read_table(tmp_path / "index.parquet", INDEX)
    assert counts == {"rows": 4, "duplicates_in_parts": 3, "duplicates_across_parts": 0, "near_copies": 0}
    assert [each["title"] for each in iterate_documents(path, "own.jsonl", index)] == ["c"]
    assert list(iterate_documents(path, "another", index)) == []
    assert list(iterate_documents(path, "own.jsonl", index.clear())) == []
