"""What the bandwidth does to a benchmark's coverage, and t_c to a corpus, against corpora at random.

Reads a finished run. Prints a table by length of the embeddings, and one by threshold: documents and
sentences that are kept, coverage and redundancy, and those of as many sentences in documents drawn at random.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from turns import ROOT, print_table

from fathom.config.coverage import Coverage
from fathom.coverage.benchmarks import measure_benchmark
from fathom.coverage.density import find_gaps
from fathom.coverage.expansion import Expansion
from fathom.coverage.gathering import divide_documents
from fathom.coverage.redundancy import measure_redundancy
from fathom.coverage.sets import Slices, Space, read_pairs, read_space
from fathom.coverage.subsets import Sums, measure_subsets
from fathom.io.contracts.benchmark import PAIRS
from fathom.io.tables import read_table
from fathom.running.program import run_program


def compare_lengths(slices: Slices, arguments: argparse.Namespace) -> None:
    """Print how the length that embeddings are scaled to changes the coverage of a benchmark."""
    folder = arguments.run / arguments.domain / "benchmark" / arguments.variant
    pairs = read_table(folder / "pairs.parquet", PAIRS)
    rows = []
    for length, bandwidth in [*((each, 5.0) for each in arguments.lengths), (1.0, "scott")]:
        settings = Coverage(length=length, bandwidth=bandwidth, points=arguments.points)
        space = read_space(slices, arguments.run / "corpus" / "index.parquet", arguments.domain, settings)
        vectors, _ = read_pairs(slices, pairs, refuse, length)
        found = measure_benchmark(space, vectors, pairs["pair_id"], settings)
        sentences = found.map.filter(kind="sentence")
        middle = sentences["difference"].median()
        numbers = [found.report[name] for name in ("bandwidth", "spread", "coverage", "correlation")]
        rows.append([f"{length:g}", *(f"{number:.3g}" for number in numbers), f"{middle:.2g}"])
    names = ["h", "spread, nats", "coverage", "correlation", "median difference, nats"]
    print_table(["length", *names], rows)


def refuse(texts: Any) -> Any:
    """Embed nothing: the pairs of a run have sentences."""
    raise SystemExit(f"{len(texts)} pairs have no sentence in this run")


def compare_thresholds(space: Space, arguments: argparse.Namespace) -> None:
    """Print how t_c changes what a corpus keeps, against corpora of documents drawn at random."""
    documents, starts = divide_documents(space.sentences, 1)
    sizes = np.diff(np.append(starts, len(space.vectors)))
    points = space.vectors[space.points]
    densities = np.empty((len(starts), len(points)), dtype=np.float32)
    measure_subsets(points, space.vectors, starts, 5.0, densities)
    print(
        f"{len(documents):,} documents, {len(space.vectors):,} sentences, "
        f"redundancy {measure_redundancy(space.vectors):.3%}\n"
    )
    generator = np.random.default_rng(0)
    rows = []
    for most in arguments.thresholds:
        expansion = Expansion(densities, sizes, most)
        while not expansion.is_finished:
            expansion.run_round()
        kept = expansion.joined > 0
        count = int(sizes[kept].sum())
        drawn = [draw(sizes, count, generator) for _ in range(arguments.draws)]
        others = [measure(space, densities, sizes, each) for each in drawn]
        mean = np.mean(others, axis=0)
        coverage, redundancy = measure(space, densities, sizes, kept)
        rows.append([
            f"{most:g}", len(expansion.rounds), f"{kept.mean():.1%}", f"{count / sizes.sum():.1%}",
            f"{coverage:.1%}", f"{mean[0]:.1%}", f"{redundancy:.3%}", f"{mean[1]:.3%}",
        ])  # fmt: skip
    print_table(
        ["t_c", "rounds", "documents", "sentences", "coverage", "at random", "redundancy", "at random"], rows
    )


def draw(sizes: npt.NDArray[np.int64], count: int, generator: np.random.Generator) -> npt.NDArray[np.bool_]:
    """Return documents drawn at random, until they have so many sentences."""
    order = generator.permutation(len(sizes))
    kept = np.zeros(len(sizes), dtype=bool)
    kept[order[: int(np.searchsorted(np.cumsum(sizes[order]), count)) + 1]] = True
    return kept


def measure(
    space: Space, densities: Sums, sizes: npt.NDArray[np.int64], kept: npt.NDArray[np.bool_]
) -> tuple[float, float]:
    """Return coverage and redundancy of a corpus of some documents."""
    of_space = np.logaddexp.reduce(densities.astype(np.float64)) - np.log(sizes.sum())
    of_corpus = np.logaddexp.reduce(densities[kept].astype(np.float64)) - np.log(sizes[kept].sum())
    near = measure_redundancy(space.vectors[np.repeat(kept, sizes)])
    return 1 - float(find_gaps(of_space, of_corpus).mean()), near


def main(arguments: argparse.Namespace) -> None:
    """Measure; print the tables."""
    corpus = arguments.run / "corpus"
    files = [sorted((corpus / name).glob(f"*.{ending}"))
             for name, ending in (("sentences", "parquet"), ("embeddings", "npy"))]  # fmt: skip
    slices = Slices(*files)
    compare_lengths(slices, arguments)
    print()
    settings = Coverage(points=arguments.points)
    compare_thresholds(read_space(slices, corpus / "index.parquet", arguments.domain, settings), arguments)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=Path, default=ROOT / "results" / "demo", help="a finished run")
    parser.add_argument("--domain", default="machine-learning")
    parser.add_argument("--variant", default="tf")
    parser.add_argument("--points", type=int, default=2000)
    parser.add_argument("--lengths", type=float, nargs="+", default=[1, 5, 10, 15, 20, 30])
    parser.add_argument("--thresholds", type=float, nargs="+", default=[0, 0.05, 0.1, 0.2, 0.3, 0.5])
    parser.add_argument("--draws", type=int, default=5, help="corpora at random")
    run_program(parser, main)
