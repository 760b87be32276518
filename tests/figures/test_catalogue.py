"""The catalogue of figures: every file is of one kind, every caption fits its files."""

import pytest
from tests.programs import run_program

from fathom.errors import InputError
from fathom.figures.catalogue import CATALOGUE, find_figure
from fathom.figures.drawing import FigureSettings
from fathom.figures.papers import PRESETS


@pytest.mark.parametrize(
    ("stem", "name", "parts"),
    [
        ("cs.AI.model-ranks", "model-ranks", {"domain": "cs.AI"}),
        ("ml.metrics.all.mean", "metrics", {"domain": "ml", "group": "all", "statistic": "mean"}),
        ("ml.layers.m0.5+ml.norm", "layers", {"domain": "ml", "model": "m0.5+ml", "figure": "norm"}),
        ("ranking.tau.direct", "ranking-tau", {"statistic": "tau", "condition": "direct"}),
        ("ranking.pca", "ranking-components", {"figure": "pca"}),
        ("courses.radar", "answers", {"set": "courses", "figure": "radar"}),
        ("chat-models", "chat-models", {}),
    ],
)
def test_a_file_is_of_one_kind(stem, name, parts):
    figure, found = find_figure(stem)
    assert (figure.name, found) == (name, parts)
    kinds = [each.name for each in CATALOGUE.values() if each.match(stem) is not None]
    assert kinds == [name]


def test_no_kind_for_other_files():
    assert find_figure("notes") is None


@pytest.mark.parametrize("figure", CATALOGUE.values(), ids=CATALOGUE)
def test_captions_titles_and_rows_name_parts_that_there_are(figure):
    parts = {name: f"<{name}>" for name in figure.parts}
    assert figure.describe(parts) and figure.entitle(parts).startswith(figure.title)
    assert {*figure.values} <= {*parts} and figure.shown
    for row in figure.shown:
        assert row.paper in ("", *PRESETS) and bool(row.paper) == bool(row.number)
        assert all(value in figure.values[name] for name, value in row.values.items())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--figure", "pie", "--inputs", "{}"), "unknown figure 'pie'"),
        (("--figure", "dates", "--inputs", "{}"), "dates needs dates"),
        (("--figure", "dates", "--inputs", '{"dates": "d.csv"}'), "dates needs domain"),
    ],
)
def test_the_program_names_what_it_lacks(options, message, tmp_path):
    with pytest.raises(InputError, match=message):
        run_program("draw_figure", *options, "--folder", tmp_path)


@pytest.mark.parametrize("figure", CATALOGUE.values(), ids=CATALOGUE)
def test_every_figure_is_drawn_from_what_its_name_says(figure):
    assert callable(figure.find_function())
    parts = dict.fromkeys((*figure.parts, "study"), "x")  # a track's study follows from the track
    assert all(path.format_map(parts) for path in figure.reads.values())
    assert {*figure.settings} <= {*FigureSettings.model_fields}
    assert len(figure.name_files()) == len({*figure.name_files()}) > 0
