"""Calibrate all that the product says with an interval, a test or a verdict; write the table of results.

Every case of the registry draws data whose truth is known, calls what writes the product's table, and counts
how often an interval holds the truth, or something is found that is not there.
"""

import argparse
import logging
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import polars as pl
from perf.calibration.case import GOALS, NARROW, Result, run_case
from perf.calibration.registry import CASES

from fathom.jobs.program import log, run_program

COLUMNS = ("table", "what", "kind", "unit", "clusters", "times", "rounds", "refused", "share", "low", "high",
           "verdict")  # fmt: skip
START, END = "<!-- table: python -m perf.calibration -->", "<!-- end of the table -->"


def tabulate(results: Iterable[Result]) -> pl.DataFrame:
    """Return the numbers: a row for each outcome and shape."""
    rows = [
        (each.case, each.what, each.kind, each.unit, *each.shape, each.rounds, each.refused,
         *(round(number, 4) for number in (each.share, *each.limits)), each.verdict)
        for each in results
    ]  # fmt: skip
    return pl.DataFrame(rows, COLUMNS, orient="row").fill_nan(None)


def write_page(table: pl.DataFrame) -> str:
    """Return tables in Markdown, one for each kind of outcome: a line by outcome, a column by shape."""
    parts = []
    for kind, (least, most) in GOALS.items():
        some = table.filter(kind=kind)
        shapes = sorted(set(some.select("times", "clusters").iter_rows()))
        names = [f"{clusters}{f', ×{times}' if times > 1 else ''}" for times, clusters in shapes]
        parts += [f"### {kind.capitalize()}: {least:.0%} to {most:.0%}".replace("%", " %"), ""]
        parts += ["| table | what | of | " + " | ".join(names) + " | rounds |"]
        parts += ["|---|---|---|" + "--:|" * (len(shapes) + 1)]
        for (name, what, unit), rows in some.group_by("table", "what", "unit", maintain_order=True):
            cells = {(row["times"], row["clusters"]): _show(row) for row in rows.iter_rows(named=True)}
            cell = " | ".join(cells.get(shape, "") for shape in shapes)
            parts.append(f"| {name} | {what} | {unit} | {cell} | {_span(rows['rounds'].to_list())} |")
        parts.append("")
    return "\n".join(parts)


def _show(row: dict[str, object]) -> str:
    """Return a share in per cent, bold where the goal is missed."""
    if row["share"] is None or row["verdict"] == "refused":
        return "refused"
    text = f"{100 * float(str(row['share'])):.1f}"
    return f"**{text}**" if row["verdict"] == NARROW else text


def _span(rounds: Sequence[int]) -> str:
    return f"{min(rounds):,}" if min(rounds) == max(rounds) else f"{min(rounds):,} to {max(rounds):,}"


def main(arguments: argparse.Namespace) -> None:
    """Simulate; write the numbers, and put the tables into the page."""
    log.setLevel(logging.WARNING)  # thousands of tables would each be told of
    names = [case.name for case in CASES]
    kept = pl.read_csv(arguments.table) if arguments.only and arguments.table.exists() else tabulate([])
    for case in CASES:
        if arguments.only and not any(case.name.startswith(name) for name in arguments.only):
            continue
        started = time.process_time()
        found = tabulate(
            result for shape in case.shapes for result in run_case(case, shape, arguments.rounds)
        )
        print(f"{case.name}: {time.process_time() - started:.0f} s", file=sys.stderr)
        kept = pl.concat([kept.filter(pl.col("table") != case.name), found], how="vertical_relaxed")
        kept = kept.sort(pl.col("table").replace_strict(names, range(len(names))), maintain_order=True)
        kept.write_csv(arguments.table)
    page = write_page(kept)
    print(page)
    if arguments.page:
        before, _, rest = arguments.page.read_text(encoding="utf-8").partition(START)
        after = rest.partition(END)[2]
        arguments.page.write_text(f"{before}{START}\n\n{page}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=500, help="simulations of each; slow ones have fewer")
    parser.add_argument(
        "--only",
        nargs="+",
        default=(),
        help="tables, by the beginning of their name; the rows of all others stay",
    )
    parser.add_argument("--table", type=Path, default=Path("docs/results/calibration.csv"))
    parser.add_argument("--page", type=Path, help="page whose table is replaced")
    run_program(parser, main)
