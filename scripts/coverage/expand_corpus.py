"""Gather a corpus from a domain's documents that holds nothing twice, round by round [CompComp, Sec. 3.2].

Each round is written beside the results, so that a run that was stopped goes on after the last one.
"""

import argparse
from pathlib import Path

from fathom.config.coverage import CoverageSettings
from fathom.coverage.arguments import add_space
from fathom.io.contracts.coverage import EXPANSION, EXPANSION_MAP
from fathom.io.files import write_json
from fathom.io.tables import write_table
from fathom.jobs.program import add_settings, add_threads, log, read_settings, run_program


def main(arguments: argparse.Namespace) -> None:
    """Read a domain's sentences and embeddings; write the documents that join, a map and a report."""
    from fathom.coverage.expanded_corpus import gather_corpus
    from fathom.coverage.saved_rounds import RoundFolder
    from fathom.coverage.sets import Slices, read_space
    from fathom.jobs.devices import pick_device
    from fathom.jobs.file_hashes import hash_once
    from fathom.jobs.resume import make_key

    settings = read_settings(arguments.settings, CoverageSettings).coverage
    device = pick_device(settings.device, "coverage.device")
    inputs = [arguments.index, *arguments.sentences, *arguments.embeddings]
    hashes = [hash_once(path) for path in [*inputs, *([arguments.drawn] if arguments.drawn else [])]]
    key = make_key(__file__, settings, arguments.domain, hashes)
    slices = Slices(arguments.sentences, arguments.embeddings, arguments.drawn)
    space = read_space(slices, arguments.index, arguments.domain, settings)
    found = gather_corpus(space, settings, RoundFolder(arguments.rounds, key), device, arguments.threads)
    write_table(arguments.map, found.map, EXPANSION_MAP)
    write_table(arguments.output, found.documents, EXPANSION)
    write_json(arguments.report, found.report)
    log.info(
        "%s of %s documents joined in %s rounds",
        f"{found.report['corpus']['documents']:,}",
        f"{found.report['documents']:,}",
        len(found.report["rounds"]),
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    add_space(parser)
    parser.add_argument("--rounds", type=Path, required=True, help="folder for the state of each round")
    add_settings(parser, CoverageSettings)
    add_threads(parser)
    parser.add_argument("--output", type=Path, required=True, help="table of documents")
    parser.add_argument("--map", type=Path, required=True, help="table of the map")
    parser.add_argument("--report", type=Path, required=True, help="numbers to write (JSON)")
    run_program(parser, main)
