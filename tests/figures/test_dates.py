"""The figure of ranks by date: what stands where, and that nothing is cut."""

import pytest
from tests.figures.frames import draw_one, draw_twice, list_cut

from fathom.errors import InputError
from fathom.io.contracts.statistics import DATES
from fathom.io.delimited import write_rows

ROWS = [
    ("law", "tf", "Llama-3.1-8B-Instruct", "2023-12-31", "trimmed_mean", "before", 80, 70, 95, 400),
    ("law", "tf", "Llama-3.1-8B-Instruct", "2023-12-31", "trimmed_mean", "after", 120, 90, 150, 1200),
    ("law", "tf", "gpt2-xl", "2017-12-31", "trimmed_mean", "after", 400, 350, 460, 1600),
    ("law", "tf", "gpt2-xl", "2017-12-31", "geometric_mean", "after", 1, 1, 1, 1600),
    ("law", "tfidf", "gpt2-xl", "2017-12-31", "trimmed_mean", "after", 1, 1, 1, 1600),
    ("med", "tf", "gpt2-xl", "2017-12-31", "trimmed_mean", "after", 1, 1, 1, 1600),
]


@pytest.fixture
def table(tmp_path):
    write_rows(tmp_path / "dates.csv", [(*row, "keywords") for row in ROWS], DATES)
    return tmp_path / "dates.csv"


def draw(table, domain="law"):
    return draw_one("dates", {"dates": table}, {"domain": domain}, title="Law")


def test_models_stand_by_their_last_day_and_nothing_is_cut(table, tmp_path):
    figure = draw(table)
    (axes,) = figure.axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == [
        "gpt2-xl\n2017-12-31: 0 and 1,600 pairs",
        "Llama-3.1-8B\n2023-12-31: 400 and 1,200 pairs",
    ]
    marks = [tuple(line.get_xdata()) for line in axes.lines if line.get_marker() in ("o", "s")]
    assert marks == [(80,), (120, 400)]
    assert list_cut(figure) == []
    (numbers,) = draw_twice(tmp_path, "dates", {"dates": table}, {"domain": "law"}, title="Law")
    assert len(numbers.read_text().splitlines()) == 1 + 3


def test_without_dates_there_is_a_note(table):
    figure = draw(table, "none")
    assert figure.texts[0].get_text() == "Law: no pair comes from a document with a date."


def test_a_broken_number_is_named(table):
    table.write_text(table.read_text().replace("80,70", "80,x"))
    with pytest.raises(InputError, match=r"dates\.csv, line 2, column ci_low: 'x' is not a number"):
        draw(table)
