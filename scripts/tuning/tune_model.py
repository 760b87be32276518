"""Score a model on a task, tune it for the task, score it again [TrainBeforeTest, Sec. 3.1].

Chat models are tuned twice, without and with their chat template; in each condition the better on the
validation split counts. A stopped run resumes from `.{output}.partial` beside the output.
"""

import argparse
import os
from pathlib import Path

from fathom.config.section import Section
from fathom.config.tuning import Lora, Task
from fathom.io.contracts.ranking import EXAMPLES, OUTCOMES
from fathom.io.files import hash_file, write_delimited, write_json
from fathom.io.tables import read_table, write_table
from fathom.jobs.devices import describe_device, pick_device
from fathom.jobs.program import add_settings, read_settings, run_program
from fathom.jobs.resume import Resume, make_key
from fathom.models.loading import identify, read_pointer
from fathom.tuning.examples import take_training
from fathom.tuning.experiment import CURVE_COLUMNS, describe_results, join_outcomes, run_variants


class Settings(Section):
    """Settings of this program."""

    task: Task
    lora: Lora = Lora()
    examples: int | None = None


def main(arguments: argparse.Namespace) -> None:
    """Run the experiment; write outcomes, curve and report."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    import torch

    torch.set_num_threads(1)
    settings = read_settings(arguments.settings, Settings)
    pointer = read_pointer(arguments.model)
    examples = take_training(read_table(arguments.examples, EXAMPLES), settings.examples)
    inputs = [identify(pointer), hash_file(arguments.examples)]
    machine = describe_device(pick_device("auto", "train_before_test"))
    resume = Resume(arguments.output, make_key(__file__, settings, inputs, machine))
    results, description = run_variants(pointer, examples, settings.task, settings.lora, resume)
    write_table(arguments.output, join_outcomes(results, settings.task.scored_by), OUTCOMES)
    points = [point for result in results for point in result.curve]
    write_delimited(arguments.curve, CURVE_COLUMNS, points, ",")
    report = description | {"task": arguments.name, "examples_sha256": hash_file(arguments.examples)}
    write_json(arguments.report, report | describe_results(results, settings.task.scored_by))
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
