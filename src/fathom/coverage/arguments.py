"""The sentences of a domain and their embeddings, as arguments of programs."""

import argparse
from pathlib import Path


def add_space(parser: argparse.ArgumentParser) -> None:
    """Add the files that :func:`fathom.coverage.sets.read_space` reads, and the domain."""
    parser.add_argument("--sentences", type=Path, nargs="+", required=True, help="tables of sentences")
    parser.add_argument("--embeddings", type=Path, nargs="+", required=True, help="their embeddings (.npy)")
    parser.add_argument("--index", type=Path, required=True, help="index of the corpus")
    parser.add_argument("--drawn", type=Path, help="table of drawn documents, with sentences.limit")
    parser.add_argument("--domain", required=True, help="name of the domain")
