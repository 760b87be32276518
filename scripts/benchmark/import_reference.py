"""Import a reference benchmark: check its pairs and write the folder of a benchmark [RawCorpora, Sec. 3.2].

Reads JSON lines or CSV with category (or keyword), prompt and target; writes pairs.parquet, pairs.jsonl, a
report and a card. Lists every fault with its line; if there are any, nothing is written.
"""

import argparse
from pathlib import Path

from fathom.benchmark.pairs import write_pairs
from fathom.benchmark.reference import (
    describe_reference,
    find_faults,
    make_reference_pairs,
    raise_faults,
    read_entries,
    write_reference_card,
)
from fathom.errors import InputError
from fathom.io.files import hash_file, write_json, write_text
from fathom.jobs.program import log, run_program


def main(arguments: argparse.Namespace) -> None:
    """Read and check the entries; write the benchmark."""
    entries, faults = read_entries(arguments.input)
    raise_faults([*faults, *find_faults(entries)], arguments.input)
    if not entries:
        raise InputError("the file has no pairs", str(arguments.input), "check the file")
    pairs = make_reference_pairs(entries)
    report = describe_reference(pairs, arguments.input.name)
    log.info("%s pairs, %s categories", f"{report['pairs']:,}", len(report["categories"]))
    folder = arguments.output
    write_pairs(pairs, folder / "pairs.parquet", folder / "pairs.jsonl")
    write_json(folder / "pairs.json", {**report, "sha256": hash_file(arguments.input)})
    write_text(folder / "README.md", write_reference_card(pairs, arguments.title or folder.name, report))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--input", type=Path, required=True, help="pairs (.jsonl or .csv)")
    parser.add_argument("--title", default="", help="display name of the domain; the folder's name if empty")
    parser.add_argument("--output", type=Path, required=True, help="folder of the benchmark to write")
    run_program(parser, main)
