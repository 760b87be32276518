"""Figures of models over their training: what is drawn where, and that nothing is cut or overlaps."""

import itertools
import math
from pathlib import Path

import polars as pl
import pytest
from matplotlib.collections import LineCollection
from tests.figures.frames import check_inside, draw_twice
from tests.refusals import refuses

from fathom.config.scoring import Summary
from fathom.figures.following_figures import draw_paths, draw_track, read_path, read_track
from fathom.figures.style import use_style
from fathom.io.contracts.studies import FOLLOWING
from fathom.io.tables import write_table

METRICS = {
    ("tf", "rank", "trimmed_mean"): 400.0,
    ("tfidf", "rank", "trimmed_mean"): 900.0,
    ("tf", "rank", "geometric_mean"): 150.0,
    ("tfidf", "rank", "geometric_mean"): 300.0,
    ("tf", "rank", "mean"): 700.0,
    ("tf", "rank", "median"): 350.0,
    ("tf", "log_probability", "mean"): -6.0,
    ("tfidf", "log_probability", "mean"): -7.5,
    ("text", "perplexity", "mean"): 210.0,
    ("text", "bits_per_byte", "mean"): 1.9,
    ("keywords", "attribute_rate", "mean"): 0.2,
}


def make_rows(
    points, track, seeds=("0", "1", "all"), stages=("machine-learning", "plotting")
) -> pl.DataFrame:
    """Return a table of a track: metrics fall in the first half of its points and rise in the second."""
    rows = []
    for (variant, metric, aggregate), start in METRICS.items():
        for shift, seed in enumerate(seeds):
            for place, (step, tokens) in enumerate(points):
                stage = (
                    0 if not place else min(len(stages), 1 + (place - 1) * len(stages) // (len(points) - 1))
                )
                value = (
                    start * (0.4 + 0.6 * abs(math.cos(math.pi * place / len(points)))) * (1 + 0.03 * shift)
                )
                rows.append(
                    {
                        "track": track, "model": "toy-gpt2" if not place else f"{track}@step{place}",
                        "stand_in": "", "seed": seed, "stage": stage,
                        "trained_on": stages[stage - 1] if stage else "", "step": step,
                        "tokens": tokens, "domain": "cs.AI", "variant": variant,
                        "metric": metric, "aggregate": aggregate, "value": value,
                        "ci_low": value - 0.1 * abs(value), "ci_high": value + 0.1 * abs(value), "items": 40,
                        "noise": 0.04 * abs(value) if place > 1 else math.nan, "signal_to_noise": 3.0,
                    }
                )  # fmt: skip
    return pl.DataFrame(rows, schema_overrides={"stage": pl.Int32})


def make_path(stages=("machine-learning", "plotting"), seeds=("0", "1", "all")) -> pl.DataFrame:
    points = [(25 * place, 51_200 * place) for place in range(4 * len(stages) + 1)]
    return make_rows(points, f"toy-gpt2+{'+'.join(stages)}", seeds, stages)


def make_list() -> pl.DataFrame:
    points = [(0, tokens * 10**9) for tokens in (1, 3, 3, 10, 55, 300, 900, 3946, 3896, 4000)]
    return make_rows(points, "whole-run", seeds=("",), stages=())


def draw(rows: pl.DataFrame):
    with use_style():
        figure = draw_track(rows, "Artificial intelligence", Summary())
        figure.draw_without_rendering()
    return figure


def list_texts(axes):
    return [text for text in axes.texts if text.get_text()]


def test_a_path_has_one_axis_of_steps_with_a_line_where_a_stage_ends():
    figure = draw(make_path())
    axes = [each for each in figure.axes if each.get_visible()]
    assert [each.get_ylabel() for each in axes] == [
        "20 % trimmed mean rank", "Geometric mean rank", "Mean rank", "Median rank",
        "Mean log-probability\n(nats)", "Perplexity", "Bits per byte", "Attribute rate",
    ]  # fmt: skip
    assert {each.get_xlabel() for each in axes} == {"", "Steps"}
    stage_ends = [line for line in axes[0].lines if list(line.get_xdata()) == [100, 100]]
    assert len(stage_ends) == 1
    assert [text.get_text() for text in list_texts(axes[0])] == ["machine-learning", "plotting"]
    # two variants, each a mean and two thin lines, and one stage's end
    assert len(axes[0].lines) == 7 and len(axes[0].collections) == 2 + 2  # bands, and whiskers of noise
    whiskers = [each for each in axes[0].collections if isinstance(each, LineCollection)]
    (ends,) = whiskers[0].get_segments()
    last = make_path().filter(seed="all", variant="tf", metric="rank", aggregate="trimmed_mean")[-1]
    assert (
        ends[1][1] - ends[0][1] == pytest.approx(4 * last["noise"].item())
        and ends[0][0] == last["step"].item()
    )
    title = figure.get_suptitle()
    assert "toy-gpt2 > machine-learning > plotting" in title and "thin lines: 2 seeds" in title


@pytest.mark.parametrize(
    ("text", "shown"),
    [("", ""), (".terms-only", " (terms only)"), (".terms-exchanged", " (terms exchanged)")],
)
def test_the_title_says_what_was_done_to_the_text(text, shown):
    rows = make_rows([(0, 0), (50, 50), (100, 100)], f"toy-gpt2+cs.AI{text}", ("0",), ("cs.AI",))
    assert draw(rows).get_suptitle().splitlines()[0].endswith(f"toy-gpt2 > cs.AI{shown}")


def test_one_seed_has_no_thin_lines():
    figure = draw(make_path(seeds=("0",)))
    assert len(figure.axes[0].lines) == 3
    assert "thin" not in figure.get_suptitle()
    assert "Whiskers: 2 × noise of a step" in figure.get_suptitle()


def test_points_without_a_known_noise_have_no_whiskers():
    figure = draw(make_path().with_columns(noise=pl.lit(math.nan)))
    assert not [each for each in figure.axes[0].collections if isinstance(each, LineCollection)]
    assert "whiskers" not in figure.get_suptitle()


def test_others_checkpoints_stand_over_the_tokens_that_they_have_seen():
    figure = draw(make_list())
    axes = figure.axes[0]
    assert axes.get_xscale() == "log" and not list_texts(axes)
    assert list(axes.lines[0].get_xdata()) == [1, 3, 3, 10, 55, 300, 900, 3896, 3946, 4000]
    assert "Tokens seen (billions), log axis" in {each.get_xlabel() for each in figure.axes}
    assert "Whole run" in figure.get_suptitle()


def test_a_rate_has_a_linear_axis_and_an_axis_that_has_none_says_so():
    factor = pl.when(pl.col("step") == 0).then(100.0).otherwise(1.0)
    figure = draw(make_path().with_columns(pl.col("value", "ci_low", "ci_high") * factor))
    labels = {axes.get_ylabel().replace("\n", " "): axes.get_yscale() for axes in figure.axes}
    logarithmic = {label for label, scale in labels.items() if scale == "log"}
    assert {"Mean rank, log axis", "Perplexity, log axis"} < logarithmic
    assert labels["Attribute rate"] == labels["Mean log-probability (nats)"] == "linear"
    assert logarithmic == {label for label in labels if label.endswith("log axis")}


def test_many_stages_are_numbered():
    stages = [f"domain-{number}" for number in range(12)]
    axes = draw(make_path(stages)).axes[0]
    assert [text.get_text() for text in list_texts(axes)] == [str(number) for number in range(1, 13)]


@pytest.mark.parametrize(
    "rows", [make_path(), make_list(), make_path(["cs.AI", "cond-mat.mtrl-sci", "econ.GN"])]
)
def test_nothing_is_cut_or_overlaps(rows):
    figure = draw(rows)
    page = figure.bbox
    boxes = [each.get_tightbbox() for each in figure.axes if each.get_visible()]
    boxes += [figure._suptitle.get_window_extent(), *(each.get_window_extent() for each in figure.legends)]
    for place, box in enumerate(boxes):
        assert page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1
        assert not any(box.overlaps(other) for other in boxes[place + 1 :])
    for axes in figure.axes:
        names = [text.get_window_extent() for text in list_texts(axes)]
        assert not any(left.x1 > right.x0 for left, right in itertools.pairwise(names))


def test_the_program_writes_figure_and_numbers(tmp_path: Path):
    write_table(tmp_path / "following.parquet", pl.concat([make_path(), make_list()]), FOLLOWING)
    tables = {"following": tmp_path / "following.parquet"}
    (numbers,) = draw_twice(tmp_path, "following", tables, {"track": "whole-run", "domain": "cs.AI"})
    header, *lines = numbers.read_text().splitlines()
    assert header.split(",") == [column.name for column in FOLLOWING] and len(lines) == len(make_list())
    with refuses("x", "toy-gpt2+machine-learning+plotting"):
        read_track(tmp_path / "following.parquet", "x", "cs.AI")
    with refuses("'y'"):
        read_track(tmp_path / "following.parquet", "whole-run", "y")


STAGES = (["cs.AI"], ["materials"], ["cs.AI", "materials"], ["materials", "cs.AI"])
TRACKS = [make_path(stages) for stages in STAGES]
TITLES = {"cs.AI": "CS.AI", "materials": "Materials"}


def draw_paths_of(tracks=TRACKS, domain="cs.AI", titles=TITLES):
    with use_style():
        figure = draw_paths(tracks, domain, titles, "trimmed_mean", Summary())
        figure.draw_without_rendering()
    return figure, [axes for axes in figure.axes if axes.get_visible()]


def get_tf(track):
    return track.filter(seed="all", variant="tf", aggregate="trimmed_mean").sort("step")


def test_each_path_is_a_line_over_the_steps_of_its_last_domain():
    figure, panels = draw_paths_of()
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


def test_headings_count_what_the_lines_sum_up():
    figure, _ = draw_paths_of()
    counts = figure.get_suptitle().split("\n")[-1]
    items = TRACKS[0].filter(variant="tf")["items"][0]
    assert counts.startswith(f"n: {items:,} TF pairs, ") and "keyword" in counts


def test_a_reference_has_its_name():
    tracks = [track.with_columns(pl.col("variant").replace("tf", "reference")) for track in TRACKS]
    with use_style():
        figure = draw_paths(tracks, "cs.AI", TITLES, "trimmed_mean", Summary(), [("reference", "claude")])
    assert figure.axes[0].get_title() == "claude 20 % trimmed mean rank"
    assert "40 claude pairs, 40 TF-IDF pairs" in figure.get_suptitle()


def test_the_base_and_the_end_of_the_path_to_the_domain_are_dotted_levels():
    _, panels = draw_paths_of()
    base, final = panels[0].lines[4:]
    assert {line.get_linestyle() for line in (base, final)} == {":"}
    values = get_tf(TRACKS[0])["value"]
    assert {*base.get_ydata()} == {values[0]} and {*final.get_ydata()} == {values[-1]}
    assert base.get_color() != final.get_color()


def test_without_a_path_to_the_domain_alone_there_is_only_the_base():
    figure, panels = draw_paths_of(TRACKS[1:])
    assert [line.get_linestyle() for line in panels[0].lines].count(":") == 1
    assert [text.get_text() for text in figure.legends[0].get_texts()][3:] == ["Base"]


def test_a_path_of_three_domains_begins_with_the_first_two_and_names_without_titles_stay():
    figure, panels = draw_paths_of([TRACKS[0], make_path(["culture", "materials", "cs.AI"])])
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
    _, panels = draw_paths_of([read, *TRACKS[1:]])
    assert list(panels[0].lines[0].get_ydata()) == get_tf(within)["value"].to_list()
    with refuses("toy-gpt2+culture", "following.parquet"):
        read_path(table, "toy-gpt2+culture", "cs.AI")


def test_a_control_is_told_from_the_path_whose_text_it_changes():
    control = make_path(["cs.AI"]).with_columns(track=pl.lit("toy-gpt2+cs.AI.terms-only"), value=1.0)
    figure, panels = draw_paths_of([control, *TRACKS])
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names[:2] == ["Base to CS.AI (terms only)", "Base to CS.AI"] and names[-1] == "CS.AI final"
    assert {*panels[0].lines[-1].get_ydata()} == {get_tf(TRACKS[0])["value"][-1]}


def test_nothing_of_paths_is_cut_or_overlaps():
    figure, panels = draw_paths_of()
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
