"""Tables and data sets as documents: columns found or named, other languages left out, bad input refused."""

import gzip
import json
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.documents import GERMAN
from tests.refusals import refuses

from fathom.config.corpus import Selection
from fathom.corpus.table_rows import read_dataset_documents, read_labels, read_table_documents

ROWS = [
    {
        "Title": "A",
        "body": "First part.\n\nSecond, part.",
        "topic": "World news; law",
        "date": "2020-02-29 10:00",
    },
    {"Title": "B", "body": "Other text", "topic": "law", "date": "yesterday"},
]


def select(**corpus: Any) -> Selection:
    return Selection.model_validate({"corpus": corpus, "domains": {"all": {"categories": ["*"]}}})


def read(path: Path, **corpus: Any) -> tuple[pl.DataFrame, dict[str, Any]]:
    output = path.parent / "out" / f"{path.name}.parquet"
    report = read_table_documents(path, select(source="table", **corpus), output)
    return pl.read_parquet(output), report


def test_formats_give_the_same_documents(tmp_path):
    frame = pl.DataFrame(ROWS)
    frame.write_csv(tmp_path / "t.csv")
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress((tmp_path / "t.csv").read_bytes()))
    frame.write_csv(tmp_path / "t.tsv", separator="\t")
    frame.write_csv(tmp_path / "semicolons.csv", separator=";")
    frame.write_ndjson(tmp_path / "t.jsonl")
    frame.write_parquet(tmp_path / "t.parquet")
    for name in ("t.csv", "t.csv.gz", "semicolons.csv", "t.tsv", "t.jsonl", "t.parquet"):
        table, report = read(tmp_path / name)
        assert table["doc_id"].to_list() == [f"{name}:1", f"{name}:2"]
        assert table["abstract"].to_list() == ["First part. Second, part.", "Other text"]
        assert table["categories"].to_list() == [["World-news", "law"], ["law"]]
        assert table["date"].to_list() == ["2020-02-29", ""]
        assert report["notes"] == {"invalid date": 1}
        assert report["columns"]["text"] == "body"
        assert report["input"]["file"] == name


def test_a_row_with_more_cells_than_columns_is_refused(tmp_path):
    """A comma in a text without quotes would cut the text, and shift what follows it."""
    (tmp_path / "t.csv").write_text("topic,text\na,One text.\nb,Of pumps, valves, and more.\n")
    with refuses("t.csv, line 3", "4 fields", "2"):
        read(tmp_path / "t.csv")
    (tmp_path / "t.csv").write_text("topic,text\na,One text., ,\nb\n")
    table, report = read(tmp_path / "t.csv")
    assert table["text"].to_list() == ["One text."]
    assert sum(report["left_out"].values()) == 1


@pytest.mark.parametrize("texts", [["One."], ["One.", "Two.", "Three."]])
def test_one_json_value_over_several_lines_is_not_cut_off(tmp_path, texts):
    (tmp_path / "t.jsonl").write_text(json.dumps([{"text": each} for each in texts], indent=1))
    with refuses("t.jsonl", "line 1") as caught:
        read(tmp_path / "t.jsonl")
    assert "cut" not in str(caught.value)
    (tmp_path / "t.jsonl").write_text('{"text": "One."}\n{"text": "Tw')
    with refuses("t.jsonl", "cut off in line 2"):
        read(tmp_path / "t.jsonl")


def test_a_column_that_the_first_line_leaves_out_is_found(tmp_path):
    rows = [{"abstract": "One."}, {"abstract": "Two.", "text": "Two. Three.", "topic": "law"}]
    (tmp_path / "t.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    table, report = read(tmp_path / "t.jsonl")
    assert report["columns"] == {"abstract": "abstract", "text": "text", "categories": "topic"}
    assert table.select("text", "categories").rows() == [("", []), ("Two. Three.", ["law"])]


def test_columns_can_be_named(tmp_path):
    rows = {"n": [7, 8], "text": ["no", "no"], "content": ["x", None], "when": [date(2020, 1, 2), None]}
    pl.DataFrame(rows).write_parquet(tmp_path / "t.parquet")
    columns = {"id": "n", "text": "content", "date": "when"}
    table, report = read(tmp_path / "t.parquet", columns=columns)
    assert table.select("doc_id", "text", "date").rows() == [("7", "x", "2020-01-02")]
    assert report["left_out"] == {"no title, abstract or text": 1}


def test_labels():
    assert read_labels(None) == []
    assert read_labels(["a b", None, "c"]) == ["a-b", "c"]
    assert read_labels("a|b, a ;*") == ["a", "b"]
    assert read_labels(3) == ["3"]
    assert read_labels("['a b', 'c']") == read_labels('["a b", "c"]') == ["a-b", "c"]
    assert read_labels("[a b] | (c)") == ["[a-b]", "(c)"]


def test_other_languages_are_left_out_and_counted(tmp_path, caplog):
    pl.DataFrame({"text": [GERMAN, GERMAN, "Speicher"]}).write_csv(tmp_path / "t.csv")
    table, report = read(tmp_path / "t.csv")
    assert table["text"].to_list() == ["Speicher"]  # too short to judge
    assert report["left_out"] == {"language: de": 2}
    assert "2 of 3 documents are not in English" in caplog.text
    assert len(read(tmp_path / "t.csv", language="any")[0]) == 3


def test_what_cannot_be_read_is_refused(tmp_path):
    (tmp_path / "none.csv").write_text("a,b\n1,2\n")
    with refuses("none.csv", "text", "there are a, b"):
        read(tmp_path / "none.csv")
    (tmp_path / "two.csv").write_text("content,body\n1,2\n")
    with refuses("two.csv", "content, body", "corpus.columns.text"):
        read(tmp_path / "two.csv")
    with refuses("two.csv", "contents", "content"):
        read(tmp_path / "two.csv", columns={"text": "contents"})
    (tmp_path / "empty.csv").write_text("text\n")
    with refuses("empty.csv", "no rows"):
        read(tmp_path / "empty.csv")
    (tmp_path / "latin.csv").write_bytes(b"text\ncaf\xe9\n")
    with refuses("latin.csv", "UTF-8"):
        read(tmp_path / "latin.csv")
    (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(b"text\n" + b"words " * 999)[:-9])
    with refuses("cut.csv.gz", "cannot be read"):
        read(tmp_path / "cut.csv.gz")
    (tmp_path / "bad.parquet").write_bytes(b"PAR1")
    with refuses("bad.parquet", "cannot be read"):
        read(tmp_path / "bad.parquet")
    assert not list((tmp_path / "out").glob("*"))


def test_a_data_set_is_read_and_its_code_is_not_run(tmp_path, monkeypatch):
    pytest.importorskip("datasets")
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    (tmp_path / "set").mkdir()
    pl.DataFrame(ROWS).write_parquet(tmp_path / "set/train.parquet")
    output = tmp_path / "d.parquet"
    selection = select(source="dataset", dataset={"name": str(tmp_path / "set")})
    assert read_dataset_documents(selection, output)["documents"] == 2
    (tmp_path / "code").mkdir()
    (tmp_path / "code/code.py").write_text("raise SystemExit(99)\n")
    with refuses("code", "corpus.dataset"):
        read_dataset_documents(select(source="dataset", dataset={"name": str(tmp_path / "code")}), output)


def test_text_is_taken_out_of_lists_and_objects(tmp_path):
    rows = [
        {"text": [{"section": "A", "text": "One."}, "Two."], "abstract": {"text": "Short."},
         "tags": [{"name": "law"}]},
        {"text": {"content": "Three."}, "abstract": None, "tags": ["a b", 3]},
    ]  # fmt: skip
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    table, _ = read(tmp_path / "t.jsonl")
    assert table["text"].to_list() == ["One.\n\nTwo.", "Three."]
    assert table["abstract"].to_list() == ["Short.", "Three."]
    assert table["categories"].to_list() == [["law"], ["a-b", "3"]]


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ({"text": None, "content": "A pump."}, "A pump."),
        ({"text": "", "value": ["A pump.", "A tank."]}, "A pump.\n\nA tank."),
        (["A", "pump", "lifts", "water", "."], "A pump lifts water ."),
        ("['A pump.', 'A tank.']", "A pump.\n\nA tank."),
        ('[{"text": "A pump."}, {"text": "A tank."}]', "A pump.\n\nA tank."),
        ("b'A pump.'", "A pump."),
        ("(A pump.)", "(A pump.)"),
        ("[1, 2]", "[1, 2]"),
        ("[A pump", "[A pump"),
    ],
)
def test_the_text_in_a_cell_is_found(tmp_path, cell, text):
    (tmp_path / "t.jsonl").write_text(json.dumps({"text": cell}) + "\n")
    assert read(tmp_path / "t.jsonl")[0]["text"].to_list() == [text]


def test_cells_of_other_kinds_of_parquet(tmp_path):
    kind = pa.map_(pa.string(), pa.string())
    columns = {
        "id": pa.array([Decimal(7)], pa.decimal128(3, 0)),
        "text": pa.array([[("text", "A pump.")]], kind),
        "category": pa.array([[("name", "law")]], kind),
    }
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    table, _ = read(tmp_path / "t.parquet")
    assert table.select("doc_id", "text", "categories").rows() == [("7", "A pump.", ["law"])]
    pq.write_table(pa.table({"text": columns["id"]}), tmp_path / "t.parquet")
    with refuses("row 1", "'text'", "numbers"):
        read(tmp_path / "t.parquet")


@pytest.mark.parametrize(
    ("line", "reason"),
    [('["a"]', "not a JSON object"), ('{"text": "a", "text": "b"}', "duplicate keys: text")],
)
def test_lines_none_of_which_can_be_read_say_why(tmp_path, line, reason):
    (tmp_path / "a.jsonl").write_text(f"{line}\n{line}\n")
    with refuses("a.jsonl, line 1", "none of 2 lines", reason):
        read(tmp_path / "a.jsonl")


@pytest.mark.parametrize(
    ("cells", "kind"),
    [([3, 4], "numbers"), ([True, False], "truth values"), ([b"abc", b"\xff"], "bytes"),
     ([[1, 2], [3]], "lists"), ([{"section": 1}, {"section": 2}], "objects"),
     ([[["x", 1]], [["y", 2]]], "lists")],
)  # fmt: skip
def test_cells_without_text_are_refused_by_column(tmp_path, cells, kind):
    pl.DataFrame({"text": cells}, strict=False).write_parquet(
        tmp_path / "t.parquet"
    ) if kind != "lists" else (tmp_path / "t.jsonl").write_text(
        "".join(json.dumps({"text": cell}) + "\n" for cell in cells)
    )
    (path,) = tmp_path.glob("t.*")
    with refuses(path.name, "row 1", "'text'", kind, "corpus.columns"):
        read(path)
    assert not list((tmp_path / "out").glob("*.parquet"))


@pytest.mark.parametrize("header", ["text,text", "text,Text", "title,text,TITLE", "text, text "])
@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".parquet"])
def test_a_column_twice_is_refused_by_name(tmp_path, header, ending):
    names, path = header.split(","), tmp_path / f"t{ending}"
    if ending == ".csv":
        path.write_text(f"{header}\n{','.join(names)}\n")
    elif ending == ".jsonl":
        fields = [f'"{name}": "x"' for name in names]
        path.write_text(("{" + ", ".join(fields) + "}\n") * 9)
    else:
        pq.write_table(pa.table([["x"]] * len(names), names=names), path)
    with refuses(path.name, "duplicate", "text" if names.count("title") == 0 else "title"):
        read(path)
