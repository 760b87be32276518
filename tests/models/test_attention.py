"""Which kernel of attention queries that share keys take; docs/results/gpu.md has what a GPU does with it."""

import torch
from transformers.integrations import sdpa_attention

from fathom.models.loading import use_fused_attention
from fathom.planning.rehearsal.tiny_models import make_family
from fathom.scoring.logits import evaluate_models


class OnGpu(torch.Tensor):
    """A tensor that says it lies on a GPU."""

    device = torch.device("cuda")


def shares_keys(dtype: torch.dtype, kind: type = OnGpu) -> bool:
    """Return whether attention leaves keys shared."""
    key = torch.zeros(1, 1, 4, 8, dtype=dtype).as_subclass(kind)
    return sdpa_attention.use_gqa_in_sdpa(None, key, key)


def test_keys_are_repeated_where_fused_kernels_take_no_shared_ones():
    before = sdpa_attention.use_gqa_in_sdpa
    assert shares_keys(torch.float32)
    with use_fused_attention():
        assert not shares_keys(torch.float32)
        assert shares_keys(torch.bfloat16)
        assert shares_keys(torch.float32, torch.Tensor)  # a processor computes as before
    assert sdpa_attention.use_gqa_in_sdpa is before


def test_models_are_evaluated_so():
    with evaluate_models([make_family("llama")]):
        assert not shares_keys(torch.float32)


def test_a_transformers_that_decides_elsewhere_is_left_alone(monkeypatch):
    monkeypatch.delattr(sdpa_attention, "use_gqa_in_sdpa")
    with use_fused_attention():
        assert not hasattr(sdpa_attention, "use_gqa_in_sdpa")
