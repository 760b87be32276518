"""Time until pages of 30,000 pairs, or items of logs, and 20 models have opened in Chromium, and their size.

The limits are one second for the answer, two for every part, and 15 MB. Processor seconds of the page's
thread are compared with two, too: on a busy machine the wall says little. Needs Chromium and its driver,
which tests/explorer/install.sh installs.
"""

import argparse
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path

from perf.turns import clock, note, print_table

from fathom.config.scoring import Summary
from fathom.explorer.data import PageData, collect_data
from fathom.explorer.item_data import collect_items
from fathom.explorer.page import render_page
from fathom.jobs.program import run_program

MOMENTS = {"fathom-answer": "answer on the screen", "fathom-all": "every part drawn"}
SECONDS, PARTS, MEGABYTES = 1.0, 2.0, 15.0
KINDS = ("pairs", "items")
"""What pages have."""


def collect_run() -> PageData:
    """Return the data of a page of pairs."""
    from tests.explorer.runs import make_large

    return collect_data(make_large(), Summary())


def collect_logs() -> PageData:
    """Return the data of a page of items in twelve groups."""
    from tests.explorer.item_logs import make_logs

    models = {f"model-{place:02d}": place / 10 for place in range(20)}
    return collect_items("large", make_logs(models, items=30_000, groups=12), [], Summary())


def main(arguments: argparse.Namespace) -> None:
    """Write both pages, open each again and again, print medians and the slowest."""
    ways: dict[str, Callable[[], PageData]] = {"pairs": collect_run, "items": collect_logs}
    for what in arguments.only:
        seconds, data = clock(ways[what])
        measure(what, render_page(data), arguments.rounds)
        print(f"{seconds:.1f} processor seconds for its data\n")


def measure(what: str, text: str, rounds: int) -> None:
    """Open a page several times; print and note how long that takes."""
    from tests.explorer.browser import start_browser

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "index.html")
        path.write_text(text, encoding="utf-8")
        times: dict[str, list[float]] = {name: [] for name in MOMENTS}
        busy = []
        with start_browser() as page:
            page.driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
            for _ in range(rounds):
                page.open(path.as_uri())
                for name, found in times.items():
                    found.append(
                        page.run(f"return performance.getEntriesByName('{name}')[0].startTime / 1000")
                    )
                metrics = page.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
                busy.append(next(each["value"] for each in metrics if each["name"] == "TaskDuration"))
        size = path.stat().st_size / 1e6
    named = {**{MOMENTS[name]: found for name, found in times.items()}, "processor time of all that": busy}
    rows = []
    for name, found in named.items():
        median = statistics.median(found)
        limit = SECONDS if name == MOMENTS["fathom-answer"] else PARTS
        rows.append([name, f"{median:.2f}", f"{max(found):.2f}", f"{median / limit:.2f}"])
    print_table([f"30,000 {what}, 20 models: seconds until", "median", "slowest", "share of the limit"], rows)
    print(f"{size:.1f} MB, {size / MEGABYTES:.2f} of the limit")
    answer = statistics.median(times["fathom-answer"])
    stage = f"the page, 30,000 {what}, 20 models"
    note(stage, f"{SECONDS} s", f"{answer:.2f} s", f"< {SECONDS} s", answer < SECONDS)
    note("its size", f"{MEGABYTES} MB", f"{size:.1f} MB", f"< {MEGABYTES} MB", size < MEGABYTES)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=KINDS, default=KINDS, help="one of them")
    parser.add_argument("--rounds", type=int, default=5, help="how often the page is opened")
    run_program(parser, main)
