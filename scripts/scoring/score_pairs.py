"""Score a model on prompt-target pairs: rank and probability of every target (spec 2.1).

Reads a model (its pointer or a plain folder) and pairs (.parquet of the workflow, or .jsonl with prompt and
target, and perhaps pair_id and keyword); writes one row for each pair, and a report. With several files of
pairs, each has its own output and report, in the same order, and what their pairs share is read once. A run
that was stopped goes on where it was, from `.{output}.partial` beside the first output.
"""

import argparse
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from fathom.config.scoring import Scoring
from fathom.errors import InputError
from fathom.io.contracts.scoring import SCORES
from fathom.io.files import hash_file, hash_text, write_json
from fathom.io.tables import write_table
from fathom.models.loading import Pointer, describe_loaded, load_model, pick_devices, read_pointer
from fathom.running.program import add_settings, log, read_settings, run_program
from fathom.running.sources import find_sources
from fathom.scoring.inputs import read_pairs
from fathom.scoring.partial import Partial
from fathom.scoring.ranks import check_pairs, score_benchmarks


def main(arguments: argparse.Namespace) -> None:
    """Load the model, score it on all files of pairs, write scores and reports."""
    check_files(arguments)
    os.environ["HF_HUB_OFFLINE"] = "1"
    import torch

    torch.set_num_threads(arguments.threads)
    settings = read_settings(arguments.settings, Scoring)
    benchmarks = [read_pairs(path) for path in arguments.pairs]
    for pairs in benchmarks:
        check_pairs(pairs)
    pointer = read_pointer(arguments.model)
    if arguments.chat_template:
        pointer = replace(pointer, chat_template=True)
    devices = pick_devices(settings.device, arguments.gpus)
    loaded = [load_model(pointer, settings.dtype, device) for device in devices]
    models, tokenizer = [model for model, _ in loaded], loaded[0][1]
    hashes = [hash_file(path) for path in arguments.pairs]
    shared = describe_loaded(pointer, models[0], settings.dtype)
    shared["chat_template"] = pointer.chat_template
    partial = Partial(arguments.output[0], make_key(shared, pointer, settings, arguments.threads, hashes))
    found = score_benchmarks(models, tokenizer, benchmarks, settings, pointer, partial)
    for place, scores in enumerate(found):
        report = shared | {
            "pairs_sha256": hashes[place],
            "together_with": hashes[:place] + hashes[place + 1 :],
            "pairs": len(scores),
            "backed_off": int(scores["backed_off"].sum()),
            "ties": int((scores["ties"] > 0).sum()),
        }
        log.info(
            "%s: %s pairs, %s backed off, %s with ties",
            *(report[key] for key in ("model", "pairs", "backed_off", "ties")),
        )
        write_table(arguments.output[place], scores, SCORES)
        write_json(arguments.report[place], report)
    partial.remove()


def check_files(arguments: argparse.Namespace) -> None:
    """Raise `InputError` unless every file of pairs has an output and a report of its own."""
    counts = {len(arguments.pairs), len(arguments.output), len(arguments.report)}
    written = [path.resolve() for path in (*arguments.output, *arguments.report)]
    if len(counts) > 1 or len(set(written)) < len(written):
        raise InputError(
            "every file of pairs needs an output and a report of its own",
            "--pairs, --output, --report",
            "give as many of each, in the same order",
        )


def make_key(
    shared: dict[str, Any], pointer: Pointer, settings: Scoring, threads: int, hashes: list[str]
) -> str:
    """Return the hash of all that scores depend on: model, machine, settings, code, pairs."""
    where = {name: str(value) for name, value in vars(pointer).items() if name != "path"}
    code = [hash_file(file) for file in find_sources(Path(__file__))]
    values = [shared, where, settings.model_dump(mode="json"), threads, code, hashes]
    return hash_text(json.dumps(values, sort_keys=True))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="pointer to a model (JSON), or its folder")
    for name, about in (
        ("--pairs", "pairs (.parquet or .jsonl)"),
        ("--output", "scores (parquet)"),
        ("--report", "what was scored, with counts (JSON)"),
    ):
        more = f"{about}; several: repeat, in the same order"
        parser.add_argument(name, type=Path, nargs="+", action="extend", required=True, help=more)
    parser.add_argument("--threads", type=int, default=1, help="threads of torch; 1 is the reference")
    parser.add_argument(
        "--gpus", type=int, default=1, help="how many of the visible GPUs share the work (device auto)"
    )
    parser.add_argument("--chat-template", action="store_true", help="score inside the model's chat template")
    add_settings(parser, Scoring)
    run_program(parser, main)
