"""Time the rank of one token in each row of logits against a full sort, with equal ranks.

Logits are random, as many as GPT-2 has tokens. Runs on one thread, alternates between the ways, and prints a
table of median processor times.
"""

import argparse
from functools import partial

import numpy as np
from perf.turns import note, print_table, take_turns

from fathom.jobs.program import run_program
from fathom.scoring.logits import count_larger


def main(arguments: argparse.Namespace) -> None:
    """Measure; print the table."""
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    # without ties, which a sort puts in any order
    logits = torch.stack([torch.randperm(arguments.entries) for _ in range(arguments.rows)]).float()
    targets = torch.randint(arguments.entries, (arguments.rows, 1))

    def sort() -> torch.Tensor:
        return 1 + (logits.argsort(dim=1, descending=True) == targets).int().argmax(1)

    ways = {
        "argsort": sort,
        "larger logits counted": partial(count_larger, logits, logits.gather(1, targets)),
    }
    seconds, found = take_turns(ways, arguments.rounds)
    sorted_rank, counted = (each.numpy() for each in found.values())
    equal = float(np.mean(sorted_rank == 1 + counted))
    ratio = seconds["argsort"] / seconds["larger logits counted"]
    note("the rank alone", "argsort", f"{ratio:.0f}", ">= 8", ratio >= 8, exact=f"{equal:.1%} of ranks equal")
    rows = [
        [name, f"{arguments.rows / spent:,.0f}", f"{seconds['argsort'] / spent:.1f}", f"{equal:.1%}"]
        for name, spent in seconds.items()
    ]
    print_table(["way", "rows/s", "ratio", "ranks equal"], rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=400)
    parser.add_argument("--entries", type=int, default=50257)
    parser.add_argument("--rounds", type=int, default=3)
    run_program(parser, main)
