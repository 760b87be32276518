"""Time the search for phrases, and its memory, as a corpus grows.

The text is the abstracts of a finished run, repeated. From the second copy on, every fifth word that is not
frequent gets another ending and half of the runs begin elsewhere, so that distinct words and pairs go on
growing. Each size runs in a process of its own. Prints a table.
"""

import argparse
from collections import Counter
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from random import Random

import polars as pl
from perf.turns import DEMO, name_program, note, print_table, run_alone

from fathom.benchmark.normalise import split_into_runs
from fathom.benchmark.phrases import Run, find_candidates
from fathom.config.benchmark import Keywords
from fathom.jobs.program import run_program

_FREQUENT = 3000


def make_runs(run: Path, words: int) -> Iterator[Run]:
    """Yield runs of so many words in all."""
    texts = pl.read_parquet(run / "corpus" / "index.parquet", columns=["abstract"])["abstract"]
    runs = [words for text in texts for words in split_into_runs(text)]
    frequent = {word for word, _ in Counter(word for run in runs for word in run).most_common(_FREQUENT)}
    known: dict[str, str] = {}
    chance = Random(0)
    for copy in count():
        for each in runs:
            if words <= 0:
                return
            words -= len(each)
            changed = [word if not copy or word in frequent else _change(word, copy, chance) for word in each]
            start = chance.randrange(len(each)) if copy and chance.random() < 0.5 else 0
            yield [known.setdefault(word, word) for word in changed[start:] + changed[:start]]


def _change(word: str, copy: int, chance: Random) -> str:
    return word if chance.random() > 0.2 else f"{word}{copy}{chr(97 + chance.randrange(26))}"


def measure(arguments: argparse.Namespace, words: int, alone: bool) -> tuple[float, float]:
    """Return processor seconds and peak megabytes of a process that makes the text, and searches it."""
    task = "text" if alone else "phrases"
    return run_alone(name_program("--run", arguments.run, "--words", words, "--task", task))


def main(arguments: argparse.Namespace) -> None:
    """Measure, print."""
    if arguments.task:
        runs = list(make_runs(arguments.run, arguments.words[0]))
        if arguments.task == "phrases":
            find_candidates(runs, Keywords())
        return
    rows = []
    for words in arguments.words:
        text, whole = (measure(arguments, words, alone) for alone in (True, False))
        rows.append([f"{words:,}", f"{whole[0] - text[0]:.0f}", f"{text[1]:,.0f}", f"{whole[1]:,.0f}"])
    seconds = "; ".join(f"{row[1]} s for {row[0]} words" for row in rows)
    note("phrases", "gensim's own, never pruned", seconds, "", None, exact="it is gensim's")
    print_table(["words", "processor seconds", "MB of the text alone", "peak MB"], rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=Path, default=DEMO, help="run whose abstracts are used")
    parser.add_argument("--words", type=int, nargs="+", default=[100_000, 1_000_000], help="sizes to measure")
    parser.add_argument("--task", choices=["text", "phrases"], help="do one task, for its time and memory")
    run_program(parser, main)
