"""Draw the documents whose sentences make up each domain, if `sentences.limit` is set."""

import argparse
from pathlib import Path

from fathom.config.benchmark import Sentences
from fathom.errors import InputError
from fathom.io.contracts.corpus import DRAWN
from fathom.io.files import write_json
from fathom.io.tables import write_table
from fathom.jobs.program import add_settings, log, read_settings, run_program


def main(arguments: argparse.Namespace) -> None:
    """Read how many sentences each document has; write which documents are drawn, and counts."""
    from fathom.benchmark.draw import draw_domains

    limit = read_settings(arguments.settings, Sentences).limit
    if limit is None:
        raise InputError("no limit is set", "sentences.limit", "set it, or leave this step out")
    drawn, counts = draw_domains(arguments.index, arguments.sentence_counts, arguments.domains, limit)
    for domain, found in counts.items():
        left_out = found["left_out"]
        log.info(
            "%s: %s sentences of %s documents; left out: %s of %s",
            domain,
            *(f"{number:,}" for number in (found["sentences"], found["documents"])),
            *(f"{left_out[name]:,}" for name in ("sentences", "documents")),
        )
    write_table(arguments.output, drawn, DRAWN)
    write_json(arguments.report, counts)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--index", type=Path, required=True, help="index of the corpus")
    parser.add_argument("--sentence-counts", type=Path, nargs="+", required=True, help="counts of all slices")
    parser.add_argument("--domains", nargs="+", required=True, help="domains with a benchmark")
    add_settings(parser, Sentences)
    parser.add_argument("--output", type=Path, required=True, help="table of drawn documents")
    parser.add_argument("--report", type=Path, required=True, help="counts by domain to write (JSON)")
    run_program(parser, main)
