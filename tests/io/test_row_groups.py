"""Tables read piece by piece."""

from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fathom.errors import InputError
from fathom.io.contracts.benchmark import MATCHES
from fathom.io.row_groups import scan_groups, scan_smallest_first, scan_table, select_rows
from fathom.io.tables import make_empty_table, write_table


def _write(path: Path, keywords: list[str], group: int = 3) -> pl.DataFrame:
    frame = pl.DataFrame(
        {"keyword": keywords, "doc_id": [f"d{place}" for place in range(len(keywords))],
         "position": list(range(len(keywords))),
         "clean": [f"Sentence {place}." for place in range(len(keywords))], "cosine": [0.5] * len(keywords)},
        schema=make_empty_table(MATCHES).schema,
    )  # fmt: skip
    write_table(path, frame, MATCHES, group)
    return frame


def test_pieces_are_row_groups_and_together_the_table(tmp_path):
    frame = _write(tmp_path / "t", list("aabbbcc"))
    pieces = list(scan_table(tmp_path / "t", ["doc_id", "keyword"]))
    assert [len(piece) for piece in pieces] == [3, 3, 1]
    assert pl.concat(pieces).equals(frame.select("doc_id", "keyword"))


def test_groups_that_nobody_wants_are_not_read(tmp_path):
    _write(tmp_path / "t", list("aabbbcc"))
    asked: list[list[str]] = []

    def wanted(frame: pl.DataFrame) -> bool:
        assert frame.columns == ["doc_id"]
        asked.append(frame["doc_id"].to_list())
        return "d4" in asked[-1]

    (piece,) = scan_table(tmp_path / "t", ["doc_id", "clean"], wanted)
    assert piece["doc_id"].to_list() == ["d3", "d4", "d5"]
    assert len(asked) == 3


def test_rows_are_selected_by_columns_that_are_not_returned(tmp_path):
    _write(tmp_path / "t", list("aabbbcc"))
    found = select_rows(tmp_path / "t", ["doc_id"], (pl.col("keyword") == "b") & (pl.col("position") > 2))
    assert found.to_dict(as_series=False) == {"doc_id": ["d3", "d4"]}
    none = select_rows(tmp_path / "t", ["doc_id", "cosine"], pl.col("keyword") == "z")
    assert none.is_empty() and none.schema == {"doc_id": pl.String, "cosine": pl.Float64}


def test_a_table_without_rows_has_no_groups_but_columns(tmp_path):
    _write(tmp_path / "t", [])
    assert list(scan_groups(tmp_path / "t", "keyword", ["clean"])) == []
    assert select_rows(tmp_path / "t", ["clean"], pl.col("keyword") == "a").columns == ["clean"]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(keywords=st.lists(st.sampled_from(["", "a", "a b", "aé", "b"])), group=st.integers(1, 9))
def test_runs_of_a_key_come_whole_whatever_the_row_groups(tmp_path, keywords, group):
    frame = _write(tmp_path / "t", sorted(keywords), group)
    found = list(scan_groups(tmp_path / "t", "keyword", frame.columns))
    assert [key for key, _ in found] == sorted(set(keywords))
    for key, rows in found:
        assert rows.equals(frame.filter(pl.col("keyword") == key))


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(keywords=st.lists(st.sampled_from(["", "a", "a b", "aé", "b"])), group=st.integers(1, 9))
def test_values_of_fewest_rows_come_first_and_whole(tmp_path, keywords, group):
    frame = _write(tmp_path / "t", keywords, group)
    found = dict(scan_smallest_first(tmp_path / "t", "keyword", frame.columns))
    assert list(found) == sorted(set(keywords), key=lambda key: (keywords.count(key), key))
    assert all(rows.equals(frame.filter(pl.col("keyword") == key)) for key, rows in found.items())


def test_a_table_that_is_not_sorted_is_refused(tmp_path):
    _write(tmp_path / "t", list("aba"))
    with pytest.raises(InputError, match="not sorted by keyword"):
        list(scan_groups(tmp_path / "t", "keyword", ["clean"]))


def test_damage_is_told_with_the_file_and_a_hint(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        list(scan_table(tmp_path / "none", ["clean"]))
    _write(tmp_path / "t", list("abc"))
    with pytest.raises(InputError, match="columns are missing: clan") as error:
        list(scan_table(tmp_path / "t", ["clan"]))
    assert "make it again" in str(error.value)
    (tmp_path / "cut").write_bytes((tmp_path / "t").read_bytes()[:-20])
    with pytest.raises(InputError, match="not a complete parquet file"):
        select_rows(tmp_path / "cut", ["clean"], pl.col("keyword") == "a")
