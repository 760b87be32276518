"""Fetch the tokenizer of a registered model, without its weights, and copy it to a folder."""

from pathlib import Path
from typing import Annotated

from fathom.jobs.signature import run
from fathom.models.fetching import copy_tokenizer, locate_model
from fathom.models.registry import find_model, read_registry


def main(
    *,
    model: Annotated[str, "name in the table of models"],
    registry: Annotated[Path, "table of models (models.tsv)"],
    tokenizer: Annotated[Path, "folder of the tokenizer to write"],
) -> None:
    """Locate the tokenizer and copy its files."""
    entries = read_registry(registry)
    entry = find_model(entries, model, registry)
    entry = entries.get(entry.adapter_of, entry)  # an adapter is scored with the tokens of its base
    folder, _ = locate_model(entry, registry, tokenizer_only=True)
    copy_tokenizer(folder, tokenizer)


if __name__ == "__main__":
    run(main)
