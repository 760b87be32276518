"""What the other tests under fake tensors rely on: a mistake of devices is found, and nothing else is."""

import pytest
import torch
from tests.layers.plain import make_model
from tests.models.fake_cuda import (
    GPU,
    TRAINER,
    FakeTensorDeviceMismatchError,
    fake_cuda,
    move_to_fake_cuda,
    spread_model,
)

HALVES = {
    "gpt2": {"transformer.wte": "cuda:0", "transformer.wpe": "cuda:0", "transformer.h.0": "cuda:0",
             "transformer.h.1": "cuda:1", "transformer.h.2": "cuda:1", "transformer.ln_f": "cuda:1",
             "transformer.drop": "cuda:0", "lm_head": "cuda:0"},
    "llama": {"model.embed_tokens": "cuda:0", "model.rotary_emb": "cuda:0", "model.layers.0": "cuda:0",
              "model.layers.1": "cuda:1", "model.layers.2": "cuda:1", "model.norm": "cuda:1",
              "lm_head": "cuda:1"},
}  # fmt: skip


def test_a_model_on_one_device_and_a_planted_mistake():
    model = make_model("gpt2")
    with fake_cuda(), torch.no_grad():
        move_to_fake_cuda(model)
        assert model.lm_head.weight is model.transformer.wte.weight
        ids = torch.zeros((2, 5), dtype=torch.long, device=GPU)
        logits = model(input_ids=ids).logits
        assert (logits.device, logits.shape) == (GPU, (2, 5, 64))
        with pytest.raises(FakeTensorDeviceMismatchError):
            model(input_ids=ids.cpu())
        with pytest.raises(FakeTensorDeviceMismatchError):
            logits + logits.cpu()


@pytest.mark.parametrize("kind", HALVES)
def test_a_model_on_two_devices(kind):
    model = make_model(kind)
    with fake_cuda(), torch.no_grad():
        spread_model(model, HALVES[kind])
        ids = torch.zeros((2, 5), dtype=torch.long, device=GPU)
        assert model.base_model(input_ids=ids).last_hidden_state.device == torch.device("cuda:1")
        assert model(input_ids=ids).logits.device == GPU


def test_a_step_of_training():
    model = make_model("llama")
    with fake_cuda():
        move_to_fake_cuda(model, TRAINER)
        ids = torch.zeros((2, 5), dtype=torch.long, device=TRAINER)
        model(input_ids=ids, labels=ids).loss.backward()
        torch.optim.AdamW(model.parameters()).step()
        assert {weight.grad.device for weight in model.parameters()} == {TRAINER}
        with pytest.raises(FakeTensorDeviceMismatchError):
            model(input_ids=ids.cpu(), labels=ids)
