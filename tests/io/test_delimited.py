"""Tables of text: typed and checked against their contracts; a fault is named with file, line and column."""

import csv
import math
import re

import pytest
from tests.refusals import refuses

from fathom.errors import InputError
from fathom.io.contracts.column import BOOL, DOUBLE, INT64, STRING, YES_NO, Check, Column, Contract
from fathom.io.contracts.statistics import SUMMARY
from fathom.io.delimited import read_fields, read_rows, scan_csv, scan_rows, write_rows

_CSV = Contract(
    "t.csv",
    "",
    *(Column("name", STRING, ""), Column("count", INT64, "", Check(at_least=0, nan=True)),
     Column("value", DOUBLE, "", Check(nan=True)),
     Column("share", DOUBLE, "", Check(at_least=0, at_most=1), digits=".3f"), Column("apart", YES_NO, ""),
     Column("chosen", BOOL, "")),
)  # fmt: skip
_WIDE = Contract(
    "t.tsv",
    "",
    *(Column("model", STRING, ""), Column("note", STRING, "", optional=True), Column("{task}_r", DOUBLE, "")),
)


def test_values_are_read_as_they_were_written(tmp_path):
    rows = [("0704.0010", 3, 1 / 3, 0.5, True, False), (' "quoted",\n', None, math.nan, 1, False, True),
            ("text", "7", "2.50", "0.25", "yes", "False")]  # fmt: skip
    write_rows(tmp_path / "t", rows, _CSV)
    assert (tmp_path / "t").read_text() == (
        "name,count,value,share,apart,chosen\n"
        "0704.0010,3,0.333333,0.500,yes,False\n"
        '" ""quoted"",\n",,,1,no,True\n'
        "text,7,2.50,0.25,yes,False\n"
    )
    read = read_rows(tmp_path / "t", _CSV)
    assert [tuple(row.values()) for row in (read[0], read[2])] == [
        ("0704.0010", 3, 0.333333, 0.5, True, False), ("text", 7, 2.5, 0.25, True, False)
    ]  # fmt: skip
    assert read[1]["count"] is None and math.isnan(read[1]["value"])
    write_rows(tmp_path / "again", read, _CSV)
    assert read_rows(tmp_path / "again", _CSV, ["name", "share"])[1] == {"name": ' "quoted",\n', "share": 1.0}
    assert scan_rows(tmp_path / "t", _CSV)[2][0].endswith("t, line 5")  # the record before has two lines


@pytest.mark.parametrize(
    ("change", "fault"),
    [({"count": "2.5"}, "'2.5' is not a whole number"), ({"count": -1}, "-1 is less than 0"),
     ({"value": "much"}, "'much' is not a number"),
     ({"value": "1_0"}, "'1_0' is not a number"), ({"share": ""}, "'' is not a number"),
     ({"share": 1.5}, "1.500 is greater than 1"), ({"share": math.inf}, "inf is not a finite number"),
     ({"apart": "maybe"}, "'maybe' is not yes or no")],
)  # fmt: skip
def test_what_breaks_a_contract_is_neither_written_nor_read(tmp_path, change, fault):
    row = {"name": "a", "count": 1, "value": 1.0, "share": 0.0, "apart": True, "chosen": True}
    column = next(iter(change))
    with pytest.raises(ValueError, match=re.escape(f"t.csv, line 3: column {column}: {fault}")):
        write_rows(tmp_path / "t.csv", [row, row | change], _CSV)
    assert list(tmp_path.iterdir()) == []
    text = {**row, "share": "0", "apart": "no"} | change
    if change == {"share": 1.5}:
        text["share"] = "1.500"
    (tmp_path / "t.csv").write_text(",".join(text) + "\n" + ",".join(map(str, text.values())) + "\n")
    with pytest.raises(InputError, match=re.escape(f"t.csv, line 2, column {column}: {fault}")):
        read_rows(tmp_path / "t.csv", _CSV)


@pytest.mark.parametrize("text", ["a\rb", "a\r", "\r\n", 'a\r"b"', "a\nb"])
def test_text_of_several_lines_is_one_field(tmp_path, text):
    row = {"name": text, "count": 1, "value": 1.0, "share": 0.0, "apart": True, "chosen": True}
    write_rows(tmp_path / "t.csv", [row, row | {"name": "b"}], _CSV)
    assert [each["name"] for each in read_rows(tmp_path / "t.csv", _CSV)] == [text, "b"]


def test_columns_may_repeat_or_be_absent_but_not_be_missing(tmp_path):
    header = ["model", "tf_r", "tfidf_r"]
    write_rows(tmp_path / "t", [("a", 1.0, 2.0)], _WIDE, header)
    assert (tmp_path / "t").read_text() == "model\ttf_r\ttfidf_r\na\t1\t2\n"
    assert read_rows(tmp_path / "t", _WIDE) == [{"model": "a", "note": "", "tf_r": 1.0, "tfidf_r": 2.0}]
    for wrong in (["model", "other"], ["tf_r"]):
        with pytest.raises(ValueError, match="where the contract has"):
            write_rows(tmp_path / "u", [], _WIDE, wrong)
    (tmp_path / "t").write_text("tf_r\tother\n1\t2\n")
    with pytest.raises(InputError, match=r"missing columns: model\nHint: found: tf_r, other; make it again"):
        read_rows(tmp_path / "t", _WIDE)
    assert read_rows(tmp_path / "t", _WIDE, []) == [{"note": ""}]


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "the file is empty"),
     ("a\tb\n1\t2\n1\n", "line 3: 1 field where the header has 2"),
     ("a\ta\n", "line 1: duplicate columns: a"),
     ("a\tb\n1\tcaf\xe9\n", "line 2: not UTF-8"),
     ('a\tb\n1\t"' + "x" * 200_000, "line 2: not CSV: unexpected end of data")],
)  # fmt: skip
def test_a_broken_file_is_named_with_its_line(tmp_path, text, message):
    (tmp_path / "f").write_text(text, encoding="latin-1")
    with refuses(tmp_path / "f", message):
        read_fields(tmp_path / "f", "\t")


def test_a_byte_order_mark_is_no_part_of_a_table(tmp_path):
    (tmp_path / "t").write_bytes(b"\xef\xbb\xbfmodel\tx_r\r\na\t1\r\n")  # as a spreadsheet writes it
    assert read_rows(tmp_path / "t", _WIDE, ["model"])[0]["model"] == "a"


def test_records_come_with_the_lines_that_they_begin_at():
    text = 'a,b\n"one\ntwo",3\n\nlast,"x ""y"""'
    assert list(scan_csv(text)) == [(1, ["a", "b"]), (2, ["one\ntwo", "3"]), (4, []), (5, ["last", 'x "y"'])]


def test_a_broken_quote_ends_with_the_line_where_it_opens():
    for broken in ('a,b\n1,"2\n3,4\n', 'a,b\n1,"2"x\n3,4\n'):
        *_, (line, fault) = scan_csv(broken)
        assert line == 2 and isinstance(fault, str) and fault.startswith("not CSV: ")


@pytest.mark.parametrize(
    "text", ["=1+1", "+A1", "-A1", "@SUM(A1)", "\t=1", "\r=1", "＝1", "'=1", "''@x", "-", "=1,2"]
)
def test_no_spreadsheet_runs_text_and_it_is_read_as_it_was(tmp_path, text):
    row = {"name": text, "count": 1, "value": -0.5, "share": 0.0, "apart": True, "chosen": True}
    write_rows(tmp_path / "t.csv", [row], _CSV)
    _, fields = csv.reader((tmp_path / "t.csv").open(newline=""))
    assert fields[0] == f"'{text}" and fields[2] == "-0.5"
    assert read_rows(tmp_path / "t.csv", _CSV)[0]["name"] == text


@pytest.mark.parametrize("text", ["-0.5", "+1e-5", "-3%", "-.5", "a=b", "'quoted'", "", "'-1"])
def test_numbers_and_other_text_are_written_as_they_are(tmp_path, text):
    row = {"name": text, "count": 1, "value": 1.0, "share": 0.0, "apart": True, "chosen": True}
    write_rows(tmp_path / "t.csv", [row], _CSV)
    assert (tmp_path / "t.csv").read_text().split("\n")[1].split(",")[0] == text
    assert read_rows(tmp_path / "t.csv", _CSV)[0]["name"] == text


SUMMARY_ROW = ("physics", "tf", "a", "bits", "mean", 2.0, 1.0, 3.0, 10, "keywords")


@pytest.mark.parametrize(
    "other", ["Value", " value", "value\u00a0", "\ufeffvalue", "va\u200blue", "\uff56alue"]
)
def test_a_column_that_looks_like_one_that_is_read_is_refused(tmp_path, other):
    rows = [f"{','.join(map(str, SUMMARY_ROW))},9"]
    path = tmp_path / "summary.csv"
    path.write_text("\n".join([f"{','.join(SUMMARY.names)},{other}", *rows]) + "\n", encoding="utf-8")
    with refuses(path, "value", ascii(other)):
        read_rows(path, SUMMARY)
    # one that is not read may be called anything
    path.write_text("\n".join([f"{','.join(SUMMARY.names)},Other", *rows]) + "\n", encoding="utf-8")
    assert read_rows(path, SUMMARY)[0]["value"] == 2.0


def test_no_two_rows_are_of_one_thing(tmp_path):
    path = tmp_path / "summary.csv"
    others = [
        ("physics", "tf", "b", *SUMMARY_ROW[3:]),
        ("physics", "tf", "a", "rank", "mean", *SUMMARY_ROW[5:]),
    ]
    write_rows(path, [SUMMARY_ROW, *others], SUMMARY)
    assert len(read_rows(path, SUMMARY)) == 3
    write_rows(path, [SUMMARY_ROW, *others, (*SUMMARY_ROW[:5], 7.0, *SUMMARY_ROW[6:])], SUMMARY)
    with refuses("line 5", "line 2", "physics", "tf", "a"):
        read_rows(path, SUMMARY)
