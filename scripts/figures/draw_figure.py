"""Draw one kind of figure of the catalogue, from finished tables only.

Writes each figure as PDF and PNG, and its numbers as CSV.
"""

from pathlib import Path
from typing import Annotated

from fathom.errors import InputError
from fathom.figures.catalogue import CATALOGUE
from fathom.figures.drawing import FigureSettings, draw_files, require_known
from fathom.jobs.program import log
from fathom.jobs.signature import run


def main(
    *,
    figure: Annotated[str, "kind of figure, such as model-ranks"],
    inputs: Annotated[dict[str, str], "the tables that the catalogue says it reads, by name"],
    parts: Annotated[dict[str, str] | None, "parts of the file's name, such as the domain"] = None,
    folder: Annotated[Path, "folder of the files"],
    settings: FigureSettings,
) -> None:
    """Read the tables, draw the figures, write them and their numbers."""
    require_known("figure", figure, CATALOGUE, "--figure")
    entry, named = CATALOGUE[figure], parts or {}
    for option, found, needed in (("--inputs", inputs, entry.reads), ("--parts", named, entry.asked)):
        missing = [name for name in needed if name not in found]
        if missing:
            raise InputError(f"{figure} needs {', '.join(missing)}", option, "a JSON object")
    tables = {name: Path(path) for name, path in inputs.items()}
    log.info("drawn: %s", ", ".join(draw_files(entry, tables, named, settings, folder)))


if __name__ == "__main__":
    run(main)
