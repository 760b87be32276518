"""Rows that wait on a disk."""

import subprocess
import sys

import pyarrow as pa
from tests.refusals import refuses

from fathom.corpus.metadata import TemporaryRows

SCHEMA = pa.schema([("doc_id", pa.string()), ("text", pa.large_string())])


def fill(temporary: TemporaryRows, batches: int) -> None:
    for place in range(batches):
        temporary.write({"text": [f"text {place}"], "doc_id": [str(place)]})


def test_rows_come_back_in_their_order_and_more_than_once(tmp_path):
    with TemporaryRows(tmp_path / "documents.parquet", SCHEMA) as temporary:
        fill(temporary, 3)
        for _ in range(2):
            rows = [row for batch in temporary.read() for row in batch.to_pylist()]
            assert rows == [{"doc_id": str(place), "text": f"text {place}"} for place in range(3)]
    assert temporary.rows == 3


def test_two_jobs_of_one_output_do_not_share_a_file(tmp_path):
    output = tmp_path / "documents.parquet"
    with TemporaryRows(output, SCHEMA) as first, TemporaryRows(output, SCHEMA) as second:
        fill(first, 2)
        fill(second, 1)
        assert [sum(batch.num_rows for batch in each.read()) for each in (first, second)] == [2, 1]


def test_nothing_of_it_stays_even_when_its_job_is_killed(tmp_path):
    code = (
        "import os, signal, sys; from pathlib import Path; import pyarrow as pa\n"
        "from fathom.corpus.metadata import TemporaryRows\n"
        "with TemporaryRows(Path(sys.argv[1]), pa.schema([('doc_id', pa.string())])) as temporary:\n"
        "    temporary.write({'doc_id': ['1']})\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "documents.parquet")])
    assert done.returncode == -9
    assert list(tmp_path.iterdir()) == []


def test_it_lies_in_the_scratch_folder_where_one_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("FATHOM_SCRATCH", str(tmp_path / "scratch"))
    with refuses("no such folder"), TemporaryRows(tmp_path / "a", SCHEMA):
        pass
    (tmp_path / "scratch").mkdir()
    # the folder of the output need not even be there
    with TemporaryRows(tmp_path / "missing" / "a", SCHEMA) as temporary:
        fill(temporary, 1)
        assert sum(batch.num_rows for batch in temporary.read()) == 1
