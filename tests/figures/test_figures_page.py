"""The page of the papers' figures follows from the catalogue; presets and the demo draw what it says."""

from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.programs import run_program
from tests.refusals import refuses

from fathom.config.whole import Config, read_config
from fathom.config.yaml_files import read_values
from fathom.figures.catalogue import CATALOGUE, find_figure
from fathom.figures.papers import (
    PRESETS,
    SOURCES,
    PaperRow,
    count_figures,
    find_complete,
    list_numbers,
    list_paper_rows,
    read_drawn,
    read_rehearsed,
)
from fathom.models.registry import read_registry
from fathom.planning.comparing import Comparing
from fathom.planning.outputs import Outputs
from fathom.planning.plans import merge_configuration
from fathom.planning.run_inputs import Inputs
from fathom.planning.targets import Targets

ROOT = Path(__file__).resolve().parents[2]
ROWS = [(figure, row) for figure in CATALOGUE.values() for row in figure.shown]


def list_figures(config: Config) -> list[str]:
    """Return all figures that targets ask for, without their folder and ending."""
    conditions = ["direct_eval", "train_before_test"]
    inputs = Inputs(shards={}, metadata=None, abstract_parts=[], slices={}, score_files=[],
                    conditions=conditions, tasks={}, tuned_models=[], previous="")  # fmt: skip
    outputs = Outputs(config, inputs, "run")
    needs = SimpleNamespace(find_shape=lambda name: SimpleNamespace(parameters=len(name)))
    entries = read_registry(ROOT / "config" / "models.tsv")
    targets = Targets(config, outputs, Comparing(config, entries, needs, outputs))
    asked = [*targets.list_results(), *targets.list_layers(), *targets.list_coverage()]
    return [Path(path).name.removesuffix(".png") for path in asked if "/figures/" in path]


@pytest.fixture(scope="module")
def references(tmp_path_factory):
    """Make a folder of what an expert and a language model wrote, as docs/papers.md says."""
    folder = tmp_path_factory.mktemp("references")
    for name in ("cs.AI.expert.csv", "cs.AI.Claude.jsonl", "econ.GN.Claude.jsonl"):
        (folder / name).touch()
    return folder


@cache
def list_drawn(preset: str, references: Path) -> list[str]:
    """Return the figures of a configuration of a paper by its command, on a dump that is not there."""
    others = "coverage={others: {cs.AI: {MedQA: {file: medqa.jsonl}}}}"
    given = {"raw-corpora": ["dump=FOLDER", f"references={references}"],
             "comp-comp": ["dump=FOLDER", others],
             "train-before-test": ["scores=FOLDER"]}.get(preset, ["dump=FOLDER"])  # fmt: skip
    return list_figures(merge_configuration([str(ROOT / "config" / "papers" / f"{preset}.yaml")], given))


def test_the_page_is_that_of_the_catalogue(tmp_path):
    run_program("write_figures_doc", "--output", tmp_path / "f.md")
    fresh = (tmp_path / "f.md").read_text() == (ROOT / "docs" / "figures.md").read_text()
    assert fresh, "docs/figures.md is stale: python scripts/jobs/write_figures_doc.py"


@pytest.mark.parametrize(("figure", "row"), [each for each in ROWS if each[1].paper],
                         ids=lambda each: getattr(each, "number", ""))  # fmt: skip
def test_the_preset_of_a_row_draws_it(figure, row, references):
    found = [find_figure(stem) for stem in list_drawn(row.preset or PRESETS[row.paper], references)]
    parts = [parts for kind, parts in found if kind.name == figure.name]
    assert any(row.values.items() <= each.items() for each in parts)


COUNTS = {"RawCorpora": (24, 10), "BeyondBenchmarks": (24, 5), "CompComp": (6, 6), "TrainBeforeTest": (15, 4)}


@pytest.mark.parametrize(("paper", "counts"), COUNTS.items())
def test_every_figure_and_table_of_the_papers_has_a_row(paper, counts):
    expected = {f"{kind} {number + 1}" for kind, count in zip(("Fig.", "Table"), counts, strict=True)
                for number in range(count)}  # fmt: skip
    count = count_figures(paper, None)
    assert count.numbered == expected
    assert count.regenerated | count.in_part | count.missing == expected
    assert len(count.regenerated) + len(count.in_part) + len(count.missing) == len(expected)


def test_a_figure_is_drawn_once_all_its_files_are():
    needed = [row.file for row in list_paper_rows() if "Fig. 3" in list_numbers(row.number)
              and row.paper == "RawCorpora"]  # fmt: skip
    assert len(needed) == 2
    assert "Fig. 3" not in find_complete("RawCorpora", needed[:1])
    assert find_complete("RawCorpora", needed) == {"Fig. 3"}


@pytest.fixture
def rows(monkeypatch):
    """Give CompComp a figure as published, one of two files of which one differs, and one half not drawn."""
    found = [PaperRow("CompComp", "Figs. 3 to 4", "a", ""), PaperRow("CompComp", "Fig. 5", "b", ""),
             PaperRow("CompComp", "Fig. 5", "c", "one panel is missing"),
             PaperRow("CompComp", "Fig. 1b", "d", ""), PaperRow("RawCorpora", "Fig. 4", "a", "")]  # fmt: skip
    monkeypatch.setattr("fathom.figures.papers.list_paper_rows", lambda: found)
    return found


def test_what_differs_or_is_drawn_by_halves_is_not_regenerated(rows):
    count = count_figures("CompComp", None)
    assert count.regenerated == {"Fig. 3", "Fig. 4"}
    assert count.in_part == {"Fig. 1", "Fig. 5"}
    assert count.missing == {"Fig. 2"}
    assert count.rehearsed == set()


def test_what_no_rehearsal_drew_is_not_regenerated(rows, tmp_path):
    header = "configuration,paper,number,file,files,points,panels"
    table = tmp_path / "rehearsal.csv"
    assert read_rehearsed(table) is None
    # b, c: in two configurations; a: only for the other paper
    lines = ["x,CompComp,Fig. 5,b,1,9,", "x,CompComp,Fig. 5,c,0,0,", "y,CompComp,Fig. 5,c,2,9,",
             "x,CompComp,Figs. 3 to 4,a,0,0,", "z,RawCorpora,Fig. 4,a,1,9,"]  # fmt: skip
    table.write_text("\n".join([header, *lines, ""]))
    count = count_figures("CompComp", read_rehearsed(table))
    assert count.rehearsed == {"Fig. 5"}
    assert count.regenerated == set()
    assert count.in_part == {"Fig. 1", "Fig. 3", "Fig. 4", "Fig. 5"}
    table.write_text("\n".join([header, *lines, "y,CompComp,Figs. 3 to 4,a,1,9,", ""]))
    count = count_figures("CompComp", read_rehearsed(table))
    assert count.rehearsed == {"Fig. 3", "Fig. 4", "Fig. 5"}
    assert count.regenerated == {"Fig. 3", "Fig. 4"}


def test_the_page_says_what_differs_and_what_was_rehearsed(tmp_path):
    pages = []
    for name in ("none.csv", "rehearsal.csv"):
        run_program("write_figures_doc", "--rehearsal", tmp_path / name, "--output", tmp_path / "f.md")
        pages.append((tmp_path / "f.md").read_text())
        (tmp_path / "rehearsal.csv").write_text(
            "configuration,paper,number,file,files,points,panels\n"
            "comp-comp,CompComp,Fig. 4,figures/{set}.questions.png,3,9,\n"
        )
    before, after = ({line.split(" | ")[0].strip("| "): line.strip("| ").split(" | ")
                      for line in page.split("## RawCorpora")[0].splitlines()} for page in pages)  # fmt: skip
    drawn = {"CompComp": {"figures/{set}.questions.png"}}
    for found, rehearsed in ((before, None), (after, drawn)):
        counts = [len(each) for each in count_figures("CompComp", rehearsed)]
        assert found["CompComp"][1:] == [str(each) for each in counts]
    assert before["all"][-1] == "0"
    assert after["all"][-1] == "1"
    assert after["RawCorpora"][2] == "0"
    for row in list_paper_rows():
        assert row.differs in pages[0]


def test_what_a_run_holds_is_recorded(tmp_path):
    for name in ("figures/a.b.targets.m.png", "figures/notes.png", "a.b/targets/best-and-worst.csv"):
        (tmp_path / "r" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "r" / name).touch()
    run_program("record_drawn", "--run", f"demo={tmp_path / 'r'}", "--output", tmp_path / "drawn.csv")
    assert read_drawn(tmp_path / "drawn.csv") == {
        "figures/{domain}.targets.{model}.png": ["demo"], "{domain}/targets/best-and-worst.csv": ["demo"]
    }  # fmt: skip
    # a run is recorded anew, others stay
    (tmp_path / "r" / "a.b/targets/best-and-worst.csv").unlink()
    (tmp_path / "s" / "figures").mkdir(parents=True)
    (tmp_path / "s" / "figures" / "a.b.targets.m.png").touch()
    for run in (f"demo={tmp_path / 'r'}", f"sample={tmp_path / 's'}"):
        run_program("record_drawn", "--run", run, "--output", tmp_path / "drawn.csv")
    assert read_drawn(tmp_path / "drawn.csv") == {"figures/{domain}.targets.{model}.png": ["demo", "sample"]}
    with refuses("--run"):
        run_program("record_drawn", "--run", f"hearsay={tmp_path}", "--output", tmp_path / "drawn.csv")


def test_what_was_drawn_is_of_the_page_and_as_much_as_it_was():
    drawn = read_drawn(ROOT / "docs" / "results" / "drawn.csv")
    assert {*drawn} <= {row.file for row in list_paper_rows()}
    assert {name for each in drawn.values() for name in each} <= {*SOURCES}
    assert sum(len(find_complete(paper, drawn)) for paper in PRESETS) >= 75


def test_the_demo_draws_what_the_page_says_and_nothing_else():
    config = read_config(read_values(ROOT / "config" / "config.yaml"), "config.yaml")
    layers = {name for name, figure in CATALOGUE.items() if figure.target in ("layers", "coverage")}
    drawn = [find_figure(stem) for stem in list_figures(config)]
    drawn = [(figure.name, parts) for figure, parts in drawn if figure.name not in layers]
    said = [(figure.name, row.values) for figure, row in ROWS if (row.made_by or figure.made_by) == "figures"]
    for name, values in said:
        assert any(kind == name and values.items() <= parts.items() for kind, parts in drawn), (name, values)
    for kind, parts in drawn:
        assert any(kind == name and values.items() <= parts.items() for name, values in said), (kind, parts)
    assert len(drawn) > 15
