"""Fetch the embedding model from the hub, for jobs without a network."""

from pathlib import Path
from typing import Annotated

from fathom.io.files import write_json
from fathom.jobs.signature import run


def main(
    *,
    name: Annotated[str, "id on the hub"],
    revision: Annotated[str | None, "commit, branch or tag; by default the newest commit"] = None,
    fetched: Annotated[Path, "what was fetched, to write (JSON)"],
) -> None:
    """Fetch the model, and write which it is."""
    from fathom.models.embedding_fetch import fetch_embedding_model

    write_json(fetched, fetch_embedding_model(name, revision)._asdict())


if __name__ == "__main__":
    run(main)
