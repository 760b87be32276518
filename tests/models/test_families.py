"""Families of models: scored, looked into and trained by what they are, not by lists of names."""

import csv
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from perf.studies.families import TRIALS
from safetensors.torch import load_file, save_file
from tests.refusals import refuses
from torch.utils._python_dispatch import TorchDispatchMode
from transformers import AutoConfig

from fathom.config.adapter import Adapter
from fathom.models.adapters import add_adapter, describe_modules, find_modules
from fathom.models.folders import save_model
from fathom.models.loading import load_model
from fathom.models.parallel import ProcessGroup
from fathom.models.text_model import choose_class, find_text_model, list_other_weights
from fathom.numerics.precision import autocast
from fathom.planning.rehearsal.tiny_models import FAMILIES, WIDTH, WRAPPERS, make_family, make_family_config
from fathom.scoring.logits import choose_projection, evaluate_models

KINDS = ["mixtral", "mamba", "rwkv", "jamba", "qwen3_next", "gemma3", "qwen2_5_vl", "llama4"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_family_is_scored_looked_into_and_trained(kind):
    for attempt in TRIALS.values():
        assert attempt(kind)


def test_the_table_has_a_row_for_each_family():
    with Path("docs/results/families.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["family"] for row in rows] == [*FAMILIES, *WRAPPERS]
    assert {*TRIALS} < {*rows[0]}
    assert all(value for row in rows for value in row.values())


def test_own_linear_layers_have_adapters_and_routers_have_none():
    assert {each.rpartition(".")[2] for each in find_modules(make_family("falcon"), "all", "m")} == {
        "query_key_value", "dense", "dense_h_to_4h", "dense_4h_to_h"
    }  # fmt: skip
    assert not any("router" in each for each in find_modules(make_family("llama4"), "all", "m"))


def test_the_text_model_of_a_wrapper_is_found_and_images_are_apart():
    model = make_family("gemma3")
    assert type(find_text_model(model)).__name__ == "Gemma3TextModel"
    images = {id(weight) for weight in list_other_weights(model)}
    assert images == {
        id(weight) for name, weight in model.named_parameters() if "vision" in name or "projector" in name
    }
    assert not any("vision" in name for name in find_modules(model, "all", "m"))
    assert list_other_weights(make_family("llama4")) == []


def test_a_model_that_is_its_own_base_is_scored():
    model = make_family("llama4")
    assert model.base_model is model
    with torch.inference_mode():
        assert choose_projection(model, [3, 5, 7], "m").name == "float32 output layer"


def test_a_second_adapter_goes_where_the_first_is():
    model = make_family("llama")
    once = find_modules(model, "all", "m")
    add_adapter(model, Adapter(rank=2))
    assert find_modules(model, "all", "m") == once


def test_adapters_say_which_weights_have_none():
    model = make_family("mixtral")
    text = describe_modules(model, find_modules(model, "all", "m"))
    assert "8 matrices" in text and "experts.gate_up_proj" in text


class _Products(TorchDispatchMode):
    """Notes the number formats that stacked experts are multiplied in."""

    def __init__(self) -> None:
        super().__init__()
        self.formats = set[torch.dtype]()

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if "grouped_mm" in str(function):
            self.formats |= {each.dtype for each in args if isinstance(each, torch.Tensor) and each.ndim > 1}
        return function(*args, **(kwargs or {}))


@pytest.mark.parametrize("kind", ["mixtral", "qwen3_moe", "gpt_oss"])
def test_experts_are_computed_in_the_format_of_training_and_of_scoring(kind):
    ids = torch.arange(2, 18)[None]
    for precision in ("float32", "bfloat16"):
        model = make_family(kind)
        with _Products() as training:
            with autocast("cpu", precision):
                loss = model(input_ids=ids, labels=ids, use_cache=False).loss
            loss.backward()
        assert {each.grad.dtype for each in model.parameters() if each.grad is not None} == {torch.float32}
        with _Products() as scoring, evaluate_models([model.to(getattr(torch, precision))]):
            model(input_ids=ids, use_cache=False)
        assert training.formats == scoring.formats == {getattr(torch, precision)}


@pytest.mark.parametrize("kind", ["clip", "t5", "florence2"])
def test_a_model_without_a_text_model_is_refused(kind):
    with refuses("some/folder", f"'{kind}'", "causal language model"):
        choose_class(AutoConfig.for_model(kind), "some/folder")


def test_a_wrapper_is_loaded_and_one_without_text_weights_is_refused(tokenizer, tmp_path):
    config = make_family_config("mistral3")
    config.text_config.vocab_size = len(tokenizer)
    model = choose_class(config, "m").from_config(config).float()
    save_model(tmp_path / "m", model, tokenizer)
    found = load_model(tmp_path / "m")[0]
    assert find_text_model(found).config.hidden_size == WIDTH
    weights = load_file(tmp_path / "m" / "model.safetensors")
    images = {name: weight for name, weight in weights.items() if "vision" in name}
    save_file(images, tmp_path / "m" / "model.safetensors", {"format": "pt"})
    with refuses("missing, e.g.", str(tmp_path / "m")):
        load_model(tmp_path / "m")


def test_a_weight_that_no_process_has_needed_keeps_no_gradient():
    weights = [torch.nn.Parameter(torch.ones(2)) for _ in range(3)]
    weights[0].grad = torch.ones(2)
    others = iter([torch.tensor([0.0, 1.0, 0.0]), torch.zeros(2), torch.full((2,), 3.0)])
    accelerator = SimpleNamespace(
        device="cpu", num_processes=2, process_index=0, reduce=lambda own, how: own + next(others)
    )
    ProcessGroup(accelerator).add_gradients(weights)
    assert [None if each.grad is None else each.grad.tolist() for each in weights] == [[1, 1], [3, 3], None]
