"""Hash the sentences of all documents of a part, and each document as a whole [MinHash]."""

import argparse
from pathlib import Path

from fathom.config.corpus import Grouping
from fathom.jobs.program import add_settings, log, read_settings, run_program


def main(arguments: argparse.Namespace) -> None:
    """Read the documents of the part, write their hashes."""
    from fathom.corpus.groups import sketch_part

    settings = read_settings(arguments.settings, Grouping)
    count = sketch_part(arguments.documents, arguments.output, settings.min_words)
    log.info("%s documents", f"{count:,}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=Path, required=True, help="table of the part's documents")
    parser.add_argument("--output", type=Path, required=True, help="table of hashes to write")
    add_settings(parser, Grouping)
    run_program(parser, main)
