"""What the bandwidth does to a benchmark's coverage, and t_c to a corpus, against corpora at random.

Reads a finished run. Prints a table by length of the embeddings, and one by threshold: documents and
sentences that are kept, coverage and redundancy, and those of as many sentences in documents drawn at random.
"""

import argparse
from pathlib import Path
from typing import Any

from perf.turns import DEMO, print_table

from fathom.config.coverage import Ablation, Coverage
from fathom.coverage.benchmarks import measure_benchmark
from fathom.coverage.correlations_varied import vary_correlation
from fathom.coverage.density import measure_redundancy
from fathom.coverage.sets import Slices, Space, read_pairs, read_space
from fathom.io.contracts.benchmark import PAIRS
from fathom.io.contracts.coverage import CORRELATIONS_VARIED
from fathom.io.tables import read_table
from fathom.jobs.program import run_program


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


def open_slices(run: Path) -> tuple[Slices, Path]:
    """Return the embedded sentences of a run, and its index."""
    corpus = run / "corpus"
    sentences, embeddings = (
        sorted(corpus.glob("sentences/*.parquet")),
        sorted(corpus.glob("embeddings/*.npy")),
    )
    drawn = corpus / "drawn.parquet"
    return Slices(sentences, embeddings, drawn if drawn.exists() else None), corpus / "index.parquet"


def refuse(texts: Any) -> Any:
    """Embed nothing: the pairs of a run have sentences."""
    raise SystemExit(f"{len(texts)} pairs have no sentence in this run")


def compare_thresholds(space: Space, settings: Coverage) -> None:
    """Print how t_c changes what a corpus keeps, against corpora of documents drawn at random."""
    print(f"{len(space.vectors):,} sentences, redundancy {measure_redundancy(space.vectors):.3%}\n")
    columns = ["share_of_documents", "share_of_sentences", "coverage", "coverage_at_random"]
    rows = []
    for values in vary_correlation(space, settings):
        row = dict(zip(CORRELATIONS_VARIED.names, values, strict=True))
        shares = [f"{row[name]:.1%}" for name in columns]
        near = [f"{row[name]:.3%}" for name in ("redundancy", "redundancy_at_random")]
        rows.append([f"{row['max_correlation']:g}", row["rounds"], *shares, *near])
    print_table(
        ["t_c", "rounds", "documents", "sentences", "coverage", "at random", "redundancy", "at random"], rows
    )


def main(arguments: argparse.Namespace) -> None:
    """Measure; print the tables."""
    slices, index = open_slices(arguments.run)
    compare_lengths(slices, arguments)
    print()
    settings = Coverage(points=arguments.points, ablation=Ablation(max_correlation=arguments.thresholds))
    compare_thresholds(read_space(slices, index, arguments.domain, settings), settings)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=Path, default=DEMO, help="a finished run")
    parser.add_argument("--domain", default="machine-learning")
    parser.add_argument("--variant", default="tf")
    parser.add_argument("--points", type=int, default=2000)
    parser.add_argument("--lengths", type=float, nargs="+", default=[1, 5, 10, 15, 20, 30])
    parser.add_argument("--thresholds", type=float, nargs="+", default=[0, 0.05, 0.1, 0.2, 0.3, 0.5])
    run_program(parser, main)
