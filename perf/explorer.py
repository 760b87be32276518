"""Time until a page of 30,000 pairs and 20 models has opened in Chromium, and its size.

The limits are one second for the answer, two for every part, and 15 MB. Processor seconds of the page's
thread are compared with two, too: on a busy machine the wall says little. Needs Chromium and its driver,
which tests/explorer/install.sh installs.
"""

import argparse
import statistics
import tempfile
from pathlib import Path

from perf.turns import note, print_table

from fathom.config.scoring import Summary
from fathom.explorer.data import collect_data
from fathom.explorer.page import render_page
from fathom.jobs.program import run_program

MOMENTS = {"fathom-answer": "answer on the screen", "fathom-all": "every part drawn"}
SECONDS, PARTS, MEGABYTES = 1.0, 2.0, 15.0


def main(arguments: argparse.Namespace) -> None:
    """Write the page of a run made in code, open it again and again, print medians and the slowest."""
    from tests.explorer.browser import start_browser
    from tests.explorer.runs import make_large

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "index.html")
        run = make_large()
        path.write_text(render_page(collect_data(run, Summary())), encoding="utf-8")
        times: dict[str, list[float]] = {name: [] for name in MOMENTS}
        busy = []
        with start_browser() as page:
            page.driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
            for _ in range(arguments.rounds):
                page.open(path.as_uri())
                for name, found in times.items():
                    found.append(
                        page.run(f"return performance.getEntriesByName('{name}')[0].startTime / 1000")
                    )
                metrics = page.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
                busy.append(next(each["value"] for each in metrics if each["name"] == "TaskDuration"))
        named = {
            **{MOMENTS[name]: found for name, found in times.items()},
            "processor time of all that": busy,
        }
        rows = []
        for name, found in named.items():
            median = statistics.median(found)
            limit = SECONDS if name == MOMENTS["fathom-answer"] else PARTS
            rows.append([name, f"{median:.2f}", f"{max(found):.2f}", f"{median / limit:.2f}"])
        size = path.stat().st_size / 1e6
    print_table(["seconds until", "median", "slowest", "share of the limit"], rows)
    print(f"{size:.1f} MB, {size / MEGABYTES:.2f} of the limit")
    answer = statistics.median(times["fathom-answer"])
    note(
        "the page, 30,000 pairs, 20 models",
        f"{SECONDS} s",
        f"{answer:.2f} s",
        f"< {SECONDS} s",
        answer < SECONDS,
    )
    note("its size", f"{MEGABYTES} MB", f"{size:.1f} MB", f"< {MEGABYTES} MB", size < MEGABYTES)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="how often the page is opened")
    run_program(parser, main)
