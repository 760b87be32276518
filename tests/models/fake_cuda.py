"""Models whose weights claim to lie on a GPU, on a PyTorch without CUDA.

Fake tensors have a shape, a dtype and a device, but no values. Every operation computes these and refuses
tensors of two devices, so a forgotten `.to(device)` or a `.cpu()` too many is found without a GPU:

    model = make_model("gpt2")                     # real: all that is made inside the block is fake
    with fake_cuda():
        move_to_fake_cuda(model)
        ids = torch.zeros((2, 5), dtype=torch.long, device=GPU)
        logits = model(input_ids=ids).logits       # logits.device == GPU

Not found is an index on another device (`x[rows]`), which PyTorch itself refuses only between GPUs. What asks
a fake tensor for a value raises: `.item()`, `.tolist()`, `.numpy()`, `bool(...)`. Test the code
before it. A test of a planted mistake expects `FakeTensorDeviceMismatchError`. For `backward`, say
`move_to_fake_cuda(model, TRAINER)` and make inputs on `TRAINER`: PyTorch's autograd asks for a driver when a
gradient lies on `cuda`, and not on this device type, which nobody has.
"""

import ctypes
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import torch
from torch._subclasses import FakeTensorMode
from torch._subclasses.fake_tensor import FakeTensorDeviceMismatchError

__all__ = [
    "GPU", "TRAINER", "FakeTensorDeviceMismatchError", "fake_cuda", "move_to_fake_cuda", "spread_model",
]  # fmt: skip

GPU = torch.device("cuda:0")
TRAINER = torch.device("maia:0")
_CACHE = Path(__file__).resolve().parents[2] / ".pytest_cache"
_GUARDS = "#include <c10/core/impl/DeviceGuardImplInterface.h>\n" + "".join(
    f"C10_REGISTER_GUARD_IMPL({name}, c10::impl::NoOpDeviceGuardImpl<c10::DeviceType::{name}>);\n"
    for name in ("CUDA", "MAIA")
)


@contextmanager
def fake_cuda() -> Iterator[FakeTensorMode]:
    """Make every tensor of the `with` block a fake one; a real tensor inside it is an error."""
    _register_guards()
    # inference mode leads to kernels for CUDA, past the fake ones
    with (
        patch("torch.inference_mode", _without_gradients),
        FakeTensorMode(allow_non_fake_inputs=False) as mode,
    ):
        yield mode


def _without_gradients(mode: bool = True) -> Any:
    """Return what stands for `torch.inference_mode`."""
    return torch.no_grad() if mode else nullcontext()


@cache
def _register_guards() -> None:
    """Give PyTorch device guards that do nothing: without them even `x[:, 1:]` fails on a device it lacks.

    The few lines of C++ are compiled once for each version of PyTorch; skips where there is no compiler.
    """
    if torch.cuda.is_available():
        return
    compiler = shutil.which("c++") or shutil.which("g++")
    if compiler is None:
        pytest.skip("needs a C++ compiler to fake a GPU")
    _CACHE.mkdir(exist_ok=True)
    library = _CACHE / f"fake-devices-{torch.__version__}.so"
    if not library.exists():
        folder = Path(torch.__file__).parent
        temporary = library.with_suffix(f".{os.getpid()}")
        subprocess.run(
            [compiler, "-shared", "-fPIC", "-std=c++20", "-x", "c++", "-", f"-I{folder / 'include'}",
             f"-L{folder / 'lib'}", "-lc10", "-o", temporary],
            input=_GUARDS, text=True, check=True,
        )  # fmt: skip
        temporary.replace(library)
    ctypes.CDLL(str(library))


def move_to_fake_cuda(model: Any, devices: torch.device | Mapping[str, str] = GPU) -> Any:
    """Replace a model's weights and buffers by fake ones on GPUs, in place; tied weights stay tied.

    Parameters
    ----------
    model : torch.nn.Module
        On the CPU, made outside the `with` block.
    devices : torch.device, or mapping of str to str
        The device, or the device of each module by its name; the longest name that fits counts.
    """
    where = {"": str(devices)} if isinstance(devices, torch.device) else dict(devices)
    moved: dict[int, Any] = {}
    for prefix, module in list(model.named_modules()):
        for store in (module._parameters, module._buffers):
            for name, tensor in store.items():
                if tensor is None:
                    continue
                if id(tensor) not in moved:
                    device = _find_device(where, f"{prefix}.{name}")
                    moved[id(tensor)] = _copy_fake(tensor, device)
                store[name] = moved[id(tensor)]
    return model


def _copy_fake(tensor: torch.Tensor, device: str) -> torch.Tensor:
    """Return a fake tensor, or parameter, of the same shape and dtype."""
    fake = torch.empty(tensor.shape, dtype=tensor.dtype, device=device)
    if isinstance(tensor, torch.nn.Parameter):
        return torch.nn.Parameter(fake, requires_grad=tensor.requires_grad)
    return fake


def _find_device(devices: Mapping[str, str], name: str) -> str:
    """Return the device of the longest prefix of a tensor's name."""
    return devices[max((prefix for prefix in devices if f"{name}.".startswith(prefix)), key=len)]


def spread_model(model: Any, devices: Mapping[str, str]) -> Any:
    """Spread a model over several fake GPUs, with the hooks of accelerate that move inputs between them."""
    from accelerate.hooks import attach_align_device_hook_on_blocks

    move_to_fake_cuda(model, devices)
    # `dispatch_model` does the same but tells tied weights by their address, which fake ones lack
    first = next(iter(devices.values()))
    attach_align_device_hook_on_blocks(
        model, execution_device={**devices, "": first}, offload=dict.fromkeys(devices, False),
        skip_keys=model._skip_keys_device_placement,
    )  # fmt: skip
    model.hf_device_map = dict(devices)
    return model


if shutil.which("c++") or shutil.which("g++"):
    _register_guards()  # when tests are collected: autograd counts devices once, at the first `backward`
