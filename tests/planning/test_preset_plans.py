"""The pages say what plans of the papers' configurations say."""

import re

import pytest
from tests.plans import ROOT
from tests.programs import SNAKEMAKE, run_program
from tests.refusals import refuses

PAGES = ("papers.md", "continual.md", "tuning.md")


def write_plans(*arguments: object) -> None:
    """Run the program."""
    run_program("write_plans", *arguments, imports=SNAKEMAKE)


# each plan takes a good ten seconds; the program itself makes the others
@pytest.mark.parametrize("preset", ["raw-corpora", "train-before-test"])
def test_pages_are_fresh(preset, tmp_path):
    write_plans("--presets", preset, "--output", tmp_path)
    for page in PAGES:
        fresh = (tmp_path / page).read_text() == (ROOT / "docs" / page).read_text()
        assert fresh, f"docs/{page} is stale: python scripts/jobs/write_plans.py"


def test_the_page_says_of_every_configuration_what_it_makes_and_what_it_takes():
    page = (ROOT / "docs" / "papers.md").read_text()
    for file in (ROOT / "config" / "papers").glob("*.yaml"):
        assert re.search(rf"^\| .*\[.*\] \| `{file.name}` \|", page, re.MULTILINE), file.name
        assert re.search(rf"^\| `{file.name}` \|", page, re.MULTILINE), (
            f"{file.name} is missing in PRESETS of scripts/jobs/write_plans.py"
        )


def test_only_what_is_planned_is_written_anew(tmp_path):
    stale = re.sub(r"(`raw-corpora(?:-choices)?\.yaml` \| `\w+` \| )[\d,]+", r"\g<1>0",
                   (ROOT / "docs" / "papers.md").read_text())  # fmt: skip
    (tmp_path / "papers.md").write_text(stale)
    for page in PAGES[1:]:
        (tmp_path / page).write_text((ROOT / "docs" / page).read_text())
    write_plans("--presets", "raw-corpora-choices", "--pages", tmp_path)
    written = (tmp_path / "papers.md").read_text()
    assert "`raw-corpora.yaml` | `all` | 0 |" in written
    assert re.search(r"`raw-corpora-choices\.yaml` \| `choices` \| [1-9]", written)


def test_an_unknown_preset_and_a_page_without_marks_are_refused(tmp_path):
    with refuses("--presets gpt: no configuration of a paper", "raw-corpora"):
        write_plans("--presets", "gpt", "--output", tmp_path)
    for page in PAGES:
        (tmp_path / page).write_text("# A page\n")
    with refuses("there is nothing to write anew", "<!-- plans: presets -->"):
        write_plans("--presets", "raw-corpora-choices", "--pages", tmp_path)
