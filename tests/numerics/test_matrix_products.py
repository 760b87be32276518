"""Products on packed weights: the same numbers, and nothing of the model changed."""

import copy
from typing import Any

import pytest
import torch
from peft import LoraConfig, get_peft_model
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM
from transformers.pytorch_utils import Conv1D

from fathom.models.loading import hash_weights
from fathom.numerics import matrix_products as module
from fathom.numerics.matrix_products import is_prepacked, multiplies_bfloat16, prepack_layer, prepack_models
from fathom.scoring.logits import Float32OutputLayer

IDS = torch.tensor([[5, 9, 33, 2, 7, 60, 11], [1, 2, 3, 4, 5, 6, 7]])


def _make_gpt2(**more: Any) -> Any:
    torch.manual_seed(0)
    config = GPT2Config(vocab_size=300, n_embd=32, n_layer=2, n_head=4, initializer_range=0.3, **more)
    return GPT2LMHeadModel(config).eval()


def _make_llama() -> Any:
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=300, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4
    )
    return LlamaForCausalLM(config).eval()


def _list_packed(model: Any) -> list[Any]:
    return [layer for layer in model.modules() if is_prepacked(layer)]


def _count_bytes(model: Any) -> int:
    return sum(layer.weight.nbytes for layer in _list_packed(model))


def _make_layer(kind: str) -> Any:
    torch.manual_seed(1)
    layer = Conv1D(96, 64) if kind == "Conv1D" else torch.nn.Linear(64, 96, bias=kind == "bias")
    if layer.bias is not None:
        torch.nn.init.normal_(layer.bias)
    return layer


@pytest.mark.parametrize("kind", ["bias", "no bias", "Conv1D"])
def test_a_packed_layer_gives_what_the_plain_one_gives(kind):
    layer = _make_layer(kind)
    plain = copy.deepcopy(layer)
    assert prepack_layer(layer) == 64 * 96 * 4
    assert is_prepacked(layer) and not is_prepacked(plain)
    inputs = torch.randn(5, 200, 64)
    with torch.inference_mode():
        for some in (inputs, inputs[0, :1], inputs[2:4, 3:90], inputs[:, :0], inputs.transpose(0, 1)):
            wanted = plain(some.contiguous())
            assert layer(some).shape == wanted.shape
            assert torch.allclose(layer(some), wanted, rtol=0, atol=1e-5)


@pytest.mark.parametrize("grad", [False, True])
def test_gelu_in_the_same_pass_is_the_exact_one(grad):
    plain, packed = _make_layer("bias"), _make_layer("bias")
    assert prepack_layer(packed, gelu=True) == plain.weight.nbytes
    inputs = torch.randn(30, 64) * 3
    with torch.set_grad_enabled(grad):
        wanted = torch.nn.functional.gelu(plain(inputs))
        assert (packed(inputs) - wanted).abs().max() < 2e-6 * wanted.abs().max()


@pytest.mark.parametrize("kind", ["bias", "Conv1D"])
def test_gradients_go_through_a_packed_layers_own_weights(kind):
    layer = _make_layer(kind)
    prepack_layer(layer)
    inputs = torch.randn(3, 64, requires_grad=True)
    layer(inputs).sum().backward()
    assert inputs.grad.abs().max() > 0
    assert layer.weight.grad.abs().max() > 0


@pytest.mark.parametrize("make", [_make_gpt2, _make_llama, lambda: _make_gpt2(tie_word_embeddings=False)])
def test_a_packed_model_gives_the_same_logits_and_is_as_before_afterwards(make):
    model = make()
    before, names = hash_weights(model), set(model.state_dict())
    with torch.inference_mode():
        plain = model(IDS).logits
        with prepack_models([model]):
            assert len(_list_packed(model)) == (9 if model.config.model_type == "gpt2" else 15)
            packed = model(IDS).logits
            again = model(IDS).logits
            assert hash_weights(model) == before
    assert torch.equal(packed, again)
    assert (packed - plain).abs().max() < 1e-5 * max(1.0, float(plain.abs().max()))
    assert set(model.state_dict()) == names
    assert hash_weights(model) == before
    assert _list_packed(model) == []
    assert all("forward" not in vars(layer) for layer in model.modules())


@pytest.mark.parametrize("tied", [True, False])
def test_the_output_layer_is_packed_and_keeps_its_embedding(tied):
    model = _make_gpt2(tie_word_embeddings=tied)
    assert (model.lm_head.weight is model.transformer.wte.weight) == tied
    hidden = torch.randn(7, 32)
    head = Float32OutputLayer(model)
    with torch.inference_mode():
        plain, words = head.to_logits(hidden), model.transformer.wte(IDS)
        with prepack_models([model]):
            assert is_prepacked(model.lm_head)
            assert (head.to_logits(hidden) - plain).abs().max() < 1e-5
            assert torch.equal(model.transformer.wte(IDS), words)
            assert (model.lm_head.weight is model.transformer.wte.weight) == tied


def test_an_output_layer_with_bias_scale_and_cap_keeps_them():
    model = _make_gpt2(tie_word_embeddings=False)
    model.lm_head = torch.nn.Linear(32, 300)
    model.config.logit_scale, model.config.final_logit_softcapping = 0.5, 3.0
    hidden, head = 10 * torch.randn(7, 32), Float32OutputLayer(model)
    with torch.inference_mode(), prepack_models([model]):
        assert is_prepacked(model.lm_head)
        wanted = (model.lm_head.weight @ hidden.T).T + model.lm_head.bias
        assert (head.to_logits(hidden) - 3.0 * torch.tanh(0.5 * wanted / 3.0)).abs().max() < 1e-5


def test_an_adapter_counts_and_is_set_back():
    model = get_peft_model(_make_llama(), LoraConfig(r=2, target_modules=["q_proj", "up_proj"])).eval()
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "lora_" in name:
                weight.normal_()
    with torch.inference_mode():
        plain = model(IDS).logits
        with model.disable_adapter():
            assert (model(IDS).logits - plain).abs().max() > 1e-2
        with prepack_models([model]):
            assert is_prepacked(model.base_model.model.model.layers[0].self_attn.q_proj.base_layer)
            assert (model(IDS).logits - plain).abs().max() < 1e-5 * float(plain.abs().max())
    assert _list_packed(model) == []


def test_layers_that_blocks_share_are_packed_once():
    model = _make_llama()
    model.model.layers[1] = model.model.layers[0]
    with torch.inference_mode():
        plain = model(IDS).logits
        with prepack_models([model, model]):
            assert len(_list_packed(model)) == 8
            assert (model(IDS).logits - plain).abs().max() < 1e-5
    assert _list_packed(model) == []


def test_the_budget_holds_for_all_models_output_layers_first():
    models = [_make_gpt2(), _make_gpt2()]
    head, layer = models[0].lm_head.weight.nbytes, models[0].transformer.h[0].attn.c_attn.weight.nbytes
    with torch.inference_mode():
        with prepack_models(models, 2 * head + layer):
            assert [is_prepacked(model.lm_head) for model in models] == [True, True]
            assert sum(_count_bytes(model) for model in models) == 2 * head + layer
            assert is_prepacked(models[0].transformer.h[0].attn.c_attn)
        with prepack_models(models, head - 1):
            assert not any(is_prepacked(model.lm_head) for model in models)
            assert 0 < sum(_count_bytes(model) for model in models) < head
        with prepack_models(models, 0):
            assert _list_packed(models[0]) == _list_packed(models[1]) == []


def test_nothing_is_packed_where_gradients_are_wanted():
    model = _make_gpt2()
    with prepack_models([model]):
        assert _list_packed(model) == []


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_other_number_types_are_not_packed(dtype):
    model = _make_gpt2().to(dtype)
    with torch.inference_mode(), prepack_models([model]):
        assert _list_packed(model) == []


@pytest.mark.parametrize("can", [False, multiplies_bfloat16()])
def test_bfloat16_is_packed_where_the_processor_multiplies_it(can, monkeypatch):
    monkeypatch.setattr(module, "multiplies_bfloat16", lambda: can)
    layer, inputs = torch.nn.Linear(64, 96).bfloat16(), torch.randn(5, 64).bfloat16()
    wanted = layer(inputs)
    assert prepack_layer(layer, dtype="bfloat16") == can * 64 * 96 * 2
    assert prepack_layer(torch.nn.Linear(3, 4)) == 48
    with torch.inference_mode():
        assert torch.allclose(layer(inputs), wanted, atol=1e-2)


def test_layers_of_other_types_and_changed_ones_are_left_alone():
    class Own(torch.nn.Linear):
        def forward(self, inputs: torch.Tensor) -> torch.Tensor:
            return super().forward(inputs) + 1

    changed = torch.nn.Linear(3, 4)
    changed.forward = lambda inputs: inputs
    assert prepack_layer(Own(3, 4)) == prepack_layer(changed) == prepack_layer(torch.nn.Embedding(3, 4)) == 0


def test_a_pytorch_without_onednn_packs_nothing(monkeypatch):
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: False)
    assert prepack_layer(torch.nn.Linear(3, 4)) == 0


def test_a_failure_inside_sets_the_model_back():
    model = _make_gpt2()
    with pytest.raises(KeyError), torch.inference_mode(), prepack_models([model]):
        assert _list_packed(model)
        raise KeyError
    assert _list_packed(model) == []
