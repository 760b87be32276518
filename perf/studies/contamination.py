"""Time the search for contaminated pairs against a plain set of 13-grams, on the texts of a run.

The peer puts every 13 words in a row of the pairs, as text, into a set, and looks up those of each document:
the usual check, which finds no edited copies. Runs on one thread. Both must find the same exact matches.
"""

import argparse
import re
from collections.abc import Sequence
from pathlib import Path

import polars as pl
from perf.turns import clock, print_table

from fathom.benchmark.contamination import EXACT, FEWEST, find_contamination, flag_contamination
from fathom.io.contracts.benchmark import PAIRS
from fathom.io.tables import read_table
from fathom.jobs.program import run_program

_WORD = re.compile(r"[^\W_]+")


def search_plainly(sentences: Sequence[str], texts: Sequence[str]) -> list[bool]:
    """Return which sentences share 13 words in a row with a text; shorter ones all their words."""
    owners: dict[tuple[str, ...], set[int]] = {}
    for number, sentence in enumerate(sentences):
        words = _WORD.findall(sentence.lower())
        size = min(EXACT, len(words))
        for start in range(len(words) - size + 1 if size >= FEWEST else 0):
            owners.setdefault(tuple(words[start : start + size]), set()).add(number)
    sizes = sorted({len(words) for words in owners})
    found = [False] * len(sentences)
    for text in texts:
        words = _WORD.findall(text.lower())
        for size in sizes:
            for start in range(len(words) - size + 1):
                for number in owners.get(tuple(words[start : start + size]), ()):
                    found[number] = True
    return found


def main(arguments: argparse.Namespace) -> None:
    """Read pairs and texts, look for the pairs in two ways, print seconds and speed."""
    pairs = read_table(arguments.pairs, PAIRS, ["pair_id", "prompt", "target"])
    texts = [text for path in arguments.texts for text in pl.read_parquet(path, columns=["text"])["text"]]
    megabytes = sum(len(text.encode()) for text in texts) / 1e6
    ours, table = clock(lambda: find_contamination(pairs, ((text, "") for text in texts)))
    sentences = [prompt + target for prompt, target in pairs.select("prompt", "target").iter_rows()]
    theirs, plain = clock(lambda: search_plainly(sentences, texts))
    assert plain == (table["exact"] > 0).to_list(), "exact matches differ"
    either = str(len(flag_contamination(table)))
    print_table(
        ["what", "seconds", "MB a second", "pairs found"],
        [
            [
                "exact and near",
                f"{ours:.1f}",
                f"{megabytes / ours:.2f}",
                either,
            ],
            ["set of 13-grams", f"{theirs:.1f}", f"{megabytes / theirs:.2f}", str(sum(plain))],
        ],
    )
    print(
        f"{theirs / ours:.1f} times as fast: {len(texts):,} texts of {megabytes:.0f} MB, {len(pairs):,} pairs"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=Path, required=True, help="pairs.parquet of a benchmark")
    parser.add_argument(
        "--texts", type=Path, nargs="+", required=True, help="parquet files with a column text"
    )
    run_program(parser, main)
