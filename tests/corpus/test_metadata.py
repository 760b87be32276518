from pathlib import Path

import polars as pl
import pytest
from tests.refusals import refuses

from fathom.corpus.metadata import read_metadata


def read(dump, folder: Path, rows: list, name: str = "meta.json", **corpus) -> tuple[pl.DataFrame, dict]:
    path = dump.write(folder / name, rows)
    report = read_metadata(path, dump.select(**corpus), folder / "metadata.parquet")
    return pl.read_parquet(folder / "metadata.parquet"), report


def test_a_record_in_kaggles_form(dump, tmp_path):
    frame, report = read(dump, tmp_path, [dump.paper("0704.0001")], "meta.json.gz")
    split = frame["split"][0]
    assert frame.row(0, named=True) == {
        "doc_id": "0704.0001", "title": "On the number 0704.0001",
        "abstract": "We study 0704.0001 at length.", "categories": ["cs.AI", "cs.LG"], "date": "2007-04-02",
        "domains": ["ai", "rest"], "split": split,
    }  # fmt: skip
    assert split == "adapt-train"
    assert (report["lines"], report["records"], report["selected"]) == (1, 1, 1)
    assert report["categories"] == {"cs.AI": 1, "cs.LG": 1}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["meta.json.gz", "metadata.parquet"]


@pytest.mark.parametrize(("versions", "update_date", "day"), [
    (
        [{"created": "Sat, 31 Mar 2007 02:26:18 GMT"}, {"created": "Tue, 24 Jul 2007 20:10:27 GMT"}],
        None,
        "2007-03-31",
    ),
    ([{"created": "2023-05-06 11:12:13"}], "2024-01-01", "2023-05-06"),
    ([], "2024-01-01", "2024-01-01"),
    (None, "2024-01-01", "2024-01-01"),
    ([{"created": "gibberish"}], "2024-02-30", ""),
    ([{"created": None}], None, ""),
    ("v1", 7, ""),
])  # fmt: skip
def test_the_date_is_that_of_the_first_version(dump, tmp_path, versions, update_date, day):
    paper = dump.paper("0704.0001", versions=versions, update_date=update_date)
    assert read(dump, tmp_path, [paper])[0]["date"][0] == day


def test_odd_abstracts_come_in(dump, tmp_path):
    abstracts = ["<b>bold</b> &amp; <i>x</i>", "a\x00b \x1f c\x7f\x85d", "", None, "word " * 20_000]
    papers = [dump.paper(f"0704.000{place}", abstract=each) for place, each in enumerate(abstracts, start=1)]
    frame, report = read(dump, tmp_path, papers)
    assert frame["abstract"].to_list()[:4] == ["<b>bold</b> &amp; <i>x</i>", "ab c d", "", ""]
    assert len(frame["abstract"][4]) == 99_999
    assert report["empty_abstracts"] == 2


def test_ids_are_canonical_restored_or_malformed(dump, tmp_path):
    ids = ["arXiv:0704.0001v3", " solv-int/9901001 ", "704.001", 704.0003, None, "", "foo"]
    papers = [dump.paper(each) for each in ids]
    del papers[4]["id"]
    frame, report = read(dump, tmp_path, papers)
    assert frame["doc_id"].to_list() == ["0704.0001", "solv-int/9901001", "0704.0010"]
    assert report["restored_ids"] == 1
    assert [each["reason"] for each in report["malformed"]["first"]] == [
        "the id 704.0003 is not a string: a number may have lost its zeros", "no id", "no id",
        "'foo' is not an arXiv id",
    ]  # fmt: skip


def test_wrong_types_are_malformed(dump, tmp_path):
    rows = [
        dump.paper("0704.0001", title=["x"]), dump.paper("0704.0002", abstract=3),
        dump.paper("0704.0003", categories=5), dump.paper("0704.0004", categories=["cs.AI cs.LG", "cs.AI"]),
    ]  # fmt: skip
    frame, report = read(dump, tmp_path, rows)
    assert frame["categories"].to_list() == [["cs.AI", "cs.LG"]]
    assert [each["reason"] for each in report["malformed"]["first"]] == [
        "title is not a string",
        "abstract is not a string",
        "categories is neither a string nor a list of strings",
    ]


def test_duplicates_are_decided_by_content(dump, tmp_path):
    old = dump.paper("0704.0001", title="old", update_date="2008-01-01")
    new = dump.paper("0704.0001v2", title="new", update_date="2009-01-01")
    twin = dump.paper("arXiv:0704.0001", title="twin", update_date="2009-01-01")
    other = dump.paper("0704.0002")
    results = []
    for rows in ([old, new, twin, other], [twin, other, new, old, old], [new, twin, old, other]):
        frame, report = read(dump, tmp_path, rows)
        assert report["duplicates"] == len(rows) - 2
        results.append(sorted(frame["title"].to_list()))
    assert results[0] == results[1] == results[2]
    assert results[0][1] in ("new", "twin")


def test_the_newest_version_decides_on_the_domain(dump, tmp_path):
    rows = [
        dump.paper("0704.0001", categories="math.CO", update_date="2009-01-01"),
        dump.paper("0704.0001", categories="cs.AI", update_date="2008-01-01"),
    ]
    frame, report = read(dump, tmp_path, rows, domains={"ai": {"categories": ["cs.AI"]}})
    assert frame.select("doc_id", "title", "domains").rows() == [("0704.0001", "", [])]
    assert (report["left_out"], report["selected"]) == ({"in no domain": 1}, 0)


def test_a_snapshot_that_is_cut_leaves_nothing_behind(dump, tmp_path):
    path = dump.write(tmp_path / "meta.json.zst", [dump.paper(f"0704.{n:04d}") for n in range(1, 50)])
    path.write_bytes(path.read_bytes()[:-20])
    with refuses(path, "cut off", "again"):
        read_metadata(path, dump.select(), tmp_path / "metadata.parquet")
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_an_empty_file_gives_an_empty_table(dump, tmp_path):
    frame, report = read(dump, tmp_path, [])
    assert (len(frame), report["lines"], report["duplicates"]) == (0, 0, 0)
