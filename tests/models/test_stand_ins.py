"""Corrupt weights: how they are found, and which rows may stand in for which."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from tests.models.test_registry import ROW
from tests.tables import MODEL_COLUMNS

from fathom.errors import InputError
from fathom.io.files import write_json
from fathom.models.folders import find_damage
from fathom.models.registry import read_registry

TABLE = (*MODEL_COLUMNS, "adapter_of", "stand_in")


def write(path: Path, *changes: dict[str, str]) -> Path:
    rows = [{**ROW, "adapter_of": "", "stand_in": "", **change} for change in changes]
    path.write_text("\n".join("\t".join(cells) for cells in (TABLE, *([r[c] for c in TABLE] for r in rows))))
    return path


def test_rows_stand_in_for_one_another_in_a_line(tmp_path):
    rows = [{"name": "a", "stand_in": "b"}, {"name": "b", "stand_in": "c"}, {"name": "c"}]
    assert read_registry(write(tmp_path / "m.tsv", *rows))["a"].stand_in == "b"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ([{"stand_in": "b"}], "stand_in of 'a' names an unknown model, 'b'"),
        ([{"stand_in": "b"}, {"name": "b", "stand_in": "a"}], "a > b > a: stand-ins go in a circle"),
        ([{"stand_in": "b", "tokens": "5"}, {"name": "b"}], "'b', has no tokens"),
        (
            [{"stand_in": "b"}, {"name": "b", "adapter_of": "c"}, {"name": "c"}],
            "'b', is not applied to the same model",
        ),
    ],
)
def test_wrong_stand_ins_are_named(tmp_path, changes, message):
    with pytest.raises(InputError, match=message):
        read_registry(write(tmp_path / "m.tsv", *changes))


def test_damage_is_found(tmp_path):
    weights = {"w": torch.ones(4, 3), "n": torch.arange(3), "e": torch.ones(2).to(torch.float8_e4m3fn)}
    file = tmp_path / "model.safetensors"
    save_file(weights, file)
    assert find_damage(tmp_path) == ""
    whole = file.read_bytes()
    file.write_bytes(whole[:-4])
    assert find_damage(tmp_path).startswith("model.safetensors: ")
    for value in (torch.nan, torch.inf):
        weights["w"][3, 2] = value
        save_file(weights, file)
        assert find_damage(tmp_path) == "model.safetensors: values of w are not finite"
    file.write_bytes(whole)
    index = tmp_path / "model.safetensors.index.json"
    write_json(index, {"weight_map": {"w": file.name, "x": "model-2.safetensors"}})
    assert find_damage(tmp_path) == f"no model-2.safetensors, which {index.name} names"
