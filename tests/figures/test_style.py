"""Numbers of an axis are written alike, however they come."""

import pytest

from fathom.figures.style import make_figure, number_ticks, use_style


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([1.92, 2, 2.08, 2.16], ["1.92", "2.00", "2.08", "2.16"]),
        ([-16.5, -15, -13.5], ["−16.5", "−15.0", "−13.5"]),
        ([0, 0.1 + 0.2, 0.6], ["0.0", "0.3", "0.6"]),
        ([0, 500, 1000, 1500], ["0", "500", "1,000", "1,500"]),
        ([0.01, 1, 100, 10000], ["0.01", "1", "100", "10,000"]),
        ([], []),
    ],
)
def test_numbers_of_an_axis_have_as_many_decimals(values, texts):
    with use_style():
        axis = make_figure(3, 2).subplots().xaxis
        number_ticks(axis)
    assert axis.get_major_formatter().format_ticks(values) == texts
