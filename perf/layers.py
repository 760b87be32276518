"""How fast targets are followed through the layers, against the plain way and the machine's limit (spec 8).

Reads the pairs of a finished run (`make demo`). Speed is measured on a model of GPT-2's shape and vocabulary
with random weights, on one thread, alternatives in turn, medians of processor time. The plain way projects
all layers at all positions and sorts each row. Prints tables.
"""

import argparse
import gc
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scoring import ROOT, ROUNDS, build_model, clock, measure_peak, read_memory

from fathom.config.layers import Layers
from fathom.layers.projection import open_layers, read_states
from fathom.layers.rates import Lists, keep_top_tokens
from fathom.layers.targets import measure_rows
from fathom.models.loading import load_tokenizer
from fathom.models.tokens import Encoded, encode_pairs
from fathom.program import run_program
from fathom.scoring.inputs import read_pairs
from fathom.scoring.logits import score_rows
from fathom.scoring.passes import plan_passes

PLAIN_PAIRS = 4


def main(arguments: argparse.Namespace) -> None:
    """Measure, print."""
    import torch

    torch.set_num_threads(1)
    model = build_model(arguments.entries, arguments.layers, arguments.width)
    encoded = read_encoded(arguments)
    if arguments.memory:
        print(measure_memory(model, encoded, arguments.memory))
        return
    print_speed(model, encoded)
    print_rates(model, encoded)
    print("\n| way | layers | vocabulary | memory over the model, MB |\n|---|---|---|---|")
    for way in ("plain", "rows asked for"):
        for layers, entries in ((6, 50257), (24, 50257), (12, 25000), (12, 100000)):
            size = ["--layers", str(layers), "--entries", str(entries), "--memory", way]
            command = [sys.executable, __file__, *size, "--width", str(arguments.width)]
            found = subprocess.run(command, capture_output=True, text=True, check=True)
            print(f"| {way} | {layers + 1} | {entries:,} | {found.stdout.strip()} |", flush=True)


def read_encoded(arguments: argparse.Namespace) -> list[Encoded]:
    """Return the token ids of a benchmark's pairs."""
    pairs = read_pairs(arguments.pairs)
    tokenizer = load_tokenizer(arguments.tokenizer)
    return encode_pairs(tokenizer, pairs["prompt"].to_list(), pairs["target"].to_list())


def follow_plainly(model: Any, encoded: Sequence[Encoded]) -> list[np.ndarray]:
    """Return rank and probability of each target token [tokens, layers, 2] by pair, as the paper does.

    One prompt and token at a time; all layers at all positions, each row sorted in full.
    """
    import torch

    norm, head, found = model.transformer.ln_f, model.lm_head, []
    for pair in encoded:
        rows = []
        for place in range(pair.start, len(pair.ids)):
            output = model(torch.tensor([pair.ids[:place]]), output_hidden_states=True)
            *inner, last = output.hidden_states  # the last one is normed already
            logits = torch.stack([head(norm(state[0])) for state in inner] + [head(last[0])])
            order = logits.argsort(dim=-1, descending=True)
            shares, target = logits.softmax(-1), pair.ids[place]
            rank = 1 + (order[:, -1] == target).int().argmax(-1)
            rows.append(torch.stack([rank.double(), shares[:, -1, target].double()], dim=1).numpy())
        found.append(np.stack(rows))
    return found


def follow_rows(model: Any, encoded: Sequence[Encoded], full: bool = False) -> list[np.ndarray]:
    """Return the same as the library does it; with `full`, entropy, agreement and divergence too."""
    plan = plan_passes(encoded)
    layers = open_layers(model, plan.passes[0].ids)
    parts = []
    for states, target in read_states(layers, plan.passes, 1024, "sequences"):
        found = np.empty((states.shape[1], layers.count, 2))
        for piece in layers.slice_rows(states.shape[1]):
            last = layers.to_logits(states[-1, piece]).log_softmax(1) if full else None
            for layer in range(layers.count):
                logits = layers.to_logits(states[layer, piece])
                if last is not None:
                    found[piece, layer] = measure_rows(logits, last, target[piece])[:, :2]
                    continue
                scores = score_rows(logits, target[piece])
                found[piece, layer, 0] = scores.rank
                found[piece, layer, 1] = np.exp(scores.log_probability)
        parts.append(found)
    tokens = np.concatenate(parts)
    return [tokens[rows] for rows in plan.rows]


def print_speed(model: Any, encoded: Sequence[Encoded]) -> None:
    """Print pairs a second of each way, as ratios, with exactness and share of the limit."""
    import torch

    some = list(range(0, len(encoded), max(1, len(encoded) // PLAIN_PAIRS)))[:PLAIN_PAIRS]
    ways = {
        "plain: one token at a time, all layers, all positions, full sort": lambda: follow_plainly(
            model, [encoded[place] for place in some]
        ),
        "rows asked for": lambda: follow_rows(model, encoded),
        "the same with entropy, agreement, divergence": lambda: follow_rows(model, encoded, full=True),
    }
    counts = [len(some), len(encoded), len(encoded)]
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    results: dict[str, list[np.ndarray]] = {}
    with torch.inference_mode():
        peak = measure_peak()
        for _ in range(ROUNDS):
            for (name, task), count in zip(ways.items(), counts, strict=True):
                spent, results[name] = clock(task)
                seconds[name].append(spent / count)
    plain, *others = ways
    passes, states = plan_passes(encoded).passes, len(model.transformer.h) + 1
    weights = sum(weight.numel() for name, weight in model.named_parameters() if ".h." in name)
    head = states * model.lm_head.weight.numel()
    limit = 2.0 * sum(weights * len(one.ids) + head * len(one.wanted) for one in passes) / peak
    print(f"{len(encoded):,} pairs, {sum(len(pair.ids) - 1 for pair in encoded):,} tokens, of which ", end="")
    print(f"{sum(len(one.ids) for one in passes):,} are read; {states} states; ", end="")
    print(f"{model.num_parameters():,} parameters; matrix product {peak / 1e9:.0f} GFLOP/s\n")
    print("| way | pairs/s | ratio | share of limit | ranks equal | probability within |")
    print("|---|---|---|---|---|---|")
    base = statistics.median(seconds[plain])
    print(f"| {plain} | {1 / base:.2f} | 1 | | | |")
    theirs = np.concatenate(results[plain])
    for name in others:
        spent = statistics.median(seconds[name])
        mine = np.concatenate([results[name][place] for place in some])
        same = float((mine[..., 0] == theirs[..., 0]).mean())
        within = float(np.abs(mine[..., 1] - theirs[..., 1]).max())
        share = limit / (spent * len(encoded))
        print(f"| {name} | {1 / spent:.1f} | {base / spent:.0f} | {share:.0%} | {same:.1%} | {within:.1e} |")


def print_rates(model: Any, encoded: Sequence[Encoded]) -> None:
    """Print keywords a second of attribute rates, every k and length from one reading."""
    import torch

    entries = model.lm_head.weight.shape[0]
    random = np.random.default_rng(0)
    content = random.random(entries) < 0.7
    known = np.flatnonzero(content)
    prompts = {str(place): pair.ids[:3] for place, pair in enumerate(encoded[:40])}
    lists = Lists(content, {word: random.permutation(known)[:1200].tolist() for word in prompts})
    settings = Layers(projections=["normed"])

    def sort_all() -> list[list[int]]:
        found = []
        for ids in prompts.values():
            *inner, last = model(torch.tensor([ids]), output_hidden_states=True).hidden_states
            for state in [*(model.transformer.ln_f(one) for one in inner), last]:
                logits = model.lm_head(state)[0]
                order = logits.sort(dim=-1, descending=True, stable=True).indices
                for place in range(order.shape[0]):
                    best = [token for token in order[place].tolist() if content[token]][:100]
                found.append(best)
        return found

    with torch.inference_mode():
        spent, theirs = clock(sort_all)
        quick, mine = clock(lambda: keep_top_tokens(model, prompts, lists, settings, 1024))
    order = {word: place for place, word in enumerate(prompts)}
    rows = sorted(mine.iter_rows(named=True), key=lambda row: (order[row["keyword"]], row["layer"]))
    same = sum(row["tokens"] == best for row, best in zip(rows, theirs, strict=True)) / len(rows)
    print("\n| attribute rates | keywords/s | ratio | top 100 equal |\n|---|---|---|---|")
    print(f"| plain: all positions, full sort | {len(prompts) / spent:.2f} | 1 | |")
    print(f"| kept tokens | {len(prompts) / quick:.1f} | {spent / quick:.0f} | {same:.1%} |")


def measure_memory(model: Any, encoded: Sequence[Encoded], way: str) -> str:
    """Return how many megabytes a way takes over those of the loaded model; Linux only."""
    import torch

    if not Path("/proc/self/clear_refs").exists():
        return "not measured: needs Linux"
    longest = max(encoded, key=lambda pair: len(pair.ids))
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak of loading
    before = read_memory("VmRSS")
    with torch.inference_mode():
        if way == "plain":
            follow_plainly(model, [longest])
        else:
            follow_rows(model, [*encoded[:100], longest])
    return f"{(read_memory('VmHWM') - before) / 1024:.0f}"


if __name__ == "__main__":
    run = ROOT / "results" / "demo"
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=Path, default=run / "machine-learning/benchmark/tf/pairs.jsonl")
    parser.add_argument("--tokenizer", type=Path, default=run / "models" / "gpt2-small" / "tokenizer")
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--entries", type=int, default=50257)
    parser.add_argument("--memory", help="measure the memory of one way only: plain, or rows asked for")
    run_program(parser, main)
