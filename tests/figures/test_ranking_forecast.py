"""Figures of how many models a comparison needs, and of preparations of different cost."""

import matplotlib
import numpy as np
import pytest

from fathom.figures.drawing import FigureSettings
from fathom.figures.ranking_agreement import draw_forecast_figure, draw_preparations_figure
from fathom.figures.style import use_style
from fathom.io.contracts.ranking import FORECAST, PREPARATION
from fathom.io.delimited import write_rows

FORECASTS = [
    ("after-before", 5, 0.2, -0.1, 0.5, 0.6, 0.3, 100, 3),
    ("after-before", 20, 0.21, 0.05, 0.4, 0.35, 0.9, 100, 3),
    ("other-before", 5, 0.1, -0.2, 0.4, 0.6, 0.1, 100, 3),
    ("other-before", 20, 0.1, "", "", "", 1.0, 1, 3),
]
PREPARATIONS = [
    ("none", 0, 0, 0.4, 0.3, 0.5, 3, "", "", "", 0, 0.3, 0.2, 0.4, 3),
    ("some", 500, 5, 0.6, 0.5, 0.7, 3, 0.2, 0.1, 0.3, 3, 0.1, 0.0, 0.2, 3),
    ("short", "", 1, 0.65, 0.55, 0.75, 3, 0.2, 0.1, 0.3, 3, 0.1, 0.0, 0.2, 3),
    ("whole", "", 5, 0.7, 0.6, 0.8, 3, 0.3, 0.2, 0.4, 3, "", "", "", 0),
]


@pytest.fixture(autouse=True)
def _style():
    matplotlib.use("agg")
    with use_style():
        yield


def draw(tmp_path, function, name, contract, rows):
    write_rows(tmp_path / f"{name}.csv", rows, contract)
    figure, numbers = function({"models": tmp_path / "models.csv"}, {}, FigureSettings())
    figure.draw_without_rendering()
    return figure, numbers


def test_a_forecast_has_a_line_for_each_condition_and_shares_in_percent(tmp_path):
    figure, (contract, rows) = draw(tmp_path, draw_forecast_figure, "forecast", FORECAST, FORECASTS)
    changes, shares = figure.axes
    assert (contract, len(rows)) == (FORECAST, 4)
    for line, of in zip(changes.lines, (FORECASTS[:2], FORECASTS[2:]), strict=False):
        np.testing.assert_allclose(line.get_xydata(), [row[1:3] for row in of])
    assert [line.get_ydata().tolist() for line in shares.lines] == [[30.0, 90.0], [10.0, 100.0]]
    assert len(changes.collections) == 2  # a band for each
    labels = [text.get_text() for text in shares.get_legend().get_texts()]
    assert len(set(labels)) == 2


def test_a_forecast_of_one_condition_says_what_it_needs(tmp_path):
    figure, (contract, rows) = draw(tmp_path, draw_forecast_figure, "forecast", FORECAST, [])
    assert [text.get_text() for text in figure.texts] == ["A forecast needs two conditions."]
    assert (contract, rows) == (FORECAST, [])


def test_preparations_stand_by_examples_and_by_epochs_the_whole_one_last(tmp_path):
    figure, (_, rows) = draw(tmp_path, draw_preparations_figure, "preparation", PREPARATION, PREPARATIONS)
    left, right = figure.axes
    assert len(rows) == 4
    # each panel varies one cost, and has the other one of the whole preparation
    assert [text.get_text() for text in left.get_xticklabels()] == ["0", "500", "all"]
    assert [text.get_text() for text in right.get_xticklabels()] == ["0", "1", "5"]
    assert left.lines[0].get_ydata() == pytest.approx([0.4, 0.6, 0.7])
    assert right.lines[0].get_ydata() == pytest.approx([0.4, 0.65, 0.7])
