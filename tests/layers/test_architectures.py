"""What is refused before anything is projected, and why."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from tests.layers.plain import make_model
from tests.refusals import refuses

from fathom.layers.projection import LayerReader, find_model_parts, open_layer_reader
from fathom.planning.rehearsal.tiny_models import make_family
from fathom.scoring.logits import make_batch
from fathom.scoring.scored_sequences import ScoredSequence

IDS = [5, 9, 33]


def test_what_no_list_names_is_looked_into():
    model = make_model("llama")
    model.config.model_type = "newcomer"
    parts = find_model_parts(model, "novel")
    assert (parts.blocks, parts.final) == (list(model.model.layers), [model.model.norm])


def test_a_model_without_blocks_is_refused():
    model = make_model("llama")
    model.model.layers = torch.nn.ModuleList()
    with refuses("bare", "'llama'", "blocks"):
        find_model_parts(model, "bare")


def test_blocks_that_run_in_a_loop_are_refused():
    with refuses("looped", "'hrm_text'", "once"):
        find_model_parts(make_family("hrm_text"), "looped")


def test_a_model_without_an_output_layer_is_refused():
    with refuses("bare", "layer"):
        find_model_parts(make_model("gpt2").base_model, "bare")


def test_blocks_that_norm_their_own_output_need_no_final_norm():
    model = make_model("opt", do_layer_norm_before=False)
    with torch.inference_mode():
        own = model(torch.tensor([IDS])).logits[0, -1]
        reader = open_layer_reader(model, IDS, "post")
        states = reader.run(make_batch([ScoredSequence(tuple(IDS), [(len(IDS) - 1, 0)])], "cpu"))
        for normed in (True, False):
            assert (reader.to_logits(states[-1], normed)[0] - own).abs().max() < 1e-5


@pytest.mark.parametrize("tied", [True, False])
def test_an_adapter_over_the_output_layer_is_refused(tied):
    peft = pytest.importorskip("peft")
    model = make_model("llama", tie_word_embeddings=tied)
    settings = peft.LoraConfig(r=2, target_modules=["lm_head"], task_type="CAUSAL_LM")
    adapted = peft.get_peft_model(model, settings)
    with refuses("adapter", "output layer", "tuned") as error:
        open_layer_reader(adapted, IDS, "tuned")
    assert ("tied" in str(error.value)) == ("untie it" in str(error.value)) == tied


def test_an_adapter_over_the_blocks_counts():
    peft = pytest.importorskip("peft")
    model = make_model("llama")
    with torch.no_grad():
        before = model(torch.tensor([IDS])).logits
    settings = peft.LoraConfig(r=2, target_modules=["q_proj"], task_type="CAUSAL_LM")
    adapted = peft.get_peft_model(model, settings)
    with torch.no_grad():
        for name, weight in adapted.named_parameters():
            if "lora_B" in name:
                weight.normal_()
        after = adapted(torch.tensor([IDS])).logits
    assert (before - after).abs().max() > 1e-2
    assert open_layer_reader(adapted, IDS).n_layers == 4


def test_a_tied_output_layer_that_differs_from_the_embedding_is_refused():
    model = make_model("gpt2")
    model.lm_head.weight = torch.nn.Parameter(model.lm_head.weight.detach().clone() + 1)
    with refuses("merged", "tied"):
        LayerReader(model, "merged")


def test_a_model_that_does_more_than_is_known_is_refused():
    model = make_model("llama")
    plain = model.forward

    def double(*arguments: Any, **named: Any) -> Any:
        return SimpleNamespace(logits=plain(*arguments, **named).logits * 2)

    model.forward = double
    with refuses("odd", "logits", "'llama'"):
        open_layer_reader(model, IDS, "odd")
