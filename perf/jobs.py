"""Sum the processor time of a finished run's jobs, by rule: what the demo costs after the install.

Reads the benchmark files that Snakemake wrote; nothing is run. Prints a table.
"""

import argparse
from pathlib import Path

import polars as pl
from perf.turns import DEMO, note, print_table

from fathom.jobs.program import run_program

LIMIT = 600.0


def main(arguments: argparse.Namespace) -> None:
    """Read, add up, print."""
    timings = arguments.run / "timings"
    rows = []
    for path in sorted(timings.rglob("*.tsv")):
        rule = path.relative_to(timings).parts[0].removesuffix(".tsv")
        # short jobs have no measurement but their wall time
        table = pl.read_csv(path, separator="\t", null_values=["-", "NA"], infer_schema=False)
        rows.append((rule, float(table["cpu_time"][0] or 0), float(table["s"][0])))
    jobs = pl.DataFrame(rows, schema=["rule", "processor", "wall"], orient="row")
    rules = jobs.group_by("rule").agg(pl.len(), pl.col("processor", "wall").sum())
    spent = float(jobs["processor"].sum())
    print_table(
        ["rule", "jobs", "processor seconds", "seconds of wall"],
        [
            [rule, count, f"{processor:.0f}", f"{wall:.0f}"]
            for rule, count, processor, wall in rules.sort(
                "processor", "rule", descending=[True, False]
            ).iter_rows()
        ],
    )
    print(f"\n{len(jobs)} jobs, {spent:.0f} processor seconds")
    name = f"all jobs of the run {arguments.run.name}"
    note(name, "600 processor seconds", f"{spent:.0f} s", "<= 600 s", spent <= LIMIT)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=Path, default=DEMO, help="a finished run")
    run_program(parser, main)
