"""Have a language model write a benchmark or questions: write the request, send it, check the answer.

No rule of the workflow does this. To use the checked pairs in a run, name them under `references` in its
configuration; questions under `user_questions`.
"""

import argparse
from pathlib import Path

from fathom.commands import verbs
from fathom.io.places import find_own
from fathom.jobs.program import log

WRITE = """Write the request for a benchmark, to send by hand or by `fathom request send`.

Reads keywords.tsv of a domain; the most frequent keywords, by documents, become categories.
"""
SEND = """Send requests to a language model behind Anthropic's API or one that speaks OpenAI's protocol.

The key is read only from ANTHROPIC_API_KEY, or with --service from FATHOM_SERVER_KEY. Every answer is saved
as it arrives, with model, tokens and date. Started again, sends only requests that have no answer yet.
"""
READ = """Check a language model's answers against the rules of the request.

Executes nothing in an answer. Writes entries that follow all rules as JSON lines; lists every broken rule
with file, line, entry and text.
"""
QUESTIONS = """Write requests for open questions about a set's records, to send like the others.

Takes records from chunks.parquet of the set in its order, which a hash decides.
"""
READ_QUESTIONS = """Check a language model's questions and answers.

Executes nothing in an answer. Writes questions that pass as JSON lines, for `user_questions`; lists the
others with the reason: empty, refused, no question, asked before.
"""

EXAMPLES = (
    "fathom request write --keywords keywords.tsv --title Law --output request.txt --list list.txt",
    "fathom request read --answer answer.txt --categories list.txt --output own.jsonl --faults faults.csv",
)


def add_verb(into: "verbs.Verbs") -> None:
    """Add `fathom request write`, `send`, `read`, `questions` and `read-questions`."""
    parser = into.add_parser("request", help=verbs.cut_help(__doc__), description=__doc__)
    parser.examples = EXAMPLES
    steps = parser.add_subparsers(title="steps", metavar="STEP", required=True)
    _add_write(verbs.add_verb(steps, "write", WRITE, write))
    _add_send(verbs.add_verb(steps, "send", SEND, send))
    _add_read(verbs.add_verb(steps, "read", READ, read))
    _add_questions(verbs.add_verb(steps, "questions", QUESTIONS, write_questions))
    _add_read_questions(verbs.add_verb(steps, "read-questions", READ_QUESTIONS, read_questions))


def _add_write(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--keywords", type=Path, required=True, help="keywords.tsv of the domain")
    parser.add_argument("--title", required=True, help="display name of the domain")
    parser.add_argument("--categories", type=int, default=20, help="number of categories; 20 in the papers")
    parser.add_argument("--each", type=int, default=50, help="pairs of each category; 50 in the papers")
    parser.add_argument(
        "--per-request",
        type=int,
        help="categories per request, numbered -01, -02, ...; default: all in one request",
    )
    parser.add_argument(
        "--template",
        type=Path,
        help="text of the request with {domain}, {categories}, {each} and {total}, such as a paper's; "
        "default: ours",
    )
    parser.add_argument("--output", type=Path, required=True, help="the request (text)")
    parser.add_argument(
        "--list", type=Path, help="also write the categories, one per line, for `fathom request read`"
    )


def write(arguments: argparse.Namespace) -> None:
    """Choose categories; write the request or requests."""
    from fathom.benchmark.reference_request import choose_categories, write_requests
    from fathom.io.files import read_plain_text, write_text

    categories = choose_categories(arguments.keywords, arguments.categories)
    template = read_plain_text(arguments.template) if arguments.template else None
    paths = write_requests(
        arguments.output, arguments.title, categories, arguments.each, arguments.per_request, template
    )
    if arguments.list:
        write_text(arguments.list, "".join(f"{category}\n" for category in categories))
    log.info("%s categories, %s each: %s", len(categories), arguments.each, ", ".join(map(str, paths)))


def _add_send(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--request", type=Path, nargs="+", required=True, help="requests (text)")
    parser.add_argument("--model", required=True, help="the model's full name, as the API knows it")
    parser.add_argument("--output", type=Path, required=True, help="folder of the answers")
    parser.add_argument(
        "--service",
        metavar="URL",
        help="address of a service that speaks OpenAI's protocol, such as http://localhost:8000/v1; default:"
        " https://api.anthropic.com/v1",
    )
    parser.add_argument(
        "--max-tokens",
        type=int,
        default=32000,
        help="limit of tokens in an answer, thinking included; default 32000",
    )
    parser.add_argument(
        "--timeout",
        type=float,
        default=600.0,
        help="seconds to wait, not counting those for writing; default 600",
    )
    parser.add_argument("--retries", type=int, default=6, help="retries; default 6")


def send(arguments: argparse.Namespace) -> None:
    """Send the requests without an answer; save the answers."""
    from fathom.benchmark.reference_request import ANTHROPIC, RequestSettings, send_requests

    service = arguments.service or ANTHROPIC
    settings = RequestSettings(
        arguments.model, arguments.max_tokens, arguments.timeout, arguments.retries, service
    )
    counts = send_requests(arguments.request, arguments.output, settings)
    log.info(
        "%s answers in %s: %s from before, %s new; %s input and %s output tokens",
        counts["kept"] + counts["received"],
        arguments.output,
        counts["kept"],
        counts["received"],
        f"{counts['input_tokens']:,}",
        f"{counts['output_tokens']:,}",
    )


def _add_read(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--answer", type=Path, nargs="+", required=True, help="the answers to all requests (text)"
    )
    parser.add_argument(
        "--categories", type=Path, required=True, help="categories of all requests, one per line"
    )
    parser.add_argument("--source", default="", help="the model that answered, stored with each pair")
    parser.add_argument("--each", type=int, default=50, help="pairs requested per category")
    parser.add_argument("--wordlists", type=Path, help="folder with stopwords.txt; default config/wordlists")
    parser.add_argument(
        "--output", type=Path, required=True, help="entries that follow the rules (JSON lines)"
    )
    parser.add_argument("--faults", type=Path, required=True, help="broken rules (CSV)")


def read(arguments: argparse.Namespace) -> None:
    """Check the answers; write valid entries and broken rules."""
    from fathom.benchmark.reference_request import read_answer_files, write_answer

    wordlists = arguments.wordlists or find_own("config/wordlists")
    answer = read_answer_files(arguments.answer, arguments.categories, arguments.each, wordlists)
    write_answer(answer, arguments.source, arguments.output, arguments.faults)
    log.info(
        "%s entries follow the rules, %s do not; %s faults are listed in %s",
        len(answer.valid),
        len(answer.invalid),
        len(answer.faults),
        arguments.faults,
    )


def _add_questions(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--chunks", type=Path, required=True, help="chunks.parquet of the set")
    parser.add_argument(
        "--count", type=int, default=100, help="records to ask one question about each; default 100"
    )
    parser.add_argument("--each", type=int, default=20, help="records in each request; default 20")
    parser.add_argument("--output", type=Path, required=True, help="requests (text), numbered -01, -02, ...")


def write_questions(arguments: argparse.Namespace) -> None:
    """Write the requests."""
    from fathom.io.contracts.questions import CHUNKS
    from fathom.io.files import write_text
    from fathom.io.tables import read_table
    from fathom.questions.writing import write_requests

    records = read_table(arguments.chunks, CHUNKS).rows()[: max(0, arguments.count)]
    requests = write_requests(records, arguments.each)
    for number, text in enumerate(requests, start=1):
        path = arguments.output
        write_text(path.with_name(f"{path.stem}-{number:02}{path.suffix}"), text)
    log.info("%s requests about %s records", len(requests), f"{len(records):,}")


def _add_read_questions(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--answer", type=Path, nargs="+", required=True, help="answers to requests (text)")
    parser.add_argument("--output", type=Path, required=True, help="questions that pass (JSON lines)")
    parser.add_argument("--faults", type=Path, required=True, help="what was left out, and why (CSV)")


def read_questions(arguments: argparse.Namespace) -> None:
    """Check the answers; write questions that pass, and faults."""
    from fathom.io.files import read_plain_text
    from fathom.questions.writing import read_answers, write_checked

    checked = read_answers([(path.name, read_plain_text(path)) for path in arguments.answer])
    write_checked(checked, arguments.output, arguments.faults)
