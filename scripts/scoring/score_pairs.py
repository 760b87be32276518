"""Score a model on prompt-target pairs: rank and probability of every target [RawCorpora, Sec. 2.6].

Reads a model (pointer or folder) and pairs (.parquet of the workflow, or .jsonl with prompt and
target, and perhaps pair_id and keyword); writes one row for each pair, and a report. With several files of
pairs, each has its own output and report, in the same order, and what their pairs share is read once. A
stopped run resumes from `.{output}.partial` beside the first output.
"""

import argparse
import os
from dataclasses import replace
from pathlib import Path

from fathom.config.scoring import Scoring
from fathom.models.loading import read_pointer
from fathom.running.program import add_settings, read_settings, run_program
from fathom.scoring.files import name_files, score_files


def main(arguments: argparse.Namespace) -> None:
    """Score the model on all files of pairs, write scores and reports."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    files = name_files(arguments.pairs, arguments.output, arguments.report)
    settings = read_settings(arguments.settings, Scoring)
    pointer = read_pointer(arguments.model)
    if arguments.chat_template:
        pointer = replace(pointer, chat_template=True)
    score_files(pointer, files, settings, arguments.threads, arguments.gpus)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="model pointer (JSON) or model folder")
    for name, about in (
        ("--pairs", "pairs (.parquet or .jsonl)"),
        ("--output", "scores (parquet)"),
        ("--report", "what was scored, with counts (JSON); beside the output if absent"),
    ):
        more = f"{about}; several: repeat, in the same order"
        parser.add_argument(
            name, type=Path, nargs="+", action="extend", required=name != "--report", help=more
        )
    parser.add_argument("--threads", type=int, default=1, help="PyTorch threads; reference results use 1")
    parser.add_argument(
        "--gpus", type=int, default=1, help="how many of the visible GPUs share the work (device auto)"
    )
    parser.add_argument("--chat-template", action="store_true", help="score inside the model's chat template")
    add_settings(parser, Scoring)
    run_program(parser, main)
