"""Import a reference benchmark: check its pairs and write the folder of a benchmark [RawCorpora, Sec. 3.2].

Reads JSON lines or CSV with category (or keyword), prompt and target; writes pairs.parquet, pairs.jsonl, a
report, a card and its metadata. Lists every fault with its line; if there are any, nothing is written.
"""

from pathlib import Path
from typing import Annotated

from fathom.benchmark.card import describe_files
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
from fathom.jobs.program import log
from fathom.jobs.signature import run


def main(
    *,
    entries: Annotated[Path, "pairs (.jsonl or .csv)"],
    title: Annotated[str, "display name of the domain; the folder's name if empty"] = "",
    name: Annotated[str, "what the reference is called; the entries' file without ending if empty"] = "",
    folder: Annotated[Path, "folder of the benchmark to write"],
) -> None:
    """Read and check the entries; write the benchmark."""
    found, faults = read_entries(entries)
    raise_faults([*faults, *find_faults(found)], entries)
    if not found:
        raise InputError("the file has no pairs", str(entries), "check the file")
    made = make_reference_pairs(found)
    described = describe_reference(made, entries.name, name or entries.stem)
    log.info("%s pairs, %s categories", f"{described['pairs']:,}", len(described["categories"]))
    write_pairs(made, folder / "pairs.parquet", folder / "pairs.jsonl")
    write_json(folder / "pairs.json", {**described, "sha256": hash_file(entries)})
    hashes = {name: hash_file(folder / name) for name in ("pairs.parquet", "pairs.jsonl")}
    about = describe_files(f"{title or folder.name}: reference benchmark", made.columns, hashes)
    write_json(folder / "croissant.json", about)
    write_text(folder / "README.md", write_reference_card(made, title or folder.name, described))


if __name__ == "__main__":
    run(main)
