"""Measure how far a benchmark covers the sentences of its domain, and draw up a map [CompComp, Sec. 3.1]."""

from pathlib import Path
from typing import Annotated

from fathom.config.coverage import CoverageSettings
from fathom.io.contracts.benchmark import PAIRS
from fathom.io.contracts.coverage import COVERAGE_MAP
from fathom.io.files import write_json
from fathom.io.tables import read_table, write_table
from fathom.jobs.program import log
from fathom.jobs.signature import Threads, run


def main(
    *,
    pairs: Annotated[Path, "table of pairs"],
    sentences: Annotated[list[Path], "tables of sentences"],
    embeddings: Annotated[list[Path], "their embeddings (.npy)"],
    index: Annotated[Path, "index of the corpus"],
    drawn: Annotated[Path | None, "table of drawn documents, with sentences.limit"] = None,
    domain: Annotated[str, "name of the domain"],
    threads: Threads = 1,
    map: Annotated[Path, "table of the map"],
    report: Annotated[Path, "numbers to write (JSON)"],
    settings: CoverageSettings,
) -> None:
    """Read sentences, embeddings and pairs; write a map and a report."""
    from fathom.benchmark.embedding import SentenceEncoder
    from fathom.coverage.benchmarks import measure_benchmark
    from fathom.coverage.sets import Slices, read_pairs, read_space
    from fathom.jobs.devices import pick_device

    coverage = settings.coverage
    device = pick_device(coverage.device, "coverage.device")
    slices = Slices(sentences, embeddings, drawn)
    table = read_table(pairs, PAIRS)
    space = read_space(slices, index, domain, coverage)
    vectors, embedded = read_pairs(
        slices, table, lambda texts: SentenceEncoder(settings.embedding).encode(texts), coverage.length
    )
    found = measure_benchmark(space, vectors, table["pair_id"], coverage, device, threads)
    described = found.report | {"embedding": settings.embedding.model, "embedded_pairs": embedded}
    write_table(map, found.map, COVERAGE_MAP)
    write_json(report, described)
    log.info(
        "%s pairs cover %.1f %% of %s sentences",
        f"{len(table):,}",
        100 * described["coverage"],
        domain,
    )


if __name__ == "__main__":
    run(main)
