"""Measure how far a benchmark covers the sentences of its domain, and draw up a map [CompComp, Sec. 3.1]."""

import argparse
from pathlib import Path

from fathom.config.coverage import CoverageSettings
from fathom.coverage.arguments import add_space
from fathom.io.contracts.benchmark import PAIRS
from fathom.io.contracts.coverage import COVERAGE_MAP
from fathom.io.files import write_json
from fathom.io.tables import read_table, write_table
from fathom.jobs.program import add_settings, add_threads, log, read_settings, run_program


def main(arguments: argparse.Namespace) -> None:
    """Read sentences, embeddings and pairs; write a map and a report."""
    from fathom.benchmark.embedding import SentenceEncoder
    from fathom.coverage.benchmarks import measure_benchmark
    from fathom.coverage.sets import Slices, read_pairs, read_space
    from fathom.jobs.devices import pick_device

    settings = read_settings(arguments.settings, CoverageSettings)
    coverage = settings.coverage
    device = pick_device(coverage.device, "coverage.device")
    slices = Slices(arguments.sentences, arguments.embeddings, arguments.drawn)
    pairs = read_table(arguments.pairs, PAIRS)
    space = read_space(slices, arguments.index, arguments.domain, coverage)
    vectors, embedded = read_pairs(
        slices, pairs, lambda texts: SentenceEncoder(settings.embedding).encode(texts), coverage.length
    )
    found = measure_benchmark(space, vectors, pairs["pair_id"], coverage, device, arguments.threads)
    report = found.report | {"embedding": settings.embedding.model, "embedded_pairs": embedded}
    write_table(arguments.map, found.map, COVERAGE_MAP)
    write_json(arguments.report, report)
    log.info(
        "%s pairs cover %.1f %% of %s sentences",
        f"{len(pairs):,}",
        100 * report["coverage"],
        arguments.domain,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=Path, required=True, help="table of pairs")
    add_space(parser)
    add_settings(parser, CoverageSettings)
    add_threads(parser)
    parser.add_argument("--map", type=Path, required=True, help="table of the map")
    parser.add_argument("--report", type=Path, required=True, help="numbers to write (JSON)")
    run_program(parser, main)
