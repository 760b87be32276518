"""Run the workflow: `snakemake` with all its options, on the workflow that comes with Fathom.

A workflow in the working folder comes first. Files that are not in the working folder are taken from
Fathom's own `config/`, such as `--configfile config/arxiv.yaml`. Options: snakemake --help.
"""

import argparse
import sys

from fathom.commands import verbs

EXAMPLES = (
    "fathom run -c2 --configfile docs.yaml",
    "fathom run -n -c4 --configfile config/arxiv.yaml --config dump=dump run=arxiv-2026-11",
)


def add_verb(into: "verbs.Verbs") -> None:
    """Add `fathom run`."""
    parser = verbs.add_verb(into, "run", __doc__, run, EXAMPLES)
    parser.usage = "fathom run [SNAKEMAKE'S OPTIONS AND TARGETS]"
    parser.allow_abbrev = False
    parser.set_defaults(rest=[])


def run(arguments: argparse.Namespace) -> None:
    """Start Snakemake; its exit code is that of the command."""
    from fathom.planning.starting import start_snakemake

    sys.exit(start_snakemake(arguments.rest))
