"""Write the request for a benchmark that a language model makes, to send by hand or by send_request.py.

Reads keywords.tsv of a domain; writes the request, with its first keywords as categories, to a text file, or
several requests with some categories each [RawCorpora, Sec. 3.2, Fig. 14].
"""

import argparse
from pathlib import Path

from fathom.benchmark.reference_request import write_request
from fathom.errors import InputError
from fathom.io.files import read_delimited, write_text
from fathom.running.program import log, run_program


def main(arguments: argparse.Namespace) -> None:
    """Take the keywords of most documents as categories, write the request or requests."""
    if min(arguments.categories, arguments.each, arguments.per_request or 1) < 1:
        raise InputError("these are 1 or more", "--categories, --each, --per-request", "see --help")
    rows = read_delimited(arguments.keywords)
    if not rows or not {"keyword", "documents"} <= set(rows[0]):
        raise InputError("there are no keywords with documents", str(arguments.keywords), "give keywords.tsv")
    rows.sort(key=lambda row: (-int(row["documents"]), row["keyword"]))
    categories = [row["keyword"] for row in rows[: arguments.categories]]
    if len(categories) < arguments.categories:
        raise InputError(
            f"there are {len(categories)} keywords", str(arguments.keywords), "lower --categories"
        )
    size = arguments.per_request or len(categories)
    parts = [categories[start : start + size] for start in range(0, len(categories), size)]
    paths = name_parts(arguments.output, len(parts))
    for path, part in zip(paths, parts, strict=True):
        write_text(path, write_request(arguments.title, part, arguments.each))
    if arguments.list:
        write_text(arguments.list, "".join(f"{category}\n" for category in categories))
    log.info("%s categories, %s each: %s", len(categories), arguments.each, ", ".join(map(str, paths)))


def name_parts(output: Path, count: int) -> list[Path]:
    """Return the name of each request, numbered if there are several; refuse to mix two divisions."""
    names = [f"{output.stem}-{number:02d}{output.suffix}" for number in range(1, count + 1)]
    paths = [output] if count == 1 else [output.with_name(name) for name in names]
    others = {*output.parent.glob(f"{output.stem}-[0-9][0-9]{output.suffix}"), output} - set(paths)
    old = sorted(str(path) for path in others if path.exists())
    if old:
        raise InputError(
            f"requests of another division are there: {', '.join(old)}", str(output), "remove them first"
        )
    return paths


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keywords", type=Path, required=True, help="keywords.tsv of the domain")
    parser.add_argument("--title", required=True, help="name of the domain in text")
    parser.add_argument("--categories", type=int, default=20, help="number of categories; 20 in the papers")
    parser.add_argument("--each", type=int, default=50, help="pairs of each category; 50 in the papers")
    parser.add_argument(
        "--per-request",
        type=int,
        help="categories in each request, numbered -01, -02, ...; all in one if absent",
    )
    parser.add_argument("--output", type=Path, required=True, help="the request (text)")
    parser.add_argument("--list", type=Path, help="also write the categories, one a line, for read_answer.py")
    run_program(parser, main)
