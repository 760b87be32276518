"""Check a GPU with random weights of real shapes: ranks, precision, running out of memory, resuming, speed.

Downloads nothing and takes at most twelve minutes; --only runs some of the checks. First names what is
missing. Each check runs in its own process, so none stops the others. Writes gpu-check.md and
gpu-check.json, prints the table, and says what missed its goal. The exit code is 1 if a check of
correctness failed.
"""

import argparse
from pathlib import Path

from fathom.commands import verbs
from fathom.jobs.program import log

EXAMPLES = ("fathom check-gpu", "fathom check-gpu --quick --device cpu --only ranks")


def add_verb(into: "verbs.Verbs") -> None:
    """Add `fathom check-gpu`."""
    parser = verbs.add_verb(into, "check-gpu", __doc__, run, EXAMPLES)
    parser.add_argument(
        "--device", default="auto", help="auto (the first GPU, the default), cpu, cuda or cuda:N"
    )
    parser.add_argument("--quick", action="store_true", help="tiny models; a minute on a processor")
    parser.add_argument(
        "--only",
        nargs="+",
        default=[],
        metavar="WORD",
        help="run only checks with one of these words in their names",
    )
    parser.add_argument(
        "--output", type=Path, default=Path("results/gpu-check"), help="folder; results/gpu-check if absent"
    )


def run(arguments: argparse.Namespace) -> None:
    """Name what is missing, run the checks, write and print the table; fail if a correctness check failed."""
    import os
    import tempfile

    os.environ["HF_HUB_OFFLINE"] = "1"
    from fathom.commands.gpu.machine import check_packages, list_packages

    packages = list_packages()
    check_packages(packages)  # before any of them is imported
    from fathom.commands.gpu.check_list import list_jobs, write_report
    from fathom.commands.gpu.checks import Place, import_before, run_checks
    from fathom.commands.gpu.gpu_models import FULL, QUICK
    from fathom.commands.gpu.machine import ask_machine, describe_lines
    from fathom.errors import InputError
    from fathom.io.files import choose_scratch, make_folder

    jobs = list_jobs(arguments.quick, arguments.only)
    import_before(packages)
    if arguments.quick:
        import torch

        torch.set_num_threads(1)  # tiny products cost less than sharing them among threads
    make_folder(arguments.output)
    with tempfile.TemporaryDirectory(dir=choose_scratch(arguments.output / "checks")) as folder:
        machine = ask_machine(arguments.device, Path(folder))
        for text in describe_lines(machine, packages):
            log.info("%s", text)
        place = Place(machine["device"], QUICK if arguments.quick else FULL, Path(folder))
        lines = run_checks(jobs, place, packages, machine["free"])
        for file in Path(folder).glob("*.log"):
            file.replace(arguments.output / file.name)
    print(write_report(arguments.output, lines, machine, packages))
    for line in lines:
        if line.verdict in ("fell short", "crashed"):
            print(
                f"{line.verdict}: {line.check}, {line.shape}: {line.measured}; goal: {line.goal or 'it runs'}"
            )
    failed = [f"{line.check} ({line.shape})" for line in lines if line.verdict == "failed"]
    if failed:
        hint = "see the table for the measurements and the logs to read"
        raise InputError(f"failed: {', '.join(failed)}", str(arguments.output / "gpu-check.md"), hint)
