"""LoRA adapters as models: the same scores as the merged model; what is refused, and why."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import LoraConfig, PeftModel, get_peft_model
from safetensors.torch import load_file, save_file
from tests.refusals import refuses
from tests.tables import write_models

from fathom.config.scoring import Scoring
from fathom.models.adapters import apply_adapter
from fathom.models.fetching import find_pointer, locate_pointer
from fathom.models.folders import load_tokenizer, save_model
from fathom.models.loading import (
    check_fingerprint,
    describe_loaded,
    load_copies,
    load_model,
    read_pointer,
    write_pointer,
)

IDS = torch.tensor([[3, 5, 7, 9]])


@pytest.fixture
def adapter(model_folder: Path, tmp_path: Path) -> Path:
    """Return an adapter of `weights`, with merged weights beside it in `merged`."""
    model, tokenizer = load_model(model_folder)
    torch.manual_seed(1)
    config = LoraConfig(r=2, target_modules=["c_attn"], fan_in_fan_out=True, task_type="CAUSAL_LM")
    wrapped = get_peft_model(model, config)
    with torch.no_grad():
        for name, weight in wrapped.named_parameters():
            if "lora_B" in name:
                weight.normal_()
    wrapped.save_pretrained(tmp_path / "adapter")
    save_model(tmp_path / "merged", wrapped.merge_and_unload(), tokenizer)
    rename_base(tmp_path / "adapter", str(model_folder))
    return tmp_path / "adapter"


def rename_base(adapter: Path, name: str | None, **more: Any) -> None:
    path = adapter / "adapter_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "base_model_name_or_path": name, **more}))


def run(source: Any) -> torch.Tensor:
    model, _ = load_model(source)
    assert not any("lora" in name for name, _ in model.named_parameters())
    with torch.no_grad():
        logits: torch.Tensor = model(IDS).logits
    return logits


def test_an_adapter_is_a_model(adapter, model_folder, tmp_path):
    found = run(adapter)
    assert torch.equal(found, run(tmp_path / "merged"))
    assert (found - run(model_folder)).abs().max() > 1e-3
    rename_base(adapter, "org/model-on-the-hub")
    pointer = find_pointer(adapter, model_folder)
    base = model_folder.parent.name  # above `weights`
    assert (pointer.name, pointer.base, pointer.path) == ("adapter", base, model_folder)
    assert torch.equal(run(pointer), found)
    write_pointer(tmp_path / "model.json", pointer)
    assert torch.equal(run(tmp_path / "model.json"), found)
    moved = shutil.copytree(tmp_path, tmp_path.with_name("moved-adapter"))
    assert read_pointer(moved / "model.json").adapter == moved / "adapter"
    assert describe_loaded(pointer, load_model(pointer)[0], "float32")["adapter_of"] == base


def test_in_low_precision_an_adapter_stays_beside_its_base(adapter, model_folder):
    settings = Scoring(dtype="bfloat16", device="cpu")
    (model, *_), _ = load_copies(read_pointer(adapter), settings)
    kinds = {weight.dtype for name, weight in model.named_parameters() if "lora_" in name}
    assert (type(model).__name__, model.dtype, kinds) == ("GPT2LMHeadModel", torch.bfloat16, {torch.float32})
    assert not model.training
    base, _ = load_model(model_folder, "bfloat16")
    plain = base.transformer.h[0].attn.c_attn.weight.clone()
    kept = model.transformer.h[0].attn.c_attn.base_layer.weight
    assert torch.equal(kept, plain)
    with torch.no_grad():
        assert torch.equal(model(IDS).logits, PeftModel.from_pretrained(base, adapter)(IDS).logits)
    # a model that is trained has the sum as its weights, and in float32 so has any
    merged = [
        load_model(adapter, "bfloat16")[0],
        *load_copies(read_pointer(adapter), Scoring(dtype="float32"))[0],
    ]
    for some in merged:
        assert not any("lora_" in name for name, _ in some.named_parameters())
        assert not torch.equal(some.transformer.h[0].attn.c_attn.weight, plain.to(some.dtype))


def test_its_own_tokenizer_with_more_tokens_is_named(adapter, model_folder):
    tokenizer = load_tokenizer(model_folder)
    tokenizer.add_tokens(["onemore"])
    tokenizer.save_pretrained(adapter)
    with refuses(f"{adapter}: ", "281 entries", "280", "resize_token_embeddings"):
        load_model(adapter)


def test_weights_that_were_not_fetched_are_named(adapter):
    (adapter / "adapter_model.safetensors").write_text("version https://git-lfs.github.com/spec/v1\noid 1\n")
    with refuses("adapter_model.safetensors", "Git LFS"):
        load_model(adapter)


def test_its_own_tokenizer_counts(adapter, model_folder):
    assert load_model(adapter)[1].chat_template is None
    for file in model_folder.glob("tokenizer*"):
        shutil.copy(file, adapter)
    config = json.loads((adapter / "tokenizer_config.json").read_text())
    (adapter / "tokenizer_config.json").write_text(json.dumps({**config, "chat_template": "{{ 1 }}"}))
    assert load_model(adapter)[1].chat_template == "{{ 1 }}"


def test_the_fingerprint_covers_both(adapter, model_folder):
    pointer = read_pointer(adapter)
    seen = {check_fingerprint(pointer), check_fingerprint(replace(pointer, adapter=None))}
    for folder, name in ((adapter, "adapter_model.safetensors"), (model_folder, "model.safetensors")):
        weights = load_file(folder / name)
        next(iter(weights.values())).view(-1)[0] += 1
        save_file(weights, folder / name, {"format": "pt"})
        seen.add(check_fingerprint(pointer))
    rename_base(adapter, str(model_folder), lora_alpha=3)
    seen.add(check_fingerprint(pointer))
    assert len(seen) == 5


def test_the_base_is_never_sought_on_the_hub(adapter, model_folder):
    for name in ("org/model", None):
        rename_base(adapter, name)
        with refuses("adapter", "adapter_of"):
            load_model(adapter)
    with refuses("adapter_config.json"):
        find_pointer(model_folder, base=model_folder)


def refuse(folder: Path, *names: object) -> None:
    with refuses(*names):
        load_model(folder)


def test_what_is_no_adapter(adapter, model_folder):
    weights = adapter / "adapter_model.safetensors"
    kept = weights.read_bytes()
    weights.write_bytes(b"damaged")
    refuse(adapter, "the adapter cannot be read")
    weights.unlink()
    refuse(adapter, "adapter_model.safetensors is missing")
    (adapter / "adapter_model.bin").write_bytes(b"never read")
    refuse(adapter, "the adapter's weights are pickled (adapter_model.bin)")
    weights.write_bytes(kept)
    rename_base(adapter, str(model_folder), peft_type="IA3")
    refuse(adapter, "the adapter is of type IA3, not LORA")
    rename_base(adapter, str(model_folder), peft_type="LORA", megatron_config={"x": 1}, megatron_core="os")
    refuse(adapter, "not LORA")
    for file in adapter.iterdir():
        shutil.copy(file, model_folder)
    refuse(model_folder, "this folder holds both a model and an adapter")


def test_an_adapter_of_another_model(adapter, model_folder):
    weights = load_file(adapter / "adapter_model.safetensors")
    narrow = {name: weight[:, :8].contiguous() for name, weight in weights.items()}
    save_file(narrow, adapter / "adapter_model.safetensors", {"format": "pt"})
    refuse(adapter, "does not fit its base model: size mismatch for")
    other = {name.replace("h.0", "h.7"): weight for name, weight in weights.items()}
    save_file(other, adapter / "adapter_model.safetensors", {"format": "pt"})
    refuse(adapter, "does not fit its base model: 4 weights with other names")
    rename_base(adapter, str(model_folder), target_modules=["q_proj"])
    refuse(adapter, "does not fit its base model: Target modules")


def test_what_an_adapter_may_not_change(adapter, model_folder, tmp_path):
    model, _ = load_model(model_folder)
    model.is_quantized = True
    with refuses("quantised"):
        apply_adapter(model, adapter)
    model, _ = load_model(model_folder)
    wrapped = get_peft_model(model, LoraConfig(r=2, target_modules=["lm_head"], task_type="CAUSAL_LM"))
    wrapped.save_pretrained(tmp_path / "head")
    with refuses("tied"):
        apply_adapter(load_model(model_folder)[0], tmp_path / "head")


@pytest.mark.parametrize("target", ["c_attn", "wte"])
def test_an_adapter_of_a_base_with_more_tokens_says_so(target, model_folder, tmp_path):
    model, _ = load_model(model_folder)
    rows = model.get_input_embeddings().weight.shape[0]
    model.resize_token_embeddings(rows + 8, mean_resizing=False)
    config = LoraConfig(r=2, target_modules=[target], task_type="CAUSAL_LM")
    get_peft_model(model, config).save_pretrained(tmp_path / "more", save_embedding_layers=target == "c_attn")
    with refuses("vocabulary was resized", f"{rows + 8:,} rows", f"{rows:,} of this base", "merge"):
        apply_adapter(load_model(model_folder)[0], tmp_path / "more")


def write_registry(path: Path, *rows: tuple[str, str, str]) -> Path:
    """Write a registry of rows with name, source and adapter_of."""
    return write_models(
        path, *(dict(zip(("name", "source", "adapter_of"), row, strict=True)) for row in rows)
    )


def test_a_row_of_the_registry(adapter, tmp_path):
    rename_base(adapter, "org/not-followed")
    registry = write_registry(tmp_path / "m.tsv", ("small", "weights", ""), ("tuned", "adapter", "small"))
    pointer = locate_pointer("tuned", registry)
    assert (pointer.path.name, pointer.adapter, pointer.base) == ("weights", adapter.resolve(), "small")
    assert check_fingerprint(pointer) == pointer.fingerprint
    assert torch.equal(run(pointer), run(tmp_path / "merged"))
    assert locate_pointer("small", registry).adapter is None
    for rows, message in (
        ([("tuned", "adapter", "gone")], "adapter_of of 'tuned' names an unknown model, 'gone'"),
        ([("a", "adapter", ""), ("b", "adapter", "a"), ("c", "x", "b")], "'c' names another adapter, 'b'"),
    ):
        with refuses(message):
            locate_pointer("tuned", write_registry(tmp_path / "m.tsv", *rows))
    write_registry(tmp_path / "m.tsv", ("small", "weights", ""), ("tuned", "weights", "small"))
    with refuses("adapter_config.json"):
        locate_pointer("tuned", tmp_path / "m.tsv")
