"""Scores of answers: a mark for each model and prompting, a closed line for each in radar charts."""

from math import isnan

import pytest
from tests.figures.frames import draw_twice
from tests.tables import type_rows

from fathom.errors import InputError
from fathom.figures.answer_figures import SHOWN, draw_radar, draw_scores
from fathom.figures.style import use_style
from fathom.io.contracts.questions import QUESTION_SCORES
from fathom.io.delimited import Row, write_rows


@pytest.fixture(scope="module")
def rows(tmp_path_factory) -> list[Row]:
    """Return the scores of a model and of what was made of it; one is undefined."""
    found = []
    for place, (model, prompting) in enumerate(
        (model, prompting) for model in ("small", "small+c.records") for prompting in ("plain", "rag")
    ):
        for number, (form, level, metric) in enumerate(SHOWN):
            value = "" if (place, number) == (0, 2) else f"{0.1 * place + 0.05 * number:.6g}"
            low, high = (
                ("", "") if not value else (f"{float(value) - 0.02:.6g}", f"{float(value) + 0.03:.6g}")
            )
            found.append(("courses", model, prompting, form, level, "", metric, value, low, high, 20, 0))
    found = type_rows(found, QUESTION_SCORES, tmp_path_factory.mktemp("rows"))
    return [*found, {**found[0], "template": "teaches"}, {**found[0], "set": "other"}]


def test_panels_show_each_model_and_prompting(rows, tmp_path):
    own = [row for row in rows if row["set"] == "courses" and not row["template"]]
    with use_style():
        figure = draw_scores(own, "A_$set")
    titles = [axes.get_title() for axes in figure.axes if axes.get_visible()]
    assert titles == ["binary, memorise", "multiple-choice, understand", "multiple-answer, understand",
                      "multiple-answer, apply", "open, create"]  # fmt: skip
    plain, rag = figure.axes[0].containers
    assert list(plain.lines[0].get_xdata()) == [0.0, 0.2] and list(rag.lines[0].get_xdata()) == [0.1, 0.3]
    segment = rag.lines[2][0].get_segments()[0]
    assert [x for x, _ in segment] == pytest.approx([0.08, 0.13])
    write_rows(tmp_path / "s.csv", [tuple(row.values()) for row in rows], QUESTION_SCORES)
    tables = {"scores": tmp_path / "s.csv"}
    numbers = draw_twice(tmp_path, "answers", tables, {"set": "courses"})
    assert [path.name for path in numbers] == ["courses.radar.csv", "courses.scores.csv"]
    lengths = [len(path.read_text().splitlines()) for path in numbers]
    assert lengths == [1 + 4 * len(SHOWN), 1 + 4 * 5]
    with pytest.raises(InputError, match="no scores of papers"):
        draw_twice(tmp_path, "answers", tables, {"set": "papers"})


def test_what_was_trained_is_drawn_over_what_it_comes_from(rows):
    own = [row for row in rows if row["set"] == "courses" and not row["template"]]
    with use_style():
        figure = draw_radar(own, "courses", {"small+c.records": "small"})
        apart = draw_radar(own, "courses", {})
    (axes,) = figure.axes
    assert [line.get_label() for line in axes.lines] == ["plain", "rag", "plain, trained", "rag, trained"]
    values = axes.lines[1].get_ydata()
    assert len(values) == len(SHOWN) + 1 and values[0] == values[-1] == pytest.approx(0.1)
    assert sum(map(isnan, axes.lines[0].get_ydata())) == 1  # the one that is undefined
    assert axes.get_title() == "solid: small\ndashed: small adapted to c.records"
    assert [axes.get_title() for axes in apart.axes] == ["small", "small adapted to c.records"]
