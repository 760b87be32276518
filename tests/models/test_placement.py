"""Which devices a model goes to, what does not fit, and what a GPU cannot do; GPUs are pretended."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.layers.plain import make_model
from tests.refusals import refuses
from transformers import AutoModelForCausalLM

from fathom.config.scoring import Scoring
from fathom.models import placement
from fathom.models.folders import save_model
from fathom.models.loading import Pointer, choose_attention, load_copies, load_model
from fathom.models.memory import Training
from fathom.models.placement import check_training, choose_devices, map_modules, measure_weights

Pretend = Callable[..., None]


@pytest.fixture
def pretend(monkeypatch: pytest.MonkeyPatch) -> Pretend:
    """Return a function that pretends GPUs with so many free bytes each."""

    def set_gpus(*free: int, total: int | None = None) -> None:
        def look(device: str) -> tuple[int, int]:
            return free[int(device.removeprefix("cuda:"))], total or max(free)

        monkeypatch.setattr(placement, "_RESERVE", 0)
        monkeypatch.setattr(torch.cuda, "is_available", lambda: bool(free))
        monkeypatch.setattr(torch.cuda, "device_count", lambda: len(free))
        monkeypatch.setattr(torch.cuda, "mem_get_info", look)
        monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "Pretended V100")

    return set_gpus


def test_weights_are_measured_in_headers(model_folder):
    model = AutoModelForCausalLM.from_pretrained(model_folder)
    count = sum(weight.numel() for weight in model.parameters())
    head = model.lm_head.weight.numel()
    assert measure_weights(model_folder, "float32") == (4 * count, 0)
    assert measure_weights(model_folder, "bfloat16") == (2 * count, 4 * head)
    assert 2 * head < measure_weights(model_folder, "bfloat16", 0.5).weights < count + 2 * head
    (model_folder / "model.safetensors").write_bytes(b"damaged")
    with refuses("loaded"):
        measure_weights(model_folder, "float32")


def test_copies_or_one_model_over_the_fewest_gpus(pretend, model_folder):
    size = measure_weights(model_folder, "float32").total
    pretend(size, size, size)
    assert choose_devices("auto", 2, model_folder, "float32")[0] == [["cuda:0"], ["cuda:1"]]
    pretend(size * 2 // 3, size * 2 // 3, size * 2 // 3)
    assert choose_devices("auto", 3, model_folder, "float32")[0] == [["cuda:0", "cuda:1"]]
    assert choose_devices("auto", 1, model_folder, "float32")[0] == [["cuda:0", "cuda:1"]]
    assert choose_devices("cpu", 1, model_folder, "float32")[0] == [["cpu"]]
    with refuses("2 GPUs"):
        choose_devices("cuda:1", 1, model_folder, "float32")


def test_what_fits_no_gpus(pretend, model_folder):
    size = measure_weights(model_folder, "float32").total
    pretend(size // 5, size // 5)
    with refuses("2 visible", "6 GPUs"):
        load_model(model_folder, device="auto")
    pretend(size // 5, total=2 * size)
    with refuses("free", "other programs"):
        load_model(model_folder, device="auto")


def test_a_gpu_without_bfloat16(pretend, model_folder, monkeypatch):
    pretend(1 << 40)
    monkeypatch.setattr("fathom.numerics.precision.has_bfloat16", lambda device: False)
    with refuses("scoring.dtype", "V100", "bfloat16"):
        load_model(model_folder, "bfloat16", "auto")


def test_weights_go_straight_to_the_gpu(pretend, model_folder, monkeypatch):
    given: list[dict[str, Any]] = []
    true = AutoModelForCausalLM.from_pretrained

    def load(folder: Path, **more: Any) -> Any:
        given.append(more)
        return true(folder, **{**more, "device_map": None})

    monkeypatch.setattr(AutoModelForCausalLM, "from_pretrained", load)
    pretend(1 << 40, 1 << 40)
    models, _ = load_copies(Pointer("m", model_folder), Scoring(), gpus=2)
    assert [each["device_map"] for each in given] == [{"": "cuda:0"}, {"": "cuda:1"}] and len(models) == 2
    load_model(model_folder)
    assert "device_map" not in given[-1]


@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_modules_are_spread_and_blocks_are_not_cut(kind, pretend, tokenizer, tmp_path):
    size = {"n_layer": 8} if kind == "gpt2" else {"num_hidden_layers": 8}
    save_model(tmp_path / "m", make_model(kind, **size), tokenizer)
    needed = measure_weights(tmp_path / "m", "float32")
    pretend(needed.total, needed.total)
    places = map_modules(tmp_path / "m", "float32", ["cuda:0", "cuda:1"], needed)
    assert set(places.values()) == {"cuda:0", "cuda:1"}
    blocks = [place for name, place in places.items() if name.rpartition(".")[2].isdecimal()]
    assert len(blocks) == 8 and blocks == sorted(blocks)
    pretend(needed.total // 2, needed.total // 9)
    with refuses("no room", "3 GPUs"):
        map_modules(tmp_path / "m", "float32", ["cuda:0", "cuda:1"], needed)


@pytest.mark.parametrize("error", [torch.OutOfMemoryError("CUDA out of memory."), MemoryError()])
def test_memory_that_runs_out(error, pretend, model_folder, monkeypatch):
    def fail(*_: Any, **__: Any) -> None:
        raise error

    pretend(1 << 40)
    monkeypatch.setattr(AutoModelForCausalLM, "from_pretrained", fail)
    with refuses("memory", "loading"):
        load_model(model_folder, device="auto")


def test_attention(model_folder, monkeypatch):
    capped = make_model("gemma2").config
    free = make_model("gemma2", attn_logit_softcapping=None).config
    assert choose_attention(capped, "auto", "float32", "cpu") == "eager"
    assert choose_attention(free, "auto", "float32", "cpu") is None
    assert choose_attention(free, "sdpa", "float32", "cpu") == "sdpa"
    with refuses("sdpa", "soft cap"):
        choose_attention(capped, "sdpa", "float32", "cpu")
    for dtype, device, message in (
        ("bfloat16", "cpu", "flash_attention_2 needs a GPU"),
        ("float32", "cuda:0", "flash_attention_2 has no float32"),
        ("bfloat16", "cuda:0", "flash_attention_2 is not installed\nHint: pip install flash-attn"),
    ):
        with refuses(message):
            choose_attention(free, "flash_attention_2", dtype, device)
    monkeypatch.setattr("transformers.utils.is_flash_attn_2_available", lambda: True)
    assert choose_attention(capped, "flash_attention_2", "bfloat16", "cuda:0") == "flash_attention_2"
    assert load_model(model_folder, attention="eager")[0].config._attn_implementation == "eager"
    assert load_model(model_folder)[0].config._attn_implementation == "sdpa"


def test_the_soft_cap_of_attention_is_in_force(tokenizer, tmp_path):
    ids = torch.tensor([[3, 5, 7, 9, 11, 2]])
    logits = {}
    for cap in (0.5, 1e6):
        model = make_model("gemma2", spread=1.0, attn_logit_softcapping=cap)
        model.resize_token_embeddings(len(tokenizer), mean_resizing=False)
        save_model(tmp_path / str(cap), model, tokenizer)
        for attention in ("auto", "eager"):
            loaded, _ = load_model(tmp_path / str(cap), attention=attention)
            with torch.no_grad():
                logits[cap, attention] = loaded(ids).logits
    assert torch.equal(logits[0.5, "auto"], logits[0.5, "eager"])
    assert (logits[0.5, "auto"] - logits[1e6, "auto"]).abs().max() > 0.1


def test_training_that_no_smaller_batch_saves_is_refused_before_the_model_is_loaded(tmp_path, pretend):
    model = make_model("llama")
    model.config.save_pretrained(tmp_path)
    weights = sum(weight.numel() for weight in model.parameters())
    pretend(18 * weights)
    check_training(tmp_path, Training(8192, checkpointing=True), "cuda:0")
    pretend(15 * weights)
    with refuses("cuda:0", "lora: {dtype: bfloat16}"):
        check_training(tmp_path, Training(8192, checkpointing=True), "cuda:0")
    check_training(tmp_path, Training(8192), "cpu")
    adapter = Training(8192, "bfloat16", rank=1)
    check_training(tmp_path, adapter, "cuda:0")
    pretend(2 * weights)
    with refuses("training", "adapter"):
        check_training(tmp_path, adapter, "cuda:0")
