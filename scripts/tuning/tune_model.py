"""Score a model on a task, tune it for the task, score it again [TrainBeforeTest, Sec. 3.1].

Chat models are tuned twice, without and with their chat template; in each condition the better on the
validation split counts. A stopped run resumes from `.{output}.partial` beside the output.
"""

import os
from pathlib import Path
from typing import Annotated

from fathom.config.scoring import Summary
from fathom.config.section import Section
from fathom.config.tuning import Lora, Task
from fathom.io.contracts.jobs import TUNING_CURVE
from fathom.io.contracts.ranking import EXAMPLES, OUTCOMES
from fathom.io.delimited import write_rows
from fathom.io.files import hash_file, write_json
from fathom.io.tables import read_table, write_table
from fathom.jobs.devices import describe_device, pick_device
from fathom.jobs.resume import Resume, make_key
from fathom.jobs.signature import ModelFile, run
from fathom.models.loading import identify, read_pointer
from fathom.tuning.examples import take_training
from fathom.tuning.experiment import describe_results, join_outcomes, run_variants


class Settings(Section):
    """Settings of this program."""

    task: Task
    lora: Lora = Lora()
    examples: int | None = None
    summary: Summary = Summary()


def main(
    *,
    task: Annotated[str, "name of the task"],
    model: ModelFile,
    examples: Annotated[Path, "examples of the task (parquet)"],
    outcomes: Annotated[Path, "outcomes by example to write (parquet)"],
    report: Annotated[Path, "scores before and after to write (JSON)"],
    curve: Annotated[Path, "loss by step to write (CSV)"],
    settings: Settings,
) -> None:
    """Run the experiment; write outcomes, curve and report."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    import torch

    torch.set_num_threads(1)
    pointer = read_pointer(model)
    taken = take_training(read_table(examples, EXAMPLES), settings.examples)
    inputs = [identify(pointer), hash_file(examples)]
    machine = describe_device(pick_device("auto", "train_before_test"))
    resume = Resume(outcomes, make_key(__file__, settings, inputs, machine))
    trim = settings.summary.trim
    results, description = run_variants(pointer, taken, settings.task, settings.lora, trim, resume)
    write_table(outcomes, join_outcomes(results, settings.task.scored_by), OUTCOMES)
    points = [point for result in results for point in result.curve]
    write_rows(curve, points, TUNING_CURVE)
    described = description | {"task": task, "examples_sha256": hash_file(examples)}
    write_json(report, described | describe_results(results, settings.task.scored_by, trim))
    resume.remove()


if __name__ == "__main__":
    run(main)
