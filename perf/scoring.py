"""How fast pairs are scored, against the plain way and the machine's limit, and how exact (spec 8).

Reads the pairs and models of a finished run (`make demo`). Speed is measured on a model of GPT-2's shape with
random weights, precision on the run's own models. All on one thread, alternatives in turn, medians of
processor time. Prints tables.
"""

import argparse
import gc
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from fathom.config.scoring import Scoring
from fathom.models.loading import load_model, load_tokenizer
from fathom.models.tokens import Encoded, encode_pairs
from fathom.program import run_program
from fathom.scoring.inputs import read_pairs
from fathom.scoring.logits import choose_projection
from fathom.scoring.partial import Tokens, join_tokens
from fathom.scoring.passes import Pass, Plan, plan_passes
from fathom.scoring.ranks import score_benchmarks, score_passes

ROOT = Path(__file__).resolve().parents[1]
ROUNDS = 3
PLAIN_PAIRS = 60


def main(arguments: argparse.Namespace) -> None:
    """Measure, print."""
    import torch

    torch.set_num_threads(1)
    benchmarks = [read_pairs(path) for path in arguments.pairs]
    tokenizer = load_tokenizer(arguments.tokenizer)
    model = build_model(len(tokenizer), arguments.layers, arguments.width)
    if arguments.memory:
        print(measure_memory(model, tokenizer, benchmarks, arguments.memory))
        return
    print_speed(model, tokenizer, benchmarks)
    print("\n| tokens in a batch | memory over the model, MB |\n|---|---|")
    for size in (512, 1024, 4096, 16384):
        command = [sys.executable, __file__, *sys.argv[1:], "--memory", str(size)]
        found = subprocess.run(command, capture_output=True, text=True, check=True)
        print(f"| {size:,} | {found.stdout.strip()} |")
    print_precision(arguments.models, benchmarks)


def build_model(entries: int, layers: int, width: int) -> Any:
    """Return a model of GPT-2's shape with random weights."""
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(0)
    config = GPT2Config(vocab_size=entries, n_embd=width, n_layer=layers, n_head=width // 64)
    return GPT2LMHeadModel(config).eval()


def score_plainly(model: Any, encoded: Sequence[Encoded]) -> list[Tokens]:
    """Score one prompt and one token at a time, as the paper does."""
    import torch

    found = []
    for pair in encoded:
        rows = []
        for place in range(pair.start, len(pair.ids)):
            logits = model(torch.tensor([pair.ids[:place]])).logits[0, -1]
            own = logits[pair.ids[place]]
            rows.append(
                (1 + int((logits > own).sum()), 0, float(logits.double().log_softmax(0)[pair.ids[place]]))
            )
        found.append(Tokens(*(np.array(column) for column in zip(*rows, strict=True))))
    return found


def score_plan(model: Any, plan: Plan, batch_tokens: int) -> list[Tokens]:
    """Score the passes of a plan; return the scores of each pair's tokens."""
    project = choose_projection(model, plan.passes[0].ids, "the model")
    tokens = join_tokens(list(score_passes(model, project, plan.passes, batch_tokens, None)))
    return [tokens.pick(rows) for rows in plan.rows]


def plan_apart(encoded: Sequence[Encoded]) -> Plan:
    """Return one pass for each pair, longest first: nothing is shared."""
    order = sorted(range(len(encoded)), key=lambda place: -len(encoded[place].ids))
    passes, rows, count = [], [list[int]() for _ in encoded], 0
    for place in order:
        pair = encoded[place]
        wanted = [(index - 1, pair.ids[index]) for index in range(pair.start, len(pair.ids))]
        passes.append(Pass(tuple(pair.ids[:-1]), wanted))
        rows[place] = list(range(count, count + len(wanted)))
        count += len(wanted)
    return Plan(passes, rows)


def measure_peak() -> float:
    """Return the float32 operations a second of a large matrix product."""
    import torch

    left, right = torch.randn(2048, 2048), torch.randn(2048, 2048)
    return 2 * 2048**3 / statistics.median(clock(lambda: left @ right)[0] for _ in range(5))


def clock(task: Callable[[], Any]) -> tuple[float, Any]:
    """Return the seconds of processor time that a task takes, and what it returns."""
    start = time.process_time()
    found = task()
    return time.process_time() - start, found


def count_operations(model: Any, plan: Plan) -> float:
    """Return the operations of a plan's matrix products: layers at all tokens, output layer at wanted."""
    layers = sum(weight.numel() for name, weight in model.named_parameters() if ".h." in name)
    head = model.get_output_embeddings().weight.numel()
    return 2.0 * sum(layers * len(found.ids) + head * len(found.wanted) for found in plan.passes)


def print_speed(model: Any, tokenizer: Any, benchmarks: Sequence[pl.DataFrame]) -> None:
    """Print pairs a second of each way, as ratios, with exactness and share of the limit."""
    import torch

    def encode(pairs: pl.DataFrame) -> list[Encoded]:
        return encode_pairs(tokenizer, pairs["prompt"].to_list(), pairs["target"].to_list())

    every = pl.concat([pairs.select("prompt", "target") for pairs in benchmarks])
    encoded = encode(every)
    some = list(range(0, len(encoded), max(1, len(encoded) // PLAIN_PAIRS)))[:PLAIN_PAIRS]
    ways: dict[str, Callable[[], list[Tokens]]] = {
        "one prompt and token at a time": lambda: score_plainly(model, [encoded[place] for place in some]),
        "teacher-forced, in batches": lambda: score_plan(model, plan_apart(encode(every)), 1024),
        "shared inside each file": lambda: [
            tokens for pairs in benchmarks for tokens in score_plan(model, plan_passes(encode(pairs)), 1024)
        ],
        "shared over all files": lambda: score_plan(model, plan_passes(encode(every)), 1024),
    }
    plans = {
        "teacher-forced, in batches": [plan_apart(encoded)],
        "shared inside each file": [plan_passes(encode(pairs)) for pairs in benchmarks],
        "shared over all files": [plan_passes(encoded)],
    }
    with torch.inference_mode():
        peak = measure_peak()
        seconds: dict[str, list[float]] = {name: [] for name in ways}
        results: dict[str, list[Tokens]] = {}
        for _ in range(ROUNDS):
            for name, task in ways.items():
                spent, results[name] = clock(task)
                seconds[name].append(spent / len(results[name]))
    plain, *others = ways
    base = statistics.median(seconds[plain])
    print(f"{len(encoded):,} pairs, {sum(len(pair.ids) - 1 for pair in encoded):,} tokens; ", end="")
    print(f"{model.num_parameters():,} parameters; matrix product {peak / 1e9:.0f} GFLOP/s\n")
    print("| way | tokens read | pairs/s | ratio | share of limit | ranks equal | others within | ", end="")
    print("log-probability within |")
    print("|---|---|---|---|---|---|---|---|")
    print(f"| {plain} | | {1 / base:.1f} | 1 | | | | |")
    for name in others:
        spent = statistics.median(seconds[name])
        read = sum(len(found.ids) for plan in plans[name] for found in plan.passes)
        limit = sum(count_operations(model, plan) for plan in plans[name]) / peak / (spent * len(encoded))
        same, far, within = compare([results[name][place] for place in some], results[plain])
        print(f"| {name} | {read:,} | {1 / spent:.1f} | {base / spent:.1f} | {limit:.0%} | ", end="")
        print(f"{same:.1%} | {far:.3%} | {within:.1e} |")
    print("\nlm-evaluation-harness: not run, it is not among the locked requirements")


def compare(found: Sequence[Tokens], plain: Sequence[Tokens]) -> tuple[float, float, float]:
    """Return the share of equal ranks, how far others are off at most, and the same for log-probabilities."""
    mine, theirs = join_tokens(list(found)), join_tokens(list(plain))
    same = float((mine.rank == theirs.rank).mean())
    far = float(np.abs(mine.rank / theirs.rank - 1).max())
    return same, far, float(np.abs(mine.log_probability - theirs.log_probability).max())


def measure_memory(model: Any, tokenizer: Any, benchmarks: Sequence[pl.DataFrame], size: int) -> str:
    """Return how many megabytes scoring takes over those of the loaded model; Linux only."""
    if not Path("/proc/self/clear_refs").exists():
        return "not measured: needs Linux"
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak of loading
    before = read_memory("VmRSS")
    score_benchmarks(model, tokenizer, benchmarks, Scoring(batch_tokens=size))
    return f"{(read_memory('VmHWM') - before) / 1024:.0f}"


def read_memory(field: str) -> int:
    """Return a field of this process's status in kilobytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field))


def print_precision(folders: Sequence[Path], benchmarks: Sequence[pl.DataFrame]) -> None:
    """Print how far other number types are from float32, for models of a run."""
    from scipy.stats import trim_mean

    print("\n| model | number type | ranks changed | ranks <= 10 changed | trimmed mean, largest change |")
    print("|---|---|---|---|---|")
    for folder in folders:
        reference = None
        for dtype in ("float32", "bfloat16", "float16"):
            model, tokenizer = load_model(folder / "model.json", dtype)
            found = [
                scores["rank"].to_numpy()
                for scores in score_benchmarks(model, tokenizer, benchmarks, Scoring())
            ]
            if reference is None:
                reference = found
                continue
            mine, theirs = np.concatenate(found), np.concatenate(reference)
            near = theirs <= 10
            change = max(
                abs(trim_mean(one, 0.2) / trim_mean(other, 0.2) - 1)
                for one, other in zip(found, reference, strict=True)
            )
            changed = [(mine != theirs).mean(), (mine[near] != theirs[near]).mean()]
            print(f"| {folder.name} | {dtype} | {changed[0]:.1%} | {changed[1]:.1%} | {change:.2%} |")


if __name__ == "__main__":
    run = ROOT / "results" / "demo"
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--pairs", type=Path, nargs="+", default=sorted(run.glob("*/benchmark/*/pairs.jsonl"))
    )
    parser.add_argument("--tokenizer", type=Path, default=run / "models" / "gpt2-small" / "tokenizer")
    parser.add_argument(
        "--models",
        type=Path,
        nargs="*",
        default=[run / "models" / name for name in ("gpt2-small", "llama-small")],
    )
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--memory", type=int, help="measure the memory of batches of so many tokens only")
    run_program(parser, main)
