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
SIZES = (20, 50, 200)
"""Numbers of clusters that have a column of their own."""
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
    """Return tables in Markdown, one for each kind of outcome: ranges of shares by table and clusters."""
    parts = []
    for kind, (least, most) in GOALS.items():
        some = table.filter(kind=kind).with_columns(
            size=pl.when(pl.col("clusters").is_in(SIZES), times=1).then(pl.col("clusters").cast(pl.String))
            .otherwise(pl.lit("others"))
        )  # fmt: skip
        parts += [f"### {kind.capitalize()}: {least:.0%} to {most:.0%}".replace("%", " %"), ""]
        parts += [f"| table | outcomes | of | {' | '.join(map(str, SIZES))} | others | missed | rounds |"]
        parts += ["|---|--:|---|" + "--:|" * (len(SIZES) + 3)]
        for (name, unit), rows in some.group_by("table", "unit", maintain_order=True):
            cells = [_show(rows.filter(size=size)) for size in (*map(str, SIZES), "others")]
            missed = (rows["verdict"] == NARROW).sum()
            rounds = _span(rows["rounds"].to_list())
            line = [name, rows["what"].n_unique(), unit, *cells, missed or "", rounds]
            parts.append(f"| {' | '.join(map(str, line))} |")
        parts.append("")
    return "\n".join(parts)


def _show(rows: pl.DataFrame) -> str:
    """Return the range of shares in per cent, bold where one misses its goal."""
    shares = rows["share"].drop_nulls()
    if shares.is_empty():
        return "refused" if len(rows) else ""
    least, most = (f"{100 * share:.1f}" for share in (shares.min(), shares.max()))
    text = least if least == most else f"{least} to {most}"
    return f"**{text}**" if (rows["verdict"] == NARROW).any() else text


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
