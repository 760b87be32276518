"""What figures lack without references is said before a run that would draw a paper's."""

import re
from types import SimpleNamespace

import pytest
from tests.plans import ROOT

from fathom.config.whole import read_config
from fathom.config.yaml_files import read_values
from fathom.models.registry import read_registry
from fathom.planning.comparing import Comparing
from fathom.planning.outputs import Outputs
from fathom.planning.run_figures import RunFigures, describe_missing_references
from fathom.planning.run_inputs import Inputs

DOMAINS = ["cs.AI", "physics.soc-ph", "q-bio.PE", "econ.GN"]
ONE = {name: {"Claude": f"{name}.jsonl"} for name in DOMAINS}


def describe(file, *asked, **references):
    values = read_values(ROOT / "config" / file) | {"dump": "FOLDER"}
    config = read_config(values | ({"references": references} if references else {}), file)
    inputs = Inputs(shards={}, metadata=None, abstract_parts=[], slices={}, score_files=[], conditions=[],
                    tasks={}, tuned_models=[], previous="")  # fmt: skip
    outputs, entries = Outputs(config, inputs, "run"), read_registry(ROOT / "config" / "models.tsv")
    needs = SimpleNamespace(find_shape=lambda name: SimpleNamespace(parameters=len(name)))
    figures = RunFigures(config, outputs, Comparing(config, entries, needs, outputs))
    return describe_missing_references(config, figures, asked)


def test_the_papers_figures_without_references_are_named():
    said = describe("papers/raw-corpora.yaml")
    lines = said.splitlines()
    assert lines[0].startswith("references: no benchmark") and ", ".join(DOMAINS) in lines[0]
    for number in ("Fig. 3, right", "Fig. 4, Fig. 8, Fig. 10", "Fig. 6,", "Fig. 9", "Fig. 17",
                   "Figs. 7, 21, 23, Fig. 22", "Fig. 20", "Fig. 19"):  # fmt: skip
        assert number in said, number
    assert "against the TF rank" in said and "--config references=FOLDER" in lines[-1]
    assert "Figs. 5, 16" not in said and "Fig. 24" not in said  # which have no reference in the paper


def test_only_what_is_missing_is_named():
    assert (
        describe("papers/raw-corpora.yaml", **ONE | {"cs.AI": {"expert": "e.csv", "Claude": "c.csv"}}) == ""
    )
    lines = describe("papers/raw-corpora.yaml", **ONE).splitlines()
    assert lines[0].startswith("references: no domain has two")
    assert len(lines) == 3 and "{domain}.references" in lines[1]
    said = describe("papers/raw-corpora.yaml", **{"cs.AI": {"expert": "e.csv", "Claude": "c.csv"}})
    assert "for physics.soc-ph, q-bio.PE, econ.GN, so" in said
    # continual pretraining is measured on cs.AI
    assert "{domain}.metrics" in said and "stages" not in said and "{domain}.references" not in said


@pytest.mark.parametrize("file", ["config.yaml", "figures-demo.yaml", "arxiv.yaml", "arxiv-controls.yaml",
                                  "arxiv-following.yaml", "papers/raw-corpora-choices.yaml",
                                  "papers/comp-comp.yaml", "papers/train-before-test.yaml"])  # fmt: skip
def test_examples_and_runs_without_such_figures_say_nothing(file):
    assert describe(file) == ""


@pytest.mark.parametrize(
    ("asked", "named", "others"),
    [
        ("all", "metrics adapted paths stages", ""),
        ("results/run/figures/cs.AI.sizes.png", "metrics adapted paths stages", ""),
        ("results/run/index.html", "metrics adapted paths stages", ""),
        ("compare", "metrics references", "adapted paths stages"),
        ("follow", "paths stages", "metrics adapted references"),
    ],
)
def test_only_figures_that_are_asked_for_are_named(asked, named, others):
    said = describe("papers/raw-corpora.yaml", asked)
    lines = {line.strip().split(":")[0] for line in said.splitlines()}
    found = {name for name in ("metrics", "adapted", "references", "paths", "stages")
             if any(re.match(rf"({{domain}}\.)?{name}\.", line) for line in lines)}  # fmt: skip
    assert set(named.split()) <= found and not set(others.split()) & found


def test_targets_without_such_figures_say_nothing():
    for asked in ("layers", "benchmarks", "fetch", "coverage", "results/run/corpus/index.parquet"):
        assert describe("papers/beyond-benchmarks-layers.yaml", asked) == ""
