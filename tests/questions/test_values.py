"""Numbers and dates as people write them; what is neither is refused with its place."""

import pytest

from fathom.errors import InputError
from fathom.questions.ontology import Cell, read_column


def read(*texts):
    return read_column("size", [Cell(text, f"t.csv, line {line}") for line, text in enumerate(texts, 2)])


@pytest.mark.parametrize(
    ("text", "value"),
    [("1,410,000,000", ("1410000000", "integer")), ("1,410", ("1410", "integer")),
     ("1 410 000.5", ("1410000.5", "decimal")), ("1\u202f410", ("1410", "integer")),
     ("1'410", ("1410", "integer")), ("1e3", ("1000", "integer")), ("1.5E-3", ("0.0015", "decimal")),
     ("\u2212999", ("-999", "integer")), ("+7", ("7", "integer")), (".5", ("0.5", "decimal")),
     ("12.5 %", ("12.5", "decimal")), ("-0.50", ("-0.50", "decimal")), ("1789-07-14", ("1789-07-14", "date")),
     ("14 July 1789", ("1789-07-14", "date")), ("Jul 4, 1776", ("1776-07-04", "date")),
     ("water", ("water", "")), ("B-12", ("B-12", ""))],
)  # fmt: skip
def test_values_are_read_as_people_write_them(text, value):
    assert read(text) == [value]


@pytest.mark.parametrize(
    ("text", "hint"),
    [("~234", "approximate"), ("ca. 234", "approximate"), (">5", "approximate"),
     ("1.234,5", "point is decimal"), ("3,14", "point is decimal"), ("1.234.567", "point is decimal"),
     ("1,41,000", "point is decimal"),
     ("n/a", "leave the cell empty"), ("1e", "leave the cell empty"), ("12-34", "leave the cell empty"),
     ("12 %", "leave the cell empty"), ("1789-07-14", "leave the cell empty"),
     ("5 km", "leave the cell empty")],
)  # fmt: skip
def test_what_is_no_number_in_a_column_of_numbers_is_refused_with_its_place(text, hint):
    with pytest.raises(InputError, match="is no number") as error:
        read("1", "2", text, "3")
    assert error.value.where == "t.csv, line 4, column size" and hint in error.value.hint


@pytest.mark.parametrize("text", ["03/04/2020", "1789", "1789-07", "1789-02-30", "soon"])
def test_what_is_no_clear_date_in_a_column_of_dates_is_refused(text):
    with pytest.raises(InputError, match="is no date"):
        read("1789-07-14", "1 May 1790", text)


@pytest.mark.parametrize("text", ["~234", "1.234,5", "03/04/2020"])
def test_a_column_of_unclear_numbers_is_not_taken_for_text(text):
    with pytest.raises(InputError, match="is no number"):
        read(text, text)
