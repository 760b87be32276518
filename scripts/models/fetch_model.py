"""Fetch a model of the table from the hub, or find it in its local folder; write a pointer to it."""

import argparse
from pathlib import Path

from fathom.models.loading import Pointer, check_folder, fingerprint_folder, locate_model, write_pointer
from fathom.models.registry import find_model, read_registry
from fathom.running.program import log, run_program


def main(arguments: argparse.Namespace) -> None:
    """Locate the model and record what was found."""
    entry = find_model(read_registry(arguments.registry), arguments.name, arguments.registry)
    folder, revision = locate_model(entry, arguments.registry)
    check_folder(folder)
    if revision and not entry.revision:
        log.info("%s has no pinned revision: found %s; write it into the table", entry.name, revision)
    fingerprint = fingerprint_folder(folder)
    pointer = Pointer(
        entry.name,
        folder,
        revision,
        entry.kind,
        entry.dtype,
        fingerprint,
        entry.base_of,
        entry.add_bos,
        entry.chat_template,
    )
    write_pointer(arguments.pointer, pointer)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", required=True, help="name of the model in the table")
    parser.add_argument("--registry", type=Path, default=Path("config/models.tsv"), help="table of models")
    parser.add_argument("--pointer", type=Path, required=True, help="pointer to the model (JSON)")
    run_program(parser, main)
