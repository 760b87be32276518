"""A folder of reference benchmarks: files by domain and name, the expert's first."""

import pytest
from tests.refusals import refuses

from fathom.config.merging import find_references

DOMAINS = ["cs.AI", "cs", "econ.GN"]


def fill(folder, *names):
    for name in names:
        (folder / name).touch()
    return str(folder)


def test_files_are_found_by_domain_and_name_and_the_expert_leads(tmp_path):
    names = ["econ.GN.claude.jsonl", "cs.AI.claude.jsonl", "cs.AI.expert.csv", "cs.AI.zeta.csv", ".notes"]
    folder = fill(tmp_path, *names)
    found = find_references(folder, DOMAINS)
    assert found["econ.GN"] == {"claude": f"{folder}/econ.GN.claude.jsonl"}
    assert list(found["cs.AI"].items()) == [("expert", f"{folder}/cs.AI.expert.csv"),
                                            ("claude", f"{folder}/cs.AI.claude.jsonl"),
                                            ("zeta", f"{folder}/cs.AI.zeta.csv")]  # fmt: skip
    assert list(found) == ["cs.AI", "econ.GN"]


@pytest.mark.parametrize(
    ("names", "said"),
    [([], ["this folder is empty", "DOMAIN.NAME.csv"]),
     ([".hidden"], ["this folder is empty"]),
     (["cs.IA.expert.csv"], ["cs.IA.expert.csv: unknown domain 'cs.IA'", "did you mean cs.AI?"]),
     (["cs.AI.expert.tsv"], ["cs.AI.expert.tsv is not named like a reference", "DOMAIN.NAME.jsonl"]),
     (["expert.csv"], ["expert.csv is not named like a reference"]),
     (["cs.AI.expert.csv", "cs.AI.expert.jsonl"],
      ["cs.AI.expert.csv and cs.AI.expert.jsonl are the same reference"])],
)  # fmt: skip
def test_what_is_no_folder_of_references_is_refused(names, said, tmp_path):
    with refuses(f"references = {tmp_path}", *said):
        find_references(fill(tmp_path, *names), DOMAINS)


def test_a_missing_folder_is_refused(tmp_path):
    with refuses("/none: there is no such folder"):
        find_references(str(tmp_path / "none"), DOMAINS)


def test_a_folder_inside_is_refused(tmp_path):
    (tmp_path / "cs.AI.expert.csv").mkdir()
    with refuses("cs.AI.expert.csv is not named like a reference"):
        find_references(str(tmp_path), DOMAINS)
