"""Pointers, fingerprints, and every way in which a model cannot be loaded."""

import dataclasses
import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from tests.programs import run_program
from tests.refusals import refuses

from fathom.errors import InputError
from fathom.models.fetching import copy_tokenizer, locate_model
from fathom.models.folders import fingerprint_folder, load_tokenizer
from fathom.models.loading import Pointer, check_fingerprint, load_model, read_pointer, write_pointer
from fathom.models.registry import Entry

ROOT = Path(__file__).resolve().parents[2]


def test_pointer_comes_back_and_moves_with_its_folder(model_folder, tmp_path):
    pointer = Pointer("m", model_folder, fingerprint=fingerprint_folder(model_folder), add_bos=True)
    write_pointer(tmp_path / "model.json", pointer)
    assert json.loads((tmp_path / "model.json").read_text())["path"] == "weights"
    assert read_pointer(tmp_path / "model.json") == pointer
    moved = shutil.copytree(tmp_path, tmp_path.with_name("moved"))
    found = read_pointer(moved / "model.json")
    assert found.path == moved / "weights"
    model, tokenizer = load_model(found)
    assert model.dtype == torch.float32
    assert not model.training
    assert len(tokenizer) == model.config.vocab_size


def test_pointer_to_elsewhere_is_absolute(model_folder, tmp_path):
    write_pointer(tmp_path / "other" / "model.json", Pointer("m", model_folder))
    assert read_pointer(tmp_path / "other" / "model.json").path == model_folder.resolve()


def test_dtype_is_the_named_one(model_folder):
    assert load_model(model_folder, dtype="bfloat16")[0].dtype == torch.bfloat16


def test_fingerprint_changes_with_each_file(model_folder):
    seen = {fingerprint_folder(model_folder)}
    for name in ("config.json", "tokenizer.json"):
        (model_folder / name).write_text((model_folder / name).read_text() + "\n")
        seen.add(fingerprint_folder(model_folder))
    weights = load_file(model_folder / "model.safetensors")
    next(iter(weights.values())).view(-1)[0] += 1
    save_file(weights, model_folder / "model.safetensors", {"format": "pt"})
    seen.add(fingerprint_folder(model_folder))
    (model_folder / "notes.txt").write_text("not part of the model")
    seen.add(fingerprint_folder(model_folder))
    assert len(seen) == 4


def test_changed_weights_are_noticed(model_folder):
    pointer = Pointer("m", model_folder, fingerprint=fingerprint_folder(model_folder))
    assert check_fingerprint(pointer) == pointer.fingerprint
    with refuses("'m'", "changed"):
        check_fingerprint(dataclasses.replace(pointer, fingerprint="0"))


def refuse(folder: Path) -> str:
    with pytest.raises(InputError) as error:
        load_model(folder)
    return str(error.value)


def test_a_path_that_does_not_exist(tmp_path):
    assert "no such model" in refuse(tmp_path / "none.json")
    write_pointer(tmp_path / "model.json", Pointer("m", tmp_path / "gone"))
    assert "no such folder" in refuse(tmp_path / "model.json")


def test_a_file_that_is_no_pointer(tmp_path):
    (tmp_path / "model.json").write_text('{"name": "m", "weights": "x"}')
    assert "not a model pointer" in refuse(tmp_path / "model.json")


def test_a_missing_tokenizer(model_folder):
    for file in model_folder.glob("tokenizer*"):
        file.unlink()
    assert "no tokenizer in this folder" in refuse(model_folder)


def test_pickled_weights_are_refused_unread(model_folder):
    (model_folder / "model.safetensors").unlink()
    assert "no weights (*.safetensors)" in refuse(model_folder)
    (model_folder / "pytorch_model.bin").write_bytes(b"never read")
    message = refuse(model_folder)
    assert "the weights are pickled (pytorch_model.bin)" in message
    assert "Hint: convert them" in message


def test_adapter_weights_alone_are_no_model(model_folder):
    (model_folder / "config.json").unlink()
    assert "no config.json" in refuse(model_folder)


def test_a_tokenizer_larger_than_the_model(model_folder):
    tokenizer = load_tokenizer(model_folder)
    tokenizer.add_tokens(["onemore"])
    tokenizer.save_pretrained(model_folder)
    assert f"the tokenizer has {len(tokenizer)} entries, the model {len(tokenizer) - 1}" in refuse(
        model_folder
    )


def test_missing_weights_are_never_drawn_at_random(model_folder):
    weights = load_file(model_folder / "model.safetensors")
    name = sorted(weights)[0]
    del weights[name]
    save_file(weights, model_folder / "model.safetensors", {"format": "pt"})
    assert "1 weights are missing, e.g. " in refuse(model_folder)


def test_damaged_weights(model_folder):
    (model_folder / "model.safetensors").write_bytes(b"no safetensors at all")
    assert "the model cannot be loaded" in refuse(model_folder)


@pytest.mark.parametrize("value", [{"n_embd": "sixteen"}, {"model_type": "unheard-of"}])
def test_a_configuration_that_describes_no_model(model_folder, value):
    path = model_folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | value))
    assert f"{path}: the model's configuration cannot be read" in refuse(model_folder)


def test_the_configuration_of_another_model(model_folder):
    path = model_folder / "config.json"
    values = json.loads(path.read_text())
    path.write_text(json.dumps(values | {"n_embd": 2 * values["n_embd"]}))
    assert "the weights have other shapes than config.json says" in refuse(model_folder)


@pytest.mark.parametrize("text", ["{}", '{"model": {"type": "unheard-of"}, "added_tokens": []}'])
def test_a_tokenizer_of_an_unknown_format(model_folder, text):
    (model_folder / "tokenizer.json").write_text(text)
    assert "the tokenizer cannot be read" in refuse(model_folder)


def entry(source: str) -> Entry:
    return Entry("m", "f", source, "", "base", "", None, None, "float32")


def test_a_local_model_needs_no_hub(model_folder, tmp_path):
    assert locate_model(entry("weights"), tmp_path / "models.tsv")[0] == model_folder.resolve()
    assert locate_model(entry(str(model_folder)), "models.tsv")[0] == model_folder.resolve()
    with refuses("no such folder"):
        locate_model(entry("./none"), tmp_path / "models.tsv")


def test_tokenizer_files_are_copied_without_weights(model_folder, tmp_path):
    copy_tokenizer(model_folder, tmp_path / "tokenizer")
    assert len(load_tokenizer(tmp_path / "tokenizer")) == len(load_tokenizer(model_folder))
    assert not list((tmp_path / "tokenizer").glob("*.safetensors"))


def test_no_hub_gives_one_message(tmp_path):
    values = ["far", "f", "nobody/nothing", "", "base", "", "", "", "float32"]
    header = ["name", "family", "source", "revision", "kind", "base_of", "parameters", "tokens", "dtype"]
    (tmp_path / "models.tsv").write_text("\t".join(header) + "\n" + "\t".join(values) + "\n")
    files = ("--registry", tmp_path / "models.tsv", "--pointer", tmp_path / "model.json")
    with refuses("'far'", "nobody/nothing", "HF_HUB_OFFLINE"):
        run_program("fetch_model", "--model", "far", *files,
                    environment={"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path)})  # fmt: skip
    assert not (tmp_path / "model.json").exists()
