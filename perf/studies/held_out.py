"""Measure how the search for held-out text in training text grows: time and peak memory by what it reads.

Sentences are joined from halves of synthetic ones, so nearly all are distinct; a document has 400 of them.
Each size runs in its own process. Prints the search's processor time and the process's peak memory.
"""

import argparse
import resource
import subprocess
from collections.abc import Iterator
from itertools import islice
from random import Random

import numpy as np
import polars as pl
from perf.studies.make_dump import FIELDS, choose_words, write_sentences
from perf.turns import clock, name_program

from fathom.benchmark.overlap import find_held_out_overlap
from fathom.jobs.program import run_program

POOL, OF_TEXT = 20_000, 400
SIZES = ((1, 1, 1000), (1, 1, 100_000), (1, 400, 1000), (80, 1, 1000))
"""Held-out documents, training documents, matched sentences."""


def search(held_out: int, training: int, matched: int) -> None:
    """Make texts and sentences, search, print what was read and the seconds of the search."""
    prose = write_sentences(choose_words(), FIELDS[0], Random(0))
    pool = [text.removesuffix(".") for text in islice(prose, POOL)]
    rng = np.random.default_rng(0)
    halves = rng.integers(POOL, size=(matched, 2))
    sentences = sorted({f"{pool[first][:70]} {pool[second][-70:]}" for first, second in halves})
    read = {"held_out": 0, "training": 0}

    def make_texts(count: int, kind: str) -> Iterator[str]:
        for _ in range(count):
            text = ". ".join(pool[number] for number in rng.integers(POOL, size=OF_TEXT))
            read[kind] += len(text)
            yield text

    texts = list(make_texts(held_out, "held_out"))
    documents = pl.DataFrame({"doc_id": [str(number) for number in range(held_out)], "text": texts})
    seconds, _ = clock(
        lambda: find_held_out_overlap(documents, sentences, make_texts(training, "training"), "ending")
    )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    cells = [*(f"{size / 1e6:.2f}" for size in read.values()), f"{len(sentences):,}", f"{seconds:.1f}"]
    print("|", " | ".join([*cells, f"{peak:.0f}"]), "|")


def main(arguments: argparse.Namespace) -> None:
    """Measure each size in its own process, or one in this."""
    if arguments.size:
        search(*arguments.size)
        return
    print(
        "| held-out MB | training MB | matched sentences | CPU s | peak MB |\n|--:|--:|--:|--:|--:|",
        flush=True,
    )
    for size in SIZES:
        subprocess.run(name_program("--size", *size), check=True, stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, nargs=3, help="size of a child process")
    run_program(parser, main)
