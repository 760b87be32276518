"""Read documents from JSON lines: id, and any of title, abstract, text, categories, date."""

import argparse
from pathlib import Path

from fathom.config.corpus import Selection
from fathom.io.files import write_json
from fathom.jobs.program import add_settings, log, read_settings, run_program


def main(arguments: argparse.Namespace) -> None:
    """Write the documents of the part, and its report."""
    from fathom.corpus.jsonlines import read_jsonlines

    report = read_jsonlines(arguments.input, read_settings(arguments.settings, Selection), arguments.output)
    write_json(arguments.report, report)
    log.info(
        "%s: %s documents of %s lines; %s malformed, %s left out",
        arguments.input.name,
        f"{report['documents']:,}",
        f"{report['lines']:,}",
        f"{report['malformed']['count']:,}",
        f"{sum(report['left_out'].values()):,}",
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--input", type=Path, required=True, help="JSON lines, plain, .gz or .zst")
    parser.add_argument("--output", type=Path, required=True, help="table of documents to write (parquet)")
    parser.add_argument(
        "--report", type=Path, required=True, help="report to write: what was read and left out (JSON)"
    )
    add_settings(parser, Selection)
    run_program(parser, main)
