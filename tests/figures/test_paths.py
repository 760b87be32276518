"""Paths of adaptation over each other: what is drawn, and that nothing is cut."""

import itertools

import polars as pl
from tests.figures.frames import draw_twice
from tests.figures.test_following import make_path

from fathom.config.scoring import Summary
from fathom.figures.paths import draw_paths
from fathom.figures.style import use_style
from fathom.io.contracts.studies import FOLLOWING
from fathom.io.tables import write_table

STAGES = (
    ["machine-learning"],
    ["plotting"],
    ["machine-learning", "plotting"],
    ["plotting", "machine-learning"],
)
TRACKS = [make_path(stages) for stages in STAGES]


def test_each_path_is_a_line_over_steps_and_the_base_is_dotted():
    with use_style():
        figure = draw_paths(TRACKS, "Artificial intelligence", "trimmed_mean", Summary())
        figure.draw_without_rendering()
    panels = [axes for axes in figure.axes if axes.get_visible()]
    assert [axes.get_title() for axes in panels] == [
        "TF 20 % trimmed mean rank", "TF-IDF 20 % trimmed mean rank",
        "Perplexity", "Bits per byte", "Attribute rate",
    ]  # fmt: skip
    lines = panels[0].lines
    assert [list(line.get_xdata())[-1] for line in lines[:4]] == [100, 100, 200, 200]
    base = TRACKS[0].filter(seed="all", step=0, variant="tf", aggregate="trimmed_mean")["value"][0]
    assert set(lines[4].get_ydata()) == {base} and lines[4].get_linestyle() == ":"
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels[2:] == ["machine-learning > plotting", "plotting > machine-learning"]
    assert "dotted: gpt2-small" in figure.get_suptitle() and "mean over seeds" in figure.get_suptitle()
    page = figure.bbox
    texts = [figure._suptitle, *figure.legends[0].get_texts()]
    texts += [text for axes in panels for text in (axes.title, axes.xaxis.label)]
    for text in texts:
        box = text.get_window_extent()
        assert page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1, text
    boxes = [axes.title.get_window_extent() for axes in panels[:3]]
    assert all(left.x1 < right.x0 for left, right in itertools.pairwise(boxes))


def test_the_numbers_are_those_of_all_paths_and_files_are_the_same_again(tmp_path):
    write_table(tmp_path / "following.parquet", pl.concat(TRACKS), FOLLOWING)
    tables, parts = {"following": tmp_path / "following.parquet"}, {"domain": "cs.AI", "base": "gpt2-small"}
    drawn = draw_twice(tmp_path, "paths", tables, parts, members=[track["track"][0] for track in TRACKS])
    assert len(drawn) == 4
    numbers = pl.read_csv(next(path for path in drawn if ".median." in path.name))
    ranks = {(row["variant"], row["aggregate"]) for row in numbers.filter(metric="rank").to_dicts()}
    assert ranks == {("tf", "median")}  # what is drawn, and no other statistic
    drawn = numbers.select("variant", "metric", "aggregate").unique()
    assert len(drawn) == 4 and len(numbers) == sum(
        len(track.join(drawn, on=drawn.columns, how="semi")) for track in TRACKS
    )
