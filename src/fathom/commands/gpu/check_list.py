"""The checks, the models that they run on, and the table of their results."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from fathom.commands.gpu import correctness, gpu_models, room, speed
from fathom.commands.gpu.checks import Check, Line
from fathom.errors import InputError
from fathom.io.files import write_json, write_text

_NEAR = "at least 99 % of ranks up to 1,000 equal, or all but two, the others 1 apart"
_SAME = f"{_NEAR}; log-probabilities within 1e-4"
_HALVED = "memory runs out, and losses stay within 1e-3"
_KILLED = "the same bytes as without the kill"
_TRAINER = "at least as fast as the Trainer"

RANKS = Check("ranks in float32 against the processor", _SAME, correctness.check_ranks, True, (), 6.0)
PRECISION = Check(
    "ranks in bfloat16 against float32", "trimmed mean within 1 %", correctness.check_low_precision,
    bytes_each=6.0,
)  # fmt: skip
PERPLEXITY = Check(
    "perplexity in float32 against the processor", "nats within 1e-5 of themselves",
    correctness.check_perplexity, True,
)  # fmt: skip
LAYERS = Check(
    "layers in float32 against the processor",
    f"{_NEAR}; log-probabilities, entropy and divergence within 5e-4",
    correctness.check_layers, True, (), 6.0,
)  # fmt: skip
_HALVED_TUNING, _HALVED_ADAPTATION, _RESUMED_TUNING, _RESUMED_ADAPTATION = (
    partial(check, once=once)
    for check in (correctness.check_halved_training, correctness.check_resumed_training)
    for once in (correctness.tune_once, correctness.adapt_once)
)
FIRST = (
    Check(
        "scoring, memory filled", f"memory runs out; {_SAME}", correctness.check_halved_scoring, True, (), 5.0
    ),
    Check("tuning, memory filled", _HALVED, _HALVED_TUNING, True, ("peft",), 8.0),
    Check("adaptation, memory filled", _HALVED, _HALVED_ADAPTATION, True, (), 24.0),
    Check("twice the same", "the same bytes", correctness.check_determinism, True, ("peft",), 20.0),
    Check("tuning killed and resumed", _KILLED, _RESUMED_TUNING, True, ("peft",), 8.0),
    Check("adaptation killed and resumed", _KILLED, _RESUMED_ADAPTATION, True, (), 20.0),
)
"""Checks that need only one shape."""
_ASKED = "runs in the memory that its job asks for"
ROOM = (
    Check(
        "memory of scoring in float32", _ASKED, partial(room.check_scoring_room, dtype="float32"),
        bytes_each=5.0,
    ),
    Check(
        "memory of scoring in bfloat16", _ASKED, partial(room.check_scoring_room, dtype="bfloat16"),
        bytes_each=3.0,
    ),
    Check("memory of LoRA", _ASKED, room.check_lora_room, False, ("peft",), 6.0),
    Check("memory of adaptation", _ASKED, room.check_adaptation_room, False, (), 20.0),
)  # fmt: skip
"""Checks that no batch has to shrink in the memory that a job asks for."""
SPEED = (
    Check(speed.SCORING, "", speed.check_scoring, False, (), 4.0),
    Check(
        "scoring against lm-evaluation-harness", "at least as fast", speed.check_harness, False,
        ("lm_eval",), 4.0,
    ),
    Check(speed.LORA, "", speed.check_lora, False, ("peft",), 4.0),
    Check("LoRA against the Trainer", _TRAINER, speed.check_lora_trainer, False, ("peft", "accelerate"), 4.0),
    Check(speed.ADAPTATION, "", speed.check_adaptation, False, (), 20.0),
    Check(
        "adaptation against the Trainer", _TRAINER, speed.check_adaptation_trainer, False, ("accelerate",),
        20.0,
    ),
)  # fmt: skip
"""Checks of speed, each before its comparison with another package."""


def list_jobs(quick: bool, only: Sequence[str] = ()) -> list[tuple[Check, gpu_models.Shape]]:
    """Return the checks to run, each with the shape of its model."""
    first, second = gpu_models.MEDIUM, gpu_models.SMALL_LLAMA
    timed = [first, second, gpu_models.LARGE_LLAMA]
    others = (gpu_models.QWEN, gpu_models.GEMMA, gpu_models.WRAPPER)
    if quick:
        first, second, timed = gpu_models.TINY, gpu_models.TINY_LLAMA, [gpu_models.TINY_LLAMA]
        others = (gpu_models.TINY_QWEN, gpu_models.TINY_GEMMA, gpu_models.TINY_WRAPPER)
    jobs = [(check, shape) for shape in (first, second) for check in (RANKS, PRECISION)]
    jobs += [(RANKS, shape) for shape in others]
    jobs += [(check, shape) for shape in (first, second) for check in (PERPLEXITY, LAYERS)]
    jobs += [(check, first) for check in FIRST]
    jobs += [(check, shape) for shape in timed for check in ROOM]
    jobs += [(check, shape) for shape in timed for check in SPEED]
    chosen = [job for job in jobs if not only or any(word in job[0].name for word in only)]
    if not chosen:
        names = ", ".join(dict.fromkeys(check.name for check, _ in jobs))
        raise InputError(f"no check has {' or '.join(only)} in its name", "--only", f"checks: {names}")
    return chosen


def write_report(
    folder: Path, lines: Sequence[Line], machine: Mapping[str, Any], packages: Mapping[str, str]
) -> str:
    """Write the table as Markdown and as JSON; return the Markdown."""
    header = ("check", "model", "measured", "goal", "verdict")
    rows = [(line.check, line.shape, line.measured, line.goal, line.verdict) for line in lines]
    about = f"{machine['name']}, PyTorch {packages['torch']}, transformers {packages['transformers']}"
    table = [header, ["---"] * len(header), *rows]
    text = "\n".join([f"{about}, driver {machine['driver'] or 'none'}", "", *map(_join, table)]) + "\n"
    write_text(folder / "gpu-check.md", text)
    values = {
        "machine": dict(machine), "packages": dict(packages), "lines": [line._asdict() for line in lines]
    }  # fmt: skip
    write_json(folder / "gpu-check.json", values)
    return text


def _join(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
