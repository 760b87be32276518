"""Shapes of models, known without weights, from which memory follows: size, layers, widths, vocabulary.

They come from a folder's config.json, else from the registry's row: published models have a line in SIZES,
others get the usual layers and widths for their size.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from fathom.io.files import read_json
from fathom.models.registry import ModelRow

Design = Literal["llama", "gpt2", "neox"]

_TIED = ("gpt2", "gemma", "gemma2", "gemma3_text")  # one matrix for input and output, unless config.json says
_LIKE_GPT2 = ("gpt2", "gptj", "codegen", "phi")
_LIKE_NEOX = ("gpt_neox", "opt", "bloom", "falcon", "starcoder2")
_UNKNOWN_VOCABULARY = 128_000
_LAYER_WIDTH = 128  # a model's width for each of its layers, at any usual size
_STEP = 64  # widths are multiples of it


@dataclass(frozen=True)
class Shape:
    """Sizes of a causal language model."""

    parameters: int  # all weights, the embedding among them
    layers: int
    width: int
    inner: int  # width inside the MLP
    keys: int  # width of the keys, and of the values, of all heads
    vocabulary: int  # rows of the output layer
    context: int | None = None  # in tokens, where known
    # most similar block: Llama's, with a gate in the MLP; GPT-2's, whose GELU is several operations that all
    # keep their results; or GPT-NeoX's, with a single one
    design: Design = "llama"
    tied: bool = False  # whether the output layer is the embedding

    @property
    def block(self) -> int:
        """Parameters of one transformer block's matrices."""
        matrices = 3 if self.design == "llama" else 2
        return self.width * (2 * self.width + 2 * self.keys + matrices * self.inner)

    @property
    def embedding(self) -> int:
        """Parameters of the output layer."""
        return self.width * self.vocabulary


# family: layers, width, inner, keys, vocabulary, context, design, tied
_L: Design = "llama"
_GPT2: tuple[int, int, Design, bool] = (50257, 1024, "gpt2", True)
_PYTHIA: tuple[int, int, Design, bool] = (50304, 2048, "neox", False)
SIZES: dict[tuple[str, int], tuple[int, int, int, int, int, int, Design, bool]] = {
    ("gpt2", 124_000_000): (12, 768, 3072, 768, *_GPT2),
    ("gpt2", 355_000_000): (24, 1024, 4096, 1024, *_GPT2),
    ("gpt2", 774_000_000): (36, 1280, 5120, 1280, *_GPT2),
    ("gpt2", 1_560_000_000): (48, 1600, 6400, 1600, *_GPT2),
    ("llama-2", 6_740_000_000): (32, 4096, 11008, 4096, 32000, 4096, _L, False),
    ("llama-2", 13_000_000_000): (40, 5120, 13824, 5120, 32000, 4096, _L, False),
    ("llama-2", 69_000_000_000): (80, 8192, 28672, 1024, 32000, 4096, _L, False),
    ("llama-3", 1_240_000_000): (16, 2048, 8192, 512, 128256, 131072, _L, True),
    ("llama-3", 3_210_000_000): (28, 3072, 8192, 1024, 128256, 131072, _L, True),
    ("llama-3", 8_030_000_000): (32, 4096, 14336, 1024, 128256, 8192, _L, False),
    ("llama-3", 70_600_000_000): (80, 8192, 28672, 1024, 128256, 8192, _L, False),
    ("mistral", 7_240_000_000): (32, 4096, 14336, 1024, 32000, 32768, _L, False),
    ("mistral", 7_250_000_000): (32, 4096, 14336, 1024, 32768, 32768, _L, False),
    ("qwen1.5", 620_000_000): (24, 1024, 2816, 1024, 151936, 32768, _L, False),
    ("qwen1.5", 1_840_000_000): (24, 2048, 5504, 2048, 151936, 32768, _L, False),
    ("qwen1.5", 3_950_000_000): (40, 2560, 6912, 2560, 151936, 32768, _L, False),
    ("qwen1.5", 7_720_000_000): (32, 4096, 11008, 4096, 151936, 32768, _L, False),
    ("qwen1.5", 14_200_000_000): (40, 5120, 13696, 5120, 152064, 32768, _L, False),
    ("qwen2", 494_000_000): (24, 896, 4864, 128, 151936, 32768, _L, True),
    ("qwen2", 1_540_000_000): (28, 1536, 8960, 256, 151936, 32768, _L, True),
    ("qwen2", 7_620_000_000): (28, 3584, 18944, 512, 152064, 32768, _L, False),
    ("qwen2.5", 494_000_000): (24, 896, 4864, 128, 151936, 32768, _L, True),
    ("qwen2.5", 1_540_000_000): (28, 1536, 8960, 256, 151936, 32768, _L, True),
    ("qwen2.5", 3_090_000_000): (36, 2048, 11008, 256, 151936, 32768, _L, True),
    ("qwen2.5", 7_620_000_000): (28, 3584, 18944, 512, 152064, 32768, _L, False),
    ("qwen2.5", 14_800_000_000): (48, 5120, 13824, 1024, 152064, 32768, _L, False),
    ("olmo-2", 7_300_000_000): (32, 4096, 11008, 4096, 100352, 4096, _L, False),
    ("gemma", 2_510_000_000): (18, 2048, 16384, 256, 256000, 8192, _L, True),
    ("gemma", 8_540_000_000): (28, 3072, 24576, 4096, 256000, 8192, _L, True),
    ("gemma-2", 2_610_000_000): (26, 2304, 9216, 1024, 256000, 8192, _L, True),
    ("gemma-2", 9_240_000_000): (42, 3584, 14336, 2048, 256000, 8192, _L, True),
    ("gemma-3", 268_098_176): (18, 640, 2048, 256, 262144, 32768, _L, True),
    ("smollm2", 134_515_008): (30, 576, 1536, 192, 49152, 8192, _L, True),
    ("pythia", 70_000_000): (6, 512, 2048, 512, *_PYTHIA),
    ("pythia", 160_000_000): (12, 768, 3072, 768, *_PYTHIA),
    ("pythia", 410_000_000): (24, 1024, 4096, 1024, *_PYTHIA),
    ("pythia", 1_000_000_000): (16, 2048, 8192, 2048, *_PYTHIA),
    ("pythia", 1_400_000_000): (24, 2048, 8192, 2048, *_PYTHIA),
    ("pythia", 2_800_000_000): (32, 2560, 10240, 2560, *_PYTHIA),
    ("pythia", 6_900_000_000): (32, 4096, 16384, 4096, *_PYTHIA),
    ("pythia", 12_000_000_000): (36, 5120, 20480, 5120, *_PYTHIA),
    ("yi", 6_060_000_000): (32, 4096, 11008, 512, 64000, 4096, _L, False),
    ("yi", 8_830_000_000): (48, 4096, 11008, 512, 64000, 4096, _L, False),
    ("yi-1.5", 6_060_000_000): (32, 4096, 11008, 512, 64000, 4096, _L, False),
    ("yi-1.5", 8_830_000_000): (48, 4096, 11008, 512, 64000, 4096, _L, False),
}
"""Sizes of published models by family and parameters, in the order of :class:`Shape` from its second on."""


def find_shape(entry: ModelRow, registry: Path | str) -> Shape | None:
    """Return the shape of a model of the registry, or None if its size is unknown.

    A local folder's config.json counts first, then the row; nothing is downloaded.
    """
    config = Path(registry).parent / Path(entry.source).expanduser() / "config.json"
    if config.is_file() and (found := read_shape(config)):
        return found
    if entry.parameters is None:
        return None
    if (entry.family, entry.parameters) in SIZES:
        return Shape(entry.parameters, *SIZES[entry.family, entry.parameters])
    sizes = [values for (family, _), values in SIZES.items() if family == entry.family]
    vocabulary, tied = (sizes[-1][4], sizes[-1][7]) if sizes else (_UNKNOWN_VOCABULARY, False)
    return guess_shape(entry.parameters, vocabulary, tied)


def guess_shape(parameters: int, vocabulary: int = _UNKNOWN_VOCABULARY, tied: bool = False) -> Shape:
    """Return the shape that a Llama-like model of so many parameters usually has.

    A block has 12 * width**2 parameters, and there is one for each 128 of the width.
    """
    copies = 1 if tied else 2
    width = _STEP
    while copies * vocabulary * width + 12 * width**3 / _LAYER_WIDTH < parameters:
        width += _STEP
    layers = max(1, width // _LAYER_WIDTH)
    return Shape(parameters, layers, width, 8 * width // 3, width, vocabulary, tied=tied)


def read_shape(path: Path | str) -> Shape | None:
    """Return the shape that a model's config.json describes, or None if it lacks a size."""
    values = read_json(path)
    return parse_shape(values) if isinstance(values, dict) else None


def parse_shape(config: Mapping[str, Any]) -> Shape | None:
    """Return the shape that the content of a config.json describes, or None if it lacks a size."""
    values = {**config, **config.get("text_config", {})}
    kind = str(values.get("model_type", ""))

    def find(*names: str) -> int | None:
        return next((values[name] for name in names if isinstance(values.get(name), int)), None)

    layers, width = find("num_hidden_layers", "n_layer"), find("hidden_size", "n_embd")
    heads, vocabulary = find("num_attention_heads", "n_head"), find("vocab_size")
    if layers is None or width is None or heads is None or vocabulary is None:
        return None
    inner = find("intermediate_size", "n_inner") or 4 * width
    keys = (find("num_key_value_heads") or heads) * (find("head_dim") or width // heads)
    context = find("max_position_embeddings", "n_positions")
    design: Design = "gpt2" if kind in _LIKE_GPT2 else "neox" if kind in _LIKE_NEOX else "llama"
    tied = bool(values.get("tie_word_embeddings", kind in _TIED))
    shape = Shape(0, layers, width, inner, keys, vocabulary, context, design, tied)
    positions = (context or 0) * width if kind == "gpt2" else 0
    embeddings = shape.embedding * (1 if tied else 2)
    return replace(shape, parameters=layers * shape.block + embeddings + positions)
