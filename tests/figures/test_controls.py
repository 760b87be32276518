"""Figures of controls: what stands where, and that nothing is cut."""

import itertools

import pytest
from tests.figures.frames import check_inside, draw_one, draw_twice
from tests.tables import read_delimited, write_delimited

from fathom.errors import InputError
from fathom.io.contracts.studies import CONTRASTS, CONTROLS

METRICS = [
    ("tf", "rank", "trimmed_mean"), ("tfidf", "rank", "trimmed_mean"), ("tf", "rank", "geometric_mean"),
    ("tfidf", "rank", "geometric_mean"), ("tf", "log_probability", "mean"), ("text", "perplexity", "mean"),
    ("text", "bits_per_byte", "mean"), ("keywords", "attribute_rate", "mean"),
    ("both", "rank", "trimmed_mean"),
]  # fmt: skip
CONDITIONS = ["base", "cond-mat.mtrl-sci", "as-is", "terms-exchanged", "terms-only"]


@pytest.fixture
def tables(tmp_path):
    rows = [
        ("cs.AI", *metric, "toy-gpt2", condition, 3, 100, 90, 110, place / 10, place / 10 - 0.05,
         place / 10 + 0.05, 1, 1, 1, 40)
        for metric in METRICS for place, condition in enumerate(CONDITIONS)
    ]  # fmt: skip
    contrasts = [
        ("cs.AI", *metric, "toy-gpt2", first, second, 1, 0.5, 1.5, 0.01, 0.02, verdict)
        for metric in METRICS
        if metric[0] not in ("tf", "tfidf")
        for first, second, verdict in (("as-is", "terms-exchanged", "ahead"), ("as-is", "far", "behind"))
    ]
    files = tmp_path / "controls.csv", tmp_path / "contrasts.csv"
    for file, columns, lines in zip(files, (CONTROLS.names, CONTRASTS.names), (rows, contrasts), strict=True):
        write_delimited(file, columns, lines, ",")
    return dict(zip(("controls", "contrasts"), files, strict=True))


def draw(tables, domain="cs.AI"):
    return draw_one("controls", tables, {"domain": domain}, title="Artificial intelligence")


def test_knowledge_stands_above_style_and_nothing_is_cut(tables):
    figure = draw(tables)
    panels = [axes for axes in figure.axes if axes.get_visible()]
    assert [axes.get_title() for axes in panels] == [
        "20 % trimmed mean rank", "Geometric mean rank", "Mean log-probability (nats)", "Perplexity",
        "Bits per byte", "Attribute rate",
    ]  # fmt: skip
    names = [label.get_text().replace("\n", "") for label in panels[0].get_yticklabels()]
    assert names == ["text as it is", "sentences with terms", "terms exchanged", "cond-mat.mtrl-sci"]
    assert (
        "times better" in panels[0].get_xlabel() and "ahead in 1 of 2, behind in 1" in panels[0].get_xlabel()
    )
    assert [text.get_text() for text in figure.legends[0].get_texts()][:2] == ["TF", "TF-IDF"]
    assert panels[0].yaxis_inverted() and "3 seeds" in figure.get_suptitle()
    check_inside(figure, [figure._suptitle, *panels[0].get_yticklabels()])
    check_inside(figure, [text for axes in panels for text in (axes.title, axes.xaxis.label)])
    titles = [axes.xaxis.label.get_window_extent() for axes in panels[:3]]
    assert all(left.x1 < right.x0 for left, right in itertools.pairwise(titles))


def test_long_numbers_on_an_axis_do_not_overlap(tables):
    small = {"gain": "-0.0067", "gain_low": "-0.0133", "gain_high": "0"}
    rows = [row | small if row["metric"] == "attribute_rate" else row
            for row in read_delimited(tables["controls"], ",")]  # fmt: skip
    write_delimited(tables["controls"], CONTROLS.names, [tuple(row.values()) for row in rows], ",")
    figure = draw(tables)
    for axes in figure.axes:
        low, high = axes.get_xlim()
        labels = [label for place, label in zip(axes.get_xticks(), axes.get_xticklabels(), strict=True)
                  if low <= place <= high]  # fmt: skip
        boxes = [label.get_window_extent() for label in labels if axes.get_visible()]
        assert all(left.x1 < right.x0 for left, right in itertools.pairwise(boxes))


def test_the_same_tables_give_the_same_files_and_an_unknown_domain_is_refused(tables, tmp_path):
    draw_twice(tmp_path, "controls", tables, {"domain": "cs.AI"}, title="AI")
    with pytest.raises(InputError, match="unknown domain 'math'"):
        draw(tables, "math")
