"""Time the search for phrases against gensim, and check that phrases are identical.

Uses the abstracts of a finished run. Runs on one thread, alternates between the ways, and prints a table of
median processor times.
"""

import argparse
import sys
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
from turns import ROOT, measure_memory, print_table, take_turns

from fathom.benchmark.normalise import Run, split_into_runs
from fathom.benchmark.phrases import MAX_WORDS, find_candidates
from fathom.config.benchmark import Keywords
from fathom.running.program import run_program


def join_with_gensim(runs: list[Run], settings: Keywords) -> list[str]:
    """Join words with gensim's Phrases, pass after pass; return the phrases."""
    from gensim.models.phrases import Phrases

    found: set[str] = set()
    for _ in range(settings.passes):
        model = Phrases(runs, min_count=settings.min_count, threshold=settings.threshold, delimiter=" ")
        runs = [model[run] for run in runs]
        found |= {token for run in runs for token in run if " " in token}
    return sorted(phrase for phrase in found if phrase.count(" ") < MAX_WORDS)


def join_ours(runs: list[Run], settings: Keywords) -> list[str]:
    """Join words as the workflow does; return the phrases."""
    return find_candidates(runs, settings).phrases


def read_runs(run: Path, abstracts: int) -> list[Run]:
    """Return the normalised abstracts of a finished run, in its order."""
    texts = pl.read_parquet(run / "corpus" / "index.parquet", columns=["abstract"])["abstract"]
    return [words for text in texts.head(abstracts) for words in split_into_runs(text)]


def main(arguments: argparse.Namespace) -> None:
    """Measure; print the tables."""
    runs, settings = read_runs(arguments.run, arguments.abstracts), Keywords()
    joiners = {"gensim": join_with_gensim, "ours": join_ours}
    if arguments.alone:
        joiners.get(arguments.alone, lambda *_: None)(runs, settings)
        return
    ways = {name: partial(join, runs, settings) for name, join in joiners.items()}
    words = sorted({word for words in runs for word in words})
    numbers = np.random.default_rng(0).integers(len(words) ** 2, size=sum(map(len, runs)))
    ways["sorting as many pairs (the limit)"] = lambda: [np.sort(numbers) for _ in range(settings.passes)]
    seconds, found = take_turns(ways, arguments.rounds)
    tokens = settings.passes * sum(map(len, runs))
    rows = []
    for name, spent in seconds.items():
        exact = (
            ""
            if name not in joiners or name == "gensim"
            else "same"
            if found[name] == found["gensim"]
            else "NOT the same"
        )
        limit = f"{seconds['sorting as many pairs (the limit)'] / spent:.0%}"
        rows.append([name, f"{tokens / spent / 1e6:.1f}", f"{seconds['gensim'] / spent:.1f}", limit, exact])
    print(f"{tokens // settings.passes:,} tokens, {settings.passes} passes, {len(found['ours']):,} phrases\n")
    print_table(["way", "million tokens/s and pass", "ratio", "share of limit", "phrases"], rows)
    memory = {name: measure_memory(*sys.argv[1:], "--alone", name) for name in ("nothing", *joiners)}
    added = [f"{name} {memory[name] - memory['nothing']} MB" for name in joiners]
    print(f"\nMemory over that of the text ({memory['nothing']} MB): {', '.join(added)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=Path, default=ROOT / "results" / "demo", help="run with the abstracts")
    parser.add_argument("--abstracts", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--alone", choices=["nothing", "gensim", "ours"], help="one way only, to measure memory"
    )
    run_program(parser, main)
