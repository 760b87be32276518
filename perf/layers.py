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
from fathom.models.tokens import encode_texts
from fathom.program import run_program
from fathom.scoring.inputs import read_pairs
from fathom.scoring.logits import score_rows
from fathom.scoring.passes import Pass

PLAIN_PROMPTS = 4


def main(arguments: argparse.Namespace) -> None:
    """Measure, print."""
    import torch

    torch.set_num_threads(1)
    model = build_model(arguments.entries, arguments.layers, arguments.width)
    passes = make_passes(arguments)
    if arguments.memory:
        print(measure_memory(model, passes, arguments.memory))
        return
    print_speed(model, passes)
    print_rates(model, passes)
    print("\n| way | layers | vocabulary | memory over the model, MB |\n|---|---|---|---|")
    for way in ("plain", "rows asked for"):
        for layers, entries in ((6, 50257), (24, 50257), (12, 25000), (12, 100000)):
            size = ["--layers", str(layers), "--entries", str(entries), "--memory", way]
            command = [sys.executable, __file__, *size, "--width", str(arguments.width)]
            found = subprocess.run(command, capture_output=True, text=True, check=True)
            print(f"| {way} | {layers + 1} | {entries:,} | {found.stdout.strip()} |", flush=True)


def make_passes(arguments: argparse.Namespace) -> list[Pass]:
    """Return prompts with one wanted token each, longest first."""
    tokenizer = load_tokenizer(arguments.tokenizer)
    pairs = read_pairs(arguments.pairs)
    chosen = pairs[:: max(1, len(pairs) // arguments.prompts)][: arguments.prompts]
    prompts = encode_texts(tokenizer, chosen["prompt"].to_list())
    targets = encode_texts(tokenizer, chosen["target"].to_list())
    found = [
        Pass(tuple(ids), [(len(ids) - 1, target[0])]) for ids, target in zip(prompts, targets, strict=True)
    ]
    return sorted(found, key=lambda one: (-len(one.ids), one.ids))


def follow_plainly(model: Any, passes: Sequence[Pass]) -> np.ndarray:
    """Return rank and probability of each target, all layers at all positions, each row sorted in full."""
    import torch

    norm, head, rows = model.transformer.ln_f, model.lm_head, []
    for one in passes:
        output = model(torch.tensor([one.ids]), output_hidden_states=True)
        *inner, last = output.hidden_states  # the last one is normed already
        logits = torch.stack([head(norm(state[0])) for state in inner] + [head(last[0])])
        order = logits.argsort(dim=-1, descending=True)
        shares = logits.softmax(-1)
        place, target = one.wanted[0]
        rank = 1 + (order[:, place] == target).int().argmax(-1)
        rows.append(torch.stack([rank.double(), shares[:, place, target].double()], dim=1).numpy())
    return np.stack(rows)


def follow_rows(model: Any, passes: Sequence[Pass], full: bool = False) -> np.ndarray:
    """Return the same as the library does it; with `full`, entropy, agreement and divergence too."""
    layers = open_layers(model, passes[0].ids)
    parts = []
    for states, target in read_states(layers, passes, 1024, "prompts"):
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
    return np.concatenate(parts)


def print_speed(model: Any, passes: Sequence[Pass]) -> None:
    """Print prompts a second of each way, as ratios, with exactness and share of the limit."""
    import torch

    some = passes[:: max(1, len(passes) // PLAIN_PROMPTS)][:PLAIN_PROMPTS]
    ways = {
        "plain: all layers, all positions, full sort": lambda: follow_plainly(model, some),
        "rows asked for": lambda: follow_rows(model, passes),
        "the same with entropy, agreement, divergence": lambda: follow_rows(model, passes, full=True),
    }
    counts = [len(some), len(passes), len(passes)]
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    results: dict[str, np.ndarray] = {}
    with torch.inference_mode():
        peak = measure_peak()
        for _ in range(ROUNDS):
            for (name, task), count in zip(ways.items(), counts, strict=True):
                spent, results[name] = clock(task)
                seconds[name].append(spent / count)
    plain, *others = ways
    places = [passes.index(one) for one in some]
    weights = sum(weight.numel() for name, weight in model.named_parameters() if ".h." in name)
    states = len(model.transformer.h) + 1
    tokens = sum(len(one.ids) for one in passes)
    limit = 2.0 * (weights * tokens + states * len(passes) * model.lm_head.weight.numel()) / peak
    print(f"{len(passes):,} prompts, {tokens:,} tokens; {states} states; ", end="")
    print(f"{model.num_parameters():,} parameters; matrix product {peak / 1e9:.0f} GFLOP/s\n")
    print("| way | prompts/s | ratio | share of limit | ranks equal | probability within |")
    print("|---|---|---|---|---|---|")
    base = statistics.median(seconds[plain])
    print(f"| {plain} | {1 / base:.2f} | 1 | | | |")
    for name in others:
        spent = statistics.median(seconds[name])
        mine, theirs = results[name][places], results[plain]
        same = float((mine[..., 0] == theirs[..., 0]).mean())
        within = float(np.abs(mine[..., 1] - theirs[..., 1]).max())
        share = limit / (spent * len(passes))
        print(f"| {name} | {1 / spent:.1f} | {base / spent:.0f} | {share:.0%} | {same:.1%} | {within:.1e} |")


def print_rates(model: Any, passes: Sequence[Pass]) -> None:
    """Print keywords a second of attribute rates, every k and length from one reading."""
    import torch

    entries = model.lm_head.weight.shape[0]
    random = np.random.default_rng(0)
    content = random.random(entries) < 0.7
    known = np.flatnonzero(content)
    prompts = {str(place): one.ids[:3] for place, one in enumerate(passes[:40])}
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


def measure_memory(model: Any, passes: Sequence[Pass], way: str) -> str:
    """Return how many megabytes a way takes over those of the loaded model; Linux only."""
    import torch

    if not Path("/proc/self/clear_refs").exists():
        return "not measured: needs Linux"
    some = passes[:1] if way == "plain" else passes
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak of loading
    before = read_memory("VmRSS")
    with torch.inference_mode():
        if way == "plain":
            follow_plainly(model, some)
        else:
            follow_rows(model, some)
    return f"{(read_memory('VmHWM') - before) / 1024:.0f}"


if __name__ == "__main__":
    run = ROOT / "results" / "demo"
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=Path, default=run / "machine-learning/benchmark/tf/pairs.jsonl")
    parser.add_argument("--tokenizer", type=Path, default=run / "models" / "gpt2-small" / "tokenizer")
    parser.add_argument("--prompts", type=int, default=200)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument("--entries", type=int, default=50257)
    parser.add_argument("--memory", help="measure the memory of one way only: plain, or rows asked for")
    run_program(parser, main)
