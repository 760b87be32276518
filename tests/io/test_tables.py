"""Contracts: what a table must be before it is written, and what is read back."""

import math
import re
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest
from tests.programs import run_program
from tests.refusals import refuses
from tests.scores import tabulate_scores

from fathom.errors import InputError
from fathom.io import paths, tables
from fathom.io.contracts import list_contracts
from fathom.io.contracts.benchmark import MATCHES
from fathom.io.contracts.column import DOUBLE, FLOATS, STRING, Check, Column, Contract
from fathom.io.contracts.corpus import DOCUMENTS, INDEX
from fathom.io.contracts.scoring import SCORES
from fathom.io.row_groups import scan_table

_ROOT = Path(__file__).resolve().parents[2]
_ROWS = {"keyword": ["graph neural"], "doc_id": ["0704.0010"], "position": [3], "clean": ["A sentence."],
         "cosine": [0.5]}  # fmt: skip


def _frame(**changes) -> pl.DataFrame:
    return pl.DataFrame({**_ROWS, **changes})


def test_columns_are_ordered_cast_and_described(tmp_path):
    frame = _frame().select("cosine", "clean", "position", "doc_id", "keyword")
    tables.write_table(tmp_path / "t", frame, MATCHES)
    schema = pq.read_schema(tmp_path / "t")
    assert schema.names == ["keyword", "doc_id", "position", "clean", "cosine"]
    assert [str(kind) for kind in schema.types] == ["string", "string", "int32", "string", "double"]
    assert schema.field("cosine").metadata[b"about"] == b"cosine of keyword and raw sentence, three decimals"
    assert tables.read_table(tmp_path / "t", MATCHES)["doc_id"].to_list() == ["0704.0010"]
    assert pq.ParquetFile(tmp_path / "t").metadata.row_group(0).column(0).compression == "ZSTD"


@pytest.mark.parametrize(
    "frame",
    [_frame(extra=[1]), _frame().drop("clean"), _frame(cosine=[None]), _frame(position=["three"]),
     _frame(position=[1 << 40]), _frame(position=[0.5])],
    ids=["extra", "missing", "null", "text for a number", "too large", "fraction"],
)  # fmt: skip
def test_a_table_that_breaks_its_contract_is_not_written(tmp_path, frame):
    with pytest.raises(ValueError):
        tables.write_table(tmp_path / "t", frame, MATCHES)
    assert list(tmp_path.iterdir()) == []


_CHECKED = Contract(
    "",
    "",
    *(Column("name", STRING, "", Check(unique=True)), Column("rank", DOUBLE, "", Check(at_least=1)),
     Column("share", DOUBLE, "", Check(at_least=0, at_most=1, nan=True)),
     Column("shares", FLOATS, "", Check(at_most=1))),
)  # fmt: skip
_VALUES = {"name": ["a", "b", "c"], "rank": [1.0, 2.5, 3.0], "share": [0.0, 1.0, math.nan],
           "shares": [[], [0.5, 1.0], [0.25]]}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"name": ["a", "b", "a"]}, "column name, row 2: 'a' is a duplicate"),
     ({"rank": [1.0, 0.5, 0.0]}, "column rank, row 1: 0.5 is less than 1"),
     ({"rank": [1.0, 2.0, math.nan]}, "column rank, row 2: nan is not a finite number"),
     ({"rank": [math.inf, 2.0, 3.0]}, "column rank, row 0: inf is not a finite number"),
     ({"share": [0.0, math.inf, math.nan]}, "column share, row 1: inf is not a finite number"),
     ({"share": [0.0, 1.5, math.nan]}, "column share, row 1: 1.5 is greater than 1"),
     ({"share": [-0.5, 1.0, math.nan]}, "column share, row 0: -0.5 is less than 0"),
     ({"shares": [[], [0.5, 1.0], [0.25, 2.0]]}, "column shares, row 2: 2.0 is greater than 1"),
     ({"shares": [[], [0.5, math.nan], [0.25]]}, "column shares, row 1: nan is not a finite number")],
)  # fmt: skip
def test_a_value_that_its_column_does_not_allow_is_named(tmp_path, changes, message):
    tables.write_table(tmp_path / "good", pl.DataFrame(_VALUES), _CHECKED)
    with pytest.raises(ValueError, match=re.escape(f"{tmp_path / 'bad'}: {message}")):
        tables.write_table(tmp_path / "bad", pl.DataFrame(_VALUES | changes), _CHECKED)
    assert [path.name for path in tmp_path.iterdir()] == ["good"]


def test_scores_are_checked(tmp_path):
    row = {"pair_id": "a", "keyword": "k", "tokens": 1, "rank": 1.0, "rank_midpoint": 1.0, "rank_first": 1,
           "rank_share": 0.1, "ties": 0, "probability": 1.0, "log_probability": 0.0,
           "backed_off": False, "rival_rank": float("nan"), "rival": "", "bits": float("nan"),
           "ceiling": float("nan")}  # fmt: skip
    tables.write_table(tmp_path / "t", pl.DataFrame([row, row | {"pair_id": "b"}]), SCORES)
    for change in ({"pair_id": "a"}, {"rank": 0.0}, {"probability": 1.1}, {"log_probability": 1e-9}):
        with pytest.raises(ValueError, match=f"column {next(iter(change))}, row 1: "):
            tables.write_table(tmp_path / "u", pl.DataFrame([row, row | {"pair_id": "b"} | change]), SCORES)


def test_batches_are_one_file_or_none(tmp_path):
    with tables.write_table_in_batches(tmp_path / "t", MATCHES) as writer:
        writer.write(_frame())
        writer.write([{name: values[0] for name, values in _ROWS.items()}])
        writer.write([])
        assert not (tmp_path / "t").exists()
        assert writer.rows == 2
    assert tables.read_table(tmp_path / "t", MATCHES, ["clean"]).shape == (2, 1)
    with pytest.raises(ValueError), tables.write_table_in_batches(tmp_path / "u", MATCHES) as writer:
        writer.write(_frame())
        writer.write(_frame().drop("clean"))
    assert [path.name for path in tmp_path.iterdir()] == ["t"]


def test_a_table_of_no_rows_keeps_its_types(tmp_path):
    with tables.write_table_in_batches(tmp_path / "t", DOCUMENTS):
        pass
    frame = tables.read_table(tmp_path / "t", DOCUMENTS)
    assert frame.height == 0
    assert frame.schema["categories"] == pl.List(pl.String)


def test_same_frame_same_bytes(tmp_path):
    for name in "ab":
        tables.write_table(tmp_path / name, _frame(), MATCHES)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def _write_scores(path: Path, count: int = 40) -> Path:
    names = [f"p{number}" for number in range(count)]
    tables.write_table(path, tabulate_scores(names, ["k"] * count, [1.5 + n for n in range(count)]), SCORES)
    return path


def test_a_table_of_fewer_rows_or_of_another_model_is_refused(tmp_path):
    own = _write_scores(tmp_path / "run/physics/scores/tf/alpha.parquet")
    table = pq.read_table(own)  # with the record that stands in its footer
    for count, rows in ((1, "1 row"), (20, "20 rows")):
        half = own.with_name("half.parquet")
        pq.write_table(
            table.slice(0, count).replace_schema_metadata(pq.ParquetFile(own).metadata.metadata), half
        )
        with pytest.raises(InputError, match=f"{rows} where 40 were written"):
            tables.read_table(half, SCORES, ["rank"])
    other = own.with_name("beta.parquet")
    other.write_bytes(own.read_bytes())
    with pytest.raises(InputError, match=r"written as physics/scores/tf/alpha\.parquet"):
        tables.read_table(other, SCORES)
    moved = tmp_path / "renamed"
    (tmp_path / "run").rename(moved)  # a run may have another name
    assert len(tables.read_table(moved / "physics/scores/tf/alpha.parquet", SCORES)) == 40


def test_no_flipped_bit_changes_a_table_in_silence(tmp_path, caplog):
    path = _write_scores(tmp_path / "scores.parquet", 8)
    whole, frame = path.read_bytes(), tables.read_table(path, SCORES)
    silent = []
    for place in range(1, len(whole), 97):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << place % 8
        copy = tmp_path / f"{place}.parquet"
        copy.write_bytes(damaged)
        try:
            found = tables.read_table(copy, SCORES)
        except InputError:
            continue
        if not found.equals(frame, null_equal=True) and copy.name not in caplog.text:
            silent.append(place)
    assert silent == []


@pytest.mark.parametrize("name", ["bits", "rank"])
def test_a_column_whose_name_has_a_flipped_bit_is_no_absent_column(tmp_path, name):
    path = _write_scores(tmp_path / "scores.parquet", 8)
    other = name[:-1] + chr(ord(name[-1]) ^ 1)
    path.write_bytes(path.read_bytes().replace(f"\x18\x04{name}".encode(), f"\x18\x04{other}".encode()))
    with pytest.raises(InputError, match=r"parquet|changed|missing"):
        tables.read_table(path, SCORES)


def test_a_page_with_a_flipped_bit_is_refused_in_a_table_that_is_too_large_to_hold(tmp_path):
    path = _write_scores(tmp_path / "scores.parquet", 2000)
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 1
    path.write_bytes(content)
    with pytest.raises(InputError, match="complete parquet"):
        for _ in scan_table(path, SCORES.names):
            pass


def test_a_table_without_a_record_is_named_once(tmp_path, caplog):
    path = tmp_path / "t.parquet"
    _frame().with_columns(pl.col("position").cast(pl.Int32)).write_parquet(path)
    for _ in range(2):
        tables.read_table(path, MATCHES)
    assert caplog.text.count("no record") == 1 and str(path) in caplog.text
    caplog.clear()
    tables.read_table(path, MATCHES, foreign=True)
    assert not caplog.text


def test_what_cannot_be_read_is_said(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        tables.read_table(tmp_path / "t", MATCHES)
    tables.write_table(tmp_path / "t", _frame(), MATCHES)
    with pytest.raises(InputError, match="columns are missing: title"):
        tables.read_table(tmp_path / "t", INDEX, ["doc_id", "title"])
    (tmp_path / "cut").write_bytes((tmp_path / "t").read_bytes()[:-20])
    with pytest.raises(InputError, match="not a complete parquet file"):
        tables.read_table(tmp_path / "cut", MATCHES)


def test_the_page_of_tables_is_fresh(tmp_path):
    run_program("write_tables_doc", "--output", tmp_path / "t.md")
    page = (_ROOT / "docs" / "columns.md").read_text()
    assert (tmp_path / "t.md").read_text() == page, (
        "docs/columns.md is stale: python scripts/jobs/write_tables_doc.py"
    )
    for name in ("corpus/index.parquet", "{domain}/keywords.tsv", "summary.csv", "question-differences.csv"):
        assert f"### {name}\n" in page


def _fill(name: str) -> str:
    """Return a pattern for a path whose pieces in braces stand for any text."""
    return re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(name))


def test_every_table_of_a_run_has_a_contract():
    known = [name for _, contract in list_contracts() for name in contract.files.split(", ")]
    patterns = [_fill(name) for name in known]
    tables = [
        path.below
        for path in vars(paths).values()
        if isinstance(path, paths.RunPath) and path.below.endswith((".csv", ".tsv", ".parquet"))
    ]
    assert len(tables) > 40
    assert [
        name
        for name in tables
        if not any(
            re.fullmatch(each, name) or re.fullmatch(_fill(name), own)
            for each, own in zip(patterns, known, strict=True)
        )
    ] == []


def test_a_contract_takes_the_paths_of_a_run_from_their_list():
    known = {path.below for path in paths.ALL.values()}
    places = [
        place
        for _, contract in list_contracts()
        for place in ([contract.places] if isinstance(contract.places, str) else contract.places)
    ]
    assert sum(isinstance(place, paths.RunPath) for place in places) > 80
    assert [place for place in places if not isinstance(place, paths.RunPath) and place in known] == []


def test_tables_of_text_are_read_and_written_in_one_place():
    names = re.compile(r"csv\.(reader|writer|Dict)|write_csv\(|or \"nan\"")
    files = [path for folder in ("src", "scripts") for path in (_ROOT / folder).rglob("*.py")]
    found = {path.name for path in files if names.search(path.read_text())}
    assert found <= {"delimited.py"}


@pytest.mark.parametrize("values", [["0.5"], [True], [[0.5]], [{"a": 0.5}], [b"1"]])
def test_a_column_of_another_kind_is_refused_by_name(tmp_path, values):
    path = tmp_path / "t.parquet"
    _frame().head(1).with_columns(cosine=pl.Series(values)).write_parquet(path)
    with refuses(path, "cosine"):
        tables.read_table(path, MATCHES)
