"""Figures of model ranks: right numbers, nothing cut, same bytes."""

import json
import math
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from scipy import stats
from tests.figures.frames import draw_one, draw_twice, list_cut
from tests.figures.rank_summaries import (
    add_geometric_means,
    add_reference,
    make_row,
    make_summary,
    write_summary,
)
from tests.programs import STATISTICS, run_program
from tests.tables import read_delimited

from fathom.config.short_names import clean_name, shorten_names
from fathom.errors import InputError
from fathom.figures import model_ranks as figures
from fathom.figures.model_ranks import ModelRanks, read_model_ranks, select_domain
from fathom.figures.rank_table import describe_run
from fathom.figures.style import use_style, wrap_name
from fathom.io.contracts.statistics import DATES
from fathom.io.delimited import write_rows
from fathom.statistics.aggregates import GEOMETRIC_MEAN, Statistic

TABLE_COLUMNS = (
    "place", "model", "tf_rank", "tf_low", "tf_high", "tf_pairs", "tfidf_rank", "tfidf_low", "tfidf_high",
    "tfidf_pairs", "pearson_r", "pearson_p",
)  # fmt: skip
REFERENCE_COLUMNS = (
    "reference_rank", "reference_low", "reference_high", "reference_pairs",
    "reference_tf_r", "reference_tf_p", "reference_tfidf_r", "reference_tfidf_p",
)  # fmt: skip
_NASTY = [
    "<script>alert(1)</script>",
    "$x_1^{2}$",
    "a_b__c%d\\frac",
    "${broken",
    "line\nbreak\x1b[31m",
    "x" * 90,
]


def _models(path: Path) -> list[ModelRanks]:
    return select_domain(read_model_ranks(path), "ml", path)


def _others(path: Path) -> list[tuple[Statistic, list[ModelRanks]]]:
    return [(GEOMETRIC_MEAN, read_model_ranks(path, GEOMETRIC_MEAN)["ml"])]


def _texts_outside(figure) -> list[str]:
    """Return every text, and every axis with its tick labels, that reaches over the figure's edge."""
    from matplotlib.text import Text

    figure.draw_without_rendering()
    axis_list = [axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)]
    ticks = [tick for axis in axis_list for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks())]
    labels = {id(label) for tick in ticks for label in (tick.label1, tick.label2)}
    boxes = [(str(axis), axis.get_tightbbox(figure.canvas.get_renderer())) for axis in axis_list]
    for text in figure.findobj(Text):
        if id(text) not in labels and text.get_visible() and text.get_text().strip():
            boxes.append((text.get_text(), Text.get_window_extent(text)))
    frame = figure.bbox
    return [name for name, b in boxes if b.x0 < 0 or b.y0 < 0 or b.x1 > frame.width or b.y1 > frame.height]


@pytest.mark.parametrize("reference", [False, True])
@pytest.mark.parametrize("count", [1, 2, 5, 20, 60])
def test_no_label_is_cut_and_no_two_overlap(tmp_path, count, reference):
    names = ["toy-gpt2", "toy-gpt2+machine-learning+scientific-computing+plotting+general"]
    names = [*names, "a_b__c.d-e", "x" * 90, *(f"model-{place}+cs.AI" for place in range(60))][:count]
    summary = make_summary(tmp_path / "s.csv", names, spread=3.0 if count > 5 else 0.5)
    models = _models(add_geometric_means(add_reference(summary) if reference else summary))
    with use_style():
        figure = figures.draw_model_ranks(
            models, figures.measure_agreements(models), "A title: $x$ & <b>" * 6, others=_others(summary)
        )
        assert _texts_outside(figure) == []
        from matplotlib.text import Annotation, Text

        labels = [
            [Text.get_window_extent(text) for text in axes.findobj(Annotation)] for axes in figure.axes[2:]
        ]
        rows = [[text.get_window_extent() for text in axes.get_yticklabels()] for axes in figure.axes[:2]]
    assert len(labels) == 1 + reference
    assert {len(boxes) for boxes in (*labels, *rows)} == {count}
    for some in (*labels, *rows):
        assert not [1 for i, a in enumerate(some) for b in some[:i] if a.overlaps(b)]


def test_no_line_to_a_label_crosses_another(tmp_path):
    from matplotlib.path import Path as Line
    from matplotlib.text import Annotation, Text

    # two points side by side in a corner, as in the demo: the second label finds no place nearby
    ranks = {"toy-llama+learning": (61.4, 66.2), "toy-gpt2+learning": (68.6, 72.6)}
    ranks |= {"toy-llama": (484.0, 475.0), "toy-gpt2+plotting": (701.0, 687.0)}
    rows = [make_row(n, v, ranks[n][i]) for n in ranks for i, v in enumerate(("tf", "tfidf"))]
    models = _models(write_summary(tmp_path / "s.csv", rows))
    with use_style():
        figure = figures.draw_model_ranks(models, figures.measure_agreements(models), "t")
        figure.draw_without_rendering()
        labels = figure.axes[1].findobj(Annotation)
        boxes = [Text.get_window_extent(label) for label in labels]
        joined = [place for place, label in enumerate(labels) if label.arrow_patch.get_visible()]
        assert joined
        for place in joined:
            box, start = boxes[place], figure.axes[1].transData.transform(labels[place].xy)
            middle = ((box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2)
            line = Line([start, middle])
            assert not [
                1 for i, b in enumerate(boxes) if i != place and line.intersects_bbox(b, filled=False)
            ]


def test_the_check_for_cut_labels_can_fail():
    with use_style():
        from fathom.figures.style import make_figure

        figure = make_figure(3, 2)
        figure.set_layout_engine("none")
        figure.text(0.9, 0.5, "a label that leaves the page")
        assert _texts_outside(figure) == ["a label that leaves the page"]


def test_nasty_names_are_drawn_as_they_are(tmp_path):
    models = _models(make_summary(tmp_path / "s.csv", list("abcd")))
    models = [replace(model, model=name) for model, name in zip(models, _NASTY, strict=False)]
    with use_style():
        figure = figures.draw_model_ranks(models, figures.measure_agreements(models), "t")
        figure.draw_without_rendering()
        texts = {"".join(label.get_text().split("\n")) for label in figure.axes[0].get_yticklabels()}
        flags = {label.get_parse_math() for label in figure.axes[0].get_yticklabels()}
    assert flags == {False}
    assert {text.rsplit("  ", 1)[0] for text in texts} == set(shorten_names(_NASTY[:4]).values())


def test_numbers_order_and_correlation(tmp_path):
    values = {"c": (30.0, 25.0), "a": (10.0, 11.0), "b": (20.0, 18.5), "d": (44.0, 31.0)}
    rows = [make_row(n, v, values[n][i]) for n in values for i, v in enumerate(("tf", "tfidf"))]
    rows += [make_row("a", "tf", 1.0, aggregate="mean"), make_row("a", "tf", 0.5, metric="probability")]
    summary = write_summary(tmp_path / "s.csv", rows)
    _run_plot(summary, tmp_path)
    table = read_delimited(tmp_path / "ml.model-ranks.csv", ",")
    assert [row["model"] for row in table] == ["a", "b", "c", "d"]
    assert [float(row["tf_rank"]) for row in table] == [10, 20, 30, 44]
    assert [float(row["tfidf_low"]) for row in table] == pytest.approx([9.9, 16.65, 22.5, 27.9])
    r, p = stats.pearsonr([10, 20, 30, 44], [11, 18.5, 25, 31])
    assert {row["pearson_r"] for row in table} == {f"{r:.10g}"}
    assert float(table[0]["pearson_p"]) == pytest.approx(p)


def test_the_geometric_mean_has_its_own_panel_and_columns(tmp_path):
    ranks = {"b": (20.0, 30.0, 5.0), "a": (10.0, 11.0, 9.0), "c": (40.0, 41.0, 50.0)}
    rows = [make_row(n, v, x) for n in ranks for v, x in zip(("tf", "tfidf"), ranks[n][:2], strict=True)]
    rows += [make_row(n, "tf", ranks[n][2], aggregate="geometric_mean") for n in "ab"]
    summary = write_summary(tmp_path / "s.csv", rows)
    _run_plot(summary, tmp_path)
    table = read_delimited(tmp_path / "ml.model-ranks.csv", ",")
    further = [f"{v}_geometric_{end}" for v in ("tf", "tfidf") for end in ("rank", "low", "high")]
    assert tuple(table[0]) == (*TABLE_COLUMNS, *further)
    assert [row["model"] for row in table] == ["a", "b", "c"], "the leading statistic orders"
    assert [row["tf_geometric_rank"] for row in table] == ["9", "5", ""]
    models = _models(summary)
    with use_style():
        figure = figures.draw_model_ranks(
            models, figures.measure_agreements(models), "t", others=_others(summary)
        )
    trimmed, geometric, _ = figure.axes
    names = [[label.get_text() for label in axes.get_yticklabels()] for axes in (trimmed, geometric)]
    assert names == [["a", "b", "c"]] * 2
    assert list(geometric.lines[-1].get_xdata()) == [9, 5]
    assert trimmed.get_xlabel().startswith("20 % trimmed mean rank of the target")
    assert geometric.get_xlabel().startswith("Geometric mean rank of the target")
    assert trimmed.get_legend() is not None and geometric.get_legend() is None


def _run_plot(summary: Path, folder: Path, domain: str = "ml") -> subprocess.CompletedProcess:
    return run_program(
        "draw_figure", "--figure", "model-ranks", "--inputs", json.dumps({"summary": str(summary)}),
        "--parts", json.dumps({"domain": domain}), "--settings", '{"title": "T"}', "--folder", folder,
        imports=STATISTICS,
    )  # fmt: skip


def test_same_numbers_same_bytes_whatever_the_order_of_lines(tmp_path):
    summary = make_summary(tmp_path / "s.csv", [f"m{place}" for place in range(9)])
    lines = summary.read_text().splitlines(keepends=True)
    shuffled = tmp_path / "shuffled.csv"
    shuffled.write_text(lines[0] + "".join(reversed(lines[1:])))
    made = []
    for name, source in (("one", summary), ("two", shuffled)):
        (tmp_path / name).mkdir()
        _run_plot(source, tmp_path / name)
        made.append(
            [(tmp_path / name / f"ml.model-ranks.{end}").read_bytes() for end in ("pdf", "png", "csv")]
        )
    assert made[0] == made[1]
    assert b"CreationDate" not in made[0][0]
    assert b"Software" not in made[0][1]


def test_missing_variant_and_intervals(tmp_path, caplog):
    rows = [
        make_row("a", "tf", 10.0),
        make_row("a", "tfidf", 9.0),
        make_row("b", "tf", 20.0, math.nan, math.nan),
    ]
    rows += [make_row("c", "tf", math.nan, "", ""), make_row("d", "tfidf", 5.0, "", "")]
    with caplog.at_level("INFO", "fathom"):
        models = _models(write_summary(tmp_path / "s.csv", rows))
        with use_style():
            figure = figures.draw_model_ranks(models, figures.measure_agreements(models), "t")
            assert _texts_outside(figure) == []
    assert [model.model for model in models] == ["a", "b", "d"]
    assert "model c has no rank on tf" in caplog.text
    assert "no TF-IDF rank for b" in caplog.text
    assert "TF: 1 of 2 ranks are drawn without an interval" in caplog.text
    assert "too few models" in figure.axes[1].get_title()


def test_one_variant_only(tmp_path):
    models = _models(
        write_summary(tmp_path / "s.csv", [make_row("a", "tf", 10.0), make_row("b", "tf", 30.0)])
    )
    with use_style():
        figure = figures.draw_model_ranks(models, figures.measure_agreements(models), "t")
        assert _texts_outside(figure) == []
    assert "No TF-IDF ranks" in figure.axes[0].get_legend().get_title().get_text()


def test_a_reference_is_drawn_and_counted_beside_the_others(tmp_path):
    values = {"c": (30, 25, 9), "a": (10, 11, 14), "b": (20, 18.5, 8), "d": (44, 31, 50)}
    variants = ("tf", "tfidf", "reference")
    rows = [make_row(n, v, float(values[n][i])) for n in values for i, v in enumerate(variants)]
    rows += [make_row("e", "tf", 50.0), make_row("e", "tfidf", 55.0)]  # not scored on the reference
    summary = write_summary(tmp_path / "summary.csv", rows)
    run = _run_plot(summary, tmp_path)
    assert "no reference rank for e" in run.stderr
    table = read_delimited(tmp_path / "ml.model-ranks.csv", ",")
    assert tuple(table[0]) == TABLE_COLUMNS + REFERENCE_COLUMNS
    assert [row["reference_rank"] for row in table] == ["14", "8", "9", "50", ""]
    for variant, first in (("tf", [10, 20, 30, 44]), ("tfidf", [11, 18.5, 25, 31])):
        r, p = stats.pearsonr(first, [14, 8, 9, 50])
        assert {row[f"reference_{variant}_r"] for row in table} == {f"{r:.10g}"}
        assert float(table[0][f"reference_{variant}_p"]) == pytest.approx(p)
    models = _models(summary)
    with use_style():
        figure = figures.draw_model_ranks(models, figures.measure_agreements(models), "t")
    ranks, between, reference = figure.axes
    assert [text.get_text() for text in ranks.get_legend().get_texts()] == (
        ["TF", "TF-IDF", "reference"]
    )  # fmt: skip
    assert [len(axes.lines[0].get_xdata()) for axes in (between, reference)] == [5, 4]
    assert reference.get_title().startswith("TF and reference: r = 0.")
    assert "\nTF-IDF and reference: r = 0." in reference.get_title()
    assert "TF and reference: r = 0." in "".join(describe_run(tmp_path, 120))
    named = draw_one(
        "model-ranks", {"summary": summary}, {"domain": "ml"}, references=[("reference", "claude")]
    )
    assert [text.get_text() for text in named.axes[0].get_legend().get_texts()] == ["TF", "TF-IDF", "claude"]
    last = named.axes[-1]
    assert "TF-IDF and claude: r = 0." in last.get_title() and last.get_ylabel() == "claude rank"


def test_equal_ranks_have_no_correlation(tmp_path):
    rows = [make_row(n, v, 10.0) for n in "abc" for v in ("tf", "tfidf")]
    assert "same rank" in figures.measure_agreement(_models(write_summary(tmp_path / "s.csv", rows))).reason


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "no trimmed mean ranks"),
        ([make_row("a", "tf", 1.0), make_row("a", "tf", 2.0)], "duplicate row"),
        ([("ml", "tf", "a", "rank", "trimmed_mean", "many", 1, 2, 3)], "not a number"),
        ([make_row("a", "tf", math.nan, "", "")], "no model has a rank"),
        ([make_row("a", "tf", 1.0, domain="law")], "unknown domain 'ml'"),
    ],
)
def test_bad_summaries_are_refused(tmp_path, rows, message):
    with pytest.raises(InputError, match=message):
        _models(write_summary(tmp_path / "s.csv", rows))


def test_a_wide_range_is_drawn_on_a_log_scale(tmp_path):
    for factor, scale in ((19, "linear"), (21, "log")):
        rows = [make_row(n, v, x, x, x) for n, x in (("a", 5), ("b", 5 * factor)) for v in ("tf", "tfidf")]
        models = _models(write_summary(tmp_path / "s.csv", rows))
        with use_style():
            figure = figures.draw_model_ranks(models, figures.measure_agreements(models), "t")
        assert [axes.get_xscale() for axes in figure.axes] == [scale, scale]
        labels = [label for axes in figure.axes for label in (axes.get_xlabel(), axes.get_ylabel()) if label]
        assert {label.replace("\n", " ").endswith(", log axis") for label in labels} == {scale == "log"}


def test_both_axes_of_an_agreement_have_one_scale(tmp_path):
    rows = [make_row(name, variant, x, x, x) for name, variant, x in
            (("a", "tf", 52), ("b", "tf", 1036), ("c", "tf", 300),
             ("a", "tfidf", 50), ("b", "tfidf", 1022), ("c", "tfidf", 310))]  # fmt: skip
    models = _models(write_summary(tmp_path / "s.csv", rows))
    with use_style():
        figure = figures.draw_model_ranks(models, figures.measure_agreements(models), "t")
    assert figure.axes[-1].get_xscale() == figure.axes[-1].get_yscale() == "log"


def test_wrapping_keeps_every_letter():
    for name in _NASTY:
        assert wrap_name(name, 20).replace("\n", "") == clean_name(name)
        assert max(map(len, wrap_name(name, 20).split("\n"))) <= 20
    assert wrap_name("Mistral-7B-Instruct-v0.3@chat", 26) == "Mistral-7B-Instruct-\nv0.3@chat"


ROWS = [
    ("law", "tf", "Llama-3.1-8B-Instruct", "2023-12-31", "trimmed_mean", "before", 80, 70, 95, 400),
    ("law", "tf", "Llama-3.1-8B-Instruct", "2023-12-31", "trimmed_mean", "after", 120, 90, 150, 1200),
    ("law", "tf", "gpt2-xl", "2017-12-31", "trimmed_mean", "after", 400, 350, 460, 1600),
    ("law", "tf", "gpt2-xl", "2017-12-31", "geometric_mean", "after", 1, 1, 1, 1600),
    ("law", "tfidf", "gpt2-xl", "2017-12-31", "trimmed_mean", "after", 1, 1, 1, 1600),
    ("med", "tf", "gpt2-xl", "2017-12-31", "trimmed_mean", "after", 1, 1, 1, 1600),
]


@pytest.fixture
def table(tmp_path):
    write_rows(tmp_path / "dates.csv", [(*row, "keywords") for row in ROWS], DATES)
    return tmp_path / "dates.csv"


def draw(table, domain="law"):
    return draw_one("dates", {"dates": table}, {"domain": domain}, title="Law")


def test_models_stand_by_their_last_day_and_nothing_is_cut(table, tmp_path):
    figure = draw(table)
    (axes,) = figure.axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == [
        "gpt2-xl\n2017-12-31: 0 and 1,600 pairs",
        "Llama-3.1-8B-Instruct\n2023-12-31: 400 and 1,200 pairs",
    ]
    marks = [tuple(line.get_xdata()) for line in axes.lines if line.get_marker() in ("o", "s")]
    assert marks == [(80,), (120, 400)]
    assert list_cut(figure) == []
    (numbers,) = draw_twice(tmp_path, "dates", {"dates": table}, {"domain": "law"}, title="Law")
    assert len(numbers.read_text().splitlines()) == 1 + 3


def test_without_dates_there_is_a_note(table):
    figure = draw(table, "none")
    assert figure.texts[0].get_text() == "Law: no pair comes from a dated document."


def test_a_broken_number_is_named(table):
    table.write_text(table.read_text().replace("80,70", "80,x"))
    with pytest.raises(InputError, match=r"dates\.csv, line 2, column ci_low: 'x' is not a number"):
        draw(table)
