"""Join one shard of arXiv full texts with the metadata [RawCorpora, Sec. 2.1]."""

import argparse
from pathlib import Path

from fathom.config.corpus import Selection
from fathom.io.files import write_json
from fathom.jobs.program import add_settings, log, read_settings, run_program


def main(arguments: argparse.Namespace) -> None:
    """Write the documents of the shard, and its report."""
    from fathom.corpus.arxiv_join import join_shard

    settings = read_settings(arguments.settings, Selection)
    report = join_shard(arguments.metadata, arguments.input, settings.corpus, arguments.output)
    write_json(arguments.report, report)
    log.info(
        "%s: %s documents of %s lines; %s malformed, %s not in the metadata, %s left out",
        arguments.input.name,
        f"{report['documents']:,}",
        f"{report['lines']:,}",
        f"{report['malformed']['count']:,}",
        f"{report['fulltext_only']:,}",
        f"{sum(report['left_out'].values()):,}",
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--metadata", type=Path, required=True, help="table of records (parquet)")
    parser.add_argument("--input", type=Path, required=True, help="shard of full texts, plain, .gz or .zst")
    parser.add_argument("--output", type=Path, required=True, help="table of documents to write (parquet)")
    parser.add_argument(
        "--report", type=Path, required=True, help="report to write: what was read and left out (JSON)"
    )
    add_settings(parser, Selection)
    run_program(parser, main)
