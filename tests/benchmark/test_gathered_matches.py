"""Matches of all parts, joined keyword by keyword."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow.parquet as pq
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.refusals import refuses

from fathom.benchmark import gathered_matches as module
from fathom.benchmark.gathered_matches import divide_by_keyword, gather_matches
from fathom.benchmark.matches import decide_matches
from fathom.io.contracts.benchmark import CANDIDATES, MATCHES
from fathom.io.row_groups import scan_groups
from fathom.io.tables import make_empty_table, read_table, write_table, write_table_in_batches

Row = tuple[str, str, int, str, float]


def _make_candidates(rows: list[Row]) -> pl.DataFrame:
    frame = pl.DataFrame(rows, schema=make_empty_table(MATCHES).schema, orient="row")
    return frame.with_columns(uncertain=pl.lit(""))


def _take_all(keyword: str, candidates: pl.DataFrame) -> pl.DataFrame:
    return candidates.drop("uncertain")


def _gather(folder: Path, parts: list[list[Row]], keywords: tuple[str, ...] = ()) -> tuple[pl.DataFrame, Any]:
    """Write parts with a few rows in a row group, gather them, and read the result."""
    paths = []
    for number, rows in enumerate(parts):
        frame = _make_candidates(rows).sort("keyword", "doc_id", "position")
        paths.append(folder / f"{number}.parquet")
        write_table(paths[-1], frame, CANDIDATES, group=2)
    with write_table_in_batches(folder / "all.parquet", MATCHES) as writer:
        report = gather_matches(paths, keywords, _take_all, writer.write)
    return read_table(folder / "all.parquet", MATCHES), report


def test_clean_sentence_stands_once_per_keyword(tmp_path):
    first = [("k", "b", 3, "one", 0.6), ("k", "c", 1, "two", 0.5), ("l", "b", 3, "one", 0.7)]
    second = [("k", "a", 9, "one", 0.6), ("k", "a", 2, "two", 0.9), ("k", "a", 3, "one", 0.6)]
    found, report = _gather(tmp_path, [first, second], ("k", "l", "m"))
    assert found.rows() == [
        ("k", "a", 2, "two", 0.9), ("k", "a", 3, "one", 0.6), ("l", "b", 3, "one", 0.7),
    ]  # fmt: skip
    assert _gather(tmp_path, [second, first], ("k", "l", "m"))[0].equals(found)
    assert report == {
        "matches": 3, "dropped_duplicates": 3, "sentences": 2, "documents": 2, "keywords_with_matches": 2,
        "keywords_without_matches": ["m"], "by_keyword": {"k": 2, "l": 1},
        "sentences_per_keyword": {"min": 1, "median": 1.5, "max": 2},
    }  # fmt: skip


_ROWS = st.lists(
    st.tuples(
        st.sampled_from(["a b", "a-b", "ab", "b é"]), st.sampled_from(["d1", "d10", "d2"]),
        st.integers(0, 99), st.sampled_from(["One.", "Two.", "one."]), st.sampled_from([0.5, 0.51, 0.9]),
    ), unique_by=lambda row: row[:3],
)  # fmt: skip


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=_ROWS.filter(bool), count=st.integers(1, 4))
def test_parts_side_by_side_give_what_one_table_in_memory_gives(tmp_path, rows, count):
    found, report = _gather(tmp_path, [rows[place::count] for place in range(count)])
    every = pl.DataFrame(rows, schema=make_empty_table(MATCHES).schema, orient="row")
    falling = [False, False, True, False, False]
    best = every.sort("keyword", "clean", "cosine", "doc_id", "position", descending=falling)
    expected = best.unique(["keyword", "clean"], keep="first", maintain_order=True)
    assert found.equals(expected.sort("keyword", "doc_id", "position"))
    assert report["matches"] + report["dropped_duplicates"] == len(rows)
    assert report["sentences"] == expected["clean"].n_unique()
    assert report["documents"] == expected["doc_id"].n_unique()


def test_a_keyword_has_its_own_row_groups(tmp_path):
    rows = [(keyword, f"d{place}", 0, f"s{place}", 0.5) for keyword in "abc" for place in range(5)]
    found, _ = _gather(tmp_path, [rows])
    file = pq.ParquetFile(tmp_path / "all.parquet")
    assert [file.metadata.row_group(place).num_rows for place in range(file.num_row_groups)] == [5, 5, 5]
    groups = list(scan_groups(tmp_path / "all.parquet", "keyword", found.columns))
    assert [keyword for keyword, _ in groups] == ["a", "b", "c"]
    assert all(one.equals(two) for (_, one), (_, two) in zip(groups, divide_by_keyword(found), strict=True))


def test_memory_holds_a_row_group_of_each_part_and_one_keyword(tmp_path, monkeypatch):
    largest = 0
    concat = pl.concat

    def watch(frames, **options):
        nonlocal largest
        frame = concat(list(frames), **options)
        largest = max(largest, len(frame))
        return frame

    monkeypatch.setattr(module.pl, "concat", watch)
    parts = [[(f"k{n:02}", f"d{part}-{n}", 0, f"s{part}-{n}", 0.5) for n in range(60)] for part in range(5)]
    monkeypatch.setattr(module, "_PENDING", 10**9)
    paths = []
    for number, rows in enumerate(parts):
        paths.append(tmp_path / f"{number}.parquet")
        frame = pl.DataFrame(rows, schema=make_empty_table(MATCHES).schema, orient="row")
        write_table(paths[-1], frame, MATCHES, group=7)
    found = [
        len(rows) for _, rows in module.merge_groups([scan_groups(p, "keyword", ["doc_id"]) for p in paths])
    ]
    assert found == [5] * 60
    assert largest == 5


def test_uncertain_rows_are_decided_before_duplicates_are_dropped(tmp_path):
    one = [("k", "a", 0, "same", 0.7), ("l", "a", 0, "same", 0.5)]
    two = [("k", "b", 0, "same", 0.7000001), ("l", "b", 0, "other", 0.5)]
    for number, rows in enumerate((one, two)):
        frame = _make_candidates(rows).with_columns(uncertain=pl.col("doc_id"))
        write_table(tmp_path / f"{number}.parquet", frame, CANDIDATES)
    written: list[pl.DataFrame] = []

    def decide(keyword: str, candidates: pl.DataFrame) -> pl.DataFrame:
        encode = {"a": [0.8, 0.6], "b": [0.7, 0.71414284]}
        vector = np.array([1.0, 0.0] if keyword == "k" else [0.0, 0.0])
        return decide_matches(candidates, vector, lambda texts: np.array([encode[t] for t in texts]), 0.5)

    report = gather_matches([tmp_path / f"{n}.parquet" for n in (0, 1)], ["k", "l"], decide, written.append)
    assert pl.concat(written).rows() == [("k", "a", 0, "same", 0.8)]
    assert report["dropped_duplicates"] == 1
    assert report["keywords_without_matches"] == ["l"]


def test_no_match_at_all_is_an_error_with_a_hint(tmp_path):
    with refuses("sentence", "min_cosine"):
        _gather(tmp_path, [[], []])
    assert not (tmp_path / "all.parquet").exists()
