"""Time training against the Hugging Face Trainer with its defaults, on the same batches, to the same loss.

Reads texts and a tokenizer of a finished run (`make demo`). The model has the demo's shape, random weights.
Runs on one thread, alternates between the ways, and prints a table of median processor times.
"""

import argparse
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from perf.turns import DEMO, clock, note

from fathom.config.models import Training
from fathom.io.contracts.corpus import TEXTS
from fathom.io.tables import read_table
from fathom.jobs.program import run_program
from fathom.models.folders import load_tokenizer
from fathom.models.parallel import SingleProcess
from fathom.models.randomness import fix_randomness
from fathom.models.sequences import SequencePacking, order_sequences, pack_sequences
from fathom.models.training import build_model, make_schedule, make_stepper, set_dropout

ROUNDS = 3


def main(arguments: argparse.Namespace) -> None:
    """Measure; print the table."""
    import torch

    torch.set_num_threads(1)
    tokenizer = load_tokenizer(arguments.tokenizer)
    settings = Training(domain="x", steps=arguments.steps)
    texts = read_table(arguments.texts, TEXTS)
    packing = SequencePacking(settings.sequence, settings.seed, False)
    packed = pack_sequences(texts, "adapt-train", tokenizer, packing)
    batches = torch.from_numpy(packed[order_sequences(len(packed), settings)])
    seconds: dict[str, list[float]] = {"Hugging Face Trainer": [], "fathom": []}
    losses: dict[str, list[float]] = {}
    for turn in range(ROUNDS + 1):  # the first warms up
        for name, train in (("Hugging Face Trainer", train_theirs), ("fathom", train_ours)):
            model = build_model(settings, tokenizer)
            set_dropout(model, 0.0)
            spent, losses[name] = clock(lambda train=train, model=model: train(model, batches, settings))
            seconds[name] += [spent] * bool(turn)
    theirs, ours = (statistics.median(each) for each in seconds.values())
    pairs = zip(*losses.values(), strict=True)
    differ = max(abs(one / other - 1) for one, other in pairs)
    note(
        "training, a small model", "Hugging Face Trainer, same batches", f"{theirs / ours:.2f}",
        ">= 1, same loss", theirs >= ours and differ <= 1e-4, exact=f"loss within {differ:.0e}",
    )  # fmt: skip
    print(f"{settings.steps} steps of {batches[0].numel():,} tokens\n")
    print("| way | tokens/s | ratio | last loss | loss within |\n|---|--:|--:|--:|--:|")
    for name, spent in (("Hugging Face Trainer", theirs), ("fathom", ours)):
        rate, last = batches.numel() / spent, losses[name][-1]
        print(f"| {name} | {rate:,.0f} | {theirs / spent:.2f} | {last:.4f} | {differ:.0e} |")


def train_ours(model: Any, batches: Any, settings: Training) -> list[float]:
    """Return the loss of each step of ours."""
    schedule = make_schedule(settings.steps)
    with fix_randomness(settings.seed):
        stepper = make_stepper(model, settings, SingleProcess())
        return [
            stepper.take(batch, settings.learning_rate * schedule(step)) for step, batch in enumerate(batches)
        ]


def train_theirs(model: Any, batches: Any, settings: Training) -> list[float]:
    """Return the loss of each step of the Trainer, with the same optimiser and schedule."""
    import torch
    from transformers import Trainer, TrainingArguments
    from transformers.trainer_callback import PrinterCallback, ProgressCallback

    class Rows(torch.utils.data.IterableDataset):
        """The sequences in the order of the steps."""

        def __iter__(self) -> Iterator[dict[str, Any]]:
            for row in batches.flatten(0, 1):
                labels = row.clone()
                labels[0] = -100  # it is not predicted, but the Trainer's mean would count it
                yield {"input_ids": row, "labels": labels}

    optimizer = make_stepper(model, settings, SingleProcess()).optimizer
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, make_schedule(settings.steps))
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            folder, per_device_train_batch_size=settings.batch, max_steps=settings.steps, logging_steps=1,
            use_cpu=True, report_to="none", save_strategy="no", disable_tqdm=True,
        )  # fmt: skip
        trainer = Trainer(model, arguments, train_dataset=Rows(), optimizers=(optimizer, schedule))
        for callback in (PrinterCallback, ProgressCallback):
            trainer.remove_callback(callback)
        trainer.train()
    return [float(row["loss"]) for row in trainer.state.log_history if "loss" in row]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=Path, default=DEMO / "corpus" / "texts" / "general.parquet")
    parser.add_argument("--tokenizer", type=Path, default=DEMO / "models" / "toy-gpt2" / "tokenizer")
    parser.add_argument("--steps", type=int, default=12)
    run_program(parser, main)
