"""The catalogue of figures: every file is of one kind, every caption fits its files."""

import pytest

from fathom.figures.catalogue import CATALOGUE, find_figure
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
