"""Turn a folder of documents, a table or a data set into a page of results, in one command.

Inspects the source, writes a configuration for you to read and edit, shows what the run takes, and runs the
workflow of the working folder, else Fathom's own.
"""

import argparse
import sys
from typing import TYPE_CHECKING

from fathom.commands import verbs

if TYPE_CHECKING:
    from fathom.planning.builds import Source

_COLUMNS = ("id", "title", "abstract", "text", "categories", "date")

EXAMPLES = (
    "fathom build docs --models smollm2",
    "fathom build opinions.csv --models smollm2,gemma3-270m --text body --yes",
)


def add_verb(into: "verbs.Verbs") -> None:
    """Add `fathom build`."""
    parser = verbs.add_verb(into, "build", __doc__, run, EXAMPLES)
    parser.add_argument(
        "source", help="folder or file of documents, table, or hub:NAME[:CONFIGURATION][@COMMIT]"
    )
    parser.add_argument(
        "--models",
        required=True,
        help="comma-separated: rows of config/models.tsv or prefixes of them, such as smollm2; ids on the "
        "hub, with an optional @REVISION or /FILE.gguf; folders, GGUF files, adapters; ADDRESS#ID",
    )
    parser.add_argument("--run", dest="named", help="name of the run: results/NAME and NAME.yaml")
    parser.add_argument("--cores", type=verbs.count_from_one, default=2, help="cores to use; 2")
    parser.add_argument("--yes", action="store_true", help="start without asking")
    for name in _COLUMNS:
        parser.add_argument(f"--{name}", metavar="COLUMN", help=f"column of a table that holds {name}")


def run(arguments: argparse.Namespace) -> None:
    """Look, write the configuration, show the plan, ask, run, and say where the page is."""
    from fathom.errors import InputError
    from fathom.planning.builds import describe_corpus, examine, run_workflow

    columns = {each: getattr(arguments, each) for each in _COLUMNS if getattr(arguments, each)}
    source = examine(arguments.source, arguments.models.split(","), columns, arguments.named)
    print("\n".join(["Found:", *(f"  {line}" for line in source.found.describe())]))
    there = source.write()
    print(f"Configuration: {source.configuration}{' (as it was)' if there else ''}", flush=True)
    show_plan(source, arguments.cores)
    if not arguments.yes and not sys.stdin.isatty():
        raise InputError(
            "there is no terminal to confirm on", "standard input", "add --yes to start without asking"
        )
    if not arguments.yes and input("Start? [y/N] ").strip().lower() not in ("y", "yes"):
        print(f"Not started. Later: fathom build {arguments.source} --models {arguments.models} --yes")
        return
    run_workflow(source, arguments.cores)
    print("\n".join([*describe_corpus(source), f"Page: {source.page}"]))


def show_plan(source: "Source", cores: int) -> None:
    """Print what the run takes: jobs, hours, disk, models."""
    from fathom.commands.plan import print_models, print_sums
    from fathom.planning.plans import Request, make_plan

    request = Request(source.snakefile, configfiles=[str(source.configuration)])
    rates = request.find("config/rates.tsv")
    plan = make_plan(request, rates)
    print_models(plan, request)
    print_sums(plan, cores, rates)
    print("Models that are not in the cache are downloaded once.", flush=True)
