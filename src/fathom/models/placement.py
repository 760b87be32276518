"""Placement of a model's weights: on one device, or spread over as few GPUs as hold them.

They never go to host memory or disk to make room, which would be silently slow.
"""

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fathom.errors import InputError
from fathom.jobs.devices import count_torch_gpus, pick_devices
from fathom.jobs.program import log
from fathom.models.folders import format_size, list_weights, read_shapes
from fathom.models.memory import BYTES, Training, measure_training
from fathom.models.quantization import find_quantization, is_small
from fathom.models.shapes import read_shape
from fathom.models.text_model import choose_class
from fathom.numerics.precision import check_bfloat16

_SETTING = "scoring.device"
_FLOATING = ("F64", "F32", "F16", "BF16")
_PACKED_BYTES = {"I64": 8, "U64": 8, "I32": 4, "U32": 4, "I16": 2, "U16": 2}  # of others: 1
_FP8 = ("F8_E4M3", "F8_E5M2")
_FP4_BLOCKS, _FP4_EACH = "_blocks", 2  # weights in a byte
_SCALES = ("_scale_inv", "_scales", "activation_scale")  # deleted once weights are unpacked
_OUTER = re.compile("emb|head|wte|wpe")  # embeddings and output layers
_RESERVE = 1 << 30  # bytes of each GPU for activations, logits and kernels
_SHARE = 0.9  # usable share of several GPUs' memory, as blocks are not cut


class WeightSize(NamedTuple):
    """Bytes of a model's weights in memory, and of its output layer's copy in float32, if there is one."""

    weights: int
    copy: int

    @property
    def total(self) -> int:
        """All bytes."""
        return self.weights + self.copy


def measure_weights(folder: Path, dtype: str, bytes_per_weight: float | None = None) -> WeightSize:
    """Return the size of a model's weights in memory, from the headers of its files.

    Parameters
    ----------
    folder : Path
        Model folder with safetensors.
    dtype : {"float32", "bfloat16", "float16"}
        Data type in memory, also of FP8 and MXFP4, which are unpacked; other packed weights are integers,
        which keep theirs.
    bytes_per_weight : float, optional
        Of matrices that are quantised on loading: all but embeddings and the output layer.

    Raises
    ------
    InputError
        If a file is damaged.
    """
    total, largest, stored_as = 0.0, 0, find_quantization(folder)
    for path in list_weights(folder):
        for name, (shape, kind) in read_shapes(path).items():
            count, is_floating = _count_unpacked(name, math.prod(shape), kind, stored_as)
            matrix = len(shape) == 2
            each: float = BYTES[dtype] if is_floating else _PACKED_BYTES.get(kind, 1)
            if bytes_per_weight and is_floating and matrix and not _OUTER.search(name):
                each = bytes_per_weight
            total += count * each
            if is_floating and matrix:
                largest = max(largest, count)
    # the output layer is the largest matrix of most models
    return WeightSize(math.ceil(total), 0 if dtype == "float32" else 4 * largest)


def _count_unpacked(name: str, count: int, kind: str, stored_as: str) -> tuple[int, bool]:
    """Return how many numbers a stored tensor has in memory, and whether they are of the data type there."""
    if stored_as and is_small(stored_as):
        return count, kind in _FLOATING
    if stored_as and name.endswith(_SCALES):
        return 0, False
    if stored_as == "mxfp4" and name.endswith(_FP4_BLOCKS):
        return _FP4_EACH * count, True
    return count, kind in (*_FLOATING, *_FP8)


def choose_devices(
    device: str, gpus: int, folder: Path, dtype: str, bytes_per_weight: float | None = None
) -> tuple[list[list[str]], WeightSize]:
    """Choose the devices of each copy of a model.

    Parameters
    ----------
    gpus : int
        With `auto`, how many GPUs share the work if the weights fit one: each has a copy. If they do not,
        there is one copy, over the fewest of the visible GPUs that hold it.
    bytes_per_weight : float, optional
        Of weights that are quantised on loading.

    Raises
    ------
    InputError
        If the weights do not fit into the GPUs (the hint says how many would do), or a GPU lacks the data
        type. See also :func:`fathom.jobs.devices.pick_devices`.
    """
    import torch

    devices = pick_devices(device, _SETTING, gpus)
    if devices == ["cpu"]:
        return [devices], WeightSize(0, 0)
    for each in devices if dtype == "bfloat16" else []:
        check_bfloat16(each, "scoring.dtype")
    size = measure_weights(folder, dtype, bytes_per_weight)
    if size.total + _RESERVE <= min(torch.cuda.mem_get_info(each)[0] for each in devices):
        return [[each] for each in devices], size
    if device == "auto":
        devices = [f"cuda:{index}" for index in range(count_torch_gpus(_SETTING))]
    memory = [torch.cuda.mem_get_info(each) for each in devices]
    for count in range(2, len(devices) + 1):
        if size.total <= sum(room_for_weights(each) for each, _ in memory[:count]):
            log.info("%s of weights are spread over %s GPUs", format_size(size.total), count)
            return [devices[:count]], size
    if size.total <= memory[0][0]:  # halved batches may still fit
        return [[devices[0]]], size
    raise _describe_lack(size, memory, str(folder))


def check_training(folder: Path, how: Training, device: str) -> None:
    """Raise `InputError` if weights, gradients and moments exceed a GPU's memory.

    The tokens of `how` do not count, as batches can shrink. On a CPU nothing is checked.
    """
    import torch

    shape = read_shape(folder / "config.json")
    if shape is None or not device.startswith("cuda"):  # a process of several is on cpu:0
        return
    needed = sum(measure_training(shape, how._replace(tokens=0)).divided.values())
    present = torch.cuda.mem_get_info(device)[1]
    if needed > present:
        part = "an adapter" if how.rank else "all weights"
        raise InputError(
            f"training {part} needs {format_size(math.ceil(needed))} beside activations, {device} has "
            f"{format_size(present)}",
            str(folder),
            "train an adapter (lora: {dtype: bfloat16}), or use a larger GPU; several GPUs share batches, not"
            " weights",
        )


def room_for_weights(free: int) -> int:
    """Return how many bytes of weights fit the free memory of one GPU among several."""
    return int(max(0, free - _RESERVE) * _SHARE)


def _describe_lack(size: WeightSize, memory: Sequence[tuple[int, int]], where: str) -> InputError:
    free, present = (sum(column) for column in zip(*memory, strict=True))
    largest = max(total for _, total in memory)
    names = "the visible GPU has" if len(memory) == 1 else f"the {len(memory)} visible GPUs have"
    if size.total + _RESERVE <= largest or size.total <= sum(room_for_weights(total) for _, total in memory):
        return InputError(
            f"the weights need {format_size(size.total)}, {names} {format_size(free)} free of "
            f"{format_size(present)}",
            where,
            "other programs fill the memory: wait for them, or choose another GPU (device cuda:N)",
        )
    count = math.ceil(size.total / room_for_weights(largest))
    what = f"the weights need {format_size(size.total)} of GPU memory, {names} {format_size(present)}"
    hint = f"{count} GPUs of this size would do; or dtype bfloat16 instead of float32, or a quantised model"
    return InputError(what, where, hint)


def map_modules(folder: Path, dtype: str, devices: Sequence[str], size: WeightSize) -> dict[str, Any]:
    """Return the device of each module of a model that is spread over several GPUs.

    Raise `InputError` if its blocks, which are not cut, leave no room for some of them.
    """
    import torch
    from accelerate import init_empty_weights
    from accelerate.utils import get_balanced_memory, infer_auto_device_map
    from transformers import AutoConfig

    config = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    config.quantization_config = None  # sizes are scaled instead
    with init_empty_weights():
        model = choose_class(config, str(folder)).from_config(config, dtype=getattr(torch, dtype))
    model.tie_weights()
    plain = sum(weight.numel() * weight.element_size() for weight in model.parameters())
    scale = plain / size.total
    rooms = {
        int(each.removeprefix("cuda:")): int(room_for_weights(torch.cuda.mem_get_info(each)[0]) * scale)
        for each in devices
    }
    kept = sorted(model._no_split_modules or ())
    rooms = get_balanced_memory(model, rooms, no_split_module_classes=kept, dtype=getattr(torch, dtype))
    found = infer_auto_device_map(model, rooms, no_split_module_classes=kept, dtype=getattr(torch, dtype))
    outside = [name for name, place in found.items() if not isinstance(place, int)]
    if outside:
        raise InputError(
            f"the weights do not fit into the {len(devices)} GPUs without cutting blocks: no room for "
            f"{outside[0]}",
            str(folder),
            f"{len(devices) + 1} GPUs of this size would do",
        )
    return {name: f"cuda:{place}" for name, place in found.items()}


def count_stages(model: Any) -> int:
    """Return the number of devices with a model's weights, whose blocks can work in parallel."""
    return max(1, len({weight.device for weight in model.parameters()}))


def find_input_device(model: Any) -> Any:
    """Return the device that a model takes its tokens on: that of its input embedding."""
    return next(model.get_input_embeddings().parameters()).device
