"""Keep records that say nothing twice, with several t_c [CompComp, Sec. 5.5, Table 4]."""

from pathlib import Path
from typing import Annotated

from fathom.config.coverage import CoverageSettings
from fathom.io.contracts.questions import CHUNKS, RECORD_CORPORA
from fathom.io.tables import read_table, write_table
from fathom.jobs.program import log
from fathom.jobs.signature import Threads, run
from fathom.questions.material import Chunks, Embeddings


def main(
    *,
    chunks: Chunks,
    embeddings: Embeddings,
    records: Annotated[Path, "records by t_c to write (parquet)"],
    threads: Threads = 1,
    settings: CoverageSettings,
) -> None:
    """Read records and their embeddings; write which ones each t_c keeps."""
    from fathom.benchmark.matches import load_embeddings
    from fathom.coverage.correlations_varied import vary_records
    from fathom.jobs.devices import pick_device

    names = read_table(chunks, CHUNKS, ["iri"])["iri"]
    vectors = load_embeddings(embeddings)[:]
    device = pick_device(settings.coverage.device, "coverage.device")
    found = vary_records(names, vectors, settings.coverage, device, threads)
    write_table(records, found, RECORD_CORPORA)
    for (most,), kept in found.group_by("max_correlation", maintain_order=True):
        log.info("t_c = %g: %s of %s records", most, f"{len(kept):,}", f"{len(names):,}")


if __name__ == "__main__":
    run(main)
