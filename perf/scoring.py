"""Measure speed and exactness of scoring against other implementations and the machine's limit.

The others are the papers' way, one token at a time, and lm-evaluation-harness if it is installed. Reads the
pairs and models of a finished run (`make demo`). Speed is measured on a model of GPT-2's shape with random
weights, precision on the run's models. Runs on one thread, alternates between the ways, and prints tables of
median processor times.
"""

import argparse
import importlib.util
import logging
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from perf.turns import DEMO, build_model, clock, measure_growth, measure_peak, name_program, note, take_turns

from fathom.config.scoring import Scoring
from fathom.jobs.program import run_program
from fathom.models.folders import load_tokenizer
from fathom.models.loading import load_model
from fathom.models.tokens import EncodedPair, encode_pairs
from fathom.numerics.matrix_products import BUDGET, prepack_models
from fathom.scoring.batches import open_replica, score_sequences
from fathom.scoring.pair_files import read_pairs
from fathom.scoring.ranks import score_benchmarks
from fathom.scoring.scored_sequences import (
    ScoredSequence,
    ScoringPlan,
    TokenScores,
    join_token_scores,
    plan_sequences,
)

ROUNDS = 3
PLAIN_PAIRS = 60
HARNESS = "lm-evaluation-harness"
HARNESS_PAIRS = 600
HARNESS_BATCHES = (1, 4, 16, 64)  # sequences; the fastest is taken


def main(arguments: argparse.Namespace) -> None:
    """Measure; print the tables."""
    import torch

    torch.set_num_threads(1)
    benchmarks = [read_pairs(path) for path in arguments.pairs]
    tokenizer = load_tokenizer(arguments.tokenizer)
    model = build_model(max(arguments.entries, len(tokenizer)), arguments.layers, arguments.width)
    if arguments.memory:
        settings = Scoring(batch_tokens=arguments.memory)
        print(measure_growth(lambda: score_benchmarks(model, tokenizer, benchmarks, settings)))
        return
    print_speed(model, tokenizer, benchmarks)
    print_exactness(arguments.models, benchmarks)
    print("\n| tokens in a batch | memory over the model, MB |\n|---|---|")
    for size in (512, 1024, 4096, 16384):
        command = name_program(*sys.argv[1:], "--memory", size)
        found = subprocess.run(command, capture_output=True, text=True, check=True)
        print(f"| {size:,} | {found.stdout.strip()} |")
    print_precision(arguments.models, benchmarks)


def score_plainly(model: Any, encoded: Sequence[EncodedPair]) -> list[TokenScores]:
    """Score one prompt and one token at a time [RawCorpora, Sec. 2.6]."""
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
        found.append(TokenScores(*(np.array(column) for column in zip(*rows, strict=True))))
    return found


def score_plan(model: Any, plan: ScoringPlan, batch_tokens: int, budget: int = BUDGET) -> list[TokenScores]:
    """Score the sequences of a plan; return the scores of each pair's tokens."""
    import torch

    with torch.inference_mode(), prepack_models([model], budget):
        replica = open_replica(model, plan.sequences[0].ids, "the model")
        tokens = join_token_scores(list(score_sequences([replica], plan.sequences, batch_tokens, None)))
    return [tokens.pick(rows) for rows in plan.rows]


def plan_apart(encoded: Sequence[EncodedPair]) -> ScoringPlan:
    """Return one pass for each pair, longest first: nothing is shared."""
    order = sorted(range(len(encoded)), key=lambda place: -len(encoded[place].ids))
    sequences, rows, count = [], [list[int]() for _ in encoded], 0
    for place in order:
        pair = encoded[place]
        wanted = [(index - 1, pair.ids[index]) for index in range(pair.start, len(pair.ids))]
        sequences.append(ScoredSequence(tuple(pair.ids[:-1]), wanted))
        rows[place] = list(range(count, count + len(wanted)))
        count += len(wanted)
    return ScoringPlan(sequences, rows)


def count_operations(model: Any, plan: ScoringPlan) -> float:
    """Return the operations of a plan's matrix products: layers at all tokens, output layer at wanted."""
    layers = sum(weight.numel() for name, weight in model.named_parameters() if ".h." in name)
    head = model.get_output_embeddings().weight.numel()
    return 2.0 * sum(layers * len(found.ids) + head * len(found.targets) for found in plan.sequences)


class Harness:
    """The harness's scorer, with its fastest batch size."""

    def __init__(self, model: Any, tokenizer: Any, pairs: pl.DataFrame) -> None:
        from lm_eval.models.huggingface import HFLM

        logging.getLogger("lm_eval").setLevel(logging.ERROR)
        some = pairs[:: max(1, len(pairs) // 64)]
        self.scorers = {
            size: HFLM(pretrained=model, tokenizer=tokenizer, device="cpu", batch_size=size)
            for size in HARNESS_BATCHES
        }
        self.size = min(HARNESS_BATCHES, key=lambda size: clock(lambda: self.score(some, size))[0])

    def score(self, pairs: pl.DataFrame, size: int | None = None) -> list[float]:
        """Return the log-probabilities of whole targets."""
        from lm_eval.api.instance import Instance

        requests = [
            Instance("loglikelihood", {}, arguments, 0)
            for arguments in pairs.select("prompt", "target").iter_rows()
        ]
        found = self.scorers[size or self.size].loglikelihood(requests, disable_tqdm=True)
        return [log_probability for log_probability, _ in found]


def print_speed(model: Any, tokenizer: Any, benchmarks: Sequence[pl.DataFrame]) -> None:
    """Print the pairs per second of each way as ratios, with exactness and share of the limit."""
    import torch

    def encode(pairs: pl.DataFrame) -> list[EncodedPair]:
        return encode_pairs(tokenizer, pairs["prompt"].to_list(), pairs["target"].to_list())

    every = pl.concat([pairs.select("prompt", "target") for pairs in benchmarks])
    encoded = encode(every)
    some, more = (choose(len(encoded), count) for count in (PLAIN_PAIRS, HARNESS_PAIRS))
    ways: dict[str, Callable[[], list[Any]]] = {
        "one prompt and token at a time": lambda: score_plainly(model, [encoded[place] for place in some]),
        "teacher-forced, in batches": lambda: score_plan(model, plan_apart(encode(every)), 1024),
        "shared inside each file": lambda: [
            tokens
            for pairs in benchmarks
            for tokens in score_plan(model, plan_sequences(encode(pairs)), 1024)
        ],
        "the same, nothing packed": lambda: score_plan(model, plan_sequences(encode(every)), 1024, 0),
        "shared over all files": lambda: score_plan(model, plan_sequences(encode(every)), 1024),
    }
    plans = {
        "teacher-forced, in batches": [plan_apart(encoded)],
        "shared inside each file": [plan_sequences(encode(pairs)) for pairs in benchmarks],
        "the same, nothing packed": [plan_sequences(encoded)],
        "shared over all files": [plan_sequences(encoded)],
    }
    with torch.inference_mode():
        if importlib.util.find_spec("lm_eval"):
            harness = Harness(model, tokenizer, every)
            ways[HARNESS] = lambda: harness.score(every[more])
        peak = measure_peak()
        seconds, results = take_turns(ways, ROUNDS)
    seconds = {name: spent / len(results[name]) for name, spent in seconds.items()}
    print(f"{len(encoded):,} pairs, {sum(len(pair.ids) - 1 for pair in encoded):,} tokens; ", end="")
    print(f"{model.num_parameters():,} parameters; matrix product {peak / 1e9:.0f} GFLOP/s\n")
    limits = {
        name: sum(count_operations(model, plan) for plan in some) / peak / len(encoded)
        for name, some in plans.items()
    }
    print_ways(seconds, plans, limits)
    plain, every_file = next(iter(ways)), "shared over all files"
    note_speed(results, seconds, limits, HARNESS in ways)
    print_harness(results, more, harness.size if HARNESS in ways else None)
    print("\n| against the plain way | ranks equal | up to 1,000 | others within | log-probability within |")
    print("|---|---|---|---|---|")
    for name in plans:
        print(f"| {name} | {compare([results[name][place] for place in some], results[plain])} |")
    apart, shared = results["teacher-forced, in batches"], results[every_file]
    print(f"| shared, against in batches | {compare(shared, apart)} |")


def print_ways(seconds: dict[str, float], plans: dict[str, list[Any]], limits: dict[str, float]) -> None:
    """Print the pairs per second of each way, over those of the first and of the harness."""
    print("| way | tokens read | pairs/s | over plain | over the harness | share of limit |")
    print("|---|---|---|---|---|---|")
    plain = next(iter(seconds))
    for name, spent in seconds.items():
        read = sum(len(found.ids) for plan in plans.get(name, []) for found in plan.sequences)
        over = f"{seconds[HARNESS] / spent:.1f}" if HARNESS in seconds else ""
        share = f"{limits[name] / spent:.0%}" if name in limits else ""
        print(f"| {name} | {f'{read:,}' if read else ''} | {1 / spent:.1f} | ", end="")
        print(f"{seconds[plain] / spent:.1f} | {over} | {share} |")


def note_speed(
    results: dict[str, list[Any]], seconds: dict[str, float], limits: dict[str, float], harness: bool
) -> None:
    """Note the speed against each peer, and its share of the limit."""
    plain, apart, every = (
        "one prompt and token at a time", "teacher-forced, in batches", "shared over all files"
    )  # fmt: skip
    some = choose(len(results[every]), PLAIN_PAIRS)
    mine = join_token_scores([results[every][place] for place in some])
    theirs = join_token_scores(results[plain])
    within = float(np.abs(mine.log_probability - theirs.log_probability).max())
    near = theirs.rank <= 1000
    same = bool((mine.rank == theirs.rank)[near].all())
    exact = f"log-probability within {within:.0e}, ranks to 1,000 {'equal' if same else 'NOT equal'}"
    ratio = seconds[plain] / seconds[every]
    note(
        "rank and probability", plain, f"{ratio:.0f}", ">= 10, within 1e-4",
        ratio >= 10 and within <= 1e-4 and same, exact=exact, share=f"{limits[every] / seconds[every]:.0%}",
    )  # fmt: skip
    # these pairs' operations without sharing, over those with it: no way of sharing gains more
    ratio, most = seconds[apart] / seconds[every], limits[apart] / limits[every]
    note(
        "pairs that share a prefix", "the same without sharing", f"{ratio:.2f} of {most:.2f}", ">= 2",
        ratio >= 2, share=f"{ratio / most:.0%}",
    )  # fmt: skip
    if harness:
        ratio = seconds[HARNESS] / seconds[every]
        note("rank and probability", HARNESS, f"{ratio:.1f}", ">= 2.5", ratio >= 2.5)
    else:
        note("rank and probability", HARNESS, "not run: not installed", ">= 2.5", None)


def print_exactness(folders: Sequence[Path], benchmarks: Sequence[pl.DataFrame]) -> None:
    """Print how far scores are from the baseline's for the run's models, whose ranks are not random."""
    import torch

    every = pl.concat([pairs.select("prompt", "target") for pairs in benchmarks])
    some = choose(len(every), 5 * PLAIN_PAIRS)
    for folder in folders:
        model, tokenizer = load_model(folder / "model.json")
        encoded = encode_pairs(tokenizer, every["prompt"].to_list(), every["target"].to_list())
        with torch.inference_mode():
            plain = score_plainly(model, [encoded[place] for place in some])
            found = score_plan(model, plan_sequences(encoded), 1024)
        print(f"| {folder.name}, shared | {compare([found[place] for place in some], plain)} |")


def choose(count: int, wanted: int) -> list[int]:
    """Return evenly spaced indices."""
    return list(range(0, count, max(1, count // wanted)))[:wanted]


def print_harness(results: dict[str, list[Any]], places: list[int], size: int | None) -> None:
    """Print how far the harness's log-probabilities differ from ours."""
    if size is None:
        print(f"\n{HARNESS}: not run, it is not installed (pip install .[harness])")
        return
    ours = [float(results["shared over all files"][place].log_probability.sum()) for place in places]
    far = np.abs(np.array(ours) - np.array(results[HARNESS]))
    print(f"\n{HARNESS}: {len(places)} pairs, {size} in a batch, its fastest of {HARNESS_BATCHES}; ", end="")
    print(f"whole targets' log-probabilities within {far.max():.1e}, {(far > 1e-4).sum()} of them over 1e-4")


def compare(found: Sequence[TokenScores], plain: Sequence[TokenScores]) -> str:
    """Return the shares of equal ranks, and the largest deviations of others and of log-probabilities."""
    mine, theirs = join_token_scores(list(found)), join_token_scores(list(plain))
    same, near = mine.rank == theirs.rank, theirs.rank <= 1000
    far = float(np.abs(mine.rank / theirs.rank - 1).max())
    within = float(np.abs(mine.log_probability - theirs.log_probability).max())
    top = f"{same[near].mean():.1%} of {near.sum()}" if near.any() else "none"
    return f"{same.mean():.1%} of {len(same)} | {top} | {far:.3%} | {within:.1e}"


def print_precision(folders: Sequence[Path], benchmarks: Sequence[pl.DataFrame]) -> None:
    """Print how far other dtypes deviate from float32, for the models of a run."""
    from fathom.statistics.aggregates import TRIMMED_MEAN, measure_values

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
                abs(measure_values(one, TRIMMED_MEAN, 0.2) / measure_values(other, TRIMMED_MEAN, 0.2) - 1)
                for one, other in zip(found, reference, strict=True)
            )
            changed = [(mine != theirs).mean(), (mine[near] != theirs[near]).mean()]
            print(f"| {folder.name} | {dtype} | {changed[0]:.1%} | {changed[1]:.1%} | {change:.2%} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--pairs", type=Path, nargs="+", default=sorted(DEMO.glob("*/benchmark/*/pairs.jsonl"))
    )
    parser.add_argument("--tokenizer", type=Path, default=DEMO / "models" / "toy-gpt2" / "tokenizer")
    parser.add_argument(
        "--models",
        type=Path,
        nargs="*",
        default=[DEMO / "models" / name for name in ("toy-gpt2", "toy-llama")],
    )
    parser.add_argument("--entries", type=int, default=50257, help="of the vocabulary, as GPT-2 has")
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--memory", type=int, help="measure the memory of batches of so many tokens only")
    run_program(parser, main)
