"""Fetch a registered model from the hub into a folder that is deleted after the model's last job.

Of a model in a local folder it holds links. Corrupt weights are replaced by those of the row's stand-in. An
interrupted download goes on from `.{folder}.partial`; the cache of the hub is not used.
"""

import argparse
import shutil
from pathlib import Path

from fathom.io.files import write_atomically
from fathom.jobs.program import run_program
from fathom.models.fetching import gather_files, locate_sound
from fathom.models.registry import add_row


def main(arguments: argparse.Namespace) -> None:
    """Fetch the model, and gather its files."""
    partial = arguments.output.absolute().with_name(f".{arguments.output.name}.partial")
    entry, folder, revision = locate_sound(arguments.name, arguments.registry, partial)
    stand_in = "" if entry.name == arguments.name else entry.name
    with write_atomically(arguments.output) as temporary:
        gather_files(folder, temporary, partial, revision, stand_in)
    shutil.rmtree(partial, ignore_errors=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    add_row(parser)
    parser.add_argument("--output", type=Path, required=True, help="folder of the model to write")
    run_program(parser, main)
