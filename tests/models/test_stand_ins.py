"""Corrupt weights: how they are found, and which rows may stand in for which."""

import pytest
import torch
from safetensors.torch import save_file
from tests.refusals import refuses
from tests.tables import write_models

from fathom.io.files import write_json
from fathom.models.folders import find_damage
from fathom.models.registry import read_registry


def test_rows_stand_in_for_one_another_in_a_line(tmp_path):
    rows = [{"stand_in": "b"}, {"name": "b", "stand_in": "c"}, {"name": "c"}]
    path = write_models(tmp_path / "m.tsv", *({"source": "org/a", **row} for row in rows))
    assert read_registry(path)["a"].stand_in == "b"


@pytest.mark.parametrize(("rows", "problem"), [
    ([{"stand_in": "b"}], "stand_in of 'a' names an unknown model, 'b'"),
    ([{"stand_in": "b"}, {"name": "b", "stand_in": "a"}], "a > b > a"),
    ([{"stand_in": "b", "tokens": "5"}, {"name": "b"}], "'b', has no tokens"),
    ([{"stand_in": "b"}, {"name": "b", "adapter_of": "c"}, {"name": "c"}], "'b', is not applied"),
])  # fmt: skip
def test_wrong_stand_ins_are_named(tmp_path, rows, problem):
    with refuses(problem):
        read_registry(write_models(tmp_path / "m.tsv", *({"source": "org/a", **row} for row in rows)))


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
    file = file.rename(tmp_path / "model-1.safetensors")  # the index counts where there is no whole file
    write_json(index, {"weight_map": {"w": file.name, "x": "model-2.safetensors"}})
    assert find_damage(tmp_path) == "no model-2.safetensors, which the index of weights names"
