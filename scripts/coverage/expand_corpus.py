"""Gather a corpus without redundancy from a domain's documents, round by round [CompComp, Sec. 3.2].

Each round is written beside the results, so that a stopped run resumes after the last one.
"""

from pathlib import Path
from typing import Annotated

from fathom.config.coverage import CoverageSettings
from fathom.io.contracts.coverage import EXPANSION, EXPANSION_MAP
from fathom.io.files import write_json
from fathom.io.tables import write_table
from fathom.jobs.program import log
from fathom.jobs.signature import Threads, run


def main(
    *,
    sentences: Annotated[list[Path], "tables of sentences"],
    embeddings: Annotated[list[Path], "their embeddings (.npy)"],
    index: Annotated[Path, "index of the corpus"],
    drawn: Annotated[Path | None, "table of drawn documents, with sentences.limit"] = None,
    domain: Annotated[str, "name of the domain"],
    rounds: Annotated[Path, "folder for the state of each round"],
    threads: Threads = 1,
    documents: Annotated[Path, "table of documents"],
    map: Annotated[Path, "table of the map"],
    report: Annotated[Path, "numbers to write (JSON)"],
    settings: CoverageSettings,
) -> None:
    """Read a domain's sentences and embeddings; write the documents that join, a map and a report."""
    from fathom.coverage.expanded_corpus import RoundFolder, gather_corpus
    from fathom.coverage.sets import Slices, read_space
    from fathom.jobs.devices import pick_device
    from fathom.jobs.file_hashes import hash_once
    from fathom.jobs.resume import make_key

    coverage = settings.coverage
    device = pick_device(coverage.device, "coverage.device")
    inputs = [index, *sentences, *embeddings]
    hashes = [hash_once(path) for path in [*inputs, *([drawn] if drawn else [])]]
    key = make_key(__file__, coverage, domain, hashes)
    slices = Slices(sentences, embeddings, drawn)
    space = read_space(slices, index, domain, coverage)
    found = gather_corpus(space, coverage, RoundFolder(rounds, key), device, threads)
    write_table(map, found.map, EXPANSION_MAP)
    write_table(documents, found.documents, EXPANSION)
    write_json(report, found.report)
    log.info(
        "%s of %s documents joined in %s rounds",
        f"{found.report['corpus']['documents']:,}",
        f"{found.report['documents']:,}",
        len(found.report["rounds"]),
    )


if __name__ == "__main__":
    run(main)
