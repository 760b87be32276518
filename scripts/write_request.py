"""Write the request for a benchmark that a language model makes, for a person to send (spec 1.6).

Reads keywords.tsv of a domain; writes the request, with its first keywords as categories, to a text file.
"""

import argparse
from pathlib import Path

from fathom.benchmark.requests import write_request
from fathom.errors import InputError
from fathom.files import read_delimited, write_text
from fathom.program import run_program


def main(arguments: argparse.Namespace) -> None:
    """Take the keywords of most documents as categories, write the request."""
    rows = read_delimited(arguments.keywords)
    if not rows or not {"keyword", "documents"} <= set(rows[0]):
        raise InputError("there are no keywords with documents", str(arguments.keywords), "give keywords.tsv")
    rows.sort(key=lambda row: (-int(row["documents"]), row["keyword"]))
    categories = [row["keyword"] for row in rows[: arguments.categories]]
    if len(categories) < arguments.categories:
        raise InputError(
            f"there are {len(categories)} keywords", str(arguments.keywords), "lower --categories"
        )
    write_text(arguments.output, write_request(arguments.title, categories, arguments.each))
    if arguments.list:
        write_text(arguments.list, "".join(f"{category}\n" for category in categories))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keywords", type=Path, required=True, help="keywords.tsv of the domain")
    parser.add_argument("--title", required=True, help="name of the domain in text")
    parser.add_argument("--categories", type=int, default=20, help="number of categories; 20 in the papers")
    parser.add_argument("--each", type=int, default=50, help="pairs of each category; 50 in the papers")
    parser.add_argument("--output", type=Path, required=True, help="the request (text)")
    parser.add_argument("--list", type=Path, help="also write the categories, one a line, for read_answer.py")
    run_program(parser, main)
