"""The programs of a tuning: killed and resumed, and what is gathered from their reports."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import polars as pl
from peft import LoraConfig, get_peft_model
from safetensors import safe_open
from tests.programs import MODELS, find_program, find_python
from tests.tables import read_delimited
from tests.tuning.conftest import COMPLETION, LORA
from transformers import AutoModelForCausalLM

from fathom.io.contracts import jobs
from fathom.io.contracts.benchmark import OVERLAP, PAIRS
from fathom.io.contracts.ranking import EXAMPLES, OUTCOMES
from fathom.io.files import hash_file, read_json
from fathom.io.tables import read_table, write_table

ROOT = Path(__file__).resolve().parents[2]


def start(program: str, *arguments: object) -> subprocess.Popen[str]:
    command = [find_python(MODELS), find_program(program), *arguments]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    return subprocess.Popen([str(one) for one in command], env=environment, text=True, stderr=subprocess.PIPE)


def run(program: str, *arguments: object) -> str:
    """Run a program; return what it said."""
    process = start(program, *arguments)
    _, errors = process.communicate()
    assert process.returncode == 0, errors
    return errors


def prepare(pairs: pl.DataFrame, folder: Path, name: str, task: dict) -> Path:
    write_table(folder / "pairs.parquet", pairs, PAIRS)
    flags = {
        "pair_id": pairs["pair_id"],
        "sentence": False,
        "ending": pl.Series([True] + [False] * (len(pairs) - 1)),
    }
    write_table(folder / "overlap.parquet", pl.DataFrame(flags), OVERLAP)
    said = run(
        "prepare_task", "--task", name, "--source", folder / "pairs.parquet",
        "--overlap", folder / "overlap.parquet", "--settings", json.dumps({"task": task}),
        "--examples", folder / f"{name}.parquet", "--report", folder / f"{name}.json",
    )  # fmt: skip
    names = set(read_table(folder / f"{name}.parquet", EXAMPLES)["example_id"])
    assert names and pairs["pair_id"][0] not in names
    report = read_json(folder / f"{name}.json")
    assert report["in_training_text"] == 1
    assert (f"{report['test']} test examples" in said) == (report["test"] < 30)
    return folder / f"{name}.parquet"


def list_arguments(model: Path, examples: Path, output: Path, task: dict) -> list[object]:
    settings = json.dumps({"task": task, "lora": LORA})
    return [
        "--task", "task", "--model", model, "--examples", examples, "--settings", settings,
        "--outcomes", output, "--report", output.with_suffix(".json"), "--curve", output.with_suffix(".csv"),
    ]  # fmt: skip


def count_steps(folder: Path) -> int:
    """Return how many steps the saved state of a run holds."""
    state = folder / "plain.safetensors"
    if not state.exists():
        return 0
    with safe_open(state, framework="numpy") as saved:
        return json.loads(saved.metadata()["values"]).get("stepper", {}).get("step", 0)


def wait_for(folder: Path, count: int, process: subprocess.Popen[str]) -> None:
    """Wait until a run has written a state of at least so many steps."""
    deadline = time.monotonic() + 600
    while count_steps(folder) < count:
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < deadline, "no state was written"
        time.sleep(0.002)


def test_five_epochs_killed_twice_end_as_an_undisturbed_run(pairs, model_folder, tmp_path):
    examples = prepare(pairs, tmp_path, "task", COMPLETION)
    whole, killed = tmp_path / "whole.parquet", tmp_path / "killed.parquet"
    run("tune_model", *list_arguments(model_folder, examples, whole, COMPLETION))
    report = read_json(whole.with_suffix(".json"))
    steps = len(read_delimited(whole.with_suffix(".csv"), ","))
    for epoch in (1, 3):
        process = start("tune_model", *list_arguments(model_folder, examples, killed, COMPLETION))
        wait_for(tmp_path / ".killed.parquet.partial", epoch * steps // 5, process)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert not killed.exists()
    run("tune_model", *list_arguments(model_folder, examples, killed, COMPLETION))
    for suffix in (".parquet", ".json", ".csv"):
        assert hash_file(killed.with_suffix(suffix)) == hash_file(whole.with_suffix(suffix)), suffix
    assert not list(tmp_path.glob(".*partial"))
    outcomes = read_table(whole, OUTCOMES)
    test = read_table(examples, EXAMPLES).filter(pl.col("split") == "test")
    assert outcomes["condition"].to_list() == ["direct"] * len(test) + ["tuned"] * len(test)
    assert report["tuned"] < report["direct"], "what is learnt helps"
    assert len(report["epochs"]["plain"]) == 5
    run(
        "gather_tuning", "--reports", f"task/m={whole.with_suffix('.json')}", "--outcomes", f"task/m={whole}",
        "--settings", json.dumps({"tasks": {"task": COMPLETION}}), "--scores", tmp_path / "scores",
        "--table", tmp_path / "tuning.csv",
    )  # fmt: skip
    (row,) = read_delimited(tmp_path / "tuning.csv", ",")
    assert list(row) == jobs.TUNING.names
    assert float(row["tuned"]) == report["tuned"]
    lines = read_delimited(tmp_path / "scores" / "direct_eval_examples" / "task.csv", ",")
    assert len(lines) == report["test_examples"]


def test_a_model_with_an_adapter_is_tuned(pairs, model_folder, tmp_path):
    examples, output = prepare(pairs, tmp_path, "task", COMPLETION), tmp_path / "out.parquet"
    wrapped = get_peft_model(AutoModelForCausalLM.from_pretrained(model_folder), LoraConfig(r=2))
    wrapped.save_pretrained(tmp_path / "adapter")
    arguments = list_arguments(tmp_path / "adapter", examples, output, COMPLETION)
    arguments[arguments.index("--settings") + 1] = json.dumps(
        {"task": COMPLETION, "lora": LORA | {"epochs": 1}}
    )
    run("tune_model", *arguments)
    assert read_json(output.with_suffix(".json"))["model"] == "adapter"
