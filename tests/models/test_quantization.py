"""How a model's weights are quantised, and what is missing to load them."""

import importlib.util
import json
from pathlib import Path
from typing import Any

from tests.refusals import refuses

from fathom.models import quantization
from fathom.models.quantization import (
    check_quantization,
    choose_quantization,
    count_bytes_per_weight,
    find_quantization,
    make_loading_options,
)


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
    with refuses("mxfp4"):
        choose_quantization(write(tmp_path, quant_method="mxfp4"), "")


def test_a_missing_library_or_gpu(monkeypatch):
    check_quantization("", "cpu", "m")
    if importlib.util.find_spec("gptqmodel") is None:
        with refuses("awq", "gptqmodel"):
            check_quantization("awq", "cuda:0", "m")
    monkeypatch.setattr(quantization, "find_spec", lambda name: name)
    check_quantization("awq", "cuda:0", "m")
    with refuses("awq", "GPU"):
        check_quantization("awq", "cpu", "m")
