"""Models of real shapes with random weights, and pairs, examples and texts for them."""

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import polars as pl

    from fathom.models.tokens import EncodedPair

START = "<s>"


class Shape(NamedTuple):
    """The shape of a model.

    `kind`: name in transformers; gemma3 wraps a text model and an image model. `layers`: blocks; `width`,
    `inner`: of the hidden states and inside the MLP; `heads`, `keys`: query heads and key heads;
    `vocabulary`: entries; `context`: in tokens. `head`: width of a head; 0: width divided by heads.
    """

    name: str
    kind: str
    layers: int
    width: int
    inner: int
    heads: int
    keys: int
    vocabulary: int
    context: int
    head: int = 0

    @property
    def block(self) -> int:
        """Number of weights in the matrices of one block."""
        head = self.head or self.width // self.heads
        attention = 2 * self.width * head * (self.heads + self.keys)
        return attention + (2 if self.kind == "gpt2" else 3) * self.width * self.inner

    @property
    def parameters(self) -> int:
        """Number of weights in the blocks and the embedding, which is also the output layer."""
        return self.layers * self.block + self.width * self.vocabulary


MEDIUM = Shape("GPT-2 medium", "gpt2", 24, 1024, 4096, 16, 16, 50_257, 1024)
SMALL_LLAMA = Shape("Llama 1B", "llama", 16, 2048, 8192, 32, 8, 128_256, 4096)
LARGE_LLAMA = Shape("Llama 7B", "llama", 32, 4096, 11_008, 32, 32, 32_000, 4096)
QWEN = Shape("Qwen2.5 0.5B", "qwen2", 24, 896, 4864, 14, 2, 151_936, 4096)
GEMMA = Shape("Gemma 3 270M", "gemma3_text", 18, 640, 2048, 4, 1, 262_144, 4096, 256)
WRAPPER = GEMMA._replace(name="Gemma 3 270M with images", kind="gemma3")
TINY = Shape("tiny GPT-2", "gpt2", 2, 32, 64, 2, 2, 600, 128)
TINY_LLAMA = Shape("tiny Llama", "llama", 2, 32, 64, 2, 1, 600, 128)
TINY_QWEN = TINY_LLAMA._replace(name="tiny Qwen", kind="qwen2")
TINY_GEMMA = TINY_LLAMA._replace(name="tiny Gemma", kind="gemma3_text", head=16)
TINY_WRAPPER = TINY_GEMMA._replace(name="tiny Gemma with images", kind="gemma3")


class Sizes(NamedTuple):
    """Sizes of the measurements.

    `pairs`: those that are scored, with so many tokens in a `prompt`; `compared`: also scored on the
    processor. `target`: tokens in a target of a tuning. `steps`, `batch`, `sequence`: steps of a training,
    sequences in a step, tokens in a sequence. `product`: width of the square matrices whose product gives the
    peak.
    """

    pairs: int
    prompt: int
    compared: int
    target: int
    steps: int
    batch: int
    sequence: int
    product: int

    def count_tokens(self, steps: int) -> int:
        """Return the number of tokens in some training steps on whole sequences."""
        return steps * self.batch * self.sequence


FULL = Sizes(1024, 64, 128, 4, 8, 8, 1024, 8192)
QUICK = Sizes(48, 12, 48, 2, 2, 4, 32, 256)


def build_model(shape: Shape, device: str = "cpu", dtype: str = "float32") -> Any:
    """Return a model with random weights from a fixed seed, made on its device."""
    import torch
    from transformers import AutoModelForCausalLM
    from transformers.utils import logging

    logging.set_verbosity_error()
    torch.manual_seed(0)
    with torch.device(device):
        return AutoModelForCausalLM.from_config(configure(shape), dtype=getattr(torch, dtype)).eval()


def configure(shape: Shape) -> Any:
    """Return the configuration of a model."""
    from transformers import AutoConfig

    values: dict[str, Any] = {
        "vocab_size": shape.vocabulary, "max_position_embeddings": shape.context, "hidden_size": shape.width,
        "num_hidden_layers": shape.layers, "num_attention_heads": shape.heads, "bos_token_id": 0,
        "eos_token_id": 0, "pad_token_id": None, "tie_word_embeddings": True,
    }  # fmt: skip
    if shape.kind == "gpt2":
        still = {"attn_pdrop": 0.0, "embd_pdrop": 0.0, "resid_pdrop": 0.0}
        return AutoConfig.for_model("gpt2", n_inner=shape.inner, **still, **values)
    values |= {"intermediate_size": shape.inner, "num_key_value_heads": shape.keys}
    if shape.head:
        values |= {"head_dim": shape.head, "query_pre_attn_scalar": shape.head}
    if shape.kind != "gemma3":
        return AutoConfig.for_model(shape.kind, **values)
    images = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2,
              "image_size": 28, "patch_size": 14}  # fmt: skip
    return AutoConfig.for_model("gemma3", text_config=values, vision_config=images, mm_tokens_per_image=4)


def make_tokenizer(shape: Shape) -> Any:
    """Return a tokenizer of made-up words with as many entries as the model."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = [START, *(f"w{number}" for number in range(1, shape.vocabulary))]
    core = Tokenizer(models.WordLevel({word: place for place, word in enumerate(words)}, unk_token=START))
    core.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(
        tokenizer_object=core, bos_token=START, eos_token=START, unk_token=START, pad_token=START
    )


def make_pairs(model: Any, shape: Shape, sizes: Sizes) -> "pl.DataFrame":
    """Return pairs whose targets' ranks span the vocabulary evenly on a logarithmic scale."""
    import numpy as np
    import polars as pl
    import torch

    random = np.random.default_rng(0)
    ids = random.integers(1, shape.vocabulary, (sizes.pairs, sizes.prompt))
    wanted = np.exp(random.uniform(0, np.log(shape.vocabulary - 1), sizes.pairs)).astype(int)
    targets: list[int] = []
    with torch.inference_mode():
        for start in range(0, len(ids), 16):
            some = torch.from_numpy(ids[start : start + 16]).to(model.device)
            logits = model(input_ids=some, use_cache=False, logits_to_keep=1).logits[:, -1].float()
            order = logits[:, 1:].argsort(descending=True).cpu().numpy() + 1
            targets += [int(row[rank - 1]) for row, rank in zip(order, wanted[start:], strict=False)]
    rows = [
        {"pair_id": str(place), "keyword": "none", "prompt": " ".join(f"w{word}" for word in prompt),
         "target": f" w{target}"}
        for place, (prompt, target) in enumerate(zip(ids, targets, strict=True))
    ]  # fmt: skip
    return pl.DataFrame(rows)


def make_examples(shape: Shape, sizes: Sizes, count: int) -> "list[EncodedPair]":
    """Return training examples of random tokens, with prompts from half to the whole length."""
    import numpy as np

    from fathom.models.tokens import EncodedPair

    random = np.random.default_rng(1)
    examples = []
    for _ in range(count):
        start = int(random.integers(sizes.prompt // 2, sizes.prompt + 1))
        ids = random.integers(1, shape.vocabulary, start + sizes.target).tolist()
        examples.append(EncodedPair(ids, start, False))
    return examples


def make_texts(shape: Shape, sizes: Sizes, steps: int) -> "pl.DataFrame":
    """Return documents of random words, enough for some steps without repetition, and held-out ones."""
    import numpy as np
    import polars as pl

    random = np.random.default_rng(2)
    rows = []
    for place in range(sizes.batch * (steps + 1)):
        words = random.integers(1, shape.vocabulary, sizes.sequence)
        split = "adapt-valid" if place < sizes.batch else "adapt-train"
        rows.append({"doc_id": str(place), "split": split, "text": " ".join(f"w{word}" for word in words)})
    return pl.DataFrame(rows)
