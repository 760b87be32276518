"""The figures of knowledge: between zero and a ceiling, and against fluency."""

import json

import numpy as np
import pytest
from tests.figures.rank_summaries import make_row, write_summary
from tests.programs import run_program
from tests.tables import fill_table, read_delimited

from fathom.benchmark.target_words import find_ceiling
from fathom.figures.knowledge import KnowledgePoint, draw_fluency, draw_knowledge
from fathom.figures.model_ranks import ModelRanks, Rank, read_model_ranks
from fathom.figures.style import use_style
from fathom.io.contracts.benchmark import PAIRS
from fathom.io.tables import write_table
from fathom.statistics.aggregates import MEAN
from fathom.statistics.metrics import BITS

KNOWN = {"small": (0.02, -0.1, 0.2), "adapted": (1.7, 1.2, 2.1), "large": (1.4, 1.0, 1.8)}
TARGETS = [" tree", " lake", " walk", " desert"]


def write_inputs(folder, fluent=("small", "large")):
    rows = [
        make_row(model, variant, *values, metric="bits", aggregate="mean")
        for model, values in KNOWN.items()
        for variant in ("tf", "tfidf")
    ]
    rows += [
        make_row(model, "text", value, metric="bits_per_byte", aggregate="mean")
        for model, value in zip(fluent, (2.5, 1.1), strict=False)
    ]
    write_summary(folder / "summary.csv", rows)
    pairs = fill_table(PAIRS, pair_id=[*"abcd"], target=TARGETS)
    write_table(folder / "pairs.parquet", pairs, PAIRS)
    return {"summary": str(folder / "summary.csv"), "pairs": str(folder / "pairs.parquet")}


def draw(folder, name, inputs):
    run_program(
        "draw_figure", "--figure", name, "--inputs", json.dumps(inputs),
        "--parts", '{"domain": "ml"}', "--settings", "{}", "--folder", folder / "figures",
    )  # fmt: skip
    assert {end.suffix for end in (folder / "figures").iterdir()} == {".png", ".pdf", ".csv"}
    return read_delimited(folder / "figures" / f"ml.{name}.csv", ",")


def test_models_stand_best_first_between_zero_and_the_ceiling(tmp_path):
    inputs = write_inputs(tmp_path)
    table = draw(tmp_path, "knowledge", inputs)
    assert [row["model"] for row in table[::2]] == ["adapted", "large", "small"]
    assert read_model_ranks(inputs["summary"], MEAN, BITS)["ml"][0].model == "adapted"


@pytest.mark.parametrize("fluent", [("small", "large"), ()])
def test_fluency_has_the_models_with_both_numbers(tmp_path, fluent):
    inputs = write_inputs(tmp_path, fluent)
    table = draw(tmp_path, "fluency", {"summary": inputs["summary"]})
    assert [row["model"] for row in table] == (["large", "small"] if fluent else [])
    if fluent:
        assert (table[0]["bits"], table[0]["bits_per_byte"]) == ("1.4", "1.1")


def test_a_reference_is_called_by_its_name():
    models = [ModelRanks("m", {name: Rank(1.0, 0.9, 1.1, 40) for name in ("tf", "reference")})]
    with use_style():
        (axes,) = draw_knowledge(models, 2.0, "t", references=[("reference", "claude")]).axes
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["TF", "TF-IDF", "claude"]


def test_zero_and_ceiling_are_lines_and_intervals_reach_where_they_should():
    models = [ModelRanks(name, {"tf": Rank(*values, 40)}) for name, values in KNOWN.items()]
    with use_style():
        figure = draw_knowledge(models, find_ceiling(TARGETS), "t")
    (axes,) = figure.axes
    spans = [np.unique(line.get_xdata()).tolist() for line in axes.lines]
    assert [0.0] in spans and [2.0] in spans
    assert all([low, high] in spans for _, low, high in KNOWN.values())
    assert axes.get_xlim()[0] < -0.1 and axes.get_xlim()[1] > 2.05


def test_more_fluent_models_stand_on_the_right_with_short_names_and_many_are_numbered():
    def make(name, place):
        return KnowledgePoint(
            name, (place / 5 - 0.2, place / 5 - 0.5, place / 5 + 0.5), (2 - place / 9, 1.0, 2.0), 40
        )

    names = ["Smol-1B-Instruct-Q4_1", "Smol-1B-Instruct-Q4_1+law", "toy"]
    with use_style():
        (axes,) = draw_fluency(
            [make(name, place) for place, name in enumerate(names)], "t", titles={"law": "The law"}
        ).axes
    assert axes.get_xlim()[0] > axes.get_xlim()[1]
    assert {" ".join(text.get_text().split()) for text in axes.texts} == {
        *("Smol-1B-Instruct", "Smol-1B-Instruct adapted to The law", "toy")
    }
    filled = [line.get_markerfacecolor() != "white" for line in axes.lines if line.get_marker() == "o"]
    assert filled == [False, False, False]
    with use_style():
        figure = draw_fluency([make(f"model{place}", place) for place in range(20)], "t")
    (axes,) = figure.axes
    assert axes.get_legend().get_texts()[19].get_text() == "20  model19"
    assert {text.get_text() for text in axes.texts} == {str(place + 1) for place in range(20)}
