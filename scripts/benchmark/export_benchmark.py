"""Export a benchmark as a task folder of lm-evaluation-harness, for its `--include_path` [EvalHarness]."""

import argparse
from pathlib import Path

from fathom.benchmark.harness_task import export_task, name_task
from fathom.io.contracts.benchmark import PAIRS
from fathom.io.tables import read_table
from fathom.jobs.program import log, run_program


def main(arguments: argparse.Namespace) -> None:
    """Read the pairs; write the folder."""
    pairs = read_table(arguments.pairs, PAIRS)
    export_task(pairs, arguments.domain, arguments.variant, arguments.title, arguments.output)
    log.info("task %s: %s pairs", name_task(arguments.domain, arguments.variant), f"{len(pairs):,}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=Path, required=True, help="pairs.parquet of the benchmark")
    parser.add_argument("--domain", required=True, help="name of the domain")
    parser.add_argument("--variant", required=True, help="variant of the benchmark")
    parser.add_argument("--title", default="", help="display name of the domain; its name if empty")
    parser.add_argument("--output", type=Path, required=True, help="folder of the task to write")
    run_program(parser, main)
