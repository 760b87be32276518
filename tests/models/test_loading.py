"""Pointers, fingerprints, and every way in which a model cannot be loaded."""

import dataclasses
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from tests.programs import run_program
from tests.refusals import refuses
from tests.tables import write_models

from fathom.models.fetching import copy_tokenizer, locate_model
from fathom.models.folders import fingerprint_folder, load_tokenizer
from fathom.models.loading import Pointer, check_fingerprint, load_model, read_pointer, write_pointer
from fathom.models.registry import ModelRow

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
    file = tmp_path / "run" / "models" / "m" / "model.json"
    write_pointer(file, Pointer("m", model_folder))
    assert read_pointer(file).path == model_folder.resolve()


def test_weights_of_a_run_have_the_name_of_their_model(model_folder, tmp_path):
    shutil.copytree(model_folder, tmp_path / "models" / "small" / "weights")
    assert read_pointer(tmp_path / "models" / "small" / "weights").name == "small"


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


def test_what_a_link_leads_to_is_part_of_the_fingerprint(model_folder, tmp_path):
    # as in the hub's cache
    whole = fingerprint_folder(model_folder)
    (tmp_path / "blobs").mkdir()
    weights = model_folder / "model.safetensors"
    weights.rename(tmp_path / "blobs" / "a")
    weights.symlink_to(Path("..", "blobs", "a"))
    assert fingerprint_folder(model_folder) == whole
    load_model(model_folder)
    other = load_file(tmp_path / "blobs" / "a")
    next(iter(other.values())).view(-1)[0] += 1
    save_file(other, tmp_path / "blobs" / "a", {"format": "pt"})
    assert fingerprint_folder(model_folder) != whole


@pytest.mark.parametrize("name", ["chat_template.jinja", "additional_chat_templates/tool.jinja"])
def test_templates_are_part_of_the_fingerprint(model_folder, name):
    seen = {fingerprint_folder(model_folder)}
    (model_folder / name).parent.mkdir(exist_ok=True)
    for text in ("{{ 1 }}", "{{ 2 }}"):
        (model_folder / name).write_text(text)
        seen.add(fingerprint_folder(model_folder))
    assert len(seen) == 3


def test_changed_weights_are_noticed(model_folder):
    pointer = Pointer("m", model_folder, fingerprint=fingerprint_folder(model_folder))
    assert check_fingerprint(pointer) == pointer.fingerprint
    with refuses("'m'", "changed"):
        check_fingerprint(dataclasses.replace(pointer, fingerprint="0"))


def refuse(folder: Path, *names: object) -> None:
    with refuses(*names):
        load_model(folder)


def test_what_is_no_pointer_to_a_model(tmp_path):
    path = tmp_path / "model.json"
    refuse(path, "no such model", path)
    write_pointer(path, Pointer("m", tmp_path / "gone"))
    refuse(path, "no such folder", "gone")
    path.write_text('{"name": "m", "weights": "x"}')
    refuse(path, "not a model pointer", path)


def configure(**values: object) -> Callable[[Path], None]:
    """Return what changes the configuration of a model."""

    def change(folder: Path) -> None:
        path = folder / "config.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | values))

    return change


def enlarge_tokenizer(folder: Path) -> None:
    tokenizer = load_tokenizer(folder)
    tokenizer.add_tokens(["onemore"])
    tokenizer.save_pretrained(folder)


def drop_weight(folder: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    del weights[sorted(weights)[0]]
    save_file(weights, folder / "model.safetensors", {"format": "pt"})


def add_block(folder: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    more = {name.replace(".h.0.", ".h.1."): value.clone() for name, value in weights.items()}
    save_file(more | weights, folder / "model.safetensors", {"format": "pt"})


def name_elsewhere(file: str, key: str, name: str, as_list: bool = False) -> Callable[[Path], None]:
    """Return what moves weights and tokenizer of a model, and lets a file name where they are."""

    def change(folder: Path) -> None:
        (folder / "sub").mkdir()
        (folder / "decoy.safetensors").write_bytes((folder / "model.safetensors").read_bytes())
        (folder / "model.safetensors").rename(folder / "sub/x.safetensors")
        shutil.copy(folder / "tokenizer.json", folder / "sub/tokenizer.4.0.json")
        named: object = [name] if as_list else name
        if key == "weight_map":
            named = dict.fromkeys(load_file(folder / "decoy.safetensors"), name)
        path = folder / file
        known = json.loads(path.read_text()) if path.is_file() else {"metadata": {}}
        path.write_text(json.dumps(known | {key: named}))

    return change


INDEX = "model.safetensors.index.json"
UNKNOWN = '{"model": {"type": "unheard-of"}, "added_tokens": []}'


def leave_to_lfs(file: str) -> Callable[[Path], object]:
    """Return what replaces a file with what a clone without Git LFS has of it."""
    text = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 9\n"
    return lambda folder: (folder / file).write_text(text)


@pytest.mark.parametrize(("damage", "named"), [
    (leave_to_lfs("model.safetensors"), ["model.safetensors", "Git LFS"]),
    (leave_to_lfs("tokenizer.json"), ["tokenizer.json", "Git LFS"]),
    (lambda folder: [file.unlink() for file in folder.glob("tokenizer*")], ["no tokenizer in this"]),
    (lambda folder: (folder / "model.safetensors").unlink(), ["no weights (*.safetensors)"]),
    (lambda folder: (folder / "model.safetensors").rename(folder / "pytorch_model.bin"),
     ["pickled (pytorch_model.bin)", "convert them"]),
    (lambda folder: (folder / "config.json").unlink(), ["no config.json"]),  # adapter weights alone
    (enlarge_tokenizer, ["281 entries", "280"]),
    (drop_weight, ["1 weight missing"]),  # never drawn at random
    (lambda folder: (folder / "model.safetensors").write_bytes(b"none at all"), ["cannot be loaded"]),
    (configure(vocab_size=-5), ["config.json", "vocab_size = -5", "at least 1"]),
    (configure(n_layer=0), ["config.json", "n_layer = 0", "at least 1"]),
    (configure(n_layer=10**7), ["config.json", "n_layer = 10,000,000", "tensors"]),
    (configure(n_inner=-8), ["cannot be loaded"]),
    (configure(activation_function="system"), ["cannot be loaded"]),
    (add_block, ["config.json", "num_hidden_layers = 1", "transformer.h.1."]),
    (configure(n_embd="sixteen"), ["config.json", "configuration cannot be read"]),
    (configure(model_type="unheard-of"), ["config.json", "configuration cannot be read"]),
    (configure(n_embd=32), ["shapes", "config.json"]),
    (lambda folder: (folder / "tokenizer.json").write_text("{}"), ["tokenizer cannot be read"]),
    (lambda folder: (folder / "tokenizer.json").write_text(UNKNOWN), ["tokenizer cannot be read"]),
    (name_elsewhere(INDEX, "weight_map", "sub/x.safetensors"), [INDEX, "'sub/x.safetensors'"]),
    (name_elsewhere(INDEX, "weight_map", "../x.safetensors"), [INDEX, "'../x.safetensors'"]),
    (name_elsewhere(INDEX, "weight_map", "/etc/x.safetensors"), [INDEX, "'/etc/x.safetensors'"]),
    (name_elsewhere("config.json", "transformers_weights", "sub/x.safetensors"), ["config.json", "'sub/x"]),
    (name_elsewhere("tokenizer_config.json", "fast_tokenizer_files", "sub/tokenizer.4.0.json", as_list=True),
     ["tokenizer_config.json", "'sub/tokenizer.4.0.json'"]),
])  # fmt: skip
def test_a_folder_without_a_whole_model(model_folder, damage, named):
    damage(model_folder)
    refuse(model_folder, *named)


def entry(source: str) -> ModelRow:
    return ModelRow("m", "f", source, "", "base", "", None, None, "float32")


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
    write_models(tmp_path / "models.tsv", {"name": "far", "source": "nobody/nothing"})
    files = ("--registry", tmp_path / "models.tsv", "--pointer", tmp_path / "model.json")
    with refuses("'far'", "nobody/nothing", "HF_HUB_OFFLINE"):
        run_program("fetch_model", "--model", "far", *files,
                    environment={"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path)})  # fmt: skip
    assert not (tmp_path / "model.json").exists()
