"""Run a whole configuration with tiny stand-ins for all that it fetches.

Makes missing models of the hub, data sets, arXiv dumps and references on the spot, as small as possible;
cuts counts, but keeps every kind of job and figure. Jobs that are not local have no network and no home, as
on a compute node. Targets, --configfile and --config are as for snakemake; default targets are those of the
command in the file's first comment. The exit code is 1 if a job fails, or if a figure or table of a paper
is missing.
"""

import argparse
from pathlib import Path

from fathom.commands import verbs

EXAMPLES = (
    "fathom rehearse --configfile config/papers/comp-comp.yaml --cores 4",
    "fathom rehearse questions --configfile config/papers/comp-comp.yaml --folder rehearsed",
)


def add_verb(into: "verbs.Verbs") -> None:
    """Add `fathom rehearse`."""
    parser = verbs.add_verb(into, "rehearse", __doc__, run, EXAMPLES)
    parser.add_argument("targets", nargs="*", help="what to make")
    parser.add_argument("--snakefile", type=Path, help="another workflow")
    parser.add_argument("--configfile", nargs="+", required=True, help="as for snakemake")
    parser.add_argument("--config", nargs="+", default=[], metavar="KEY=VALUE", help="as for snakemake")
    parser.add_argument("--cores", type=verbs.count_from_one, default=1, help="cores to use; 1")
    parser.add_argument("--profile", default="", help="as for snakemake: run jobs on its cluster")
    parser.add_argument(
        "--folder",
        type=Path,
        default=Path("results/rehearsal"),
        help="folder for everything that is written; results/rehearsal",
    )
    parser.add_argument("--table", type=Path, help="CSV table to append the outcome to")


def run(arguments: argparse.Namespace) -> None:
    """Rehearse, print what was drawn; fail if something is missing."""
    from fathom.errors import InputError
    from fathom.io.places import find_own
    from fathom.jobs.program import require_extra
    from fathom.planning.plans import Request, find_snakefile
    from fathom.planning.rehearsal.rehearse import add_outcome, draw_table, rehearse

    require_extra("workflow", "fathom rehearse")
    snakefile = find_snakefile(arguments.snakefile)
    files = list(map(str, map(find_own, arguments.configfile)))
    request = Request(snakefile, arguments.targets, files, arguments.config, profile=arguments.profile)
    done = rehearse(request, arguments.folder, arguments.cores)
    print("\n".join(draw_table(done.drawn)))
    made = sum(row.files > 0 for row in done.drawn)
    print(
        f"\n{done.name} ({done.targets or 'all'}): {done.jobs} jobs for {done.planned}, "
        f"{done.seconds / 60:.1f} minutes; {made} of {len(done.drawn)} kinds of figures and tables"
    )
    if arguments.table:
        add_outcome(arguments.table, done.name, done.drawn)
    if not done.succeeded:
        problem = "jobs failed" if done.code else "figures or tables are missing"
        raise InputError(f"{done.name}: {problem}", str(done.log), "it lists them")
