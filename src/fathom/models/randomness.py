"""One seed, one thread, deterministic kernels: the same inputs give the same bytes."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor


@contextmanager
def fix_randomness(seed: int) -> Iterator[None]:
    """Use one thread, deterministic kernels and a fixed seed inside the `with` block."""
    import torch

    threads, strict = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    memory: Any = torch.utils.deterministic
    fill = memory.fill_uninitialized_memory
    memory.fill_uninitialized_memory = False  # it is never read, and filling takes time
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(seed)
    try:
        yield
    finally:
        memory.fill_uninitialized_memory = fill
        torch.use_deterministic_algorithms(strict)
        torch.set_num_threads(threads)


def read_random_state(device: Any) -> "dict[str, Tensor]":
    """Return the states of the random generators of the processor and of a device, uint8, by device type."""
    import torch

    states = {"cpu": torch.get_rng_state()}
    if device.type == "cuda":
        states["cuda"] = torch.cuda.get_rng_state(device)
    elif device.type == "mps":
        states["mps"] = torch.mps.get_rng_state()
    return states


def restore_random_state(states: "dict[str, Tensor]", device: Any) -> None:
    """Set what :func:`read_random_state` returned."""
    import torch

    torch.set_rng_state(states["cpu"])
    if device.type == "cuda":
        torch.cuda.set_rng_state(states["cuda"], device)
    elif device.type == "mps":
        torch.mps.set_rng_state(states["mps"])
