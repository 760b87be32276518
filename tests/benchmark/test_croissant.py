"""The metadata of a benchmark, read by the reference library of Croissant."""

import json

import pytest
from tests.programs import run_program

from fathom.io.contracts.benchmark import PAIRS
from fathom.io.files import hash_file, read_json
from fathom.io.tables import read_table

ROWS = [
    {"category": "Graphs: {x}", "prompt": "The <tree> of a", "target": " graph"},
    {"category": "Graphs: {x}", "prompt": "A walk along its", "target": " edges"},
]


def test_the_pairs_are_loaded_through_the_metadata(tmp_path, caplog):
    croissant = pytest.importorskip("mlcroissant", reason="mlcroissant is not installed")
    (tmp_path / "entries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    folders = [tmp_path / name for name in ("one", "two")]
    for folder in folders:
        run_program("import_reference", "--entries", tmp_path / "entries.jsonl", "--title", "Graphs",
                    "--folder", folder)  # fmt: skip
    written = [(folder / "croissant.json").read_bytes() for folder in folders]
    assert written[0] == written[1]
    dataset = croissant.Dataset(str(folders[0] / "croissant.json"))
    assert not dataset.metadata.ctx.issues.errors
    assert "not standard" not in caplog.text
    assert {
        each["@id"]: each["sha256"] for each in read_json(folders[0] / "croissant.json")["distribution"]
    } == {name: hash_file(folders[0] / name) for name in ("pairs.parquet", "pairs.jsonl")}
    loaded = [
        {name.removeprefix("pairs/"): value.decode() if isinstance(value, bytes) else value
         for name, value in record.items()}
        for record in dataset.records("pairs")
    ]  # fmt: skip
    pairs = read_table(folders[0] / "pairs.parquet", PAIRS)
    shown = pairs.drop("cosine", "association", strict=False)
    assert [{name: row[name] for name in shown.columns} for row in loaded] == shown.to_dicts()
    assert set(loaded[0]) == set(pairs.columns)
