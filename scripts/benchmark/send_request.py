"""Send requests for a benchmark to a language model through the Anthropic API [RawCorpora, Sec. 3.2].

The model is always named by you, the key comes from ANTHROPIC_API_KEY alone, and no rule of the workflow runs
this. Every answer is saved as it comes, with model, tokens and date; started again, only what has no answer
is sent. Needs the package anthropic.
"""

import argparse
from pathlib import Path

from fathom.benchmark.reference_client import Sending, send_requests
from fathom.errors import InputError
from fathom.running.program import log, run_program


def main(arguments: argparse.Namespace) -> None:
    """Send what has no answer, save the answers."""
    if arguments.max_tokens < 1 or arguments.timeout <= 0 or arguments.retries < 0:
        raise InputError("a number is too small", "--max-tokens, --timeout, --retries", "see --help")
    settings = Sending(arguments.model, arguments.max_tokens, arguments.timeout, arguments.retries)
    counts = send_requests(arguments.request, arguments.output, settings)
    log.info(
        "%s answers in %s: %s were there, %s came now for %s tokens in and %s out",
        counts["kept"] + counts["received"],
        arguments.output,
        counts["kept"],
        counts["received"],
        f"{counts['input_tokens']:,}",
        f"{counts['output_tokens']:,}",
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--request", type=Path, nargs="+", required=True, help="requests, as write_request.py writes them"
    )
    parser.add_argument("--model", required=True, help="the model's full name, as the API knows it")
    parser.add_argument("--output", type=Path, required=True, help="folder of the answers")
    parser.add_argument(
        "--max-tokens", type=int, default=32000, help="longest answer in tokens, thinking included; 32000"
    )
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds of silence; 600")
    parser.add_argument("--retries", type=int, default=6, help="further attempts, with growing pauses; 6")
    run_program(parser, main)
