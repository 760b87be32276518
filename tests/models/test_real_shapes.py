"""The measurement of memory at real shapes: its steps are those of the rules, and what is off stops it."""

import argparse
import sys

import pytest
from perf import real_shapes
from tests.programs import list_programs

from fathom.errors import InputError
from fathom.models.memory import Memory, request_host

SIZES = {
    "layers": 1, "width": 16, "heads": 2, "vocabulary": 50, "context": 32, "pairs": 3, "batch_tokens": 64,
    "dtype": "float32", "lora_dtype": "bfloat16", "steps": None, "folder": None,
}  # fmt: skip


def test_each_step_is_a_program_of_the_rules_with_the_memory_of_its_batch(tmp_path):
    arguments = argparse.Namespace(**SIZES)
    real_shapes.make_model(tmp_path / "model", arguments)
    inputs = real_shapes.Inputs(tmp_path / "tables", 50, 3)
    steps = {step.name: step for step in real_shapes.list_steps(tmp_path / "model", inputs, arguments)}
    assert list(steps) == [
        "scoring", "perplexity", "attribute rate", "layers", "layers, tuned lens", "tuning by LoRA",
        "adaptation by LoRA",
    ]  # fmt: skip
    programs = {path.relative_to(real_shapes.ROOT / "scripts").as_posix() for path in list_programs()}
    assert {step.program for step in steps.values()} <= programs
    weights = steps["scoring"].memory.divided["weights"]
    assert steps["tuning by LoRA"].memory.divided["weights"] == weights / 2
    assert steps["tuning by LoRA"].stored == weights  # float32 files beside bfloat16 weights
    assert steps["adaptation by LoRA"].passing == 1.5 * weights


def run(monkeypatch, step):
    """Run the measurement with one step of its own."""
    monkeypatch.setattr(real_shapes, "make_model", lambda folder, arguments: folder.mkdir())
    monkeypatch.setattr(real_shapes, "list_steps", lambda *_: [step])
    real_shapes.main(argparse.Namespace(**SIZES))


def test_a_calculation_that_is_off_is_refused(tmp_path, monkeypatch, capsys):
    program = tmp_path / "program.py"
    program.write_text("import time\nblock = b'x' * 600_000_000\ntime.sleep(0.1)\n")
    nothing = Memory({"weights": 0.0}, {})
    assert request_host(nothing, gpu=False) == pytest.approx(0.6e9)
    run(monkeypatch, real_shapes.Step("fits", str(program), [], nothing))
    assert "| fits | 0.60 | 0.6" in capsys.readouterr().out
    more = Memory({"weights": 0.4e9}, {})
    with pytest.raises(RuntimeError, match=r"more or less memory than calculated: large: -3\d%"):
        run(monkeypatch, real_shapes.Step("large", str(program), [], more))
    program.write_text("raise SystemExit('broken')\n")
    with pytest.raises(RuntimeError, match="broken"):
        run(monkeypatch, real_shapes.Step("broken", str(program), [], more))


def test_a_model_that_is_too_large_for_this_machine_is_refused_before_it_is_made():
    with pytest.raises(InputError, match="GB"):
        real_shapes.check_room(argparse.Namespace(**SIZES | {"width": 10**6}))


def test_memory_of_a_process_is_its_peak(tmp_path):
    code = "import time; block = b'x' * 300_000_000; del block; time.sleep(0.1)"
    found = real_shapes.watch([sys.executable, "-c", code], {}, tmp_path / "log")
    assert 0.3e9 < found.memory < 0.36e9
