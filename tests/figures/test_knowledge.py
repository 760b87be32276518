"""The figure of knowledge: between zero and a ceiling, and against fluency."""

import json

import numpy as np
import pytest
from tests.figures.rank_summaries import make_row, write_summary
from tests.programs import run_program
from tests.tables import fill_table, read_delimited

from fathom.benchmark.candidates import find_ceiling
from fathom.figures.knowledge import draw_knowledge
from fathom.figures.rank_values import ModelRanks, Rank, read_model_ranks
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


@pytest.mark.parametrize("fluent", [("small", "large"), ("small",)])
def test_models_stand_best_first_between_zero_and_the_ceiling(tmp_path, fluent):
    inputs = write_inputs(tmp_path, fluent)
    run_program(
        "draw_figure", "--figure", "knowledge", "--inputs", json.dumps(inputs),
        "--parts", '{"domain": "ml"}', "--settings", "{}", "--folder", tmp_path / "figures",
    )  # fmt: skip
    table = read_delimited(tmp_path / "figures" / "ml.knowledge.csv", ",")
    assert [row["model"] for row in table[::2]] == ["adapted", "large", "small"]
    assert {row["model"] for row in table if row["bits_per_byte"]} == set(fluent)
    assert {end.suffix for end in (tmp_path / "figures").iterdir()} == {".png", ".pdf", ".csv"}
    assert read_model_ranks(inputs["summary"], MEAN, BITS)["ml"][0].model == "adapted"


def test_zero_and_ceiling_are_lines_and_intervals_reach_where_they_should():
    models = [ModelRanks(name, {"tf": Rank(*values, 40)}) for name, values in KNOWN.items()]
    with use_style():
        figure = draw_knowledge(models, {"large": 1.1, "small": 2.5}, find_ceiling(TARGETS), "t")
    upper, lower = figure.axes
    spans = [np.unique(line.get_xdata()).tolist() for line in upper.lines]
    assert [0.0] in spans and [2.0] in spans
    assert all([low, high] in spans for _, low, high in KNOWN.values())
    assert upper.get_xlim()[0] < -0.1 and upper.get_xlim()[1] > 2.05
    assert lower.get_xlim()[0] > lower.get_xlim()[1]  # more fluent to the right
    assert {text.get_text() for text in lower.texts} == {"large", "small"}
