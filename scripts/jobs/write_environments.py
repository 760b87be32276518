"""Write envs/*.yaml, the environments of the rules, from the imports of the programs that run in them.

Run it after a change of imports or of requirements.lock; tests/planning/test_environments.py fails if a
file is stale.
"""

import argparse
from pathlib import Path

from fathom.io.files import write_text
from fathom.jobs.program import run_program
from fathom.planning.environments import find_programs, list_requirements, read_pins, render_environment

_ROOT = Path(__file__).resolve().parents[2]


def main(arguments: argparse.Namespace) -> None:
    """Write a file for each environment that a rule names."""
    pins = read_pins(_ROOT / "requirements.lock")
    programs = find_programs(sorted((_ROOT / "workflow" / "rules").glob("*.smk")))
    for name, users in sorted(programs.items()):
        text = render_environment(name, list_requirements(_ROOT, users, pins))
        write_text(arguments.output / f"{name}.yaml", text)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=_ROOT / "envs", help="folder of the environments")
    run_program(parser, main)
