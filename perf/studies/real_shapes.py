"""Hold the memory that programs take against the plan, with a model of real shape on a processor.

Makes a model of GPT-2 XL's shape with random weights (6 GB in a folder of its own, removed at the end) and
runs the programs of the rules on it, each in a process of its own: scoring, perplexity, attribute rate,
layers, a tuned lens, tuning and adapting by LoRA. Measures each one's peak of resident memory, prints a table
for docs/results/gpu.md, and fails if a step takes over 20 % less or more than is calculated for its batch.

    nice .venv/bin/python -m perf.studies.real_shapes
    .venv/bin/python -m perf.studies.real_shapes --layers 4 --width 256 --heads 4 --steps scoring
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from shutil import disk_usage
from tempfile import TemporaryDirectory, gettempdir
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from perf.turns import ROOT

from fathom.commands.gpu import gpu_models as shapes
from fathom.errors import InputError
from fathom.io.contracts.benchmark import DOMAIN_KEYWORDS, MATCHES, PAIRS
from fathom.io.contracts.corpus import TEXTS
from fathom.io.contracts.ranking import EXAMPLES
from fathom.io.delimited import write_rows
from fathom.io.tables import to_frame, write_table
from fathom.jobs.program import run_program
from fathom.models.folders import save_model
from fathom.models.memory import (
    GB,
    Dtype,
    Memory,
    Training,
    measure_layers,
    measure_lens,
    measure_scoring,
    measure_training,
    request_host,
)
from fathom.models.shapes import Shape, read_shape
from fathom.models.steps import LARGE

PROMPT, TARGET, KEYWORDS = 20, 1, 12  # tokens of a prompt and of a target; keywords
BATCH, SEQUENCE, POSITIONS = 2, 64, 32  # of a training: examples, tokens of each; positions of a lens
WINDOW = 1024
WORDLISTS = ("--wordlists", str(ROOT / "config" / "wordlists"))
TOLERANCE = 0.2


class Step(NamedTuple):
    """A program's run.

    Attributes
    ----------
    name : str
        For the table.
    program : str
        Path in scripts/.
    options : list of str
    memory : Memory
        What is calculated for its batch.
    passing : float
        Bytes of weights that lie in memory while the model is read, cast or saved.
    stored : float
        Bytes of files whose weights are read in another number format.
    """

    name: str
    program: str
    options: list[str]
    memory: Memory
    passing: float = 0.0
    stored: float = 0.0


class Inputs:
    """Random tables that programs read, in a folder.

    Parameters
    ----------
    folder : Path
    vocabulary, pairs : int
        Entries of the tokenizer; number of pairs.
    """

    def __init__(self, folder: Path, vocabulary: int, pairs: int) -> None:
        self.folder, self._vocabulary, self._random = folder, vocabulary, np.random.default_rng(0)
        folder.mkdir()
        self.keywords = [self._write_words(2) for _ in range(KEYWORDS)]
        write_rows(folder / "keywords.tsv", [(word, 1, 1, 1, "") for word in self.keywords], DOMAIN_KEYWORDS)
        self._write("pairs", self._make_pairs(pairs), PAIRS)
        self._write("sentences", self._make_sentences(), MATCHES)
        self._write("texts", self._make_texts(), TEXTS)
        self._write("examples", self._make_examples(), EXAMPLES)

    def name(self, table: str) -> str:
        """Return the path of a table."""
        return str(self.folder / f"{table}.parquet")

    def _write(self, name: str, rows: list[dict[str, Any]], contract: Any) -> None:
        schema = pa.schema([(column.name, column.type) for column in contract])
        frame = to_frame(pa.Table.from_pylist(rows, schema))
        write_table(Path(self.name(name)), frame, contract)

    def _write_words(self, count: int) -> str:
        return " ".join(f"w{number}" for number in self._random.integers(1, self._vocabulary, count))

    def _make_pairs(self, count: int) -> list[dict[str, Any]]:
        shared = {"variant": "tf", "doc_id": "d", "date": "", "cosine": 0.7}
        words = {"target_in_prompt": False, "target_in_keyword": False, "association": 2.5}
        return [
            {**shared, **words, "pair_id": str(place), "keyword": self.keywords[place % KEYWORDS],
             "prompt": self._write_words(PROMPT), "target": " " + self._write_words(TARGET)}
            for place in range(count)
        ]  # fmt: skip

    def _make_sentences(self) -> list[dict[str, Any]]:
        return [
            {"keyword": word, "doc_id": "d", "position": place, "clean": self._write_words(20), "cosine": 0.7}
            for word in sorted(set(self.keywords)) for place in range(5)
        ]  # fmt: skip

    def _make_texts(self) -> list[dict[str, Any]]:
        sizes = {"adapt-test": (2, WINDOW), "adapt-train": (40, SEQUENCE), "adapt-valid": (4, SEQUENCE)}
        return [
            {"doc_id": f"{split}{place}", "split": split, "text": self._write_words(size)}
            for split, (count, size) in sizes.items() for place in range(count)
        ]  # fmt: skip

    def _make_examples(self) -> list[dict[str, Any]]:
        return [
            {"example_id": f"{split}{place}", "keyword": "", "split": split,
             "prompts": [self._write_words(SEQUENCE - 1)], "targets": [" " + self._write_words(1)], "gold": 0}
            for split in ("train", "valid", "test") for place in range(2 * BATCH)
        ]  # fmt: skip


def list_steps(model: Path, inputs: Inputs, arguments: argparse.Namespace) -> Iterator[Step]:
    """Yield all steps, with the memory that is calculated for each batch."""
    shape = read_shape(model / "config.json")
    if shape is None:
        raise InputError("config.json lacks a size", str(model))
    scoring = {"dtype": arguments.dtype, "device": "cpu", "batch_tokens": arguments.batch_tokens}
    yield from list_scoring(shape, inputs, arguments, scoring)
    yield from list_layers(shape, inputs, arguments, scoring)
    yield from list_training(shape, inputs, arguments.lora_dtype)


def count_stored(shape: Shape, dtype: str) -> float:
    """Return the bytes of files that are read in another number format than their float32."""
    return 0.0 if dtype == "float32" else 4.0 * shape.parameters


def list_scoring(
    shape: Shape, inputs: Inputs, arguments: argparse.Namespace, scoring: dict[str, Any]
) -> Iterator[Step]:
    """Yield the steps of scoring."""
    window, out = min(WINDOW, arguments.context), inputs.folder / "out"
    settings = {"scoring": scoring, "perplexity": {"window": window, "stride": window // 2}}
    for name, longest, table, place, written in (
        ("scoring", PROMPT + 1, "pairs", "x/x", "--scores"),
        ("perplexity", window, "texts", "x", "--perplexity"),
        ("attribute rate", 2, "sentences", "x", "--rates"),
    ):
        options = [
            f"--{table}",
            f"{place}={inputs.name(table)}",
            written,
            f"{out}/{table}.parquet",
            *WORDLISTS,
        ]
        options += ["--finished", str(out / table), "--settings", json.dumps(settings)]
        memory = measure_scoring(shape, arguments.dtype, arguments.batch_tokens, longest, "cpu")
        yield Step(name, "scoring/score_model.py", options, memory, 0.0, count_stored(shape, arguments.dtype))


def list_layers(
    shape: Shape, inputs: Inputs, arguments: argparse.Namespace, scoring: dict[str, Any]
) -> Iterator[Step]:
    """Yield the measurement of layers, without and with a tuned lens."""
    dtype, out = arguments.dtype, inputs.folder / "out"
    lens = {"steps": 2, "batch": BATCH, "sequence": SEQUENCE, "positions": POSITIONS}
    settings = {"scoring": scoring, "lens": lens, "layers": {"keywords": KEYWORDS, "pairs": 1}}
    domain = ["--keywords", f"x={inputs.folder / 'keywords.tsv'}", "--sentences", inputs.name("sentences")]
    domain += ["--pairs", inputs.name("pairs"), "--rates"]
    measured = measure_layers(shape, dtype, arguments.batch_tokens, PROMPT + 1, "cpu")
    trained = measure_lens(shape, dtype, BATCH * SEQUENCE, POSITIONS, "cpu")
    larger = max(measured, trained, key=lambda memory: memory.total)
    texts = ["--texts", f"x={inputs.name('texts')}"]
    for name, memory, more in (("layers", measured, []), ("layers, tuned lens", larger, texts)):
        folder = out / name.replace(", ", "-")
        options = [*domain, f"{folder}/x.rates.parquet", *more, "--finished", f"{folder}/finished"]
        options += ["--settings", json.dumps(settings), *WORDLISTS]
        yield Step(name, "layers/measure_layers.py", options, memory, 0.0, count_stored(shape, dtype))


def list_training(shape: Shape, inputs: Inputs, dtype: Dtype) -> Iterator[Step]:
    """Yield tuning and adaptation by LoRA."""
    out, tokens = inputs.folder / "out", BATCH * SEQUENCE
    memory = measure_training(shape, Training(tokens, dtype, checkpointing=shape.parameters >= LARGE, rank=8))
    lora = {"batch": BATCH, "batch_tokens": tokens, "dtype": dtype, "epochs": 1, "max_tokens": SEQUENCE}
    settings: dict[str, Any] = {"task": {"kind": "completion", "domain": "x"}, "lora": lora}
    options = ["--task", "x", "--examples", inputs.name("examples"), "--outcomes", f"{out}/outcomes.parquet"]
    options += ["--report", f"{out}/outcomes.json", "--curve", f"{out}/outcomes.csv"]
    options += ["--settings", json.dumps(settings)]
    yield Step("tuning by LoRA", "tuning/tune_model.py", options, memory, 0.0, count_stored(shape, dtype))
    settings = {
        "base": "x", "paths": [["x"]], "steps": 4, "batch": BATCH, "sequence": SEQUENCE,
        "batch_tokens": tokens, "lora": {"dtype": dtype},
    }  # fmt: skip
    base = str(inputs.folder.parent / "model")
    options = ["--texts", inputs.name("texts"), "--base", base, "--model", "y", "--device", "cpu"]
    options += ["--weights", f"{out}/y/weights", "--pointer", f"{out}/y/model.json"]
    options += ["--curve", f"{out}/y/training.csv", "--settings", json.dumps(settings)]
    passing = (4.0 if dtype == "float32" else 6.0) * shape.parameters
    yield Step("adaptation by LoRA", "models/adapt_model.py", options, memory, passing)


class Usage(NamedTuple):
    """What a process took: bytes of resident memory at its peak, and seconds."""

    memory: float
    seconds: float


def watch(command: list[str], environment: Mapping[str, str], log: Path) -> Usage:
    """Run a program and return what it took; raise `RuntimeError` with its output if it fails."""
    start, peak = time.monotonic(), 0
    with log.open("w") as stream:
        process = subprocess.Popen(command, env={**os.environ, **environment}, stdout=stream, stderr=stream)
        status = Path("/proc", str(process.pid), "status")
        # what wait4 reports would count the memory of this process as well, from which the other one began
        while process.poll() is None:
            found = re.search(r"^VmHWM:\s+(\d+) kB$", status.read_text(), re.MULTILINE)
            peak = int(found[1]) if found else peak
            time.sleep(0.02)
    if process.returncode:
        raise RuntimeError(f"{command[1]} failed: {log.read_text()[-2000:]}")
    return Usage(1024.0 * peak, time.monotonic() - start)


def make_model(folder: Path, arguments: argparse.Namespace) -> None:
    """Write the model."""
    width, heads = arguments.width, arguments.heads
    sizes = (arguments.layers, width, 4 * width, heads, heads, arguments.vocabulary, arguments.context)
    shape = shapes.Shape("x", "gpt2", *sizes)
    save_model(folder, shapes.build_model(shape), shapes.make_tokenizer(shape))


def check_room(arguments: argparse.Namespace) -> None:
    """Raise `InputError` if memory or disk are too small for the model and an adapted copy."""
    width = arguments.width
    weights = 4.0 * (12 * arguments.layers * width**2 + (arguments.vocabulary + arguments.context) * width)
    free = disk_usage(arguments.folder or gettempdir()).free
    if free < 2.5 * weights:
        raise InputError(f"the disk needs {2.5 * weights / GB:.0f} GB, {free / GB:.0f} are free", "--folder")
    fields = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
    memory = 1024.0 * int(fields["MemAvailable"].split()[0])
    if memory < 1.8 * weights + 2 * GB:
        raise InputError(
            f"{1.8 * weights / GB + 2:.0f} GB of memory are needed, {memory / GB:.0f} are available",
            "--layers",
        )


def main(arguments: argparse.Namespace) -> None:
    """Make the model, run the steps, print a line for each; fail if a calculation is off."""
    check_room(arguments)
    with TemporaryDirectory(dir=arguments.folder) as name:
        folder, environment = Path(name), {"XDG_CACHE_HOME": name, "OMP_NUM_THREADS": "1"}
        make_model(folder / "model", arguments)
        inputs = Inputs(folder / "tables", arguments.vocabulary, arguments.pairs)
        wrong = []
        print("| step | predicted GB | measured GB | ratio | seconds |\n|---|---|---|---|---|", flush=True)
        for step in list_steps(folder / "model", inputs, arguments):
            if arguments.steps and step.name not in arguments.steps:
                continue
            program = str(ROOT / "scripts" / step.program)
            command = [sys.executable, program, "--model", f"{name}/model", *step.options]
            found = watch(command, environment, folder / "step.log")
            predicted = request_host(step.memory, False, step.passing, step.stored)
            ratio = found.memory / predicted
            sizes = f"{predicted / GB:.2f} | {found.memory / GB:.2f} | {ratio:.2f}"
            print(f"| {step.name} | {sizes} | {found.seconds:.0f} |", flush=True)
            if abs(ratio - 1) > TOLERANCE:
                wrong.append(f"{step.name}: {ratio - 1:+.0%}")
    if wrong:
        raise RuntimeError(f"more or less memory than calculated: {'; '.join(wrong)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--layers", type=int, default=48)
    parser.add_argument("--width", type=int, default=1600)
    parser.add_argument("--heads", type=int, default=25)
    parser.add_argument("--vocabulary", type=int, default=50_257)
    parser.add_argument("--context", type=int, default=1024)
    parser.add_argument("--pairs", type=int, default=60)
    parser.add_argument("--batch-tokens", type=int, default=1024)
    parser.add_argument("--dtype", default="float32", help="of scoring")
    parser.add_argument("--lora-dtype", default="bfloat16", help="of the model's own weights in training")
    parser.add_argument("--steps", nargs="*", help="names of the steps; all by default")
    parser.add_argument(
        "--folder", type=Path, help="where the model is written; the folder for temporary files"
    )
    run_program(parser, main)
