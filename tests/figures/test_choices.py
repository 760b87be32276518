"""Figures of multiple-choice questions: what they show of planted models, and that nothing is cut."""

import math

import numpy as np
import pytest
from tests.answering.planted import answer_table, make_table
from tests.figures.frames import draw_twice, list_cut, list_names
from tests.tables import read_delimited

from fathom.answering.diagnosis import gather_answers, tabulate_accuracy
from fathom.config.choices import Choices
from fathom.config.scoring import Summary
from fathom.errors import InputError
from fathom.figures.answer_figures import draw_factor, draw_orders, read_accuracy
from fathom.figures.style import use_style
from fathom.io.contracts.answering import CHOICE_ACCURACY
from fathom.io.delimited import write_rows

NAMES = ["always-b", "longest"]


@pytest.fixture(scope="module")
def accuracy(tmp_path_factory):
    settings = Choices(ways=["letter"], chat_factors=["options"])
    tables = {
        ("numbers", name): table
        for name, table in answer_table(make_table(20), settings, False, NAMES).items()
    }
    chat = answer_table(make_table(20), settings, True, NAMES)
    tables |= {("numbers", f"{name}-with-a-long-name@chat"): table for name, table in chat.items()}
    path = tmp_path_factory.mktemp("choices") / "accuracy.csv"
    rows = tabulate_accuracy(gather_answers(tables, Summary(rounds=50)))
    write_rows(path, rows, CHOICE_ACCURACY)
    return path


def test_a_factor_shows_the_models_that_were_asked_and_their_baseline(accuracy, tmp_path):
    asked = read_accuracy(accuracy, "options", "letter")
    assert {each["model"] for each in asked} == {f"{name}-with-a-long-name@chat" for name in NAMES}
    assert [each["variation"] for each in asked if math.isnan(each["change"])] == ["as-shipped"] * 2
    parts = {"factor": "options", "way": "letter"}
    (numbers,) = draw_twice(tmp_path, "choices", {"accuracy": accuracy}, parts)
    rows = read_delimited(numbers, ",", CHOICE_ACCURACY.names)
    always = {row["variation"]: row["accuracy"] for row in rows if row["model"].startswith("always-b")}
    assert (always["right-B"], always["right-C"]) == ("1", "0")


def test_marks_are_the_numbers_and_nothing_is_cut(accuracy):
    with use_style():
        asked = read_accuracy(accuracy, "examples", "letter")
        figure = draw_factor(asked, "examples", "letter")
        figure.draw_without_rendering()
        top, bottom = figure.axes
        drawn = {
            line.get_label(): list(line.get_ydata())
            for line in top.lines
            if line.get_marker() not in ("None", "")
        }
        assert drawn["as shipped"] == [
            each["accuracy"] for each in asked if each["variation"] == "as-shipped"
        ]
        assert "as shipped" not in {line.get_label() for line in bottom.lines}
        assert top.get_position().y0 > bottom.get_position().y1
        assert list_names(bottom) == list(dict.fromkeys(each["model"] for each in asked))
        assert list_cut(figure) == []
        orders = draw_orders(read_accuracy(accuracy, "orders", "letter"), "orders", "letter")
        orders.draw_without_rendering()
    (axes,) = orders.axes
    assert [tick.get_text() for tick in axes.get_xticklabels()][:4] == [
        "as shipped",
        "moved by 1",
        "moved by 2",
        "moved by 3",
    ]
    lengths = {line.get_label(): len(line.get_xdata()) for line in axes.lines}
    assert lengths["longest"] == 4 and lengths["longest-with-a-long-name (chat template)"] == 4 + 7
    assert list_cut(orders) == []


def test_the_lower_panel_has_changes_relative_to_the_baseline_in_percent(accuracy):
    asked = read_accuracy(accuracy, "options", "letter")
    with use_style():
        figure = draw_factor(asked, "options", "letter")
        figure.draw_without_rendering()
    _, bottom = figure.axes
    drawn = {line.get_label(): list(line.get_ydata()) for line in bottom.lines}
    for letter in "ABCD":
        some = [each for each in asked if each["variation"] == f"right-{letter}"]
        assert drawn[f"right: {letter}"] == [each["relative_change"] for each in some]
    shipped = {each["model"]: each["accuracy"] for each in asked if each["variation"] == "as-shipped"}
    moved = [each for each in asked if each["variation"] == "right-C"]
    assert drawn["right: C"] == pytest.approx(
        [each["accuracy"] / shipped[each["model"]] - 1 for each in moved], abs=1e-5
    )
    assert "relative" in bottom.get_ylabel()
    assert all(label.get_text().endswith(" %") for label in bottom.get_yticklabels())
    assert list_cut(figure) == []


@pytest.mark.parametrize("count", [3, 8, 16])
def test_each_model_has_a_column_of_its_own(accuracy, count):
    rows = read_accuracy(accuracy, "examples", "letter")
    one = [row for row in rows if row["model"] == "longest"]
    models = [f"Mistral-7B-Instruct-v0.{number}@chat" for number in range(count)]
    with use_style():
        figure = draw_factor([{**row, "model": name} for name in models for row in one], "examples", "letter")
        figure.draw_without_rendering()
    assert list_names(figure.axes[1]) == models and list_cut(figure) == []
    for axes in figure.axes:
        marks = [line for line in axes.lines if line.get_marker() not in ("None", "")]
        for line in marks:
            assert [round(place) for place in line.get_xdata()] == list(range(count))
        places = [axes.transData.transform((place, 0))[0] for line in marks for place in line.get_xdata()]
        assert min(np.diff(np.sort(places))) > 5  # pixels: no mark covers the next one


def test_a_factor_without_answers_is_refused(accuracy):
    with pytest.raises(InputError, match="no answers that vary styles"):
        read_accuracy(accuracy, "styles", "letter")
    with pytest.raises(InputError, match="way 'text'"):
        read_accuracy(accuracy, "options", "text")
