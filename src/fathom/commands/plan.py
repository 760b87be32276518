"""Say what a run will take: jobs, hours, memory and disk by rule; memory, GPUs and hours by model.

Targets, --configfile and --config are as for snakemake. The workflow is that of the working folder, else
Fathom's own; so are files of `config/`.

With --separate, says instead how many keywords and pairs a benchmark needs to show a significant
difference, from the scores of a finished run, the pilot.
"""

import argparse
import math
from pathlib import Path
from statistics import median_high
from typing import TYPE_CHECKING

from fathom.commands import verbs
from fathom.io.names import show_count
from fathom.jobs.program import log, require_extra

BITS_APART, FACTORS = (0.1, 0.25, 0.5, 1.0), (1.05, 1.1, 1.2, 1.5)
"""Differences to detect: in bits, and as ratios of geometric mean ranks."""

if TYPE_CHECKING:
    from fathom.planning.plans import Plan, Request
    from fathom.statistics.sizing import Variances

EXAMPLES = (
    "fathom plan --configfile docs.yaml --cores 4",
    "fathom plan --separate results/docs --factors 1.1 1.5",
)


def add_verb(into: "verbs.Verbs") -> None:
    """Add `fathom plan`."""
    parser = verbs.add_verb(into, "plan", __doc__, run, EXAMPLES)
    parser.add_argument("targets", nargs="*", help="what to make; everything by default")
    parser.add_argument("--snakefile", type=Path, help="another workflow")
    parser.add_argument("--configfile", nargs="+", default=[], help="as for snakemake")
    parser.add_argument("--config", nargs="+", default=[], metavar="KEY=VALUE", help="as for snakemake")
    parser.add_argument("--forceall", action="store_true", help="as if there were no results yet")
    parser.add_argument("--cores", type=verbs.count_from_one, default=1, help="cores to use; 1")
    parser.add_argument(
        "--gpu-cards",
        default="",
        metavar="MODEL:MEGABYTESxGPUS",
        help="available GPUs, such as 'a100:40000x4 h100:80000x8'; without them, host memory is for a run "
        "without a GPU",
    )
    parser.add_argument("--rates", type=Path, help="rates by rule (TSV); config/rates.tsv of the workflow")
    parser.add_argument(
        "--measured", type=Path, help="resources.csv of an earlier run, instead of these rates"
    )
    parser.add_argument(
        "--separate", type=Path, metavar="PILOT", help="results of a finished run, results/RUN"
    )
    parser.add_argument(
        "--bits",
        type=verbs.read_finite,
        nargs="+",
        metavar="BITS",
        help="with --separate: differences in bits to detect; 0.1 0.25 0.5 1",
    )
    parser.add_argument(
        "--factors",
        type=verbs.read_finite,
        nargs="+",
        metavar="FACTOR",
        help="with --separate: ratios of geometric mean ranks to detect, in place of bits; in a run without"
        " bits 1.05 1.1 1.2 1.5",
    )
    parser.add_argument(
        "--each",
        type=int,
        nargs="+",
        default=[1, 5, 20],
        metavar="PAIRS",
        help="with --separate: pairs per keyword; 1 5 20",
    )
    parser.add_argument(
        "--overlap",
        choices=("sentence", "ending", "keep"),
        default="ending",
        help="with --separate: which pairs to leave out, as in the run's summary.overlap; ending",
    )


def run(arguments: argparse.Namespace) -> None:
    """Ask Snakemake which jobs it would run, multiply them by rates, print a table."""
    if arguments.separate is not None:
        separate(arguments)
        return
    from fathom.io.places import find_own
    from fathom.planning.model_memory import read_cards
    from fathom.planning.plans import Request, find_snakefile, make_plan

    require_extra("workflow", "fathom plan")
    read_cards(arguments.gpu_cards, "--gpu-cards")
    snakefile = find_snakefile(arguments.snakefile)
    request = Request(
        snakefile,
        arguments.targets,
        list(map(str, map(find_own, arguments.configfile))),
        arguments.config,
        arguments.forceall,
        arguments.gpu_cards,
    )
    rates = arguments.rates or request.find("config/rates.tsv")
    plan = make_plan(request, rates, arguments.measured)
    for name, count in sorted(plan.unknown.items()):
        log.info("no rate for rule %s: %s not counted below", name, show_count(count, "job"))
    print_rules(plan)
    print_models(plan, request)
    print_asked(plan)
    print_sums(plan, arguments.cores, rates)
    if plan.missing:
        log.warning(plan.missing)
    for line in (*plan.fetched.notes, *plan.fetched.obstacles):
        log.warning("%s", line)


def print_rules(plan: "Plan") -> None:
    """Print a line for each rule."""
    form = "{:26} {:>7} {:>10} {:>10} {:>10} {:>8} {:>9} {:>9}"
    names = ("rule", "jobs", "CPU hours", "GPU hours", "longest h", "limit h", "memory MB", "disk GB")
    print(form.format(*names))
    for rule, line in plan.rules.items():
        hours = [f"{value / 3600:,.2f}" for value in (line.cpu_seconds, line.gpu_seconds, line.longest)]
        sizes = f"{line.memory_mb:,.0f}", f"{line.disk_mb / 1000:,.2f}"
        limit = f"{line.limit / 3600:,.1f}" if line.limit else ""
        print(form.format(rule, f"{line.jobs:,}", *hours, limit, *sizes))
    late = [rule for rule, line in plan.rules.items() if 0 < line.limit < line.longest]
    if late:
        print(f"longer than their time limit, so they continue in retries: {', '.join(late)}")


def print_models(plan: "Plan", request: "Request") -> None:
    """Print a line for each model: its largest job's memory, and the hours of all its jobs.

    If no GPUs are given, also name models that fit into no usual GPU.
    """
    from fathom.planning.model_memory import UNKNOWN

    if not plan.models:
        return
    form = "{:40} {:>9} {:>9} {:>5} {:>8}"
    print("\n" + form.format("model", "host GB", "GPU GB", "GPUs", "hours"))
    for model, line in plan.models.items():
        sizes = f"{line.memory / 1000:,.1f}", f"{line.gpu_memory / 1000:,.1f}" if line.gpu_memory else "?"
        print(form.format(model, *sizes, line.gpus, f"{line.hours:,.2f}"))
    if not request.cards and any(line.gpus for line in plan.models.values()):
        print("GPU columns apply if there is a GPU; else the processor does this work, in the host's memory")
    card = UNKNOWN.megabytes
    large = [] if request.cards else [name for name, line in plan.models.items() if line.gpu_memory > card]
    if large:
        print(
            f"more than {card / 1000:.0f} GB on one GPU: {', '.join(large)}. An adapter takes less"
            " (lora: {dtype: bfloat16}); several GPUs share batches, not weights"
        )


def print_asked(plan: "Plan") -> None:
    """Print how many requests go to models behind a service, and what they cost."""
    if plan.asked:
        print("\nrequests to services that have no answer yet:")
        print(*(f"  {line}" for line in plan.asked), sep="\n")


def print_sums(plan: "Plan", cores: int, rates: Path) -> None:
    """Print sums over all rules, and the source of the rates."""
    lines = plan.rules.values()
    jobs, disk = sum(line.jobs for line in lines), sum(line.disk_mb for line in lines) / 1000
    cpu, gpu = (sum(getattr(line, name) for line in lines) / 3600 for name in ("cpu_seconds", "gpu_seconds"))
    print(
        f"\n{show_count(jobs, 'job')}, {cpu:,.1f} CPU hours, {gpu:,.1f} GPU hours,"
        f" {disk:,.1f} GB of new files, from {plan.sizes.whole:,.1f} MB of text"
    )
    longest = max((line.longest for line in lines), default=0.0) / 3600
    least = max(cpu / cores, longest)
    told = f"{least:,.1f} hours" if least >= 1 else show_count(math.ceil(60 * least), "minute")
    print(f"at least {told} on {show_count(cores, 'core')}")
    source = f"{rates.name}, assuming every document is in a domain with a benchmark"
    if plan.measured is not None:
        source = f"{plan.measured}, assuming the domains have the same share of the documents"
    print(f"estimated from {source}; it may take half or twice as long")


def separate(arguments: argparse.Namespace) -> None:
    """Print for each benchmark of a pilot how many keywords and pairs it takes to tell two models apart.

    For the median of all neighbouring models, and in brackets for those that vary most by keyword.
    """
    from fathom.config.scoring import Summary
    from fathom.errors import InputError
    from fathom.statistics.metrics import BITS
    from fathom.statistics.sizing import measure_pilot

    if min(arguments.each) < 1 or min(arguments.factors or [2.0]) <= 1 or min(arguments.bits or [1.0]) <= 0:
        raise InputError(
            "factors must be above 1, bits above 0, pairs per keyword at least 1", "--factors, --bits, --each"
        )
    if arguments.factors and arguments.bits:
        raise InputError(
            "give differences in bits or factors of ranks, not both", "--bits, --factors", "give one"
        )
    settings = Summary(overlap=arguments.overlap, lead="rank" if arguments.factors else "bits")
    for (domain, variant), (metric, neighbours) in measure_pilot(arguments.separate, settings).items():
        by_bits = metric is BITS
        if arguments.bits and not by_bits:
            raise InputError("these scores have no bits", f"{domain}, {variant}", "give --factors")
        pilot = neighbours[0]
        print(f"{domain}, {variant}: {pilot.keywords:,} {pilot.clusters}, {pilot.pairs:,} pairs")
        what = "bits" if by_bits else "log rank ratios"
        for name in ("between", "within"):
            found = sorted(math.sqrt(getattr(each, name)) for each in neighbours)
            print(
                f"  {what} of neighbouring models, standard deviation {name} {pilot.clusters}:"
                f" {median_high(found):.3f} ({found[0]:.3f} to {found[-1]:.3f})"
            )
        wanted = arguments.bits or BITS_APART if by_bits else arguments.factors or FACTORS
        named = {
            size if by_bits else math.log(size): f"by {size:g} bits" if by_bits else f"{size:g} times"
            for size in sorted(wanted)
        }
        title = "models differ" if by_bits else "ranks differ"
        _print_sizes(neighbours, named, sorted(arguments.each), title)


def _print_sizes(
    neighbours: "list[Variances]", differences: "dict[float, str]", pairs: list[int], title: str
) -> None:
    from fathom.statistics.sizing import POWERS, count_keywords

    form = "{:>14} {:>18}" + " {:>20}" * 2 * len(POWERS)
    clusters = neighbours[0].clusters
    titles = [f"{what}, power {power:.0%}" for power in POWERS for what in (clusters, "pairs")]
    print(form.format(title, f"pairs of a {clusters[:-1]}", *titles))
    for difference, name in differences.items():
        for each in pairs:
            cells = []
            for power in POWERS:
                needed = sorted(count_keywords(every, each, difference, power) for every in neighbours)
                most = needed[-1]
                cells += [f"{median_high(needed):,} ({most:,})"]
                cells += [f"{median_high(needed) * each:,} ({most * each:,})"]
            print(form.format(name, each, *cells))
    print()
