"""Time a tuning step: batches of similar length against padding to the maximum, with equal loss.

Reads the pairs of a finished run (`make demo`). The model has GPT-2's shape, random weights and an adapter.
Runs on one thread, alternates between the ways, and prints a table of median processor times.
"""

import argparse
from functools import partial
from pathlib import Path
from typing import Any

from perf.turns import DEMO, build_model, note, take_turns

from fathom.config.tuning import Lora
from fathom.jobs.program import run_program
from fathom.models.adapters import add_adapter
from fathom.models.folders import load_tokenizer
from fathom.models.tokens import EncodedPair, encode_pairs
from fathom.scoring.pair_files import read_pairs
from fathom.tuning.fine_tuning import order_batches, sum_losses

ROUNDS, BATCHES = 3, 4


def main(arguments: argparse.Namespace) -> None:
    """Measure; print the tables."""
    import torch

    torch.set_num_threads(1)
    pairs = read_pairs(arguments.pairs)
    tokenizer = load_tokenizer(arguments.tokenizer)
    model = build_model(len(tokenizer), arguments.layers, arguments.width)
    settings = Lora(dropout=0.0)
    add_adapter(model, settings)
    encoded = encode_pairs(tokenizer, pairs["prompt"].to_list(), pairs["target"].to_list())
    every = order_batches(encoded, settings, 0)
    batches = every[:: max(1, len(every) // BATCHES)][:BATCHES]
    tokens = sum(len(pair.ids) for batch in batches for pair in batch)
    lengths = {"padded": arguments.length, "sorted": None}
    ways = {name: partial(step, model, batches, length) for name, length in lengths.items()}
    seconds, losses = take_turns(ways, ROUNDS)
    padded, by_length = seconds.values()
    differ = max(abs(one / other - 1) for one, other in zip(losses["padded"], losses["sorted"], strict=True))
    print(f"{len(encoded):,} examples of {sum(map(size, encoded)) / len(encoded):.0f} tokens on average\n")
    print("| way | tokens/s | ratio | loss within |\n|---|---|---|---|")
    print(f"| padded to {arguments.length} | {tokens / padded:,.0f} | 1 | |")
    rate, ratio = tokens / by_length, padded / by_length
    print(f"| batches of similar length | {rate:,.0f} | {ratio:.1f} | {differ:.1e} |")
    note(
        "a step of LoRA", f"padding to {arguments.length} tokens", f"{ratio:.1f}", ">= 5, same loss",
        ratio >= 5 and differ <= 1e-4, exact=f"loss within {differ:.0e}",
    )  # fmt: skip


def size(pair: EncodedPair) -> int:
    """Return the tokens of an example."""
    return len(pair.ids)


def step(model: Any, batches: list[list[EncodedPair]], length: int | None) -> list[float]:
    """Return the loss of each batch after its backward pass."""
    found = []
    for batch in batches:
        loss = sum_losses(model, batch, length)
        loss.backward()
        model.zero_grad(set_to_none=True)
        found.append(float(loss.item()))
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    default = DEMO / "machine-learning" / "benchmark" / "tf" / "pairs.parquet"
    parser.add_argument("--pairs", type=Path, default=default)
    parser.add_argument("--tokenizer", type=Path, default=DEMO / "models" / "toy-gpt2" / "tokenizer")
    parser.add_argument("--length", type=int, default=256, help="length that the baseline pads to")
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--width", type=int, default=384)
    run_program(parser, main)
