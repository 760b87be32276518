"""A step: its loss and gradient whatever the micro-batches, memory that runs out, number formats."""

from copy import deepcopy
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
import torch
from tests.layers.plain import make_model
from tests.refusals import refuses

from fathom.config.adapter import Adapter
from fathom.config.models import Adaptation
from fathom.config.yaml_files import read_values
from fathom.models import steps, training
from fathom.models.building import build_model
from fathom.models.lora import add_adapter, list_adapted
from fathom.models.memory import Training, measure_training
from fathom.models.parallel import SingleProcess
from fathom.models.precision import check_bfloat16, pick_precision
from fathom.models.shapes import parse_shape
from fathom.models.training import make_stepper, sum_losses, train

ADAPTATION = Adaptation(base="m", paths=[["x"]], steps=26, batch=4, sequence=16, learning_rate=1e-2)


def adapt(tokenizer: Any, texts: pl.DataFrame, settings: Any, **changes: Any) -> tuple[Any, list[float]]:
    """Return a small model that was trained, and its losses."""
    model = build_model(settings, tokenizer)
    curve = train(model, tokenizer, texts, ADAPTATION.model_copy(update=changes))
    return model, [point.loss for point in curve]


def make_plain(kind: str) -> Any:
    """Return a tiny model without dropout."""
    model = make_model(kind)
    training.set_dropout(model, 0.0)
    return model


@pytest.fixture(scope="module")
def whole(tokenizer, texts, settings) -> tuple[Any, list[float]]:
    return adapt(tokenizer, texts, settings)


@pytest.fixture
def short_of_memory(monkeypatch) -> list[int]:
    """Let memory run out for micro-batches of more than two sequences, from the ninth step on; count them."""
    sizes = list[int]()

    def run_out(model: Any, batch: torch.Tensor) -> torch.Tensor:
        sizes.append(len(batch))
        if len(sizes) > 8 and len(batch) > 2:
            raise torch.OutOfMemoryError
        return sum_losses(model, batch)

    monkeypatch.setattr(training, "PACKED", training.PACKED._replace(sum_losses=run_out))
    return sizes


@pytest.mark.parametrize(("preset", "same"), [("raw-corpora", True), (None, False)])
def test_presets_adapt_with_adam_as_published_and_others_with_adamw(preset, same):
    values = read_values(f"config/papers/{preset}.yaml")["models"]["adapt"][0] if preset else {}
    changes = {key: values[key] for key in ("betas", "weight_decay") if values}
    ours = make_plain("gpt2")
    theirs = deepcopy(ours)
    adam = torch.optim.Adam(theirs.parameters(), lr=ADAPTATION.learning_rate)
    stepper = make_stepper(ours, ADAPTATION.model_copy(update=changes), SingleProcess())
    random = torch.Generator().manual_seed(0)
    for _ in range(3):
        for one, other in zip(ours.parameters(), theirs.parameters(), strict=True):
            one.grad = other.grad = torch.randn(one.shape, generator=random)
        stepper.optimizer.step()
        adam.step()
    pairs = zip(ours.parameters(), theirs.parameters(), strict=True)
    assert all(torch.allclose(one, other, atol=1e-6) for one, other in pairs) == same


@pytest.mark.parametrize("kind", ["gpt2", "llama", "gemma2", "granite"])
def test_micro_batches_add_up_to_the_batch(kind):
    ids = torch.randint(0, 64, (5, 9), generator=torch.Generator().manual_seed(0))
    losses, gradients = [], []
    for tokens in (1000, 18, 1):
        model = make_plain(kind)
        stepper = make_stepper(model, ADAPTATION.model_copy(update={"batch_tokens": tokens}), SingleProcess())
        losses.append(sum(float(part) for part in stepper.accumulate(ids, ids.numel() - len(ids))))
        gradients.append({name: weight.grad for name, weight in model.named_parameters()})
    expected = make_plain(kind).train()(input_ids=ids, labels=ids).loss.item()
    assert losses == pytest.approx([expected] * 3, rel=1e-5)
    for split in gradients[1:]:
        for name, gradient in gradients[0].items():
            assert torch.allclose(split[name], gradient, rtol=1e-4, atol=1e-6), name


@pytest.mark.parametrize("checkpointing", ["auto", "never"])
def test_when_memory_runs_out_the_curve_stays(
    tokenizer, texts, settings, whole, short_of_memory, checkpointing, caplog
):
    with caplog.at_level("INFO", "fathom"):
        _, losses = adapt(tokenizer, texts, settings, checkpointing=checkpointing)
    assert short_of_memory[:8] == [4] * 8
    tries = 2 if checkpointing == "auto" else 1  # first without kept activations, then with less at a time
    assert short_of_memory[8:] == [4] * tries + [2, 2] * 18
    assert "out of GPU memory: micro-batches of 32 tokens from here on" in caplog.text
    assert losses[:8] == whole[1][:8]
    assert losses == pytest.approx(whole[1], rel=1e-3)


def test_one_example_that_does_not_fit(tokenizer, texts, settings, monkeypatch):
    def run_out(model: Any, batch: torch.Tensor) -> torch.Tensor:
        raise torch.OutOfMemoryError

    monkeypatch.setattr(training, "PACKED", training.PACKED._replace(sum_losses=run_out))
    with refuses("one example", "lora"):
        adapt(tokenizer, texts, settings)


def test_an_optimiser_that_does_not_fit(tokenizer, texts, settings, monkeypatch):
    def run_out(self: Any) -> None:
        raise torch.OutOfMemoryError

    monkeypatch.setattr(torch.optim.AdamW, "step", run_out)
    with refuses("optimiser"):
        adapt(tokenizer, texts, settings)


@pytest.mark.parametrize("lora", [None, Adapter(dropout=0.0)])
def test_activations_computed_again_give_the_same_bytes(tokenizer, texts, settings, lora):
    models = [
        adapt(tokenizer, texts, settings, lora=lora, steps=4, checkpointing=choice)[0].state_dict()
        for choice in ("never", "always")
    ]
    assert all(torch.equal(models[0][name], models[1][name]) for name in models[0])


def test_large_models_keep_no_activations(monkeypatch):
    assert not make_stepper(make_model("llama"), ADAPTATION, SingleProcess()).recomputes
    monkeypatch.setattr(steps, "LARGE", 1000)
    assert make_stepper(make_model("llama"), ADAPTATION, SingleProcess()).recomputes


@pytest.mark.parametrize("lora", [None, Adapter(rank=3)])
def test_large_models_keep_activations_where_the_gpu_holds_them(monkeypatch, lora):
    model = make_model("llama")
    if lora:
        add_adapter(model, lora)
    monkeypatch.setattr(steps, "LARGE", 1000)
    shape = parse_shape(model.config.to_dict())
    for precision in ("float32", "bfloat16"):
        limits = steps.StepSettings(64, precision=precision)
        how = Training(64, autocast=precision != "float32", rank=3 if lora else 0)
        needed = 1.08 * measure_training(shape, how).total
        assert steps.keeps_activations(model, limits, 1.01 * needed)
        assert not steps.keeps_activations(model, limits, 0.99 * needed)


def test_frozen_weights_beside_a_text_model_are_no_adapter(monkeypatch):
    model = make_model("llama")
    monkeypatch.setattr(steps, "LARGE", 1000)
    needed = 1.08 * measure_training(parse_shape(model.config.to_dict()), Training(64)).total
    model.images = torch.nn.Linear(2, 2).requires_grad_(False)
    assert not steps.keeps_activations(model, steps.StepSettings(64), 0.99 * needed)
    assert steps.keeps_activations(model, steps.StepSettings(64), 1.01 * needed)


def test_the_room_of_a_gpu_is_what_is_free_what_is_taken_and_what_is_allowed(monkeypatch):
    model = SimpleNamespace(device=torch.device("cuda:0"))
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (30, 80))
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda device: 20)
    for fraction, room in ((1.0, 50.0), (0.5, 40.0)):
        monkeypatch.setattr(torch.cuda, "get_per_process_memory_fraction", lambda device, part=fraction: part)
        assert steps.measure_room(model) == room
    assert steps.measure_room(SimpleNamespace(device=torch.device("cpu"))) == 0.0


def test_products_in_bfloat16_weights_in_float32(tokenizer, texts, settings, whole):
    model, losses = adapt(tokenizer, texts, settings, precision="bfloat16")
    assert {weight.dtype for weight in model.state_dict().values()} == {torch.float32}
    assert losses != whole[1]
    assert losses == pytest.approx(whole[1], rel=0.05)


def test_bfloat16_where_a_gpu_has_none(monkeypatch):
    monkeypatch.setattr("fathom.models.precision.has_bfloat16", lambda device: device == "cuda:1")
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "Tesla V100")
    assert [pick_precision(device, "auto", "models") for device in ("cpu", "cuda:0", "cuda:1")] == [
        "float32", "float32", "bfloat16",
    ]  # fmt: skip
    for call in (lambda: pick_precision("cuda:0", "bfloat16", "m"), lambda: check_bfloat16("cuda:0", "m")):
        with refuses("Tesla V100", "bfloat16", "float32"):
            call()


def test_an_adapter_learns_beside_weights_that_stay(tokenizer, texts, settings):
    before = build_model(settings, tokenizer).state_dict()
    model, losses = adapt(tokenizer, texts, settings, lora=Adapter(dropout=0.0, modules="attention"))
    own = {name.replace(".base_layer", ""): weight for name, weight in model.state_dict().items()
           if "lora_" not in name}  # fmt: skip
    assert own.keys() == before.keys()
    assert all(torch.equal(weight, before[name]) for name, weight in own.items())
    assert {*list_adapted(model)} == {"transformer.h.0.attn.c_attn", "transformer.h.0.attn.c_proj"}
    assert losses[-1] < losses[0]


def test_an_adapter_on_a_model_in_bfloat16(tokenizer, texts, settings):
    model, _ = adapt(tokenizer, texts, settings, steps=2, lora=Adapter(dtype="bfloat16"))
    found = {("lora_" in name, weight.dtype) for name, weight in model.state_dict().items()}
    assert found == {(True, torch.float32), (False, torch.bfloat16)}


def test_a_learning_rate_that_is_too_large(tokenizer, texts, settings):
    with refuses("risen", "step", "lower"):
        adapt(tokenizer, texts, settings, steps=60, learning_rate=3.0)


def test_a_gradient_that_is_not_finite_changes_no_weight():
    model = make_model("llama")
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    stepper = make_stepper(model, ADAPTATION, SingleProcess())
    model.lm_head.weight.register_hook(lambda gradient: gradient * float("inf"))
    with refuses("gradient", "step 1"):
        stepper.take(torch.ones((2, 5), dtype=torch.long), 0.1)
    assert all(torch.equal(weight, before[name]) for name, weight in model.state_dict().items())


def test_adapters_leave_room_for_their_own_dropout():
    model = make_model("llama")
    training.set_dropout(model, 0.0)
    add_adapter(model, Adapter(dropout=0.25))
    shares = {module.p for module in model.modules() if isinstance(module, torch.nn.Dropout)}
    assert 0.25 in shares
