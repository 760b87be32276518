"""Compare two runs of one benchmark, such as two dumps or two months: each model's scores in both.

Matches scores by pair and model; counts or names pairs, models and benchmarks that only one run has. Lists
what else changed: settings, input files, packages, the models themselves. --output writes a folder with
tables and a page, index.html.
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from fathom.commands import verbs
from fathom.io.names import show_count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fathom.ranking.paired_runs import BenchmarkChange, RunChanges

_SHOWN = 30
"""Most changed settings to print; --output lists all."""
_LONGEST = 40

EXAMPLES = (
    "fathom compare-runs results/demo results/docs",
    "fathom compare-runs results/demo results/docs --output changes",
)


def add_verb(into: "verbs.Verbs") -> None:
    """Add `fathom compare-runs`."""
    parser = verbs.add_verb(into, "compare-runs", __doc__, run, EXAMPLES)
    parser.add_argument("first", type=Path, help="folder of the first run: results/RUN")
    parser.add_argument("second", type=Path, help="folder of the second run")
    parser.add_argument("--output", type=Path, help="folder to write, new or empty: tables and a page")


def run(arguments: argparse.Namespace) -> None:
    """Compare, print a table of each benchmark, write the folder."""
    from fathom.config.scoring import Summary
    from fathom.explorer.changes_page import write_changes_page
    from fathom.io.contracts.statistics import RUN_CHANGES
    from fathom.io.delimited import write_rows
    from fathom.io.files import require_empty, write_atomically, write_json
    from fathom.io.names import show_text
    from fathom.ranking.paired_runs import compare_runs

    if arguments.output:
        require_empty(arguments.output, "--output")
    found = compare_runs(arguments.first, arguments.second, Summary())
    shown = ["\n".join(_show_benchmark(each)) for each in found.benchmarks]
    print(show_text("\n\n".join([*shown, "\n".join(_show_rest(found))])))
    if arguments.output:
        with write_atomically(arguments.output) as folder:
            folder.mkdir()
            rows = [row for each in found.benchmarks for row in _list_rows(each)]
            write_rows(folder / "changes.csv", rows, RUN_CHANGES, RUN_CHANGES.names)
            names = ("domain", "variant", "pairs", "first_only", "second_only")
            counts = [{name: getattr(each, name) for name in names} for each in found.benchmarks]
            told = {**found._asdict(), "benchmarks": counts}
            write_json(folder / "changes.json", told)
            write_changes_page(folder / "index.html", found, (arguments.first, arguments.second))
        print(f"Page: {arguments.output / 'index.html'}")


def _show_benchmark(change: "BenchmarkChange") -> "Iterator[str]":
    from fathom.explorer.changes_page import form_number
    from fathom.ranking.paired_runs import judge_change
    from fathom.statistics.aggregates import STATISTICS

    metric = change.resampled.metric
    yield f"{change.answer}."
    yield (
        f"By {metric.describe(STATISTICS[change.resampled.aggregate])} on {show_count(change.pairs, 'pair')}"
        f" of both runs; {change.first_only:,} of the first run and {change.second_only:,} of the second have"
        " no counterpart and are left out"
    )
    rows = [["model", "first", "", "second", "", "difference", "interval", ""]]
    for each in change.models:
        gap = each.difference
        first, second = (form_number(found.value, metric) for found in (each.first, each.second))
        shown = [form_number(number, metric, sign=True) for number in gap]
        ends = f"[{shown[1]}, {shown[2]}]" if all(shown[1:]) else "-"
        verdict = judge_change(each, metric) if each.apart else ""
        letters = each.first_letters, each.second_letters
        rows.append([each.model, first, letters[0], second, letters[1], shown[0], ends, verdict])
    yield from verbs.align_columns(rows)


def _show_rest(found: "RunChanges") -> "Iterator[str]":
    for name, names in (("first", found.first_only), ("second", found.second_only)):
        if names:
            yield f"Only in the {name} run: {'; '.join(names)}"
    yield "Settings, inputs and versions:" + ("" if found.settings else " no known change")
    for what, one, other in found.settings[:_SHOWN]:
        yield f"  {what}: {_cut(one)} -> {_cut(other)}"
    if len(found.settings) > _SHOWN:
        yield f"  and {len(found.settings) - _SHOWN:,} more, which --output lists"


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."


def _list_rows(change: "BenchmarkChange") -> "Iterator[list[object]]":
    from fathom.statistics.summaries import format_number

    lead = change.resampled
    for each in change.models:
        numbers = (each.first.value, each.second.value, *each.difference, each.p, each.p_adjusted)
        place = [change.domain, change.variant, each.model, lead.metric.name, lead.aggregate]
        letters = [each.first_letters, each.second_letters]
        counts = [lead.models[f"1 {each.model}"].items, lead.clusters]
        yield [*place, *map(format_number, numbers), "yes" if each.apart else "no", *letters, *counts]
