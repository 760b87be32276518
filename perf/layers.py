"""Time target ranks by layer against a baseline and the machine's limit.

Reads the pairs of a finished run (`make demo`). Models have GPT-2's shape and vocabulary, and random weights.
The baseline reads one prompt at a time, projects all layers at all positions and sorts each row. It runs on a
few representative pairs, and its time is scaled to the mean number of positions of all pairs. Runs on one
thread, alternates between the ways, measures memory in separate processes, and prints tables of median
processor times in about five minutes.
"""

import argparse
import statistics
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from perf.turns import DEMO, build_model, clock, measure_growth, measure_peak, name_program, note

from fathom.config.layers import Layers
from fathom.jobs.program import run_program
from fathom.layers.layer_files import TokenLists, collect_top_tokens
from fathom.layers.projection import open_layer_reader, read_hidden_states
from fathom.layers.target_ranks import measure_target_tokens
from fathom.models.folders import load_tokenizer
from fathom.models.tokens import EncodedPair, encode_pairs
from fathom.numerics.matrix_products import prepack_models
from fathom.scoring.pair_files import read_pairs
from fathom.scoring.scored_sequences import plan_sequences

ENTRIES, LAYERS, ROUNDS = 50257, 12, 3


class Case(NamedTuple):
    """A case: width of the model, tokens in a pair, tokens in a target (0: all)."""

    width: int
    tokens: int
    targets: int
    pairs: int
    plain_pairs: int


CASES = (
    Case(128, 0, 0, 400, 4),
    Case(128, 0, 1, 400, 4),
    Case(384, 0, 0, 300, 4),
    Case(384, 0, 1, 300, 4),
    Case(384, 64, 1, 80, 2),
    Case(768, 0, 0, 100, 4),
)
MEMORY_SIZES = ((6, 50257), (24, 50257), (12, 25000), (12, 100000))
MEMORY_TOKENS = 64


def main(arguments: argparse.Namespace) -> None:
    """Measure; print the tables."""
    import torch

    torch.set_num_threads(1)
    encoded = read_encoded(arguments)
    if arguments.memory:
        model = build_model(arguments.entries, arguments.layers, 128)
        follow, count = {"plain": (follow_plainly, 1), "rows asked for": (follow_rows, 100)}[arguments.memory]
        pairs = make_case(encoded, Case(0, MEMORY_TOKENS, 1, 100, 0))[:count]
        with torch.inference_mode():
            print(measure_growth(lambda: follow(model, pairs)))
        return
    print_speed(encoded)
    print_rates(build_model(ENTRIES, LAYERS, 384), encoded)
    print("\n| way | states | vocabulary | memory over the model, MB |\n|---|---|---|---|")
    for way in ("plain", "rows asked for"):
        for layers, entries in MEMORY_SIZES:
            size = ["--layers", layers, "--entries", entries, "--memory", way]
            paths = ["--pairs", arguments.pairs, "--tokenizer", arguments.tokenizer]
            command = name_program(*size, *paths)
            found = subprocess.run(command, capture_output=True, text=True, check=True)
            print(f"| {way} | {layers + 1} | {entries:,} | {found.stdout.strip()} |", flush=True)


def read_encoded(arguments: argparse.Namespace) -> list[EncodedPair]:
    """Return the token ids of a benchmark's pairs."""
    pairs = read_pairs(arguments.pairs)
    tokenizer = load_tokenizer(arguments.tokenizer)
    return encode_pairs(tokenizer, pairs["prompt"].to_list(), pairs["target"].to_list())


def make_case(encoded: Sequence[EncodedPair], case: Case) -> list[EncodedPair]:
    """Return pairs spread over all, lengthened with the text of others and with targets cut, for a case."""
    before = [token for pair in reversed(encoded) for token in pair.ids]
    found = []
    for place, pair in enumerate(encoded[:: max(1, len(encoded) // case.pairs)][: case.pairs]):
        ids = pair.ids[: pair.start + case.targets] if case.targets else pair.ids
        more = max(0, case.tokens - len(ids))
        # a small benchmark has less text than its pairs ask for together: begin again
        added = [before[(place * case.tokens + token) % len(before)] for token in range(more)]
        found.append(pair._replace(ids=[*added, *ids], start=pair.start + more))
    return found


def count_positions(pair: EncodedPair) -> int:
    """Return the number of positions that the baseline reads for a pair: its prompt once per target token."""
    return sum(range(pair.start, len(pair.ids)))


def choose_plain(encoded: Sequence[EncodedPair], count: int) -> list[int]:
    """Return the indices of representative pairs: the middles of equal parts, sorted by positions."""
    order = sorted(range(len(encoded)), key=lambda place: count_positions(encoded[place]))
    return [order[(2 * part + 1) * len(order) // (2 * count)] for part in range(count)]


def follow_plainly(model: Any, encoded: Sequence[EncodedPair]) -> list[np.ndarray]:
    """Return rank and probability of the target tokens of each pair, of shape (n_tokens, n_layers, 2).

    The baseline: one prompt and token at a time; all layers at all positions, each row sorted in full.
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


def follow_rows(model: Any, encoded: Sequence[EncodedPair]) -> list[np.ndarray]:
    """Return the same by the library, which also measures entropy and more."""
    import torch

    plan = plan_sequences(encoded)
    layers = open_layer_reader(model, plan.sequences[0].ids)
    with torch.inference_mode(), prepack_models([model]):
        parts = [
            measure_target_tokens(layers, states, target)[0]
            for states, target in read_hidden_states(layers, plan.sequences, 1024, "sequences")
        ]
    tokens = np.concatenate(parts, axis=1)[..., :2].transpose(1, 0, 2)
    return [tokens[rows] for rows in plan.rows]


HEADER = (
    "width", "pairs", "tokens, median", "target tokens", "plain, pairs/s", "rows asked for, pairs/s", "ratio",
    "share of the limit", "ranks equal", "others within", "probability within",
)  # fmt: skip


def print_speed(encoded: Sequence[EncodedPair]) -> None:
    """Print pairs per second of both ways for each case, their ratio, exactness, and share of the limit."""
    import torch

    peak = measure_peak()
    print(f"{LAYERS + 1} states, {ENTRIES:,} entries; matrix product {peak / 1e9:.0f} GFLOP/s\n")
    print(f"| {' | '.join(HEADER)} |\n|{'---|' * len(HEADER)}", flush=True)
    for case in CASES:
        with torch.inference_mode():
            cells = measure_case(
                build_model(ENTRIES, LAYERS, case.width), make_case(encoded, case), case, peak
            )
        print(f"| {' | '.join(cells)} |", flush=True)


def measure_case(model: Any, pairs: Sequence[EncodedPair], case: Case, peak: float) -> list[str]:
    """Return the cells of one case."""
    some = choose_plain(pairs, case.plain_pairs)
    positions = [count_positions(pair) for pair in pairs]
    seconds: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS):
        spent, theirs = clock(lambda: follow_plainly(model, [pairs[place] for place in some]))
        seconds[0].append(spent / sum(positions[place] for place in some))
        spent, mine = clock(lambda: follow_rows(model, pairs))
        seconds[1].append(spent / len(pairs))
    plain, quick = (statistics.median(each) for each in seconds)
    plain *= statistics.mean(positions)
    one, other = np.concatenate([mine[place] for place in some]), np.concatenate(theirs)
    equal = f"{(one[..., 0] == other[..., 0]).mean():.1%} of {one[..., 0].size}"
    share = f"{find_limit(model, pairs) / peak / len(pairs) / quick:.0%}"
    note(
        describe(case), "all layers and positions, sorted",
        f"{plain / quick:.0f}", ">= 80", plain / quick >= 80, exact=f"ranks equal: {equal}", share=share,
    )  # fmt: skip
    return [
        str(case.width),
        str(len(pairs)),
        f"{statistics.median(len(pair.ids) for pair in pairs):.0f}",
        f"{statistics.mean(len(pair.ids) - pair.start for pair in pairs):.1f}",
        f"{1 / plain:.2f}",
        f"{1 / quick:.1f}",
        f"{plain / quick:.0f}",
        share,
        equal,
        f"{np.abs(one[..., 0] - other[..., 0]).max():.0f}",
        f"{np.abs(one[..., 1] - other[..., 1]).max():.0e}",
    ]


def describe(case: Case) -> str:
    """Return a case in words."""
    cut = [f"{case.tokens} tokens"] * bool(case.tokens) + ["targets of one token"] * bool(case.targets)
    return ", ".join([f"layers, width {case.width}", *cut])


def find_limit(model: Any, pairs: Sequence[EncodedPair]) -> float:
    """Return the operations of the matrix products: blocks at all tokens, output layer at scored ones."""
    sequences = plan_sequences(pairs).sequences
    weights = sum(weight.numel() for name, weight in model.named_parameters() if ".h." in name)
    head = (len(model.transformer.h) + 1) * model.lm_head.weight.numel()
    return 2.0 * sum(weights * len(one.ids) + head * len(one.targets) for one in sequences)


def print_rates(model: Any, encoded: Sequence[EncodedPair]) -> None:
    """Print keywords per second of attribute rates, for every k and list length from one forward pass."""
    import torch

    entries = model.lm_head.weight.shape[0]
    random = np.random.default_rng(0)
    content = random.random(entries) < 0.7
    known = np.flatnonzero(content)
    prompts = {str(place): pair.ids[:3] for place, pair in enumerate(encoded[:40])}
    lists = TokenLists(content, {word: random.permutation(known)[:1200].tolist() for word in prompts})
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
        quick, mine = clock(lambda: collect_top_tokens(model, prompts, lists, settings, 1024))
    order = {word: place for place, word in enumerate(prompts)}
    rows = sorted(mine.iter_rows(named=True), key=lambda row: (order[row["keyword"]], row["layer"]))
    same = sum(row["tokens"] == best for row, best in zip(rows, theirs, strict=True)) / len(rows)
    print("\n| attribute rates | keywords/s | ratio | top 100 equal |\n|---|---|---|---|")
    print(f"| plain: all positions, full sort | {len(prompts) / spent:.2f} | 1 | |")
    print(f"| kept tokens | {len(prompts) / quick:.1f} | {spent / quick:.0f} | {same:.1%} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=Path, default=DEMO / "machine-learning/benchmark/tf/pairs.jsonl")
    parser.add_argument("--tokenizer", type=Path, default=DEMO / "models" / "toy-gpt2" / "tokenizer")
    parser.add_argument("--layers", type=int, default=LAYERS, help="for --memory")
    parser.add_argument("--entries", type=int, default=ENTRIES, help="for --memory")
    parser.add_argument("--memory", help="measure the memory of one way only: plain, or rows asked for")
    run_program(parser, main)
