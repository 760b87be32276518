"""Expand a domain's corpus with several t_c, and report each result [CompComp, Sec. 5.5]."""

from math import isnan
from pathlib import Path
from typing import Annotated

from fathom.config.coverage import CoverageSettings
from fathom.io.contracts.coverage import CORRELATIONS_VARIED
from fathom.io.delimited import write_rows
from fathom.jobs.program import log
from fathom.jobs.signature import Threads, run


def main(
    *,
    sentences: Annotated[list[Path], "tables of sentences"],
    embeddings: Annotated[list[Path], "their embeddings (.npy)"],
    index: Annotated[Path, "index of the corpus"],
    drawn: Annotated[Path | None, "table of drawn documents, with sentences.limit"] = None,
    domain: Annotated[str, "name of the domain"],
    threads: Threads = 1,
    thresholds: Annotated[Path, "table to write (CSV)"],
    settings: CoverageSettings,
) -> None:
    """Read a domain's sentences and embeddings; write a line for each threshold."""
    from fathom.coverage.correlations_varied import vary_correlation
    from fathom.coverage.sets import Slices, read_space
    from fathom.jobs.devices import pick_device

    coverage = settings.coverage
    device = pick_device(coverage.device, "coverage.device")
    slices = Slices(sentences, embeddings, drawn)
    space = read_space(slices, index, domain, coverage)
    rows = vary_correlation(space, coverage, device, threads)
    cells = [tuple(n if isinstance(n, int) else "" if isnan(n) else f"{n:.6g}" for n in row) for row in rows]
    write_rows(thresholds, cells, CORRELATIONS_VARIED)
    log.info("%s thresholds", len(rows))


if __name__ == "__main__":
    run(main)
