"""Expand a domain's corpus with several t_c, and say what comes of each [CompComp, Sec. 5.5]."""

import argparse
from math import isnan
from pathlib import Path

from fathom.config.coverage import CoverageSettings
from fathom.coverage.arguments import add_space
from fathom.io.contracts.coverage import CORRELATION_COLUMNS
from fathom.io.files import write_delimited
from fathom.jobs.program import add_settings, add_threads, log, read_settings, run_program


def main(arguments: argparse.Namespace) -> None:
    """Read a domain's sentences and embeddings; write a line for each threshold."""
    from fathom.coverage.correlations_varied import vary_correlation
    from fathom.coverage.sets import Slices, read_space
    from fathom.jobs.devices import pick_device

    settings = read_settings(arguments.settings, CoverageSettings).coverage
    device = pick_device(settings.device, "coverage.device")
    slices = Slices(arguments.sentences, arguments.embeddings, arguments.drawn)
    space = read_space(slices, arguments.index, arguments.domain, settings)
    rows = vary_correlation(space, settings, device, arguments.threads)
    told = [tuple(n if isinstance(n, int) else "" if isnan(n) else f"{n:.6g}" for n in row) for row in rows]
    write_delimited(arguments.output, CORRELATION_COLUMNS, told, ",")
    log.info("%s thresholds", len(rows))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    add_space(parser)
    add_settings(parser, CoverageSettings)
    add_threads(parser)
    parser.add_argument("--output", type=Path, required=True, help="table to write (CSV)")
    run_program(parser, main)
