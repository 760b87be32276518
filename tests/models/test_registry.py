"""The table of models."""

from pathlib import Path

import pytest

from fathom.errors import InputError
from fathom.models.registry import COLUMNS, find_model, read_registry

ROOT = Path(__file__).resolve().parents[2]
ROW = {
    "name": "a", "family": "f", "source": "org/a", "revision": "", "kind": "base", "base_of": "",
    "parameters": "7", "tokens": "", "dtype": "float32",
}  # fmt: skip


def write(path: Path, *changes: dict[str, str]) -> Path:
    rows = [{**ROW, **change} for change in changes]
    lines = ["\t".join(COLUMNS), *("\t".join(row[column] for column in COLUMNS) for row in rows)]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_the_shipped_table_is_right() -> None:
    entries = read_registry(ROOT / "config" / "models.tsv")
    assert entries["Llama-2-7b-chat"].base_of == "Llama-2-7b"
    assert entries["Llama-2-7b"].add_bos is True
    assert entries["gpt2-xl"].add_bos is None
    assert entries["gpt2"].parameters == 124_000_000
    assert entries["Qwen1.5-14B-Chat"].base_of == "Qwen1.5-14B" and entries["gemma-2-9b-it"].add_bos is True
    assert all((entry.kind == "chat") == bool(entry.base_of) for entry in entries.values())


def test_values_have_types(tmp_path: Path) -> None:
    entry = read_registry(write(tmp_path / "m.tsv", {}))["a"]
    assert (entry.parameters, entry.tokens, entry.kind) == (7, None, "base")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "bass"}, r"line 3: kind = 'bass'\nHint: one of: base, chat"),
        ({"dtype": "int8"}, r"line 3: dtype = 'int8'"),
        ({"parameters": "7B"}, r"line 3: parameters = '7B' is no whole number"),
        ({"source": ""}, "line 3: source is empty"),
        ({"name": "a"}, "line 3: model 'a' stands twice"),
        ({"base_of": "c"}, "base_of of 'b' names 'c', which is no model of the table"),
    ],
)
def test_wrong_values_are_named(tmp_path: Path, change: dict[str, str], message: str) -> None:
    path = write(tmp_path / "m.tsv", {}, {"name": "b", **change})
    with pytest.raises(InputError) as error:
        read_registry(path)
    import re

    assert re.search(message, str(error.value))


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    (tmp_path / "m.tsv").write_text("name\tfamily\na\tb\n")
    with pytest.raises(InputError, match="columns are missing: source"):
        read_registry(tmp_path / "m.tsv")


def test_an_unknown_name_gets_the_nearest() -> None:
    path = ROOT / "config" / "models.tsv"
    with pytest.raises(InputError) as error:
        find_model(read_registry(path), "gpt2-x", path)
    assert "there is no model 'gpt2-x'" in str(error.value)
    assert "did you mean gpt2-xl?" in str(error.value)
