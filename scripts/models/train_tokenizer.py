"""Train a byte-level BPE tokenizer on a domain's texts (split adapt-train); write its folder."""

import argparse
from pathlib import Path

from fathom.config.models import Training
from fathom.io.contracts.corpus import TEXTS
from fathom.io.tables import read_table
from fathom.jobs.program import add_settings, read_settings, run_program
from fathom.models.sequences import train_tokenizer


def main(arguments: argparse.Namespace) -> None:
    """Train the tokenizer and write it."""
    settings = read_settings(arguments.settings, Training)
    train_tokenizer(read_table(arguments.texts, TEXTS), settings, arguments.output)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=Path, required=True, help="texts of the domain (parquet)")
    parser.add_argument("--output", type=Path, required=True, help="folder of the tokenizer to write")
    add_settings(parser, Training)
    run_program(parser, main)
