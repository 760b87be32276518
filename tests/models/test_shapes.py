"""Sizes of models, without their weights."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from transformers import (
    AutoModelForCausalLM,
    Gemma2Config,
    GPT2Config,
    GPTNeoXConfig,
    LlamaConfig,
    Qwen2Config,
)

from fathom.models.registry import read_registry
from fathom.models.shapes import SIZES, Shape, find_shape, guess_shape, parse_shape

REGISTRY = Path(__file__).resolve().parents[2] / "config" / "models.tsv"
SMALL = {"num_hidden_layers": 3, "hidden_size": 128, "num_attention_heads": 4, "vocab_size": 1000}


@pytest.mark.parametrize(("config", "design"), [
    (GPT2Config(n_embd=128, n_layer=3, n_head=4, vocab_size=1000), "gpt2"),
    (GPTNeoXConfig(**SMALL, intermediate_size=512), "neox"),
    (LlamaConfig(**SMALL, intermediate_size=344, num_key_value_heads=2), "llama"),
    (
        Qwen2Config(**SMALL, intermediate_size=344, num_key_value_heads=2, tie_word_embeddings=True),
        "llama",
    ),
    (Gemma2Config(**SMALL, intermediate_size=344, num_key_value_heads=2, head_dim=32), "llama"),
])  # fmt: skip
def test_a_configuration_gives_the_number_of_parameters(config, design):
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config)
    shape = parse_shape(config.to_dict())
    assert shape.parameters == pytest.approx(model.num_parameters(), rel=0.02)
    assert (shape.layers, shape.width, shape.vocabulary, shape.design) == (3, 128, 1000, design)


@pytest.mark.parametrize("family,parameters", SIZES)
def test_listed_sizes_have_the_listed_parameters(family, parameters):
    shape = Shape(parameters, *SIZES[family, parameters])
    counted = shape.layers * shape.block + shape.embedding * (1 if shape.tied else 2)
    assert counted == pytest.approx(parameters, rel=0.06)
    guessed = guess_shape(parameters, shape.vocabulary, shape.tied)
    # narrow models with a wide MLP, such as Gemma, differ most
    if parameters > 10**9:
        assert guessed.layers * guessed.width == pytest.approx(shape.layers * shape.width, rel=0.75)


def test_every_model_of_the_registry_has_a_shape_without_a_download():
    entries = read_registry(REGISTRY)
    shapes = {name: find_shape(entry, REGISTRY) for name, entry in entries.items()}
    assert all(shape.parameters == entries[name].parameters for name, shape in shapes.items())
    assert shapes["Qwen2.5-14B"].layers == 48


def test_an_unlisted_model_has_the_vocabulary_of_its_family(tmp_path):
    entry = read_registry(REGISTRY)["Llama-2-7b"]
    shape = find_shape(replace(entry, parameters=33_000_000_000), REGISTRY)
    assert (shape.parameters, shape.vocabulary) == (33_000_000_000, 32000)
    assert find_shape(replace(entry, parameters=None), REGISTRY) is None
    assert find_shape(replace(entry, family="other", parameters=10**9), REGISTRY).vocabulary == 128_000


def test_a_local_folder_says_it_itself(tmp_path):
    entry = replace(read_registry(REGISTRY)["gpt2"], source="mine")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "config.json").write_text(json.dumps(LlamaConfig(**SMALL).to_dict()))
    assert find_shape(entry, tmp_path / "models.tsv").layers == 3
    (tmp_path / "mine" / "config.json").write_text('{"model_type": "odd"}')
    assert find_shape(entry, tmp_path / "models.tsv").layers == 12
