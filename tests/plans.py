"""Plans of the workflow: dry runs of Snakemake, each started once for several tests; texts of its rules."""

import re
import subprocess
from collections import Counter
from functools import cache
from pathlib import Path

from tests.programs import run_snakemake

ROOT = Path(__file__).resolve().parents[1]
JOB = re.compile(r"^(?:localrule|rule) (\w+):", re.MULTILINE)
TEXTS = [path.read_text() for path in sorted((ROOT / "workflow" / "rules").glob("*.smk"))]
_RULE = re.compile(r"^ *rule (\w+):\n(.*?)(?=^ *(?:use )?rule |\Z)", re.MULTILINE | re.DOTALL)
RULES = {name: body for text in TEXTS for name, body in _RULE.findall(text)}
"""Rules by name; one that is made by `use rule` has its base's resources."""
INHERITED = re.findall(r"^ *use rule \w+ as (\w+) with:", "\n".join(TEXTS), re.MULTILINE)


@cache
def plan(
    *config: str, targets: str = "", files: str = "", options: str = ""
) -> subprocess.CompletedProcess[str]:
    """Plan a run named `plan` at the repository's root as if nothing had been made yet.

    Parameters
    ----------
    *config : str
        Values of the configuration, as `run=x`.
    targets, files, options : str
        Targets, files of configuration and further options, with blanks between.
    """
    given = ("--configfile", *files.split()) if files else ()
    values = ("--config", "run=plan", *config)
    forced = ("-n", "-c2", "--nolock", "-p", "--forceall", *options.split())
    return run_snakemake(*forced, *given, *values, "--", *targets.split())


def count_jobs(done: subprocess.CompletedProcess[str]) -> Counter[str]:
    """Return the jobs of a plan by rule."""
    return Counter(JOB.findall(done.stdout))


def list_commands(done: subprocess.CompletedProcess[str], program: str) -> list[str]:
    """Return the commands of a plan that start a program."""
    return [line for line in done.stdout.splitlines() if f"/{program}.py " in line and "Shell" in line]
