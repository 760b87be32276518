"""Checkpoints of others by their order: a column for each list, ranks above, probabilities below."""

import itertools
from pathlib import Path

import polars as pl
import pytest
from tests.figures.frames import check_inside, draw_one, draw_twice, list_cut

from fathom.io.contracts.studies import FOLLOWING
from fathom.io.tables import write_table

TOKENS = {
    "first": {"step1": 1, "step2": 3, "step3": 5, "final": 4000},
    # three ingredients end after as many tokens; the last of the list has seen fewer than the one before
    "whole": {"step1": 1, "step900": 3896, "a-end": 3946, "b-end": 3946, "c-end": 3946, "soup": 3900},
}
STARTS = {
    ("tf", "rank"): 400.0,
    ("tfidf", "rank"): 900.0,
    ("tf", "probability"): 0.1,
    ("tfidf", "probability"): 0.05,
    ("text", "perplexity"): 90.0,
}


def make_list(track: str, stand_in: str = "") -> pl.DataFrame:
    rows = [
        {
            "track": track, "model": model, "stand_in": stand_in if model == "step1" else "", "seed": "",
            "stage": 0, "trained_on": "", "step": 0, "tokens": tokens * 10**9, "domain": "cs.AI",
            "variant": variant, "metric": metric, "aggregate": aggregate,
            "value": (value := start * (1 + 1 / place) + (aggregate == "median")),
            "ci_low": 0.9 * value, "ci_high": 1.1 * value, "items": 40, "noise": 0.1, "signal_to_noise": 3.0,
        }
        for (variant, metric), start in STARTS.items()
        for aggregate in (
            ("mean",) if variant == "text" else ("trimmed_mean", "geometric_mean", "mean", "median")
        )
        for place, (model, tokens) in enumerate(TOKENS[track].items(), start=1)
    ]  # fmt: skip
    return pl.DataFrame(rows, schema_overrides={"stage": pl.Int32})


LISTS = [make_list("first"), make_list("whole")]
PARTS = {"domain": "cs.AI", "statistic": "median"}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    write_table(tmp_path / "following.parquet", pl.concat(LISTS), FOLLOWING)
    return tmp_path / "following.parquet"


def draw(table: Path, **settings):
    return draw_one("checkpoints", {"following": table}, PARTS, members=["first", "whole"], **settings)


def test_each_list_is_a_column_with_ranks_above_and_probabilities_below(table):
    figure = draw(table)
    assert [axes.get_title() for axes in figure.axes] == [
        *("First: 4 checkpoints", "Whole: 6 checkpoints", "", "")
    ]
    assert [axes.get_ylabel() for axes in figure.axes] == ["Median rank", "", "Median probability", ""]
    for place, (metric, rows) in enumerate(itertools.product(("rank", "probability"), LISTS)):
        for line, variant in zip(figure.axes[place].lines, ("tf", "tfidf"), strict=True):
            drawn = rows.filter(variant=variant, metric=metric, aggregate="median")["value"].to_list()
            assert list(line.get_ydata()) == drawn


def test_models_stand_at_equal_steps_in_their_order_and_the_last_one_last(table):
    figure = draw(table)
    assert [list(axes.lines[0].get_xdata()) for axes in figure.axes[:2]] == [[1, 2, 3, 4], [1, 2, 3, 4, 5, 6]]
    assert all(axes.get_xscale() == "linear" for axes in figure.axes)
    assert [axes.get_xlabel().splitlines()[-1] for axes in figure.axes[2:]] == ["final", "soup"]
    assert all(float(tick).is_integer() for axes in figure.axes for tick in axes.get_xticks())


def test_each_logarithmic_axis_says_so(tmp_path):
    wide = LISTS[1].with_columns(ci_high=pl.col("value") * 100)
    write_table(tmp_path / "following.parquet", pl.concat([LISTS[0], wide]), FOLLOWING)
    figure = draw(tmp_path / "following.parquet")
    assert [axes.get_yscale() for axes in figure.axes] == ["linear", "log"] * 2
    labels = ["Median rank", "log axis", "Median probability", "log axis"]
    assert [axes.get_ylabel() for axes in figure.axes] == labels


def test_checkpoints_that_others_stand_in_for_are_counted(tmp_path):
    rows = [make_list("first", stand_in="step2"), LISTS[1]]
    write_table(tmp_path / "following.parquet", pl.concat(rows), FOLLOWING)
    assert "1 corrupt" in draw(tmp_path / "following.parquet").get_suptitle()


def test_nothing_is_cut_or_overlaps(table):
    figure = draw(table, title="Physics and society, and all that is written about it elsewhere")
    assert not list_cut(figure)
    check_inside(figure, [figure._suptitle, *figure.legends[0].get_texts()])
    boxes = [axes.get_tightbbox() for axes in figure.axes]
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))


def test_the_numbers_are_those_that_are_drawn(table, tmp_path):
    parts = {"domain": "cs.AI"}
    drawn = draw_twice(tmp_path, "checkpoints", {"following": table}, parts, members=["first", "whole"])
    assert len(drawn) == 4
    numbers = pl.read_csv(next(path for path in drawn if ".median." in path.name))
    assert {*numbers["metric"]} == {"rank", "probability"} and {*numbers["aggregate"]} == {"median"}
    assert numbers["model"].unique(maintain_order=True).to_list() == [
        "step1", "step2", "step3", "final", "step900", "a-end", "b-end", "c-end", "soup",
    ]  # fmt: skip
