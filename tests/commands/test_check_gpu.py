"""`fathom check-gpu` on a processor with tiny models: every check runs, and a planted mistake is reported."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from tests.programs import MODELS, run_command, run_program
from tests.refusals import refuses

import fathom
from fathom.commands.gpu.check_list import RANKS, list_jobs
from fathom.commands.gpu.checks import Check, Measured, Place, run_apart, run_checks
from fathom.commands.gpu.correctness import compare_scores, judge_halving
from fathom.commands.gpu.gpu_models import GEMMA, LARGE_LLAMA, MEDIUM, QUICK, QWEN, TINY
from fathom.commands.gpu.machine import OPTIONAL, REQUIRED, check_packages
from fathom.errors import InputError
from fathom.io.files import read_json

PACKAGES = dict.fromkeys([*REQUIRED, *OPTIONAL], "99.0")
QUICKLY = ("check-gpu", "--device", "cpu", "--quick", "--output")


def test_every_check_runs_on_a_processor(tmp_path: Path) -> None:
    done = run_command(*QUICKLY, tmp_path, imports=MODELS)
    lines = read_json(tmp_path / "gpu-check.json")["lines"]
    assert [(line["check"], line["shape"]) for line in lines] == [
        (check.name, shape.name) for check, shape in list_jobs(quick=True)
    ]
    verdicts = {line["check"]: line["verdict"] for line in lines}
    proving = {check.name for check, _ in list_jobs(quick=True) if check.proves}
    assert {verdicts[name] for name in proving} == {"met"}
    allowed = {"met", "measured", "not run"}  # without lm-evaluation-harness its line says so
    assert set(verdicts.values()) <= allowed, lines
    for line in lines:
        assert f"| {line['check']} | {line['shape']} | {line['measured']} |" in done.stdout
        assert line["verdict"] != "not run" or line["measured"].startswith("not installed: ")
    assert (tmp_path / "gpu-check.md").read_text() in done.stdout


def test_a_wrong_rank_is_reported_as_failed(tmp_path: Path) -> None:
    program = tmp_path / "planted.py"
    program.write_text(
        "import runpy\nfrom fathom.commands.gpu import correctness\n"
        "plain = correctness.score\n"
        "def planted(model, tokenizer, pairs, tokens):\n"
        "    scores = plain(model, tokenizer, pairs, tokens)\n"
        "    rank = scores['rank'].to_list()\n"
        "    rank[0] += 0 if tokens == 1024 or model.config.model_type != 'gpt2' else 2\n"
        "    return scores.with_columns(rank=type(scores['rank'])(rank))\n"
        "correctness.score = planted\nrunpy.run_module('fathom.commands', run_name='__main__')\n"
    )
    with refuses(f"failed: {RANKS.name} (tiny GPT-2)\n"):
        run_program(program, *QUICKLY, tmp_path / "out", "--only", "ranks in float32", imports=MODELS)
    verdicts = [line["verdict"] for line in read_json(tmp_path / "out" / "gpu-check.json")["lines"]]
    assert verdicts == ["failed", "met", "met", "met", "met"]


@pytest.mark.parametrize(
    ("row", "rank", "logarithm", "met"),
    [(0, 1, 0.0, True), (0, 2, 0.0, False), (0, 0, 1e-3, False), (199, 40, 0.0, True), (0, 0, 1e-6, True)],
)
def test_ranks_may_move_only_where_logits_lie_close(row: int, rank: int, logarithm: float, met: bool) -> None:
    ranks = [*range(1, 151), *range(2000, 2050)]
    expected = pl.DataFrame({"rank": [float(each) for each in ranks], "log_probability": [-3.0] * 200})
    found = [float(each + rank * (place == row)) for place, each in enumerate(ranks)]
    other = pl.DataFrame({"rank": found, "log_probability": [-3.0 + logarithm] * 200})
    assert compare_scores(expected, other).met is met


def test_only_halved_batches_say_that_memory_ran_out() -> None:
    recomputed = "activations are computed again in the backward pass: less memory, a third more time"
    halved = "out of GPU memory: micro-batches of 64 tokens from here on"
    found = Measured("the same", True, {})
    assert judge_halving([recomputed], found) == Measured(
        "memory ran out 0 times; the same", False, {"halved": 0}
    )
    assert judge_halving([recomputed, halved, halved], found).numbers == {"halved": 2}
    assert judge_halving([halved], found).met


def test_a_check_that_crashes_stops_no_other(tmp_path: Path) -> None:
    def crash(*_: object) -> Measured:
        raise ZeroDivisionError("as planned")

    def die(*_: object) -> Measured:
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError

    def look(_: object, __: object, earlier: dict[str, object]) -> Measured:
        return Measured(str(sorted(earlier)), True, {})

    checks = [Check("crash", "", crash, True), Check("die", "", die),
              Check("foreign", "", crash, packages=("lm_eval",)), Check("large", "", crash, bytes_each=20.0),
              Check("fine", "", look)]  # fmt: skip
    place = Place("cpu", QUICK, tmp_path)
    shapes = [TINY, TINY, TINY, LARGE_LLAMA, TINY]
    lines = run_checks(list(zip(checks, shapes, strict=True)), place, {**PACKAGES, "lm_eval": ""}, 80e9)
    assert [(line.measured, line.verdict) for line in lines] == [
        ("ZeroDivisionError: as planned; see crash-tiny-GPT-2.log", "failed"),
        ("ended with exit code -9; see die-tiny-GPT-2.log", "crashed"),
        ("not installed: lm_eval", "not run"),
        ("needs about 135 GB of GPU memory, 80 GB are free", "not run"),
        ("['crash', 'die', 'foreign']", "met"),
    ]
    assert "Traceback" in (tmp_path / "crash-tiny-GPT-2.log").read_text()
    (line,) = run_checks([(checks[-1], TINY)], place, PACKAGES, None, seconds=0.0)
    assert line.verdict == "not run" and '--only "fine"' in line.measured


def test_shapes_have_the_sizes_of_their_models() -> None:
    assert MEDIUM.parameters == pytest.approx(355e6, rel=0.01)
    assert LARGE_LLAMA.parameters == pytest.approx(6.74e9, rel=0.03)
    assert QWEN.parameters == pytest.approx(494e6, rel=0.01)
    assert GEMMA.parameters == pytest.approx(268e6, rel=0.01)


def test_a_process_that_uses_the_gpu_is_never_forked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    with pytest.raises(RuntimeError, match="cannot fork"):
        run_apart(lambda: 1, tmp_path / "never")
    assert not list(tmp_path.iterdir())


def test_a_bare_machine_is_told_all_that_it_lacks_before_anything_is_imported() -> None:
    code = "from fathom.commands.main import main; main()"
    folder = str(Path(fathom.__file__).parents[1])
    done = subprocess.run([sys.executable, "-S", "-c", code, "check-gpu"], capture_output=True, text=True,
                          check=False, env={"PYTHONPATH": folder})  # fmt: skip
    assert done.returncode == 1 and "Traceback" not in done.stderr
    missing = "; ".join(f"{name} is missing" for name in ("orjson", "polars"))
    assert missing in done.stderr and "torch" in done.stderr and "Hint: python -m pip install" in done.stderr


def test_what_is_missing_is_named_at_once() -> None:
    check_packages(PACKAGES)
    with pytest.raises(InputError) as error:
        check_packages({**PACKAGES, "torch": "2.7.1+cu128", "transformers": "5.9.0", "polars": ""})
    assert str(error.value).splitlines() == [
        "packages: torch 2.7.1+cu128 (2.8 or later is needed); transformers 5.9.0 (5.10 or later is needed); "
        "polars is missing",
        "Hint: python -m pip install --upgrade torch transformers polars",
    ]


def test_no_gpu_gives_one_message(tmp_path: Path) -> None:
    with refuses("--device: no GPU to check: "):
        run_command(
            "check-gpu", "--output", tmp_path, imports=MODELS, environment={"CUDA_VISIBLE_DEVICES": ""}
        )
    run_command("check-gpu", "--only", "nothing", code=1)
