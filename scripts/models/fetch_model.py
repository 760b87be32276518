"""Fetch a registered model from the hub, or find its local folder; write a pointer to it."""

import argparse
from pathlib import Path

from fathom.jobs.program import run_program
from fathom.models.fetching import locate_pointer
from fathom.models.loading import write_pointer
from fathom.models.registry import add_row


def main(arguments: argparse.Namespace) -> None:
    """Locate the model and write its pointer."""
    write_pointer(arguments.pointer, locate_pointer(arguments.name, arguments.registry, arguments.weights))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    add_row(parser)
    parser.add_argument("--weights", type=Path, help="folder of the model, if fetch_weights has made one")
    parser.add_argument("--pointer", type=Path, required=True, help="pointer to the model to write (JSON)")
    run_program(parser, main)
