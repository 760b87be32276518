"""Fetch the tokenizer of a registered model, without its weights, and copy it to a folder."""

import argparse
from pathlib import Path

from fathom.jobs.program import run_program
from fathom.models.fetching import copy_tokenizer, locate_model
from fathom.models.registry import add_row, find_model, read_registry


def main(arguments: argparse.Namespace) -> None:
    """Locate the tokenizer and copy its files."""
    entries = read_registry(arguments.registry)
    entry = find_model(entries, arguments.name, arguments.registry)
    entry = entries.get(entry.adapter_of, entry)  # an adapter is scored with the tokens of its base
    folder, _ = locate_model(entry, arguments.registry, tokenizer_only=True)
    copy_tokenizer(folder, arguments.output)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    add_row(parser)
    parser.add_argument("--output", type=Path, required=True, help="folder of the tokenizer to write")
    run_program(parser, main)
