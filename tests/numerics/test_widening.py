"""Float64 on a stand-in for Apple's GPUs, which refuses float64 and tensors of other devices."""

from typing import Any

import pytest
import torch

from fathom.layers.target_ranks import measure_rows, summarize_last_layer
from fathom.numerics.precision import widen
from fathom.scoring.logits import measure_logits


class Apple(torch.Tensor):
    """A tensor on a device without float64; its values are the processor's."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = [each for each in (*args, *(kwargs or {}).values()) if isinstance(each, torch.Tensor)]
        if func == torch.Tensor.device.__get__:
            return torch.device("mps")
        with torch._C.DisableTorchFunctionSubclass():
            if func == torch.Tensor.cpu:
                return given[0].as_subclass(torch.Tensor)
            if func != torch.Tensor.to and any(not isinstance(each, cls) and each.ndim for each in given):
                raise RuntimeError("Expected all tensors to be on the same device")
            found = func(*args, **kwargs or {})
            if isinstance(found, torch.Tensor) and found.dtype == torch.float64:
                raise TypeError("the MPS framework doesn't support float64")
            return found.as_subclass(cls) if isinstance(found, torch.Tensor) else found


@pytest.fixture
def rows() -> torch.Tensor:
    return torch.randn(6, 40, generator=torch.Generator().manual_seed(0)) * 5


TARGETS = torch.tensor([0, 3, 39, 7, 7, 12])


def move(values: torch.Tensor) -> Any:
    return values.clone().as_subclass(Apple)


def test_the_stand_in_refuses(rows):
    with pytest.raises(TypeError, match="float64"):
        move(rows).double()
    with pytest.raises(RuntimeError, match="same device"):
        move(rows) + rows
    wide = widen(move(rows))
    assert wide.dtype == torch.float64 and wide.device.type == "cpu" and torch.equal(wide, rows.double())


def test_ranks_and_probabilities_are_those_of_the_processor(rows):
    expected = measure_logits(rows.clone(), TARGETS)
    found = measure_logits(move(rows), move(TARGETS))
    for one, other in zip(found, expected, strict=True):
        assert torch.equal(one.cpu(), other)
    assert found[2].dtype == torch.float64


def test_layers_are_those_of_the_processor(rows):
    expected = measure_rows(rows.clone(), summarize_last_layer(rows.flip(0)), TARGETS)
    last = summarize_last_layer(move(rows.flip(0)))
    found = measure_rows(move(rows), last, move(TARGETS))
    assert found == pytest.approx(expected, abs=1e-6)
    assert isinstance(last.log_probabilities, Apple)
