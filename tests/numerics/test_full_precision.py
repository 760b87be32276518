"""Inside scoring, products and sums have full precision; what a surrounding training chose comes back."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from tests.tiny import make_config, make_model

from fathom.numerics.precision import use_full_precision
from fathom.scoring.logits import evaluate_models

BACKENDS: Any = torch.backends
PRODUCTS: Any = torch.backends.cuda.matmul
OPERATIONS = {
    "products on a GPU": BACKENDS.cuda.matmul, "convolutions on a GPU": BACKENDS.cudnn.conv,
    "products on the processor": BACKENDS.mkldnn.matmul,
    "convolutions on the processor": BACKENDS.mkldnn.conv,
}  # fmt: skip
SUMS = ("allow_fp16_reduced_precision_reduction", "allow_bf16_reduced_precision_reduction",
        "allow_fp16_accumulation")  # fmt: skip
CHOICES: dict[str, Callable[[], object]] = {
    "torch's own": lambda: None,
    "medium": lambda: torch.set_float32_matmul_precision("medium"),
    "allow_tf32": lambda: setattr(PRODUCTS, "allow_tf32", True),
    "no TF32 in convolutions": lambda: setattr(torch.backends.cudnn, "allow_tf32", False),
    "TF32 everywhere": lambda: setattr(BACKENDS, "fp32_precision", "tf32"),
    "bfloat16 on the processor": lambda: setattr(BACKENDS.mkldnn.matmul, "fp32_precision", "bf16"),
    "sums of half precision": lambda: [setattr(PRODUCTS, name, True) for name in SUMS],
    "sums of halves in parts": lambda: setattr(PRODUCTS, SUMS[1], (False, False)),
    "attention": lambda: torch.backends.cuda.allow_fp16_bf16_reduction_math_sdp(True),
}


def read_settings() -> dict[str, Any]:
    """Return everything that decides on precision; what torch refuses to tell is None."""
    questions: dict[str, Callable[[], Any]] = {
        "general": lambda: BACKENDS.fp32_precision,
        "older": torch.get_float32_matmul_precision,
        "older, products": lambda: PRODUCTS.allow_tf32,
        "older, convolutions": lambda: torch.backends.cudnn.allow_tf32,
        "attention": torch.backends.cuda.fp16_bf16_reduction_math_sdp_allowed,
        "split": lambda: PRODUCTS.allow_bf16_reduced_precision_reduction_split_k,
        "autocast": lambda: torch.is_autocast_enabled("cpu"),
        **{name: lambda each=each: each.fp32_precision for name, each in OPERATIONS.items()},
        **{name: lambda name=name: getattr(PRODUCTS, name) for name in SUMS},
    }
    found = {}
    for name, ask in questions.items():
        try:
            found[name] = ask()
        except RuntimeError:
            found[name] = None
    return found


@pytest.fixture
def settings() -> Iterator[None]:
    """Leave torch's settings to other tests as they were."""
    own = [(each, "fp32_precision", each.fp32_precision) for each in OPERATIONS.values()]
    sums = [(PRODUCTS, name, getattr(PRODUCTS, name)) for name in SUMS]
    older = torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32
    yield
    BACKENDS.fp32_precision = "none"
    torch.set_float32_matmul_precision(older[0])
    torch.backends.cudnn.allow_tf32 = older[1]
    torch.backends.cuda.allow_fp16_bf16_reduction_math_sdp(False)
    for each, name, value in [*own, *sums]:
        setattr(each, name, value)


@pytest.mark.parametrize("chosen", CHOICES)
def test_everything_is_off_inside_and_comes_back_also_after_an_error(settings, chosen):
    CHOICES[chosen]()
    before = read_settings()
    with pytest.raises(ZeroDivisionError), torch.autocast("cpu"), use_full_precision():
        inside = read_settings()
        1 / 0  # noqa: B018
    assert read_settings() == before
    assert {inside[name] for name in OPERATIONS} == {"ieee"}
    assert not any(inside[name] for name in (*SUMS, "attention", "autocast"))


def test_what_followed_the_general_setting_follows_it_again(settings):
    with use_full_precision():
        pass
    for precision in ("tf32", "ieee"):
        BACKENDS.fp32_precision = precision
        assert OPERATIONS["convolutions on the processor"].fp32_precision == precision


def test_a_model_inside_a_training_is_scored_in_full_precision(settings):
    model, ids = make_model(make_config("llama", 64, 16)), torch.tensor([[1, 5, 9]])
    with torch.no_grad():
        expected = model(input_ids=ids).logits
    torch.set_float32_matmul_precision("medium")
    with torch.autocast("cpu", torch.bfloat16):
        with evaluate_models([model]):
            assert OPERATIONS["products on a GPU"].fp32_precision == "ieee"
            found = model(input_ids=ids).logits
        assert model(input_ids=ids).logits.dtype == torch.bfloat16
    assert torch.allclose(found, expected, atol=1e-5)
    assert torch.get_float32_matmul_precision() == "medium"
