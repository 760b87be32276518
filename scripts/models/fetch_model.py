"""Fetch a registered model from the hub, or find its local folder; write a pointer to it."""

import argparse
from pathlib import Path

from fathom.io.files import require_file
from fathom.models.fetching import REVISION_FILE, locate_model
from fathom.models.folders import check_folder, fingerprint_folder
from fathom.models.loading import Pointer, write_pointer
from fathom.models.registry import find_model, read_registry
from fathom.running.program import log, run_program


def main(arguments: argparse.Namespace) -> None:
    """Locate the model and write its pointer."""
    entry = find_model(read_registry(arguments.registry), arguments.name, arguments.registry)
    if arguments.weights:
        folder = arguments.weights
        revision = require_file(folder / REVISION_FILE).read_text(encoding="utf-8")
    else:
        folder, revision = locate_model(entry, arguments.registry)
    check_folder(folder)
    if revision and not entry.revision:
        log.info("%s has no pinned revision: fetched %s; add it to the registry", entry.name, revision)
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
    parser.add_argument("--name", required=True, help="name of the model in the registry")
    parser.add_argument(
        "--registry", type=Path, default=Path("config/models.tsv"), help="model registry (TSV)"
    )
    parser.add_argument("--weights", type=Path, help="folder of the model, if fetch_weights has made one")
    parser.add_argument("--pointer", type=Path, required=True, help="output pointer of the model (JSON)")
    run_program(parser, main)
