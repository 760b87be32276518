"""The command `fathom`: build a benchmark, score a model, plan a run, show its results, and more.

Modules of verbs import the library inside functions, so that `--help` answers at once.
"""

from collections.abc import Sequence

from fathom import __version__
from fathom.commands import (
    best,
    bits,
    build,
    check_gpu,
    compare_runs,
    completion,
    contamination,
    demo,
    export,
    models,
    page,
    plan,
    questions,
    rehearse,
    request,
    run,
    score,
    scores,
    summary,
    verbs,
    watch,
)
from fathom.jobs.program import run_logged


def main(words: Sequence[str] | None = None) -> None:
    """Run one verb; exit codes are those of :func:`fathom.jobs.program.run_program`."""
    parser = make_parser()
    arguments, rest = parser.parse_known_args(words)
    if "rest" in arguments:  # verbs that pass unknown options on
        arguments.rest = rest
    elif rest:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    run_logged(arguments.run, arguments, arguments.name)


def make_parser() -> verbs.VerbParser:
    """Return the parser of the command, with all verbs."""
    parser = verbs.VerbParser(
        prog="fathom", description="Completion benchmarks from raw corpora, and models scored on them."
    )
    parser.add_argument("--version", action="version", version=f"fathom {__version__}")
    into = parser.add_subparsers(title="verbs", metavar="VERB", required=True)
    for module in (
        demo,
        build,
        run,
        score,
        best,
        bits,
        watch,
        plan,
        rehearse,
        summary,
        questions,
        page,
        compare_runs,
        export,
        models,
        request,
        scores,
        contamination,
        check_gpu,
        completion,
    ):
        module.add_verb(into)
    return parser
