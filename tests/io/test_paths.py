"""Paths below the folder of a run are made and read in one place."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.programs import run_program

from fathom.io import paths
from fathom.io.run_path import RunPath

NAMES = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._+@-]{0,9}", fullmatch=True)


@given(domain=NAMES, model=NAMES)
def test_a_path_says_what_its_file_belongs_to(domain: str, model: str) -> None:
    path = paths.SCORES.of(domain=domain, variant="tf", model=model).under("results/run")
    assert path == f"results/run/{domain}/scores/tf/{model}.parquet"
    assert paths.SCORES.read(path) == {"domain": domain, "variant": "tf", "model": model}


def test_fields_that_are_not_filled_in_stay_for_the_rule_and_another_path_is_not_read():
    assert paths.SCORES.of(domain="law") == "<results>/law/scores/{variant}/{model}.parquet"
    assert paths.PAIRS.of_each([("law", "tf"), ("art", "tfidf")]) == [
        "<results>/law/benchmark/tf/pairs.parquet",
        "<results>/art/benchmark/tfidf/pairs.parquet",
    ]
    assert paths.SCORES.ending(".json").of(model="m.1") == "<results>/{domain}/scores/{variant}/m.1.json"
    with pytest.raises(ValueError, match="set"):
        paths.SCORES.of(set="x")
    assert paths.SCORES.read("law/scores/gpt2.parquet") is None
    assert paths.SUMMARY.read("a/summary.csv") == {}


def test_files_of_a_kind_are_found(tmp_path: Path) -> None:
    for name in ("a/keywords.tsv", "b/keywords.tsv", "b/other.tsv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    found = paths.KEYWORDS.find_files(tmp_path)
    assert [place["domain"] for place, _ in found] == ["a", "b"]


def test_every_path_is_said_once_and_explained() -> None:
    assert len(set(paths.ALL.values())) == len(paths.ALL)
    assert all(isinstance(each, RunPath) and each.meaning for each in paths.ALL.values())


def test_the_page_of_results_is_fresh(tmp_path: Path) -> None:
    run_program("write_results_doc", "--output", tmp_path / "page.md")
    page = Path(__file__).resolve().parents[2] / "results" / "README.md"
    assert page.read_text() == (tmp_path / "page.md").read_text(), (
        "results/README.md is stale: python scripts/jobs/write_results_doc.py"
    )
