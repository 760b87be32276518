"""Tiny models whose weights are stored as FP8 with scales by block, or as MXFP4, with what they stand for."""

from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from tests.tiny import make_word_tokenizer
from transformers import GptOssConfig, GptOssForCausalLM, Qwen3Config, Qwen3ForCausalLM, set_seed

from fathom.io.files import read_json, write_json
from fathom.models.folders import save_model

WORDS = [f"w{number}" for number in range(94)]
Tensors = dict[str, torch.Tensor]
BLOCK = 16
"""Rows and columns of a block of FP8."""
_FP4 = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6])
_SIZES = {"vocab_size": 96, "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1,
          "max_position_embeddings": 64}  # fmt: skip


def save_fp8(folder: Path) -> Any:
    """Write a model of Qwen3's shape as Qwen3-FP8 is stored; return the same model, not packed."""
    set_seed(0)
    config = Qwen3Config(hidden_size=32, intermediate_size=64, head_dim=16, **_SIZES)
    model = Qwen3ForCausalLM(config)
    stored, plain = {}, dict(model.state_dict())
    for name, weight in model.state_dict().items():
        if not name.endswith("_proj.weight"):
            stored[name] = weight.to(torch.bfloat16)
            plain[name] = stored[name].float()
            continue
        rows, columns = weight.shape
        blocks = weight.reshape(rows // BLOCK, BLOCK, columns // BLOCK, BLOCK)
        scale = blocks.abs().amax((1, 3)) / 448  # the largest number of float8_e4m3fn
        packed = (blocks / scale[:, None, :, None]).to(torch.float8_e4m3fn)
        stored |= {name: packed.reshape(rows, columns), f"{name}_scale_inv": scale}
        plain[name] = (packed.float() * scale[:, None, :, None]).reshape(rows, columns)
    how = {"quant_method": "fp8", "weight_block_size": [BLOCK, BLOCK], "activation_scheme": "dynamic",
           "modules_to_not_convert": ["lm_head"]}  # fmt: skip
    return _save(folder, model, stored, plain, how)


def save_mxfp4(folder: Path) -> Any:
    """Write a model of GPT-OSS's shape as gpt-oss is stored; return the same model, not packed."""
    set_seed(0)
    config = GptOssConfig(hidden_size=64, intermediate_size=64, head_dim=32, num_local_experts=4,
                          num_experts_per_tok=2, sliding_window=32, **_SIZES)  # fmt: skip
    model = GptOssForCausalLM(config)
    stored, plain = {}, dict(model.state_dict())
    for name, weight in model.state_dict().items():
        if not name.endswith(("gate_up_proj", "down_proj")):
            stored[name] = weight.to(torch.bfloat16)
            plain[name] = stored[name].float()
            continue
        turned = weight.transpose(1, 2)
        experts, rows, columns = turned.shape
        blocks = turned.reshape(experts, rows, columns // 32, 32)
        power = torch.floor(torch.log2(blocks.abs().amax(-1))) - 2
        codes = ((blocks / torch.exp2(power)[..., None])[..., None] - _FP4).abs().argmin(-1)
        stored[f"{name}_blocks"] = (codes[..., 0::2] | (codes[..., 1::2] << 4)).to(torch.uint8)
        stored[f"{name}_scales"] = (power + 127).to(torch.uint8)
        values = _FP4[codes] * torch.exp2(power)[..., None]
        plain[name] = values.reshape(experts, rows, columns).transpose(1, 2)
    how = {"quant_method": "mxfp4", "modules_to_not_convert": ["lm_head", "model.embed_tokens"]}
    return _save(folder, model, stored, plain, how)


def _save(folder: Path, model: Any, stored: Tensors, plain: Tensors, how: dict[str, Any]) -> Any:
    save_model(folder, model, make_word_tokenizer(WORDS))
    tensors = {name: weight.contiguous() for name, weight in stored.items()}
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    write_json(folder / "config.json", {**read_json(folder / "config.json"), "quantization_config": how})
    model.load_state_dict(plain)
    return model.eval()
