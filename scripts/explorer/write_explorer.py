"""Write the page of a run: the answer, and every pair behind it, in one file that needs no network.

Reads the finished tables of a run; what is not there yet is named in the page.
"""

import argparse
from pathlib import Path

from fathom.config.scoring import Summary
from fathom.explorer.page import write_page
from fathom.jobs.program import add_settings, log, read_settings, run_program


def main(arguments: argparse.Namespace) -> None:
    """Read the run, write the page."""
    size = write_page(arguments.run, arguments.output, read_settings(arguments.settings, Summary))
    log.info("%s: %.1f MB", arguments.output, size / 1e6)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=Path, required=True, help="folder of the run")
    parser.add_argument("--output", type=Path, required=True, help="the page (HTML)")
    add_settings(parser, Summary)
    run_program(parser, main)
