"""Draw one kind of figure of the catalogue, from finished tables only.

Writes each figure as PDF and PNG, and its numbers as CSV.
"""

import argparse
import json
from pathlib import Path

from fathom.errors import InputError
from fathom.figures.catalogue import CATALOGUE
from fathom.figures.drawing import FigureSettings, draw_files
from fathom.jobs.program import add_settings, log, read_settings, run_program


def main(arguments: argparse.Namespace) -> None:
    """Read the tables, draw the figures, write them and their numbers."""
    entry = CATALOGUE[arguments.figure]
    inputs = {
        name: Path(path) for name, path in read_names(arguments.inputs, "--inputs", {*entry.reads}).items()
    }
    parts = read_names(arguments.parts, "--parts", {*entry.asked})
    settings = read_settings(arguments.settings, FigureSettings)
    log.info("drawn: %s", ", ".join(draw_files(entry, inputs, parts, settings, arguments.folder)))


def read_names(text: str, option: str, needed: set[str]) -> dict[str, str]:
    """Return a JSON object of texts; raise `InputError` if it lacks a name."""
    try:
        found: dict[str, str] = {name: str(value) for name, value in json.loads(text).items()}
    except (json.JSONDecodeError, AttributeError) as error:
        raise InputError(f"not a JSON object: {error}", option) from error
    if needed - {*found}:
        raise InputError(f"{', '.join(sorted(needed - {*found}))}: missing", option, "give each by name")
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--figure", choices=tuple(CATALOGUE), required=True, help="kind of figure")
    parser.add_argument("--inputs", required=True, help="tables by name, JSON; names: reads of the catalogue")
    parser.add_argument("--parts", default="{}", help="parts of the file's name, JSON, such as the domain")
    parser.add_argument("--folder", type=Path, required=True, help="where the files go")
    add_settings(parser, FigureSettings)
    run_program(parser, main)
