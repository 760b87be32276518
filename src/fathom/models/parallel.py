"""Several processes that train one model together, each on its own GPU, started by `accelerate`.

Every process holds the whole model and learns from its share of each batch. Gradients are sums of losses
divided by the number of tokens of the whole batch, so their sum over the processes is that of the batch.
"""

import os
import subprocess
import sys
from collections.abc import Iterable
from typing import Any

from fathom.errors import InputError
from fathom.jobs.devices import SHARED, claim_gpus, count_torch_gpus, name_visible
from fathom.jobs.program import log


class SingleProcess:
    """A process that trains alone, on `device`; `index` of `count` processes."""

    count, index = 1, 0

    def __init__(self, device: str = "cpu") -> None:
        self.device = device

    def share(self, batch: Any) -> Any:
        """Return this process's part of a batch."""
        return batch[self.index :: self.count]

    def add_gradients(self, weights: Iterable[Any]) -> None:
        """Replace each gradient by its sum over the processes."""

    def add(self, number: float) -> float:
        """Return the sum of a number over the processes."""
        return number

    def leave(self) -> None:
        """End the work together."""


class ProcessGroup(SingleProcess):
    """One of several processes; every method is called by all of them."""

    def __init__(self, accelerator: Any) -> None:
        super().__init__(str(accelerator.device))
        self.accelerator = accelerator
        self.count, self.index = accelerator.num_processes, accelerator.process_index

    def add_gradients(self, weights: Iterable[Any]) -> None:
        """Replace each gradient by its sum over the processes."""
        import torch

        weights = list(weights)
        learned = torch.tensor([float(weight.grad is not None) for weight in weights], device=self.device)
        for weight, count in zip(weights, self.accelerator.reduce(learned, "sum").tolist(), strict=True):
            if count:  # an expert may have met no token of this process
                own = torch.zeros_like(weight) if weight.grad is None else weight.grad
                weight.grad = self.accelerator.reduce(own, "sum")

    def add(self, number: float) -> float:
        """Return the sum of a number over the processes."""
        import torch

        one = torch.tensor(number, dtype=torch.float64, device=self.device)
        return float(self.accelerator.reduce(one, "sum"))

    def leave(self) -> None:
        """End the work together."""
        self.accelerator.end_training()


def join_processes(device: str) -> SingleProcess:
    """Return this process's role among those that a launcher started; alone it uses `device`."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        return SingleProcess(device)
    from accelerate import Accelerator

    together = ProcessGroup(Accelerator(cpu=device == "cpu"))
    if together.index:
        log.setLevel("ERROR")  # only the first logs
    return together


def start_processes(gpus: int, device: str) -> None:
    """Start this program once for each GPU and end with its exit code; do nothing if one process is enough.

    Raises
    ------
    InputError
        If fewer GPUs are visible.
    """
    if gpus <= 1 or "WORLD_SIZE" in os.environ or device != "auto":
        return
    visible = count_torch_gpus("--device")
    if not visible:
        return
    if visible < gpus:
        raise InputError(f"{gpus} GPUs were asked for, {visible} are visible", "--gpus")
    command = [sys.executable, "-m", "accelerate.commands.launch", "--num_processes", str(gpus)]
    command += ["--multi_gpu", "--mixed_precision", "no", "--num_machines", "1", "--dynamo_backend", "no"]
    # the launcher numbers only the GPUs that this job takes
    taken = {"CUDA_VISIBLE_DEVICES": ",".join(map(name_visible, claim_gpus(visible, gpus)))}
    own = {name: value for name, value in os.environ.items() if name != SHARED}
    sys.exit(subprocess.run([*command, *sys.argv], env=own | taken).returncode)
