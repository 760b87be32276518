"""The curves of subsets: what is drawn, and that nothing is cut."""

import pytest
from tests.figures.frames import list_cut

from fathom.errors import InputError
from fathom.figures.style import use_style
from fathom.figures.subset_curves import SUBSET_COLUMNS, draw_subsets, plot_subsets

KINDS = ("at random", "stratified by keyword", "coverage of the pairs", "coverage of the domain")


@pytest.fixture
def rows():
    numbers = [(30, 0.5, 0.1, 0.8, 0.2, 0.7), (300, 0.9, 0.7, 1, 0.6, 1), (600, 1, 1, 1, 1, 1)]
    return [
        dict(zip(SUBSET_COLUMNS, map(str, (run, "a_domain", "tf", name, kind, *each)), strict=True))
        for run in ("demo", "another-run-with-a-long-name", "third")
        for name in ("trimmed_mean", "geometric_mean")
        for kind in KINDS
        for each in numbers
    ]


def test_each_benchmark_has_a_panel_and_each_kind_a_line(rows):
    with use_style():
        figure = draw_subsets([row for row in rows if row["aggregate"] == "trimmed_mean"])
        shown = [axes for axes in figure.axes if axes.get_visible()]
        assert len(shown) == 3
        for axes in shown:
            lines = {line.get_label(): line for line in axes.lines if not line.get_label().startswith("_")}
            assert tuple(lines) == KINDS
            assert lines["at random"].get_xdata().tolist() == [30, 300, 600]
            assert lines["at random"].get_ydata().tolist() == [0.5, 0.9, 1]
            assert len(axes.collections) == 2
        figure.draw_without_rendering()
        assert list_cut(figure) == []


def test_the_same_rows_give_the_same_bytes(rows, tmp_path):
    files = [(tmp_path / f"{name}.pdf", tmp_path / f"{name}.png") for name in "ab"]
    for each in files:
        plot_subsets(rows, "geometric_mean", each)
    for one, other in zip(*files, strict=True):
        assert one.read_bytes() == other.read_bytes()
    with pytest.raises(InputError, match="no subsets to draw"):
        plot_subsets(rows, "median", files[0])
