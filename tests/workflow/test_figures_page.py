"""The page of the papers' figures: every file is an output of a rule, and the demo draws what it says."""

import inspect
import re
from functools import cache
from pathlib import Path
from types import SimpleNamespace

from fathom.config.following import STAGE_KINDS
from fathom.config.layers import FIGURES as LAYER_FIGURES
from fathom.config.whole import read_config
from fathom.config.yaml_files import read_values
from fathom.planning.comparing import Comparing
from fathom.planning.outputs import Outputs
from fathom.planning.run_inputs import Inputs
from fathom.statistics.aggregates import STATISTICS

ROOT = Path(__file__).resolve().parents[2]
ENDING = re.compile(
    r"figures/(?:\{domain\}\.)?(metrics|references|layers|stages|ranking)\.(?:\{\w+\}\.)?([\w-]+)\."
)


@cache
def read_page():
    """Return the files of each line of the page, with what draws them from the demo."""
    lines = (ROOT / "docs" / "figures.md").read_text().splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines if re.search(r"`\S+\.(png|csv|tsv|md)`", line)]
    return [(file, cells[-1]) for cells in rows for file in re.findall("`([^`]+)`", cells[-2])]


@cache
def list_made():
    """Return patterns of the outputs of each rule."""
    texts = [path.read_text() for path in (ROOT / "workflow" / "rules").glob("*.smk")]
    block = re.compile(r"^( +)output:\n(.*?)^\1\w+:", re.M | re.S)
    return [
        [
            as_pattern(re.sub("[A-Z]{3,}", "*", name), r"[^/]+")
            for name in re.findall(r'"<results>/([^"]+)"', inside)
        ]
        for text in texts
        for _, inside in block.findall(text)
    ]


def as_pattern(name, wildcard):
    """Return a pattern of a path with wildcards."""
    return re.compile(re.escape(re.sub(r"\{\w+\}", "*", name)).replace(r"\*", wildcard))


def list_drawn():
    """Return what `snakemake figures` makes of the embedded default."""
    config = read_config(read_values(ROOT / "config" / "config.yaml"), "config.yaml")
    inputs = Inputs(shards={}, metadata=None, abstract_parts=[], slices={}, score_files=[], conditions=[],
                    tasks={}, tuned_models=[], previous="")  # fmt: skip
    outputs = Outputs(config, inputs, "run")
    needs = SimpleNamespace(find_shape=lambda name: SimpleNamespace(parameters=len(name)))
    files = [*outputs.list_figures(), *Comparing(config, {}, needs, outputs).list_figures()]
    return [file.removeprefix("run/") for file in files]


def test_every_file_of_the_page_is_an_output_of_a_rule():
    files, made = [file for file, _ in read_page()], [each for rule in list_made() for each in rule]
    assert len(files) > 50 and len(made) > 100
    filled = [re.sub(r"\{\w+\}", "x", file) for file in files]
    assert [each for each in filled if not any(pattern.fullmatch(each) for pattern in made)] == []
    # what stands for a wildcard that takes only some values
    rankings = inspect.getsource(Outputs.ranking_figures.fget)
    known = {
        "metrics": {"all", "base", "chat"},
        "references": {"all", "base", "chat"},
        "layers": {*LAYER_FIGURES},
        "stages": {*STAGE_KINDS},
        "ranking": {*re.findall(r'"([\w-]+)"', rankings), "tau", "tau-significant"},
    }
    named = [match.groups() for file in files if (match := ENDING.match(file))]
    assert len(named) > 20 and [(kind, name) for kind, name in named if name not in known[kind]] == []
    statistics = [re.search(r"\.(?:metrics|references|adapted)\..*\.(\w+)\.png", file) for file in files]
    assert {match[1] for match in statistics if match} == {*STATISTICS}


def test_the_demo_draws_what_the_page_says_and_nothing_else():
    drawn = list_drawn()
    said = [file for file, demo in read_page() if demo == "figures"]
    # tables are made beside the file that is asked for
    beside = [
        pattern
        for rule in list_made()
        if any(p.fullmatch(name) for p in rule for name in drawn)
        for pattern in rule
    ]
    for file in said:
        pattern = as_pattern(file, r"[\w+-]+")
        by_name = any(pattern.fullmatch(name) for name in drawn)
        assert by_name or (not file.endswith(".png") and any(each.fullmatch(file) for each in beside)), file
    patterns = [as_pattern(file, r"[\w+-]+") for file in said]
    assert [name for name in drawn if not any(pattern.fullmatch(name) for pattern in patterns)] == []
    assert len(drawn) > 15
