"""Scores over thresholds: a row of panels for t_d and t_c, a line for each model."""

from itertools import product

import pytest
from tests.figures.frames import draw_twice
from tests.tables import type_rows

from fathom.errors import InputError
from fathom.figures.answer_figures import draw_answer_thresholds
from fathom.figures.style import use_style
from fathom.io.contracts.questions import QUESTION_THRESHOLDS
from fathom.io.delimited import Row, write_rows

THRESHOLDS = (("t_d", "0.3", "78"), ("t_d", "0.9", "23"), ("t_c", "0", "1200"), ("t_c", "", "5000"))
KINDS = (("binary", "memorise", "accuracy"), ("open", "create", "bleu_4"), ("open", "create", "bleu_2"))


@pytest.fixture
def rows(tmp_path) -> list[Row]:
    """Return the scores of two models; one of them lacks one."""
    found = []
    for place, (where, model, kind) in enumerate(product(THRESHOLDS, ("small", "large"), KINDS)):
        value = "" if place == 0 else f"{0.02 * place:.6g}"
        ends = ("", "") if not value else (f"{0.02 * place - 0.01:.6g}", f"{0.02 * place + 0.03:.6g}")
        found.append(("courses", *where, model, *kind, value, *ends, 20, 0))
    found = type_rows(found, QUESTION_THRESHOLDS, tmp_path)
    return [*found, {**found[0], "set": "other"}]


def test_a_line_for_each_model_over_both_thresholds(rows, tmp_path):
    own = [row for row in rows if row["set"] == "courses"]
    with use_style():
        figure = draw_answer_thresholds(own, "courses")
    assert [axes.get_title() for axes in figure.axes] == ["binary, memorise", "open, create"] * 2
    assert [axes.get_ylabel() for axes in figure.axes[:2]] == ["accuracy", "BLEU-4"]
    assert [each.get_text() for each in figure.axes[0].get_xticklabels()] == ["0.3\n78", "0.9\n23"]
    assert [each.get_text() for each in figure.axes[3].get_xticklabels()] == ["0\n1,200", "none\n5,000"]
    small, large = figure.axes[0].containers
    assert list(small.lines[0].get_ydata()) == [0.12] and len(large.lines[0].get_ydata()) == 2
    segment = small.lines[2][0].get_segments()[0]
    assert [y for _, y in segment] == pytest.approx([0.11, 0.15])
    write_rows(tmp_path / "s.csv", [tuple(row.values()) for row in rows], QUESTION_THRESHOLDS)
    tables = {"scores": tmp_path / "s.csv"}
    (numbers,) = draw_twice(tmp_path, "answers-by-threshold", tables, {"set": "courses"})
    assert len(numbers.read_text().splitlines()) == 1 + 4 * 2 * 2
    with pytest.raises(InputError, match="no scores of papers"):
        draw_twice(tmp_path, "answers-by-threshold", tables, {"set": "papers"})
