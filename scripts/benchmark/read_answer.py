"""Read a language model's answers to the request for a benchmark, and hold them to its rules.

Source: [RawCorpora, Sec. 3.2, Fig. 14].

Nothing of an answer is run. Entries that keep all rules are written as JSON lines for import_reference.py;
every broken rule is listed with file, line, entry and text, and its entries are counted.
"""

import argparse
from pathlib import Path

from fathom.benchmark.reference import read_plain_text
from fathom.benchmark.reference_request import read_answers
from fathom.benchmark.wordlists import read_word_list
from fathom.errors import InputError
from fathom.io.files import write_delimited, write_json_lines
from fathom.running.program import log, run_program


def main(arguments: argparse.Namespace) -> None:
    """Read the answers, write what keeps the rules and what breaks them."""
    categories = [line.strip() for line in read_plain_text(arguments.categories).splitlines() if line.strip()]
    texts = {path.name: read_plain_text(path) for path in arguments.answer}
    if len(texts) < len(arguments.answer):
        raise InputError("two answers have the same name", "--answer", "rename one, or name each once")
    stopwords = read_word_list(arguments.wordlists / "stopwords.txt")
    answer = read_answers(texts, categories, arguments.each, stopwords)
    write_json_lines(
        arguments.output,
        (
            {"category": e.category, "prompt": e.prompt, "target": e.target, "source": arguments.source}
            for e in answer.kept
        ),
    )
    rows = [
        (fault.file, fault.line or "", fault.entry or "", fault.rule, fault.text) for fault in answer.faults
    ]
    write_delimited(arguments.faults, ("file", "line", "entry", "rule", "text"), rows, delimiter=",")
    log.info(
        "%s entries keep the rules, %s do not; %s faults are listed in %s",
        len(answer.kept),
        len(answer.broken),
        len(answer.faults),
        arguments.faults,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--answer",
        type=Path,
        nargs="+",
        required=True,
        help="the answers to all requests, as they came (text)",
    )
    parser.add_argument(
        "--categories", type=Path, required=True, help="categories of all requests, one a line"
    )
    parser.add_argument("--source", default="", help="the model that answered, kept with each pair")
    parser.add_argument("--each", type=int, default=50, help="pairs that were asked for in each category")
    parser.add_argument("--wordlists", type=Path, default=Path("config/wordlists"), help="has stopwords.txt")
    parser.add_argument("--output", type=Path, required=True, help="entries that keep the rules (JSON lines)")
    parser.add_argument("--faults", type=Path, required=True, help="what breaks a rule (CSV)")
    run_program(parser, main)
