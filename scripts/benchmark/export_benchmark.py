"""Export a benchmark as a task folder of lm-evaluation-harness, for its `--include_path` [EvalHarness]."""

from pathlib import Path
from typing import Annotated

from fathom.benchmark.exported_tasks import export_task, name_task
from fathom.io.contracts.benchmark import PAIRS
from fathom.io.tables import read_table
from fathom.jobs.program import log
from fathom.jobs.signature import run


def main(
    *,
    pairs: Annotated[Path, "pairs.parquet of the benchmark"],
    domain: Annotated[str, "name of the domain"],
    variant: Annotated[str, "variant of the benchmark"],
    title: Annotated[str, "display name of the domain; its name if empty"] = "",
    task: Annotated[Path, "folder of the task to write"],
) -> None:
    """Read the pairs; write the folder."""
    table = read_table(pairs, PAIRS)
    export_task(table, domain, variant, title, task)
    log.info("task %s: %s pairs", name_task(domain, variant), f"{len(table):,}")


if __name__ == "__main__":
    run(main)
