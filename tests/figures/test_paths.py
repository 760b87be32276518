"""Paths of adaptation over each other: what is drawn, and that nothing is cut."""

import itertools

import polars as pl
from tests.figures.frames import check_inside, draw_twice
from tests.figures.test_following_figures import make_path
from tests.refusals import refuses

from fathom.config.scoring import Summary
from fathom.figures.following_figures import draw_paths, read_path
from fathom.figures.style import use_style
from fathom.io.contracts.studies import FOLLOWING
from fathom.io.tables import write_table

STAGES = (["cs.AI"], ["materials"], ["cs.AI", "materials"], ["materials", "cs.AI"])
TRACKS = [make_path(stages) for stages in STAGES]
TITLES = {"cs.AI": "CS.AI", "materials": "Materials"}


def draw(tracks=TRACKS, domain="cs.AI", titles=TITLES):
    with use_style():
        figure = draw_paths(tracks, domain, titles, "trimmed_mean", Summary())
        figure.draw_without_rendering()
    return figure, [axes for axes in figure.axes if axes.get_visible()]


def get_tf(track):
    return track.filter(seed="all", variant="tf", aggregate="trimmed_mean").sort("step")


def test_each_path_is_a_line_over_the_steps_of_its_last_domain():
    figure, panels = draw()
    assert [axes.get_title() for axes in panels] == [
        "TF 20 % trimmed mean rank", "TF-IDF 20 % trimmed mean rank", "Perplexity", "Attribute rate",
    ]  # fmt: skip
    for line, track in zip(panels[0].lines[:4], TRACKS, strict=True):
        assert list(line.get_xdata()) == [0, 25, 50, 75, 100] and line.get_linestyle() != ":"
        # a path of two domains begins where the first one ended
        assert list(line.get_ydata()) == get_tf(track)["value"].to_list()[-5:]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "Base to CS.AI", "Base to Materials", "CS.AI to Materials", "Materials to CS.AI",
        "Base", "CS.AI final",
    ]  # fmt: skip
    assert "toy-gpt2" in figure.get_suptitle() and "mean over seeds" in figure.get_suptitle()


def test_the_base_and_the_end_of_the_path_to_the_domain_are_dotted_levels():
    _, panels = draw()
    base, final = panels[0].lines[4:]
    assert {line.get_linestyle() for line in (base, final)} == {":"}
    values = get_tf(TRACKS[0])["value"]
    assert {*base.get_ydata()} == {values[0]} and {*final.get_ydata()} == {values[-1]}
    assert base.get_color() != final.get_color()


def test_without_a_path_to_the_domain_alone_there_is_only_the_base():
    figure, panels = draw(TRACKS[1:])
    assert [line.get_linestyle() for line in panels[0].lines].count(":") == 1
    assert [text.get_text() for text in figure.legends[0].get_texts()][3:] == ["Base"]


def test_a_path_of_three_domains_begins_with_the_first_two_and_names_without_titles_stay():
    figure, panels = draw([TRACKS[0], make_path(["culture", "materials", "cs.AI"])])
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names[1] == "culture + Materials to CS.AI"
    assert list(panels[0].lines[1].get_xdata()) == [0, 25, 50, 75, 100]


def test_a_path_that_is_the_beginning_of_another_one_is_read_from_it(tmp_path):
    table, path = tmp_path / "following.parquet", "toy-gpt2+cs.AI"
    at_the_end = pl.when(pl.col("step") == 100).then(pl.lit(path)).otherwise("model")
    longer = TRACKS[2].with_columns(model=at_the_end)
    write_table(table, pl.concat([TRACKS[1], longer, TRACKS[3]]), FOLLOWING)
    read, within = read_path(table, path, "cs.AI"), longer.filter(pl.col("stage") <= 1)
    assert {*read["track"]} == {path} and {*read["step"]} == {0, 25, 50, 75, 100}
    assert read.drop("track").equals(within.drop("track"))
    assert read_path(table, "toy-gpt2+materials", "cs.AI").equals(TRACKS[1])
    _, panels = draw([read, *TRACKS[1:]])
    assert list(panels[0].lines[0].get_ydata()) == get_tf(within)["value"].to_list()
    with refuses("toy-gpt2+culture", "following.parquet"):
        read_path(table, "toy-gpt2+culture", "cs.AI")


def test_a_control_is_told_from_the_path_whose_text_it_changes():
    control = make_path(["cs.AI"]).with_columns(track=pl.lit("toy-gpt2+cs.AI.terms-only"), value=1.0)
    figure, panels = draw([control, *TRACKS])
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names[:2] == ["Base to CS.AI (terms only)", "Base to CS.AI"] and names[-1] == "CS.AI final"
    assert {*panels[0].lines[-1].get_ydata()} == {get_tf(TRACKS[0])["value"][-1]}


def test_nothing_is_cut_or_overlaps():
    figure, panels = draw()
    check_inside(figure, [figure._suptitle, *figure.legends[0].get_texts()])
    check_inside(figure, [text for axes in panels for text in (axes.title, axes.xaxis.label)])
    boxes = [axes.title.get_window_extent() for axes in panels[:3]]
    assert all(left.x1 < right.x0 for left, right in itertools.pairwise(boxes))


def test_the_numbers_are_those_of_all_paths_and_files_are_the_same_again(tmp_path):
    write_table(tmp_path / "following.parquet", pl.concat(TRACKS), FOLLOWING)
    tables, parts = {"following": tmp_path / "following.parquet"}, {"domain": "cs.AI", "base": "toy-gpt2"}
    drawn = draw_twice(tmp_path, "paths", tables, parts, members=[track["track"][0] for track in TRACKS])
    assert len(drawn) == 4
    numbers = pl.read_csv(next(path for path in drawn if ".median." in path.name))
    ranks = {(row["variant"], row["aggregate"]) for row in numbers.filter(metric="rank").to_dicts()}
    assert ranks == {("tf", "median")}  # what is drawn, and no other statistic
    drawn = numbers.select("variant", "metric", "aggregate").unique()
    assert len(drawn) == 3
    # base, and from the beginning of the last domain on: 5 or 6 points, of two seeds and their mean
    points = {track["track"][0]: 6 if track["stage"].max() == 2 else 5 for track in TRACKS}
    assert {name: len(some) for (name,), some in numbers.group_by("track")} == {
        name: 3 * 3 * count for name, count in points.items()
    }
