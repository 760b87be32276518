"""Trained adapters stay beside their base: the same scores, as PEFT reads them, stage after stage."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import PeftModel
from tests.programs import MODELS, run_program
from tests.refusals import refuses

from fathom.config.adapter import Adapter
from fathom.config.models import Adaptation
from fathom.config.scoring import Scoring
from fathom.io.contracts.corpus import TEXTS
from fathom.io.tables import write_table
from fathom.models.building import build_model
from fathom.models.folders import save_model
from fathom.models.loading import Pointer, check_fingerprint, load_copies, load_model, read_pointer
from fathom.models.lora import add_adapter, list_adapted
from fathom.models.saving import point_to_trained, save_trained

IDS = torch.tensor([[3, 5, 7, 9, 11]])


@pytest.fixture(params=["gpt2", "llama"])
def base(request, settings, tokenizer, tmp_path) -> Path:
    torch.manual_seed(0)
    model = build_model(settings.model_copy(update={"architecture": request.param}), tokenizer)
    save_model(tmp_path / "models" / "base" / "weights", model, tokenizer)
    return tmp_path / "models" / "base" / "weights"


def compute(model: Any) -> torch.Tensor:
    with torch.no_grad():
        logits: torch.Tensor = model(IDS).logits
    return logits


def change(model: Any, seed: int, size: float = 0.05, **settings: Any) -> None:
    """Give a model an adapter with random weights, as if it were trained."""
    add_adapter(model, Adapter(**settings))
    torch.manual_seed(seed)
    with torch.no_grad():
        for layer in list_adapted(model).values():
            if "trained" in layer.lora_B:  # the second stage may adapt fewer modules
                layer.lora_B["trained"].weight.normal_(std=size)
    model.eval()


def load_to_train(pointer: Pointer) -> Any:
    return load_copies(pointer, Scoring(device="cpu"), merge=False)[0][0]


def test_an_adapter_is_kept_as_it_was_trained(base, tokenizer, tmp_path):
    model = load_to_train(read_pointer(base))
    plain = compute(model)
    change(model, 1)
    trained, start = compute(model), read_pointer(base)
    folder = tmp_path / "models" / "base+x" / "weights"
    save_trained(folder, model, tokenizer, start)
    names = {file.name for file in folder.iterdir()}
    assert {"adapter_config.json", "adapter_model.safetensors", "tokenizer.json"} <= names
    assert "model.safetensors" not in names
    pointer = point_to_trained("base+x", folder, start)
    assert check_fingerprint(pointer) == pointer.fingerprint != check_fingerprint(start)
    by_peft = PeftModel.from_pretrained(load_model(base)[0], folder)
    assert torch.equal(compute(by_peft), trained)
    merged = by_peft.merge_and_unload(safe_merge=True)  # as the whole model was written before
    found, _ = load_model(pointer)
    assert torch.equal(compute(found), compute(merged))
    assert (compute(found) - plain).abs().max() > 100 * (compute(found) - trained).abs().max()


def test_in_bfloat16_nothing_of_a_small_update_is_lost(base, tokenizer, tmp_path):
    model = load_to_train(read_pointer(base))
    change(model, 1, size=1e-4)
    exact = {
        name: (layer.get_delta_weight("trained"), layer.get_base_layer().weight.detach())
        for name, layer in list_adapted(model).items()
    }
    folder = tmp_path / "models" / "base+x" / "weights"
    save_trained(folder, model, tokenizer, read_pointer(base))
    pointer = point_to_trained("base+x", folder, read_pointer(base))
    (kept, *_), _ = load_copies(pointer, Scoring(dtype="bfloat16", device="cpu"))
    for name, layer in list_adapted(kept).items():
        update, weight = exact[name]
        assert torch.equal(layer.get_delta_weight("default"), update)
        rounded = (weight + update).bfloat16().float() - weight.bfloat16().float()
        assert (rounded - update).norm() > 0.17 * update.norm(), "merged, it would be lost"


@pytest.mark.parametrize("second", [{}, {"rank": 3, "alpha": 7, "modules": "attention"}])
def test_the_adapters_of_two_stages_become_one(base, tokenizer, tmp_path, second):
    start = read_pointer(base)
    for stage, settings in enumerate(({}, second), 1):
        model = load_to_train(start)
        change(model, stage, **settings)
        folder = tmp_path / "models" / f"stage{stage}" / "weights"
        save_trained(folder, model, tokenizer, start)
        start = point_to_trained(f"stage{stage}", folder, start)
    assert (start.path, start.base) == (base, "stage1")
    config = json.loads((folder / "adapter_config.json").read_text())
    assert config["r"] == 8 + second.get("rank", 8)
    assert (folder / config["base_model_name_or_path"]).resolve() == base
    trained = compute(model)
    for found in (load_model(start)[0], PeftModel.from_pretrained(load_model(base)[0], folder)):
        assert torch.allclose(compute(found), trained, atol=1e-5)
    assert not torch.allclose(compute(load_model(base)[0]), trained, atol=1e-2)


def test_what_cannot_be_trained_further_is_refused(base, tokenizer, tmp_path):
    model = load_to_train(read_pointer(base))
    change(model, 1)
    next(iter(list_adapted(model).values())).use_dora["trained"] = True
    with refuses("DoRA", "merge it with PEFT"):
        save_trained(tmp_path / "new", model, tokenizer, read_pointer(base))
    assert not (tmp_path / "new").exists()


def test_a_base_from_the_hub_is_named_by_its_id(base, tokenizer, tmp_path):
    cached = tmp_path / "hub" / "models--org--tiny" / "snapshots" / "0a1b"
    shutil.copytree(base, cached)
    model = load_to_train(read_pointer(cached))
    change(model, 1)
    save_trained(tmp_path / "run" / "weights", model, tokenizer, read_pointer(cached))
    config = json.loads((tmp_path / "run" / "weights" / "adapter_config.json").read_text())
    assert (config["base_model_name_or_path"], config["revision"]) == ("org/tiny", "0a1b")


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_the_program_keeps_adapters_and_a_run_may_move(base, texts, tmp_path, dtype):
    write_table(tmp_path / "texts.parquet", texts, TEXTS)
    models, start, found = tmp_path / "models", base, []
    for name in ("base+x", "base+x+y"):
        values = Adaptation(
            base="base", paths=[["x"]], steps=3, batch=4, sequence=16, learning_rate=0.1, checkpoints=2,
            lora=Adapter(rank=2, dtype=dtype),
        )  # fmt: skip
        run_program(
            "adapt_model", "--texts", tmp_path / "texts.parquet", "--settings", values.model_dump_json(),
            "--base", start, "--model", name, "--weights", models / name / "weights",
            "--checkpoints", models / name / "checkpoints",
            "--pointer", models / name / "model.json", "--curve", models / name / "training.csv",
            imports=MODELS,
        )  # fmt: skip
        start = models / name / "model.json"
        found += [compute(load_model(path)[0]) for path in (start, models / name / "checkpoints/step2.json")]
    assert len({tuple(logits.ravel().tolist()) for logits in (compute(load_model(base)[0]), *found)}) == 5
    assert not list(tmp_path.glob("models/base+*/**/model.safetensors"))
    models.rename(tmp_path / "moved")
    for name, path in (("base+x", "model.json"), ("base+x+y", "checkpoints/step2.json")):
        pointer = read_pointer(tmp_path / "moved" / name / path)
        assert check_fingerprint(pointer) == pointer.fingerprint
    assert torch.equal(compute(load_model(tmp_path / "moved" / "base+x+y" / "model.json")[0]), found[2])
