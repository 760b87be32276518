"""Which implementation of attention a model runs with."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fathom.errors import InputError


def choose_attention(config: Any, wanted: str, dtype: str, device: str) -> str | None:
    """Return the implementation to load a model with; None leaves it to transformers.

    A model with soft-capped attention logits (Gemma 2) needs one that applies the cap. PyTorch's `sdpa` does
    not, and gives other ranks without a word.

    Raises
    ------
    InputError
        If the implementation is not installed, or cannot run this model, data type or device.
    """
    capped = getattr(config.get_text_config(), "attn_logit_softcapping", None) is not None
    if wanted == "auto":
        return "eager" if capped else None
    if wanted == "sdpa" and capped:
        raise InputError(
            "sdpa ignores this model's soft cap of attention logits",
            "scoring.attention",
            "use auto, eager or flash_attention_2",
        )
    if wanted == "flash_attention_2":
        _check_flash_attention(dtype, device)
    return wanted


@contextmanager
def use_fused_attention() -> Iterator[None]:
    """Let float32 queries that share keys take a fused kernel on a GPU inside the `with` block.

    PyTorch's fused kernels take no shared keys in float32; the one that it falls back to holds the weights
    of all heads twice: 4.3 GB for 16,384 tokens in windows of 1,024 at 32 heads, measured on an H200.
    """
    import torch
    from transformers.integrations import sdpa_attention

    name = "use_gqa_in_sdpa"
    chosen = getattr(sdpa_attention, name, None)

    def choose(attention_mask: Any, key: Any, *more: Any) -> bool:
        unfused = key.dtype == torch.float32 and key.device.type == "cuda"
        return not unfused and chosen is not None and chosen(attention_mask, key, *more)

    if chosen is None:  # another version of transformers decides elsewhere
        yield
        return
    setattr(sdpa_attention, name, choose)
    try:
        yield
    finally:
        setattr(sdpa_attention, name, chosen)


def _check_flash_attention(dtype: str, device: str) -> None:
    """Raise `InputError` if FlashAttention-2 cannot run; transformers would fetch code in its place."""
    from transformers.utils import is_flash_attn_2_available

    where = "scoring.attention"
    if not device.startswith("cuda"):
        raise InputError("flash_attention_2 needs a GPU", where, "use auto")
    if dtype == "float32":
        raise InputError(
            "flash_attention_2 has no float32", where, "set scoring.dtype to bfloat16, or use auto"
        )
    if not is_flash_attn_2_available():
        raise InputError("flash_attention_2 is not installed", where, "pip install flash-attn, or use auto")
