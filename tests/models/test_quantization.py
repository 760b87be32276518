"""How a model's weights are quantised, and what is missing to load them."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import torch
from tests.models.packed_models import WORDS as PACKED_WORDS
from tests.models.packed_models import save_fp8, save_mxfp4
from tests.refusals import refuses
from tests.tiny import make_word_tokenizer

from fathom.config.scoring import Scoring
from fathom.io.files import read_json, write_json
from fathom.models import quantization
from fathom.models.folders import save_model
from fathom.models.loading import Pointer, describe_loaded, load_model
from fathom.models.placement import measure_weights
from fathom.models.quantization import (
    check_quantization,
    choose_quantization,
    count_bytes_per_weight,
    find_quantization,
    make_loading_options,
)
from fathom.scoring.ranks import score_benchmarks


def write(folder: Path, **stored: Any) -> Path:
    (folder / "config.json").write_text(json.dumps({"quantization_config": stored} if stored else {}))
    return folder


def test_what_is_stored_and_what_is_wanted(tmp_path):
    assert choose_quantization(write(tmp_path), "") == ""
    assert choose_quantization(tmp_path, "bitsandbytes-8bit") == "bitsandbytes-8bit"
    assert count_bytes_per_weight(tmp_path, "bitsandbytes-8bit") == 1.0
    with refuses("gptq", "repository"):
        choose_quantization(tmp_path, "gptq")
    assert find_quantization(write(tmp_path, load_in_4bit=True)) == "bitsandbytes-4bit"
    assert find_quantization(write(tmp_path, quant_method="bitsandbytes")) == "bitsandbytes-8bit"
    assert choose_quantization(write(tmp_path, quant_method="gptq", bits=4), "") == "gptq"
    assert count_bytes_per_weight(tmp_path, "gptq") is None
    assert make_loading_options(tmp_path, "gptq", "x") == {}
    with refuses("gptq", "awq"):
        choose_quantization(tmp_path, "awq")


@pytest.mark.parametrize("method", ["compressed-tensors", "fbgemm_fp8", "quark", "nvfp4", "modelopt"])
def test_other_formats_are_refused_by_name(tmp_path, method):
    save_fp8(tmp_path / "model")
    config = read_json(tmp_path / "model" / "config.json") | {"quantization_config": {"quant_method": method}}
    write_json(tmp_path / "model" / "config.json", config)
    with refuses("quantised by", "known: ", "fp8", "mxfp4", "before it was quantised"):
        load_model(tmp_path / "model")


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize(("save", "name"), [(save_fp8, "fp8"), (save_mxfp4, "mxfp4")])
def test_packed_weights_are_unpacked_on_loading(tmp_path, save, name, dtype):
    save_model(tmp_path / "plain", save(tmp_path / "model"), make_word_tokenizer(PACKED_WORDS))
    (plain, _), (loaded, _) = (load_model(tmp_path / folder, dtype) for folder in ("plain", "model"))
    formats = [{part: each.dtype for part, each in model.state_dict().items()} for model in (plain, loaded)]
    assert formats[0] == formats[1]
    buffers = [dict(model.named_buffers()) for model in (plain, loaded)]
    assert {part: each.dtype for part, each in buffers[0].items()} == {
        part: each.dtype for part, each in buffers[1].items()
    }
    tokens = torch.tensor([[1, 5, 9, 33, 7]])
    with torch.inference_mode():
        assert torch.equal(loaded(tokens).logits, plain(tokens).logits)
    assert describe_loaded(Pointer("m", tmp_path / "model"), loaded, dtype)["quantization"] == name
    sizes = [weight.numel() * weight.element_size() for weight in loaded.parameters()]
    assert measure_weights(tmp_path / "model", dtype).weights == sum(sizes)
    stored = (tmp_path / "model" / "model.safetensors").stat().st_size
    assert sum(sizes) > (2.5 if dtype == "float32" else 1.2) * stored


def test_a_packed_model_is_scored_like_the_one_that_it_stands_for(tmp_path):
    plain = save_fp8(tmp_path / "model")
    save_model(tmp_path / "plain", plain, make_word_tokenizer(PACKED_WORDS))
    pairs = pl.DataFrame({"pair_id": ["a", "b"], "keyword": ["k", "l"], "prompt": ["w1 w2", "w3"],
                          "target": [" w4", " w5"]})  # fmt: skip
    packed, whole = (
        score_benchmarks(*load_model(tmp_path / name), [pairs], Scoring(device="cpu"))[0]
        for name in ("model", "plain")
    )
    assert packed.equals(whole)


def test_a_missing_library_or_gpu(monkeypatch):
    check_quantization("", "cpu", "m")
    if importlib.util.find_spec("gptqmodel") is None:
        with refuses("awq", "gptqmodel"):
            check_quantization("awq", "cuda:0", "m")
    monkeypatch.setattr(quantization, "find_spec", lambda name: name)
    check_quantization("awq", "cuda:0", "m")
    with refuses("awq", "GPU"):
        check_quantization("awq", "cpu", "m")
    for unpacked in ("fp8", "mxfp4"):
        check_quantization(unpacked, "cpu", "m")
