"""Score a model on a task, tune it for the task, score it again [TrainBeforeTest, Sec. 3.1].

Chat models go through twice, without and with their chat template; under each condition the one that
validates better counts. A stopped run resumes from `.{output}.partial` beside the output.
"""

import argparse
import os
from pathlib import Path
from typing import Any

import polars as pl

from fathom.config.section import Section
from fathom.config.tuning import Lora, Task
from fathom.io.contracts.ranking import EXAMPLES, OUTCOMES
from fathom.io.files import hash_file, write_delimited, write_json
from fathom.io.tables import read_table, write_table
from fathom.models.loading import describe_loaded, read_pointer
from fathom.running.program import add_settings, read_settings, run_program
from fathom.running.resume import Resume, make_key
from fathom.tuning.experiment import Result, choose_results, describe_results, run_experiment
from fathom.tuning.training import CURVE_COLUMNS


class Settings(Section):
    """What this program obeys."""

    task: Task
    lora: Lora = Lora()


def main(arguments: argparse.Namespace) -> None:
    """Run every variant of the model, choose, write."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    import torch

    torch.set_num_threads(1)
    settings = read_settings(arguments.settings, Settings)
    pointer = read_pointer(arguments.model)
    examples = read_table(arguments.examples, EXAMPLES)
    chats = [False, True] if pointer.kind == "chat" and settings.task.kind != "text" else [False]
    results, kept = list[Result](), list[Resume]()
    shared: dict[str, Any] = {}
    machine = [torch.__version__, torch.cuda.is_available()]
    made_from = [settings, vars(pointer) | {"path": ""}, hash_file(arguments.examples), machine]
    for chat in chats:
        key = make_key(__file__, *made_from, chat)
        kept.append(Resume(arguments.output.with_suffix(f".{'chat' if chat else 'plain'}"), key))
        model, result = run_experiment(pointer, examples, settings.task, settings.lora, chat, kept[-1])
        shared = describe_loaded(pointer, model, settings.lora.dtype)
        results.append(result)
    direct, tuned = choose_results(results, settings.task.scored_by)
    before = direct.direct.with_columns(condition=pl.lit("direct"))
    after = tuned.tuned.with_columns(condition=pl.lit("tuned"))
    write_table(arguments.output, pl.concat([before, after]), OUTCOMES)
    rows = [point for result in results for point in result.curve]
    write_delimited(arguments.curve, ("template", *CURVE_COLUMNS), rows, ",")
    report = shared | {"task": arguments.name, "examples_sha256": hash_file(arguments.examples)}
    write_json(arguments.report, report | describe_results(results, settings.task.scored_by))
    for resume in kept:
        resume.remove()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", required=True, help="name of the task")
    parser.add_argument("--model", type=Path, required=True, help="pointer to a model (JSON), or its folder")
    parser.add_argument("--examples", type=Path, required=True, help="examples of the task (parquet)")
    parser.add_argument("--output", type=Path, required=True, help="outcomes by example (parquet)")
    parser.add_argument("--report", type=Path, required=True, help="scores before and after (JSON)")
    parser.add_argument("--curve", type=Path, required=True, help="loss by step (CSV)")
    add_settings(parser, Settings)
    run_program(parser, main)
