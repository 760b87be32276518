"""Write the manifest and the card of a benchmark."""

import argparse
from pathlib import Path
from typing import Any

from fathom.config.benchmark import VARIANTS
from fathom.config.whole import Config
from fathom.errors import InputError
from fathom.io.contracts.benchmark import PAIRS
from fathom.io.files import read_delimited, read_json, write_json, write_text
from fathom.io.tables import read_table
from fathom.jobs.program import add_settings, read_settings, run_program


def main(arguments: argparse.Namespace) -> None:
    """Read the benchmark's files and the steps' reports; write manifest.json and README.md."""
    from fathom.benchmark.card import Description, write_card
    from fathom.benchmark.manifest import make_manifest

    reports = dict(_read_report(text) for text in arguments.reports)
    if arguments.draw is not None:
        reports["draw"] = read_json(arguments.draw)[arguments.domain]
    manifest = make_manifest(
        {
            "pairs.parquet": arguments.pairs,
            "pairs.jsonl": arguments.pairs.with_suffix(".jsonl"),
            "keywords.tsv": arguments.keywords,
            "vocabulary.tsv": arguments.vocabulary,
        },
        read_settings(arguments.settings, Config),
        arguments.domain,
        arguments.variant,
        read_json(arguments.join_report),
        reports,
    )
    about = Description(
        arguments.domain,
        arguments.title,
        arguments.variant,
        len(read_delimited(arguments.keywords)),
        len(read_delimited(arguments.vocabulary)),
        manifest,
    )
    write_text(arguments.card, write_card(read_table(arguments.pairs, PAIRS), about))
    write_json(arguments.manifest, manifest)


def _read_report(text: str) -> tuple[str, Any]:
    """Read one `NAME=FILE`."""
    name, sign, path = text.partition("=")
    if not sign or not name:
        raise InputError(f"{text!r} is not NAME=FILE", "--reports", "for example keywords=keywords.json")
    return name, read_json(path)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=Path, required=True, help="pairs.parquet; pairs.jsonl lies beside it")
    parser.add_argument("--keywords", type=Path, required=True, help="keywords.tsv")
    parser.add_argument("--vocabulary", type=Path, required=True, help="vocabulary.tsv of this variant")
    parser.add_argument("--join-report", type=Path, required=True, help="join_report.json of the corpus")
    parser.add_argument("--reports", nargs="*", default=[], metavar="NAME=FILE", help="reports of the steps")
    parser.add_argument("--draw", type=Path, help="report of the draw of documents, by domain")
    parser.add_argument("--domain", required=True, help="name of the domain")
    parser.add_argument("--title", default="", help="display name of the domain; its name if empty")
    parser.add_argument("--variant", choices=VARIANTS, required=True, help="variant of the benchmark")
    parser.add_argument("--manifest", type=Path, required=True, help="manifest.json to write")
    parser.add_argument("--card", type=Path, required=True, help="README.md to write")
    add_settings(parser, Config)
    run_program(parser, main)
