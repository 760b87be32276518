"""GGUF files: ranks of the same weights in safetensors, what is refused, and what transformers leaves out."""

import math
import struct
from pathlib import Path

import numpy as np
import pytest
import torch
from gguf import GGMLQuantizationType
from gguf.quants import dequantize, quantize
from tests.models.gguf_model import PROMPTS, make_experts, make_llama, permute, write_gguf
from tests.refusals import refuses
from tests.tables import write_models

from fathom.config.scoring import Scoring
from fathom.io.contracts.scoring import SCORES
from fathom.io.files import read_json, write_json_lines
from fathom.io.tables import read_table
from fathom.models.fetching import find_pointer, locate_pointer
from fathom.models.folders import save_model
from fathom.models.gguf_files import unpack
from fathom.models.gguf_header import read_header
from fathom.models.loading import check_fingerprint, load_model, read_pointer, write_pointer
from fathom.models.open_model import OpenModel
from fathom.models.registry import read_registry
from fathom.models.tokens import encode_texts, uses_bos
from fathom.scoring.rank_files import ScoreFiles, score_files


@pytest.fixture(scope="module")
def llama():
    return make_llama()


@pytest.fixture
def cache(tmp_path, monkeypatch) -> Path:
    """Return the folder of unpacked models of this test."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HOME", str(tmp_path / "hub"))
    return tmp_path / "hub" / "fathom" / "gguf"


def score(pointer, folder: Path) -> list:
    """Return ranks and probabilities of some targets."""
    pairs = [{"prompt": each, "target": target} for each in PROMPTS for target in (" agent", " 7 values")]
    write_json_lines(folder / "pairs.jsonl", pairs)
    files = ScoreFiles(folder / "pairs.jsonl", folder / "scores.parquet", folder / "report.json")
    score_files(OpenModel(pointer, Scoring(device="cpu")), [files])
    return read_table(files.scores, SCORES).fill_nan(None).rows()


def test_ranks_are_those_of_the_same_weights_in_safetensors(llama, cache, tmp_path):
    save_model(tmp_path / "plain", *llama)
    pointer = find_pointer(write_gguf(tmp_path / "tiny.gguf", *llama))
    assert score(pointer, tmp_path) == score(read_pointer(tmp_path / "plain"), tmp_path)
    assert (pointer.name, pointer.quantization, pointer.licence) == ("tiny", "GGUF F32", "cc0-1.0")


def test_quantized_weights_are_those_of_each_tensor(llama, cache, tmp_path):
    """Weights are unpacked here tensor by tensor, and put into a model by hand."""
    model, tokenizer = llama
    kind = GGMLQuantizationType.Q8_0
    pointer = find_pointer(write_gguf(tmp_path / "tiny.gguf", model, tokenizer, kind))
    plain, _ = make_llama()
    with torch.no_grad():
        for name, weight in plain.state_dict().items():
            heads = {"q": 4, "k": 2}.get(name.removesuffix("_proj.weight")[-1]) if "_proj" in name else None
            if weight.ndim == 2:
                stored = permute(weight.numpy(), heads) if heads else weight.numpy()
                values = dequantize(quantize(stored, kind), kind).reshape(stored.shape)
                if heads:  # back to the order of rows before
                    order = permute(np.arange(len(values))[:, None], heads)[:, 0]
                    values = values[np.argsort(order)]
                weight.copy_(torch.from_numpy(values.copy()))
    save_model(tmp_path / "plain", plain, tokenizer)
    found = score(pointer, tmp_path)
    assert found == score(read_pointer(tmp_path / "plain"), tmp_path)
    assert found != score(find_pointer(write_gguf(tmp_path / "f32.gguf", *llama)), tmp_path)
    assert read_json(tmp_path / "report.json")["quantization"] == "GGUF F32"
    assert pointer.quantization == "GGUF Q8_0"


@pytest.mark.parametrize("kind", ["qwen2_moe", "qwen3_moe"])
def test_a_quantized_mixture_of_experts_has_the_ranks_of_its_weights(cache, tmp_path, kind):
    """Experts are unpacked here row by row, and put into a model by hand."""
    format_ = GGMLQuantizationType.Q8_0
    model, tokenizer = make_experts(kind)
    pointer = find_pointer(write_gguf(tmp_path / "tiny.gguf", model, tokenizer, format_))
    with torch.no_grad():
        for name, weight in model.state_dict().items():
            if weight.ndim > 1 and not name.endswith(("mlp.gate.weight", "shared_expert_gate.weight")):
                values = dequantize(quantize(weight.numpy(), format_), format_)
                weight.copy_(torch.from_numpy(values.reshape(weight.shape)))
    save_model(tmp_path / "plain", model, tokenizer)
    assert score(pointer, tmp_path) == score(read_pointer(tmp_path / "plain"), tmp_path)


@pytest.mark.parametrize("lost", ["ffn_up_exps", "ffn_gate_exps", "ffn_down_exps"])
def test_experts_of_which_a_part_is_missing_are_refused(cache, tmp_path, lost):
    def lose(_: dict, tensors: dict) -> None:
        del tensors[f"blk.1.{lost}.weight"]

    with refuses("missing, e.g.", "experts", "tiny.gguf"):
        find_pointer(write_gguf(tmp_path / "tiny.gguf", *make_experts("qwen3_moe"), change=lose))
    assert not list(cache.glob("tiny*"))


def test_a_file_is_unpacked_once_and_another_of_its_name_again(llama, cache, tmp_path):
    file = write_gguf(tmp_path / "tiny.gguf", *llama)
    first = find_pointer(file)
    written = (first.path / "model.safetensors").stat().st_mtime_ns
    assert find_pointer(file) == first
    assert (first.path / "model.safetensors").stat().st_mtime_ns == written
    changed = find_pointer(write_gguf(file, *llama, kind=GGMLQuantizationType.Q8_0))
    assert changed.path != first.path and check_fingerprint(changed) != check_fingerprint(first)
    assert read_json(changed.path / "gguf.json")["sha256"] != read_json(first.path / "gguf.json")["sha256"]


def test_large_weights_are_written_to_several_files(llama, cache, tmp_path, monkeypatch):
    whole = load_model(find_pointer(write_gguf(tmp_path / "one.gguf", *llama)))[0].state_dict()
    monkeypatch.setattr("fathom.models.gguf_files._SHARD", 100_000)
    pointer = find_pointer(write_gguf(tmp_path / "many.gguf", *llama, kind=GGMLQuantizationType.F16))
    assert len(list(pointer.path.glob("model-*.safetensors"))) > 1
    model = load_model(pointer)[0]
    assert all(torch.allclose(model.state_dict()[name], weight, atol=1e-3) for name, weight in whole.items())


def set_value(key, value):
    return lambda values, tensors: values.update({key: value})


REFUSED = {
    "adapter": (set_value("general.type", "adapter"), ["holds an adapter", "adapter_of"]),
    "projector": (set_value("general.type", "mmproj"), ["'mmproj'", "language model"]),
    "part": (set_value("split.count", 3), ["part of a model", "--merge"]),
    "architecture": (set_value("general.architecture", "clip"), ["'clip'", "llama"]),
    "encoder": (set_value("general.architecture", "t5"), ["'t5'"]),
    "unread key": (set_value("llama.logit_scale", 2.0), ["logit_scale = 2.0", "not read"]),
    "experts": (set_value("llama.expert_count", 4), ["expert_count = 4", "not read"]),
    "other head": (set_value("llama.rope.dimension_count", 6), ["6"]),
    "scaled positions": (set_value("llama.rope.scaling.type", "yarn"), ["yarn"]),
    "unknown split": (set_value("tokenizer.ggml.pre", "made-up"), ["'made-up'", "tokens could differ"]),
    "no such token": (set_value("tokenizer.ggml.bos_token_id", 5000), ["tokenizer in the file"]),
    "bad merge": (set_value("tokenizer.ggml.merges", ["zzz yyy"]), ["tokenizer in the file"]),
    "missing tensor": (lambda _, tensors: tensors.pop("blk.1.ffn_up.weight"), ["mlp.up_proj", "missing"]),
    "more tensors": (
        lambda _, tensors: tensors.update({"blk.0.ffn_gate_exps.weight": np.zeros((4, 32), np.float32)}),
        ["ffn_gate_exps"],
    ),
    "wrong shape": (
        lambda _, tensors: tensors.update({"blk.0.ffn_up.weight": np.zeros((4, 64), np.float32)}),
        ["(4, 64)", "mlp.up_proj"],
    ),
    "unknown positions": (
        lambda _, tensors: tensors.update({"rope_freqs.weight": np.full(8, 3, np.float32)}),
        ["rope_freqs", "Llama 3"],
    ),
    "no positions": (
        lambda _, tensors: tensors.update({"rope_freqs.weight": np.zeros(8, np.float32)}),
        ["rope_freqs", "not positive"],
    ),
    "small vocabulary": (
        lambda _, tensors: tensors.update(
            {name: tensors[name][:100] for name in ("token_embd.weight", "output.weight")}
        ),
        ["290 entries", "100"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", REFUSED)
def test_what_would_not_be_calculated_as_meant_is_refused(llama, tmp_path, fault):
    apply, named = REFUSED[fault]
    file = write_gguf(tmp_path / "tiny.gguf", *llama, change=apply)
    with refuses(file, *named):
        unpack(file, tmp_path / "cache")
    assert not [file for file in (tmp_path / "cache").glob("*") if file.suffix != ".lock"]


def test_files_that_are_cut_short_or_damaged(llama, tmp_path):
    content = write_gguf(tmp_path / "tiny.gguf", *llama).read_bytes()
    file = tmp_path / "cut.gguf"
    for size in (0, 10, 23, 24, 100, 2000, len(content) // 2, len(content) - 40):
        file.write_bytes(content[:size])
        with refuses(file, "short" if size != 23 else ""):
            unpack(file, tmp_path / "cache")
    huge = struct.pack("<Q", 1 << 62)
    for place, name in ((8, "tensors"), (16, "entries"), (24, "length of a key")):
        file.write_bytes(content[:place] + huge + content[place + 8 :])
        with refuses(file, "cut short"):
            unpack(file, tmp_path / "cache")
        assert name
    for start, named in ((b"GGML", "GGUF"), (b"GGUF" + struct.pack("<I", 1), "version 1"),
                         (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS")):  # fmt: skip
        file.write_bytes(start + content[len(start) :])
        with refuses(file, named):
            unpack(file, tmp_path / "cache")
    with refuses(tmp_path / "none.gguf", "check the path"):
        find_pointer(tmp_path / "none.gguf")
    assert not (tmp_path / "cache").exists()


def test_an_array_that_promises_more_than_the_file_has_is_refused_at_once(tmp_path):
    key = b"general.architecture"
    entry = struct.pack("<Q", len(key)) + key + struct.pack("<IQ", 8, 5) + b"llama"
    for kind in (0, 8, 12):  # numbers of a byte, texts, numbers of eight bytes
        array = struct.pack("<Q", 1) + b"x" + struct.pack("<IIQ", 9, kind, 1 << 60)
        file = tmp_path / "attack.gguf"
        file.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, 2) + entry + array)
        with refuses(file, "cut short"):
            read_header(file)


def test_scaled_positions_of_llama_3_are_recognized(llama, cache, tmp_path):
    """The factors are those of llama.cpp's converter, written out here."""
    model, tokenizer = llama
    theta, width, factors = model.config.rope_parameters["rope_theta"], model.config.head_dim, []
    for place in range(0, width, 2):
        wavelength = 2 * math.pi * theta ** (place / width)
        if wavelength < 8192 / 4:
            factors.append(1.0)
        elif wavelength > 8192 / 1:
            factors.append(32.0)
        else:
            smooth = (8192 / wavelength - 1) / (4 - 1)
            factors.append(1 / ((1 - smooth) / 32 + smooth))
    assert len(set(factors)) > 1
    stored = {"rope_freqs.weight": np.array(factors, np.float32)}
    file = write_gguf(tmp_path / "l.gguf", model, tokenizer, change=lambda _, tensors: tensors.update(stored))
    found = load_model(find_pointer(file))[0].config.rope_parameters
    assert (found["rope_type"], found["factor"], found["rope_theta"]) == ("llama3", 32.0, theta)


@pytest.mark.parametrize(("values", "bos"), [
    ({"tokenizer.ggml.add_bos_token": True}, True),
    ({"tokenizer.ggml.add_bos_token": False}, False),
    ({"tokenizer.ggml.pre": "llama-bpe", "tokenizer.ggml.add_bos_token": None}, True),
])  # fmt: skip
def test_a_bos_token_comes_first_where_the_file_says_so(llama, cache, tmp_path, values, bos):
    def apply(known, _):
        known.update(values)
        for key in [key for key, value in values.items() if value is None]:
            del known[key]

    _, tokenizer = load_model(find_pointer(write_gguf(tmp_path / "tiny.gguf", *llama, change=apply)))
    assert uses_bos(tokenizer) == bos


def test_digits_stand_alone_in_smollm(llama, cache, tmp_path):
    """Transformers would split like GPT-2, which joins the blanks before a number otherwise."""
    apply = set_value("tokenizer.ggml.pre", "smollm")
    _, tokenizer = load_model(find_pointer(write_gguf(tmp_path / "tiny.gguf", *llama, change=apply)))
    split = tokenizer.backend_tokenizer.pre_tokenizer.pre_tokenize_str("and\n\n12 a")
    assert [piece for piece, _ in split] == ["and", "ĊĊ", "1", "2", "Ġa"]


def test_prompts_that_the_original_encodes_otherwise_are_counted(llama, cache, tmp_path):
    save_model(tmp_path / "plain", *llama)
    rows = [{"name": "plain", "source": str(tmp_path / "plain")}]
    for split in ("gpt-2", "smollm"):
        write_gguf(tmp_path / f"{split}.gguf", *llama, change=set_value("tokenizer.ggml.pre", split))
        rows.append({"name": split, "source": f"./{split}.gguf", "original": "plain"})
    registry = write_models(tmp_path / "models.tsv", *rows)
    for split, count in (("gpt-2", 0), ("smollm", 2)):  # two pairs of a prompt with a number of two digits
        write_pointer(tmp_path / "model.json", locate_pointer(split, registry))
        score(read_pointer(tmp_path / "model.json"), tmp_path)
        assert read_json(tmp_path / "report.json")["encoded_otherwise"] == count
    score(locate_pointer("plain", registry), tmp_path)
    assert "encoded_otherwise" not in read_json(tmp_path / "report.json")
    with refuses("original of 'plain' names an unknown model, 'none'"):
        read_registry(write_models(registry, {**rows[0], "original": "none"}))


@pytest.mark.parametrize("blank", [True, False])
def test_a_blank_stands_before_texts_where_the_file_says_so(llama, cache, tmp_path, blank):
    """Transformers puts one before all texts of a SentencePiece tokenizer."""
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁", "a", "b", "▁a", "ab"]

    def apply(values, _):
        del values["tokenizer.ggml.merges"], values["tokenizer.ggml.pre"]
        values["tokenizer.ggml.model"], values["tokenizer.ggml.tokens"] = "llama", tokens
        values["tokenizer.ggml.scores"] = [-float(place) for place in range(len(tokens))]
        values["tokenizer.ggml.token_type"] = [2, 3, 3, *([6] * 256), *([1] * 5)]
        values["tokenizer.ggml.bos_token_id"], values["tokenizer.ggml.eos_token_id"] = 1, 2
        values["tokenizer.ggml.add_space_prefix"], values["tokenizer.ggml.add_bos_token"] = blank, True

    _, tokenizer = load_model(find_pointer(write_gguf(tmp_path / "tiny.gguf", *llama, change=apply)))
    (ids,) = encode_texts(tokenizer, ["a ab"])
    assert tokenizer.convert_ids_to_tokens(ids)[0] == ("▁a" if blank else "a")
