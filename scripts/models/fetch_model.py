"""Fetch a registered model from the hub, or find its local folder; write a pointer to it."""

from pathlib import Path
from typing import Annotated

from fathom.jobs.signature import run
from fathom.models.fetching import locate_pointer
from fathom.models.loading import write_pointer


def main(
    *,
    model: Annotated[str, "name in the table of models"],
    registry: Annotated[Path, "table of models (models.tsv)"],
    weights: Annotated[Path | None, "folder of the model, if fetch_weights has made one"] = None,
    pointer: Annotated[Path, "pointer to the model to write (JSON)"],
) -> None:
    """Locate the model and write its pointer."""
    write_pointer(pointer, locate_pointer(model, registry, weights))


if __name__ == "__main__":
    run(main)
