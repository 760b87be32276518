"""Read arXiv's metadata (arxiv-metadata-oai-snapshot.json) as records [RawCorpora, Sec. 2.1]."""

import argparse
from pathlib import Path

from fathom.config.corpus import Selection
from fathom.io.files import write_json
from fathom.jobs.program import add_settings, log, read_settings, run_program


def main(arguments: argparse.Namespace) -> None:
    """Write the table of records, and its report."""
    from fathom.corpus.metadata import read_metadata

    report = read_metadata(arguments.input, read_settings(arguments.settings, Selection), arguments.output)
    write_json(arguments.report, report)
    log.info(
        "%s lines; %s malformed, %s ids restored, %s duplicates, %s in no domain, %s selected",
        f"{report['lines']:,}",
        f"{report['malformed']['count']:,}",
        f"{report['restored_ids']:,}",
        f"{report['duplicates']:,}",
        f"{sum(report['left_out'].values()):,}",
        f"{report['selected']:,}",
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--input", type=Path, required=True, help="the snapshot, plain, .gz or .zst")
    parser.add_argument("--output", type=Path, required=True, help="table of records to write (parquet)")
    parser.add_argument(
        "--report", type=Path, required=True, help="report to write: what was read and left out (JSON)"
    )
    add_settings(parser, Selection)
    run_program(parser, main)
