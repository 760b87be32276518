"""A model that is looked at in the middle of its training is left as it was."""

import pytest
import torch
from peft import LoraConfig, get_peft_model
from tests.refusals import refuses
from transformers import GPT2Config, GPT2LMHeadModel

from fathom.models.undisturbed import leave_undisturbed, unwrap_model


@pytest.fixture
def model() -> GPT2LMHeadModel:
    return GPT2LMHeadModel(GPT2Config(vocab_size=20, n_positions=8, n_embd=8, n_layer=1, n_head=2))


def test_modes_buffers_and_random_numbers_are_restored(model):
    model.train()
    model.transformer.drop.eval()  # frozen by its owner
    model.register_buffer("seen", torch.zeros(2))
    buffer, before = model.seen, torch.get_rng_state()
    with leave_undisturbed(model), torch.inference_mode():
        model.eval()
        model.seen = torch.ones(3)
        torch.rand(7)
    assert model.training and not model.transformer.drop.training
    assert model.transformer.h[0].training
    assert model.seen is buffer and not model.seen.is_inference()
    assert torch.equal(torch.get_rng_state(), before)


def test_all_is_restored_after_an_error(model):
    model.train()
    with pytest.raises(ZeroDivisionError), leave_undisturbed(model):
        model.eval()
        _ = 1 / 0
    assert model.training


def test_neither_autocast_nor_a_replaced_forward_is_used_inside(model):
    own, ids = model.forward, torch.tensor([[1, 2, 3]])
    model.forward = lambda *given, **named: None
    with torch.autocast("cpu", torch.bfloat16):
        assert torch.is_autocast_enabled("cpu")
        with leave_undisturbed(model):
            assert not torch.is_autocast_enabled("cpu")
            assert model(ids).logits.dtype == torch.float32
        assert torch.is_autocast_enabled("cpu")
    assert model(ids) is None
    del model.forward
    assert model.forward == own


def test_wrappers_are_looked_through(model):
    assert unwrap_model(torch.nn.DataParallel(model)) is model
    compiled = torch.nn.Module()  # torch.compile itself takes seconds to import
    compiled._orig_mod = model
    assert unwrap_model(torch.nn.DataParallel(compiled)) is model
    assert unwrap_model(get_peft_model(model, LoraConfig(target_modules=["c_attn"]))) is model


def test_divided_weights_are_refused(model):
    model.lm_head.weight.ds_id = 0
    with refuses("divided among processes", "fathom watch"):
        unwrap_model(model)
