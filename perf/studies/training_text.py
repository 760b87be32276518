"""Measure the memory that training text takes, in the job that fetches it and in one that trains on it.

Makes synthetic text of several sizes and runs the programs of the rules on it, each in a process of its own,
with a model so small that text is what grows. Prints each one's peak of resident memory, and at the end the
bytes of a character between the smallest size and the largest: what `fathom.planning.needs` counts.

    nice .venv/bin/python -m perf.studies.training_text
"""

import argparse
import json
import sys
from itertools import islice
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import polars as pl
from perf.studies.make_dump import FIELDS, choose_words, write_sentences
from perf.studies.real_shapes import watch
from perf.turns import ROOT, print_table

from fathom.commands.gpu import gpu_models as shapes
from fathom.config.models import Training
from fathom.jobs.program import run_program
from fathom.models.folders import load_tokenizer, save_model
from fathom.models.sequences import train_tokenizer

SENTENCES, OF_LINE = 20_000, 20
VOCABULARY, SEQUENCE, BATCH = 2_000, 256, 2
SPARE = 1.1  # of the limit: a part of the text is for validation


def write_lines(path: Path, characters: float) -> None:
    """Write lines of synthetic text until there are so many characters."""
    prose = write_sentences(choose_words(), FIELDS[0], Random(0))
    pool, random, written = list(islice(prose, SENTENCES)), Random(1), 0
    with path.open("w", encoding="utf-8") as stream:
        while written < characters:
            written += stream.write(" ".join(random.choices(pool, k=OF_LINE)) + "\n")


def make_model(folder: Path, text: Path) -> None:
    """Write a model of one small block whose tokenizer has learned from the text."""
    lines = text.read_text(encoding="utf-8").splitlines()[:500]
    learned = pl.DataFrame(
        {"doc_id": list(map(str, range(len(lines)))), "split": "adapt-train", "text": lines}
    )
    train_tokenizer(
        learned, Training(domain="x", vocabulary=VOCABULARY, context=SEQUENCE), folder / "tokenizer"
    )
    shape = shapes.Shape("x", "gpt2", 1, 64, 256, 4, 4, VOCABULARY, SEQUENCE)
    save_model(folder / "model", shapes.build_model(shape), load_tokenizer(folder / "tokenizer"))


def measure(folder: Path, model: Path, characters: int) -> tuple[float, float]:
    """Return the bytes at the peak of fetching so many characters, and of a training on them."""
    source, texts, log = folder / "lines.txt", folder / "texts.parquet", folder / "log"
    write_lines(source, SPARE * characters)
    source_settings = {"files": [str(source)], "rows": "line", "valid": 0.02}
    training = {"base": "x", "paths": [["x"]], "steps": 2, "batch": BATCH, "sequence": SEQUENCE}
    fetch = ["--domain", "x", "--max-characters", characters, "--texts", texts]
    adapt = ["--base", model, "--texts", texts, "--model", "y", "--weights", folder / "weights"]
    adapt += ["--pointer", folder / "y.json", "--curve", folder / "y.csv", "--device", "cpu"]
    peaks = []
    for program, options, settings in (
        ("corpus/fetch_texts.py", fetch, source_settings),
        ("models/adapt_model.py", adapt, training),
    ):
        command = [sys.executable, ROOT / "scripts" / program, *options, "--settings", json.dumps(settings)]
        peaks.append(watch(list(map(str, command)), {}, log).memory)
    return peaks[0], peaks[1]


def main(arguments: argparse.Namespace) -> None:
    """Measure each size; print a table."""
    rows, found = [], {}
    with TemporaryDirectory() as name:
        start = Path(name)
        write_lines(start / "lines.txt", 2e6)
        make_model(start, start / "lines.txt")
        for millions in sorted(arguments.millions):
            folder = start / str(millions)
            folder.mkdir()
            found[millions] = measure(folder, start / "model", round(1e6 * millions))
            rows.append((millions, *(f"{value / 1e6:,.0f}" for value in found[millions])))
    print_table(("million characters", "fetching, MB", "training, MB"), rows)
    (small, *_, large), names = sorted(found), ("fetching", "training")
    for name, low, high in zip(names, found[small], found[large], strict=True):
        print(f"{name}: {(high - low) / 1e6 / (large - small):.1f} bytes for each further character")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--millions", type=float, nargs="+", default=[1, 30, 131], help="characters, in millions"
    )
    run_program(parser, main)
