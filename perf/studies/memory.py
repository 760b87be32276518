"""Measure the memory of steps that see a whole corpus or domain, against baselines with everything in memory.

Matches: 300 keywords in 20 parts, the largest with 4 % of the matches, as in real domains; tasks are
gathering, its baseline, vocabulary and pairs. Index: documents in 20 parts with abstracts of 1 kB; tasks are
the index in buckets and its baseline. Each task runs in its own process. Prints processor time and peak
memory by size, and fails if a step and its baseline give different tables.
"""

import argparse
import re
import subprocess
import tempfile
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import polars as pl
from perf.studies.make_dump import FIELDS, choose_words, write_sentences
from perf.turns import name_program, run_alone

from fathom.benchmark.gathered_matches import GROUP, gather_matches
from fathom.corpus.index import build_index
from fathom.io.contracts.benchmark import CANDIDATES, MATCHES
from fathom.io.contracts.corpus import DOCUMENTS, INDEX
from fathom.io.files import hash_text
from fathom.io.row_groups import scan_groups, scan_smallest_first
from fathom.io.tables import read_table, write_table, write_table_in_batches
from fathom.jobs.program import run_program

KEYWORDS, PARTS, POOL = 300, 20, 50_000
COLUMNS = MATCHES.names
TASKS = {
    "matches": {
        "imports": "nothing but imports", "gather-plainly": "gathering, all in memory",
        "gather": "gathering by keyword", "vocabulary": "TF-IDF vocabulary", "pairs": "pairs",
    },
    "documents": {
        "imports": "nothing but imports", "index-plainly": "index, all in memory",
        "index": "index in buckets",
    },
}  # fmt: skip
"""Tasks in order, by input."""
SAME = {"matches": ("gather-plainly", "gather", MATCHES), "documents": ("index-plainly", "index", INDEX)}


class HashEncoder:
    """Unit vectors from a hash of the text; replaces the model, whose memory does not grow with matches."""

    def encode(self, sentences: list[str]) -> np.ndarray:
        """Return unit vectors, of shape (n_sentences, 2)."""
        angles = np.array([int(hash_text(text)[:8], 16) / 2**32 for text in sentences])
        return np.stack([np.cos(angles), np.sin(angles)], axis=1)

    encode_exactly = encode


def main(arguments: argparse.Namespace) -> None:
    """Make tables, run each task on them in its own process, print the measurements."""
    if arguments.task:
        run_task(arguments.task, arguments.folder)
        return
    print("| rows | task | CPU s | peak MB |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        for what, sizes in (("matches", arguments.matches), ("documents", arguments.documents)):
            for size in sizes:
                measure_tasks(what, size, Path(name, what, str(size)))


def measure_tasks(what: str, size: int, folder: Path) -> None:
    """Make tables of one size, and print a row per task."""
    for task in (f"make-{what}", *TASKS[what], f"compare-{what}"):
        seconds, peak = run_alone(name_program("--task", task, "--folder", folder), stderr=subprocess.DEVNULL)
        if task in TASKS[what]:
            print(f"| {size:,} {what} | {TASKS[what][task]} | {seconds:.1f} | {peak:,.0f} |", flush=True)


def run_task(task: str, folder: Path) -> None:
    """Run one task; the folder's name is its size."""
    parts = sorted(folder.glob("part-*.parquet"))
    output = folder / f"{task}.parquet"
    if task == "make-matches":
        make_matches(folder, int(folder.name))
    elif task == "make-documents":
        make_documents(folder, int(folder.name))
    elif task == "gather-plainly":
        gather_plainly(parts, output)
    elif task == "gather":
        with write_table_in_batches(output, MATCHES) as writer:
            gather_matches(parts, [], lambda _, rows: rows.drop("uncertain"), writer.write)
    elif task == "vocabulary":
        make_vocabulary(folder)
    elif task == "pairs":
        make_all_pairs(folder)
    elif task == "index-plainly":
        index_plainly(parts, output)
    elif task == "index":
        build_index(parts, output)
    elif task.startswith("compare-"):
        plain, own, contract = SAME[task.removeprefix("compare-")]
        tables = [read_table(folder / f"{name}.parquet", contract) for name in (plain, own)]
        if not tables[0].equals(tables[1]):
            raise RuntimeError(f"{plain} and {own} differ")


def make_matches(folder: Path, size: int) -> None:
    """Write the matches of all parts, each sorted by keyword."""
    words = choose_words()
    rng = np.random.default_rng(0)
    prose = write_sentences(words, FIELDS[0], Random(0))
    pool = np.array([sentence.removesuffix(".") for sentence in islice(prose, POOL)], dtype=object)
    keywords = np.array(sorted(words.terms[FIELDS[0]][:KEYWORDS]), dtype=object)
    weights = 1 / (np.arange(KEYWORDS) + 7)
    count = size // PARTS
    for part in range(PARTS):
        drawn = rng.choice(KEYWORDS, size=count, p=weights / weights.sum())
        first, second = rng.integers(POOL, size=(2, count))
        frame = pl.DataFrame(
            {
                "keyword": keywords[drawn],
                "doc_id": [f"{part:02d}.{row // 20:07d}" for row in range(count)],
                "position": np.arange(count, dtype=np.int32),
                # joins the halves of two sentences, so few are equal
                "clean": [f"{pool[a][:70]} {pool[b][-70:]}" for a, b in zip(first, second, strict=True)],
                "cosine": np.round(0.5 + 0.4 * rng.random(count), 3),
                "uncertain": "",
            }
        )
        write_table(folder / f"part-{part:02d}.parquet", frame.sort(COLUMNS[:3]), CANDIDATES, GROUP)


def make_documents(folder: Path, size: int) -> None:
    """Write documents without text in row groups of 5,000; one document in a hundred is in two parts."""
    prose = write_sentences(choose_words(), FIELDS[0], Random(0))
    pool = [" ".join(islice(prose, 8)) for _ in range(5000)]
    for part in range(PARTS):
        numbers = np.arange(part, size, PARTS)
        numbers = np.concatenate([numbers, (numbers[::100] + 1) % size])
        rows = pl.DataFrame(
            {
                "doc_id": [f"{number % 9000 + 1000}.{number // 9000:05d}" for number in numbers],
                "title": [pool[number % 4999][:80] for number in numbers],
                "abstract": [pool[number % 5000] for number in numbers],
                "categories": [[FIELDS[0]]] * len(numbers),
                "date": ["2020-01-01"] * len(numbers),
                "domains": [[FIELDS[0]]] * len(numbers),
                "split": ["benchmark"] * len(numbers),
                "text": [""] * len(numbers),
                "text_hash": [hash_text("")] * len(numbers),
                "characters": [0] * len(numbers),
            }
        )
        write_table(folder / f"part-{part:02d}.parquet", rows, DOCUMENTS, 5000)


def index_plainly(parts: list[Path], output: Path) -> None:
    """Make the index with everything in memory."""
    names = INDEX.names
    columns = [name for name in names if name != "part"]
    frames = [
        read_table(path, DOCUMENTS, columns).with_columns(part=pl.lit(path.name.removesuffix(".parquet")))
        for path in parts
    ]
    order = ["doc_id", "characters", "text_hash", "title", "abstract", "date", "part"]
    rows = pl.concat(frames).sort(order, descending=[False] + [True] * 5 + [False])
    write_table(output, rows.unique("doc_id", keep="first", maintain_order=True).select(names), INDEX)


def gather_plainly(parts: list[Path], output: Path) -> None:
    """Gather with everything in memory."""
    every = pl.concat([read_table(path, CANDIDATES, COLUMNS) for path in parts])
    falling = [False, False, True, False, False]
    best = every.sort("keyword", "clean", "cosine", "doc_id", "position", descending=falling)
    kept = best.unique(["keyword", "clean"], keep="first", maintain_order=True)
    write_table(output, kept.sort("keyword", "doc_id", "position"), MATCHES)


def make_vocabulary(folder: Path) -> None:
    """Write the vocabulary of the gathered matches."""
    from fathom.benchmark.vocabulary import build_vocabulary, write_vocabulary
    from fathom.config.benchmark import Vocabulary

    groups = scan_groups(folder / "gather.parquet", "keyword", ["clean"])
    settings = Vocabulary(min_cosine=0.0, max_share={"tfidf": 1.0})
    entries = build_vocabulary(groups, "tfidf", settings, frozenset(), HashEncoder())
    write_vocabulary(folder / "vocabulary.tsv", entries)


def make_all_pairs(folder: Path) -> None:
    """Make the pairs of the gathered matches, with words as tokens."""
    from fathom.benchmark.pairs import make_pairs, write_pairs
    from fathom.benchmark.vocabulary import read_vocabulary
    from fathom.config.benchmark import Pairs

    def encode(sentences: list[str]) -> list[Any]:
        return [[match.span() for match in re.finditer(r"\S+", sentence)] for sentence in sentences]

    groups = scan_smallest_first(folder / "gather.parquet", "keyword", COLUMNS)
    vocabulary = read_vocabulary(folder / "vocabulary.tsv")
    made = make_pairs(
        groups, vocabulary, lambda ids: dict.fromkeys(ids, ""), "tfidf", Pairs(tokenizer="x"), encode
    )
    write_pairs(made.pairs, folder / "pairs.parquet", folder / "pairs.jsonl")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--matches", type=int, nargs="*", default=[500_000, 1_000_000], help="sizes to try")
    parser.add_argument("--documents", type=int, nargs="*", default=[250_000, 500_000], help="sizes to try")
    parser.add_argument("--task", help="task of a child process")
    parser.add_argument("--folder", type=Path, help="folder of its tables")
    run_program(parser, main)
