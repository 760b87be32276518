"""Figures of models by every metric: what stands where, correlations, and that nothing is cut."""

import itertools
import math

import numpy as np
import pytest
from matplotlib.text import Text
from tests.figures.frames import check_apart, list_cut, list_names
from tests.tables import read_delimited

from fathom.config.scoring import Summary
from fathom.errors import InputError
from fathom.figures.drawing import FigureSettings
from fathom.figures.metric_agreement import (
    METRICS,
    Look,
    Measured,
    draw_figure,
    draw_metrics,
    label_references,
    measure_agreements,
    read_metrics,
)
from fathom.figures.style import use_style
from fathom.io.contracts.statistics import SUMMARY
from fathom.io.delimited import write_rows
from fathom.statistics.bootstrap import Estimate

SETTINGS = Summary(rounds=200)
LOOK = Look("AI", "median", METRICS, SETTINGS)
MODELS = ["gpt2-xl", "gpt2-xl+cs.AI", "gpt2-xl+cs.CL", "gpt2-xl+physics.soc-ph", "gpt2-xl+cond-mat.mtrl-sci"]
RANKS = [400, 100, 180, 420, 700]
RATES = [0.002, 0.4, 0.03, 0.001, 0.09]


@pytest.fixture
def summary(tmp_path):
    rows = []
    for model, rank in zip(MODELS, RANKS, strict=True):
        numbers = {
            ("reference", "rank", "median"): rank / 2, ("reference", "rank", "mean"): rank,
            ("tf", "rank", "median"): rank, ("tf", "rank", "mean"): 3 * rank,
            ("tf", "probability", "mean"): 0.1,
            ("tfidf", "rank", "median"): rank**1.2, ("tfidf", "rank", "mean"): rank,
            ("text", "perplexity", "mean"): 30 + rank / 7, ("text", "bits_per_byte", "mean"): 1,
            ("keywords", "attribute_rate", "mean"): 0.2 + 0.01 * (rank % 7),
        }  # fmt: skip
        for (variant, metric, aggregate), value in numbers.items():
            rows.append(("cs.AI", variant, model, metric, aggregate, value, 0.9 * value, 1.1 * value, 50))
    write_rows(tmp_path / "summary.csv", rows, SUMMARY, SUMMARY.names[:-1])
    return tmp_path / "summary.csv"


def draw(metrics, look=LOOK):
    with use_style():
        figure = draw_metrics(metrics, measure_agreements(metrics, SETTINGS), look)
        figure.draw_without_rendering()
    return figure


def test_five_metrics_stand_over_their_correlations_with_the_reference(summary):
    metrics = read_metrics([summary], "cs.AI", MODELS, "median")
    assert list(metrics) == ["reference", "tf", "tfidf", "perplexity", "attribute_rate"]
    assert list(metrics["tf"]) == MODELS and metrics["tf"][MODELS[1]].value == 100
    tf, _, perplexity, rate = measure_agreements(metrics, SETTINGS)
    assert tf.against == "reference" and tf.found.value == pytest.approx(1) and perplexity.found.value > 0.999
    assert abs(rate.found.value) < 0.9
    figure = draw(metrics)
    top, bottom = figure.axes[:5], figure.axes[5:]
    assert [axes.get_title() for axes in top] == [
        "reference rank", "TF rank", "TF-IDF rank", "Perplexity", "Attribute rate",
    ]  # fmt: skip
    names = [f"{model}  {number}" for number, model in enumerate(MODELS, start=1)]
    assert all(list_names(axes) == names for axes in top)
    assert [axes.get_ylabel() for axes in top] == [*["low is best"] * (len(top) - 1), "high is best"]
    assert all(low < high for low, high in (axes.get_ylim() for axes in top))  # low is at the bottom
    marks = next(line for line in top[1].lines if line.get_marker() == "o")
    assert list(marks.get_xdata()) == [0, 1, 2, 3, 4] and list(marks.get_ydata()) == RANKS
    assert not bottom[0].get_visible() and bottom[1].get_title().startswith("r = 1.00, p < 0.001")
    assert sorted(text.get_text() for text in bottom[1].texts) == ["1", "2", "3", "4", "5"]
    page = figure.bbox
    texts = [figure._suptitle, *top[0].get_xticklabels()]
    texts += [text for axes in (*top, *bottom[1:]) for text in (axes.title, axes.yaxis.label)]
    for text in texts:
        box = text.get_window_extent()
        assert page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1, text
    for row in (top, bottom[1:]):
        boxes = [axes.title.get_window_extent() for axes in row]
        assert all(left.x1 < right.x0 for left, right in itertools.pairwise(boxes))
        for axes in row:  # numbers of an axis do not run into each other
            labels = [text.get_window_extent() for text in axes.get_xticklabels() if text.get_text()]
            inside = [box for box in labels if page.x0 < box.x0 and axes.bbox.x0 - 2 <= (box.x0 + box.x1) / 2]
            inside = [box for box in inside if (box.x0 + box.x1) / 2 <= axes.bbox.x1 + 2]
            assert all(left.x1 < right.x0 for left, right in itertools.pairwise(inside)), axes.get_title()


def test_a_rate_has_a_linear_axis_and_an_axis_that_has_none_says_so(summary):
    metrics = read_metrics([summary], "cs.AI", MODELS, "median")
    wide = {model: Measured(value, value, value, 9) for model, value in zip(MODELS, RATES, strict=True)}
    figure = draw({**metrics, "tf": wide, "attribute_rate": wide})
    tops, bottoms = figure.axes[:5], figure.axes[5:]
    assert [axes.get_yscale() for axes in tops] == ["linear", "log", "linear", "linear", "linear"]
    assert [axes.get_ylabel() for axes in tops[1::3]] == ["low is best, log axis", "high is best"]
    assert [axes.get_xscale() for axes in bottoms[1::3]] == ["log", "linear"]
    assert [axes.get_xlabel() for axes in bottoms[1::3]] == ["TF rank, log axis", "Attribute rate"]
    against_tf = draw({"tf": wide, "perplexity": metrics["perplexity"]})
    assert against_tf.axes[-1].get_ylabel() == "TF rank, log axis"


def test_without_a_reference_metrics_are_held_against_tf(summary, tmp_path):
    rows = [tuple(row.values()) for row in read_delimited(summary, ",") if row["variant"] != "reference"]
    write_rows(tmp_path / "other.csv", rows, SUMMARY, SUMMARY.names[:-1])
    metrics = read_metrics([tmp_path / "other.csv"], "cs.AI", MODELS[:2], "mean")
    assert metrics["tf"][MODELS[0]].value == 1200
    (tfidf, *_) = measure_agreements(metrics, SETTINGS)
    assert tfidf.against == "tf" and math.isnan(tfidf.found.value)  # two models have no correlation
    assert draw(metrics).axes[5].get_title().startswith("no correlation")


def test_numbers_are_beside_the_figure_and_models_without_ranks_are_refused(summary):
    parts = {"domain": "cs.AI", "group": "all", "statistic": "median"}
    with use_style():
        _, (contract, lines) = draw_figure({"summary": summary}, parts, FigureSettings(members=MODELS))
    rows = [dict(zip(contract.names, line, strict=True)) for line in lines]
    assert len(rows) == 25 and rows[5]["against"] == "reference" and rows[0]["against"] == ""
    assert math.isnan(rows[0]["r"])
    with pytest.raises(InputError, match="no TF rank of other"):
        read_metrics([summary], "cs.AI", ["other"], "median")


def test_the_heading_counts_items_and_names_the_base_once(summary):
    parts = {"domain": "cs.AI", "base": "gpt2-xl", "statistic": "median"}
    with use_style():
        settings = FigureSettings(members=MODELS, title="AI", titles={"cs.AI": "AI"})
        figure, _ = draw_figure({"summary": summary}, parts, settings)
    heading = figure.get_suptitle().split("\n")
    assert heading[0] == "AI: gpt2-xl and what was adapted from it"
    counts = "5 models, 50 reference pairs, 50 TF pairs, 50 TF-IDF pairs, 50 documents, 50 keywords"
    assert heading[-1] == f"n: {counts}"
    assert list_names(figure.axes[0])[:3] == ["base  1", "to AI  2", "to cs.CL  3"]


def test_a_rank_on_a_reference_has_its_name(summary):
    parts = {"domain": "cs.AI", "group": "all", "statistic": "median"}
    settings = FigureSettings(
        members=MODELS, references=[("reference-expert", "expert"), ("reference", "claude")]
    )
    with use_style():
        figure, _ = draw_figure({"summary": summary}, parts, settings)
    titles = [axes.get_title() for axes in figure.axes[:5]]
    assert titles == ["claude rank", "TF rank", "TF-IDF rank", "Perplexity", "Attribute rate"]
    assert "5 models, 50 claude pairs, 50 TF pairs" in figure.get_suptitle()
    with use_style():
        figure, _ = draw_figure({"summary": summary}, parts | {"group": "chat"}, settings)
    assert figure.get_suptitle().startswith("cs.AI: chat models\n")


def test_several_references_are_held_against_the_first_one(summary, tmp_path):
    more = [("cs.AI", "reference-claude", model, "rank", "median", 2 * rank, rank, 3 * rank, 20)
            for model, rank in zip(MODELS, RANKS, strict=True)]  # fmt: skip
    write_rows(tmp_path / "references.csv", more, SUMMARY, SUMMARY.names[:-1])
    labels = label_references({"reference": "expert", "reference-claude": "claude"})
    models = MODELS[::-1]
    metrics = read_metrics([summary, tmp_path / "references.csv"], "cs.AI", models, "median", labels)
    assert list(metrics) == ["reference", "reference-claude", "tf", "tfidf"]
    assert all(list(some) == models for some in metrics.values())
    found = measure_agreements(metrics, SETTINGS)
    assert [each.against for each in found] == ["reference"] * 3
    assert found[0].found.value == pytest.approx(1) and found[2].found.value < 1
    figure = draw(metrics, LOOK._replace(labels=labels))
    titles = [axes.get_title() for axes in figure.axes[:4]]
    assert titles == ["expert rank", "claude rank", "TF rank", "TF-IDF rank"]
    assert figure.axes[5].get_xlabel() == "claude rank" and figure.axes[5].get_ylabel() == "expert rank"
    assert not list_cut(figure)


def test_the_first_of_several_references_need_not_be_the_one_that_leads(summary, tmp_path):
    more = [("cs.AI", "reference-expert", model, "rank", "median", 3 * rank, rank, 4 * rank, 20)
            for model, rank in zip(MODELS, RANKS, strict=True)]  # fmt: skip
    write_rows(tmp_path / "references.csv", more, SUMMARY, SUMMARY.names[:-1])
    settings = FigureSettings(
        members=MODELS, references=[("reference-expert", "expert"), ("reference", "claude")]
    )
    tables = {"summary": summary, "references": tmp_path / "references.csv"}
    with use_style():
        _, (contract, lines) = draw_figure(tables, {"domain": "cs.AI", "statistic": "median"}, settings)
    rows = [dict(zip(contract.names, line, strict=True)) for line in lines]
    assert rows[0]["metric"] == "reference-expert" and rows[0]["against"] == ""
    assert {row["against"] for row in rows[len(MODELS) :]} == {"reference-expert"}


def test_numbers_of_many_models_stand_apart():
    random = np.random.default_rng(0)
    ranks = np.exp(random.uniform(3, 7.5, 28))
    noise = np.exp(random.normal(0, 0.3, 28))
    metrics = {
        name: {f"model-{place}": Estimate(n, 0.9 * n, 1.1 * n) for place, n in enumerate(values)}
        for name, values in (("reference", ranks), ("tf", ranks * noise), ("perplexity", ranks**0.5))
    }
    figure = draw(metrics)
    assert not list_cut(figure)
    for axes in figure.axes[4:]:
        boxes = [Text.get_window_extent(text) for text in axes.texts]
        assert len(boxes) == 28
        assert not any(first.overlaps(second) for first, second in itertools.combinations(boxes, 2))
    assert all(len(list_names(axes)) == 28 for axes in figure.axes[:3])
    for axes in figure.axes[4:]:
        low, high = axes.get_xlim()
        ticks = [tick for tick in axes.xaxis.get_major_ticks() if low <= tick.get_loc() <= high]
        labels = [tick.label1.get_window_extent() for tick in ticks]
        assert len(labels) > 1 and all(left.x1 < right.x0 for left, right in itertools.pairwise(labels))


def test_a_model_without_text_metrics_keeps_its_column(summary, tmp_path):
    chat = ("cs.AI", "tf", "chat", "rank", "median", 50, 40, 60, 50)
    rows = [tuple(row.values()) for row in read_delimited(summary, ",") if row["variant"] != "reference"]
    write_rows(tmp_path / "other.csv", [*rows, chat], SUMMARY, SUMMARY.names[:-1])
    metrics = read_metrics([tmp_path / "other.csv"], "cs.AI", [*MODELS, "chat"], "median")
    assert "chat" in metrics["tf"] and "chat" not in metrics["perplexity"]
    figure = draw(metrics)
    assert len(list_names(figure.axes[3])) == 6 and not list_cut(figure)
    assert len(figure.axes[6].texts) == 5  # perplexity against TF: models that have both


@pytest.mark.parametrize("count", [3, 8, 16])
@pytest.mark.parametrize(
    "name", ["gpt2-{}", "Mistral-Nemo-{}-2407", "DeepSeek-R1-Distill-Qwen-{}B-Instruct@chat"]
)
def test_names_below_columns_are_neither_cut_nor_run_into_each_other(count, name):
    models = [name.format(number) for number in range(count)]
    values = {model: Estimate(n + 2, n + 1.5, n + 9) for n, model in enumerate(models)}
    figure = draw({"reference": values, "tf": values, "tfidf": values})
    assert not list_cut(figure)
    for axes in figure.axes[:3]:
        assert [each.split("  ")[0] for each in list_names(axes)] == models
    check_apart(figure.axes)
