"""Keep records that say nothing twice, with several t_c [CompComp, Sec. 5.5, Table 4]."""

import argparse
from pathlib import Path

from fathom.config.coverage import CoverageSettings
from fathom.io.contracts.questions import CHUNKS, RECORD_CORPORA
from fathom.io.tables import read_table, write_table
from fathom.jobs.program import add_settings, log, read_settings, run_program


def main(arguments: argparse.Namespace) -> None:
    """Read records and their embeddings; write which ones each t_c keeps."""
    from fathom.benchmark.matches import load_embeddings
    from fathom.jobs.devices import pick_device
    from fathom.questions.record_corpora import vary_records

    settings = read_settings(arguments.settings, CoverageSettings).coverage
    names = read_table(arguments.chunks, CHUNKS, ["iri"])["iri"]
    vectors = load_embeddings(arguments.embeddings)[:]
    device = pick_device(settings.device, "coverage.device")
    found = vary_records(names, vectors, settings, device, arguments.threads)
    write_table(arguments.output, found, RECORD_CORPORA)
    for (most,), kept in found.group_by("max_correlation", maintain_order=True):
        log.info("t_c = %g: %s of %s records", most, f"{len(kept):,}", f"{len(names):,}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=Path, required=True, help="table of texts of records")
    parser.add_argument("--embeddings", type=Path, required=True, help="their embeddings, .npy")
    add_settings(parser, CoverageSettings)
    parser.add_argument("--threads", type=int, default=1, help="changes no result")
    parser.add_argument("--output", type=Path, required=True, help="table of records by t_c")
    run_program(parser, main)
