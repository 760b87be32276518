"""Measure what `fathom.DomainRankCallback` costs at its default interval, as a share of the training time.

Reads the pairs, the tokenizer and the texts of a finished run (`make demo`). The models have the default
shape and train with the default batches. Runs on one thread, alternates between steps and measurements, and
prints medians of processor times.
"""

import argparse
import statistics
from pathlib import Path

from perf.turns import DEMO, clock, note

from fathom.config.models import Training
from fathom.io.contracts.corpus import TEXTS
from fathom.io.tables import read_table
from fathom.jobs.program import run_program
from fathom.models.folders import load_tokenizer
from fathom.models.parallel import SingleProcess
from fathom.models.randomness import fix_randomness
from fathom.models.sequences import SequencePacking, order_sequences, pack_sequences
from fathom.models.training import build_model, make_stepper
from fathom.scoring.domain_rank import EVERY, DomainRank

ROUNDS, STEPS = 5, 3


def main(arguments: argparse.Namespace) -> None:
    """Measure; print the table."""
    import torch

    tokenizer = load_tokenizer(arguments.run / "models" / "toy-gpt2" / "tokenizer")
    texts = read_table(arguments.run / "corpus" / "texts" / "general.parquet", TEXTS)
    pairs = arguments.run / "machine-learning" / "benchmark" / "tf" / "pairs.parquet"
    print("| model | pairs | tokens of a step | s/step | s/measurement | share of training time |")
    print("|---|--:|--:|--:|--:|--:|")
    for architecture in ("gpt2", "llama"):
        settings = Training(domain="x", architecture=architecture, steps=ROUNDS * STEPS)
        packing = SequencePacking(settings.sequence, settings.seed, False)
        packed = pack_sequences(texts, "adapt-train", tokenizer, packing)
        batches = iter(torch.from_numpy(packed[order_sequences(len(packed), settings)]))
        domain, model = DomainRank(pairs, tokenizer), build_model(settings, tokenizer)
        steps, measurements = list[float](), list[float]()
        with fix_randomness(settings.seed):
            stepper = make_stepper(model, settings, SingleProcess())
            for turn in range(ROUNDS):
                for _ in range(STEPS):
                    batch = next(batches)
                    spent, _ = clock(lambda take=stepper.take, batch=batch: take(batch, 1e-4))
                    steps.append(spent)
                spent, _ = clock(lambda model=model, turn=turn, domain=domain: domain.measure(model, turn))
                measurements.append(spent)
        step, one = statistics.median(steps[STEPS:]), statistics.median(measurements[1:])
        share = one / (EVERY * step + one)
        sizes = f"{len(domain.pairs)} | {batch.numel():,}"
        note(
            f"the callback in training, {architecture}",
            "training without it",
            f"{share:.2%}",
            "< 2 %",
            share < 0.02,
        )
        print(f"| {architecture} | {sizes} | {step:.2f} | {one:.2f} | {share:.2%} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=Path, default=DEMO, help="results of the demo")
    run_program(parser, main)
