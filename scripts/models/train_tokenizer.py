"""Train a byte-level BPE tokenizer on a domain's texts (split adapt-train); write its folder."""

from pathlib import Path
from typing import Annotated

from fathom.config.models import Training
from fathom.io.contracts.corpus import TEXTS
from fathom.io.tables import read_table
from fathom.jobs.signature import run
from fathom.models.sequences import train_tokenizer


def main(
    *,
    texts: Annotated[Path, "texts of the domain (parquet)"],
    tokenizer: Annotated[Path, "folder of the tokenizer to write"],
    settings: Training,
) -> None:
    """Train the tokenizer and write it."""
    train_tokenizer(read_table(texts, TEXTS), settings, tokenizer)


if __name__ == "__main__":
    run(main)
