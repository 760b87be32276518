"""Figures of answers, thresholds, examples and choices: what is drawn where, and that nothing is cut."""

import math
from itertools import product
from math import isnan

import numpy as np
import polars as pl
import pytest
from tests.answering.planted import answer_table, make_table
from tests.figures.frames import check_inside, draw_one, draw_twice, list_cut, list_names
from tests.tables import read_delimited, type_rows

from fathom.answering.diagnosis import gather_answers, tabulate_accuracy
from fathom.config.choices import Choices
from fathom.config.scoring import Summary
from fathom.config.short_names import shorten_names
from fathom.errors import InputError
from fathom.figures.answer_figures import (
    SHOWN,
    draw_answer_thresholds,
    draw_factor,
    draw_orders,
    draw_radar,
    draw_scores,
    name_trained,
    read_accuracy,
)
from fathom.figures.style import use_style
from fathom.io.contracts.answering import CHOICE_ACCURACY, EVERY_SET
from fathom.io.contracts.questions import QUESTION_SCORES, QUESTION_THRESHOLDS, QUESTIONS
from fathom.io.delimited import Row, read_rows, write_rows
from fathom.io.tables import make_empty_table, write_table


@pytest.fixture(scope="module")
def rows(tmp_path_factory) -> list[Row]:
    """Return the scores of a model and of what was made of it; one is undefined."""
    found = []
    for place, (model, prompting) in enumerate(
        (model, prompting) for model in ("small", "small+c.records") for prompting in ("plain", "rag")
    ):
        for number, (form, level, metric) in enumerate(SHOWN):
            value = "" if (place, number) == (0, 2) else f"{0.1 * place + 0.05 * number:.6g}"
            low, high = (
                ("", "") if not value else (f"{float(value) - 0.02:.6g}", f"{float(value) + 0.03:.6g}")
            )
            found.append(("courses", model, prompting, form, level, "", metric, value, low, high, 20, 0))
    found = type_rows(found, QUESTION_SCORES, tmp_path_factory.mktemp("rows"))
    return [*found, {**found[0], "template": "teaches"}, {**found[0], "set": "other"}]


def test_panels_show_each_model_and_prompting(rows, tmp_path):
    own = [row for row in rows if row["set"] == "courses" and not row["template"]]
    with use_style():
        figure = draw_scores(own, "A_$set", Summary())
    titles, counts = zip(
        *(axes.get_title().split("\n") for axes in figure.axes if axes.get_visible()), strict=True
    )
    assert all(count.endswith(" questions") for count in counts)
    assert figure.get_suptitle().endswith("Whiskers: 95 % intervals")
    assert [*titles] == ["binary, memorise", "multiple-choice, understand", "multiple-answer, understand",
                      "multiple-answer, apply", "open, create"]  # fmt: skip
    plain, rag = figure.axes[0].containers
    assert list(plain.lines[0].get_xdata()) == [0.0, 0.2] and list(rag.lines[0].get_xdata()) == [0.1, 0.3]
    segment = rag.lines[2][0].get_segments()[0]
    assert [x for x, _ in segment] == pytest.approx([0.08, 0.13])
    write_rows(tmp_path / "s.csv", [tuple(row.values()) for row in rows], QUESTION_SCORES)
    tables = {"scores": tmp_path / "s.csv"}
    numbers = draw_twice(tmp_path, "answers", tables, {"set": "courses"})
    assert [path.name for path in numbers] == ["courses.radar.csv", "courses.scores.csv"]
    lengths = [len(path.read_text().splitlines()) for path in numbers]
    assert lengths == [1 + 4 * len(SHOWN), 1 + 4 * 5]
    with pytest.raises(InputError, match="no scores of papers"):
        draw_twice(tmp_path, "answers", tables, {"set": "papers"})


def test_what_was_trained_is_drawn_over_what_it_comes_from(rows):
    own = [row for row in rows if row["set"] == "courses" and not row["template"]]
    with use_style():
        figure = draw_radar(own, "courses", {"small+c.records": "small"}, {"c.records": "records of c"})
        apart = draw_radar(own, "courses", {})
    (axes,) = figure.axes
    ways = ["question alone", "nearest records (RAG)"]
    labels = [*ways, *(f"{each}, trained" for each in ways)]
    assert [line.get_label() for line in axes.lines] == labels
    values = axes.lines[1].get_ydata()
    assert len(values) == len(SHOWN) + 1 and values[0] == values[-1] == pytest.approx(0.1)
    assert sum(map(isnan, axes.lines[0].get_ydata())) == 1  # the one that is undefined
    assert axes.get_title() == "solid: small\ndashed: adapted to records of c"
    assert [axes.get_title() for axes in apart.axes] == ["small", "small adapted to c.records"]
    heading = " ".join(figure.get_suptitle().split())
    asked = next(row["questions"] for row in own if row["form"] == "binary")
    assert heading.startswith("Questions about courses n: 2 models; ")
    assert f"binary (memorise) {asked}, " in heading


KINDS = {("open", "create"): 0, ("binary", "memorise"): 2, ("multiple-choice", "understand"): 4,
         ("multiple-answer", "apply"): 8}  # fmt: skip
LONG = "A $SIGN_ AND " + "MANY WORDS " * 90


@pytest.fixture
def table(tmp_path):
    rows = []
    for (form, level), options in KINDS.items():
        for name in ("b", "a"):
            names = [f"{name} {place}" for place in range(options)]
            right = [place == 1 for place in range(options)]
            values = {"question_id": f"{form}-{name}", "level": level, "form": form, "options": names,
                      "question": f"{LONG if form == 'open' else form}?", "right": right,
                      "answer": f"answer {name}"}  # fmt: skip
            empty = {"round": 0, "sources": [], "chunks": [], "bindings": [], "option_iris": []}
            rows.append({**dict.fromkeys(("template", "query", "asked"), ""), **empty, **values})
    schema = make_empty_table(QUESTIONS).schema
    write_table(tmp_path / "q.parquet", pl.DataFrame(rows, schema=schema), QUESTIONS)
    return {"questions": tmp_path / "q.parquet"}


def test_the_first_question_of_each_form_and_level_is_shown(table, tmp_path):
    (numbers,) = draw_twice(tmp_path, "question-examples", table, {"set": "A_$set"})
    rows = read_delimited(numbers, ",")
    assert list(dict.fromkeys(row["question_id"] for row in rows)) == [
        f"{form}-a" for form in ("binary", "multiple-choice", "multiple-answer", "open")
    ]
    assert {row["questions"] for row in rows} == {"2"}
    right = [row["option"] for row in rows if row["right"] == "True"]
    assert right == ["a 1"] * 3 + ["answer a"] and len(rows) == 2 + 4 + 8 + 1


def test_right_options_are_marked_and_long_texts_end_inside_the_frame(table):
    figure = draw_one("question-examples", table, {"set": "courses"})
    (axes,) = figure.axes
    check_inside(figure, axes.texts)
    bold = [text.get_text() for text in axes.texts if text.get_fontweight() == "bold"]
    assert bold == ["\u2605 a 1", "\u2605 B. a 1", "\u2605 B. a 1", "\u2605 answer a"]
    assert any(text.get_text().endswith("…") for text in axes.texts)


NAMES = ["always-b", "longest"]


@pytest.fixture(scope="module")
def accuracy(tmp_path_factory):
    settings = Choices(ways=["letter"], chat_factors=["options"])
    tables = {
        ("numbers", name): table
        for name, table in answer_table(make_table(20), settings, False, NAMES).items()
    }
    chat = answer_table(make_table(20), settings, True, NAMES)
    tables |= {("numbers", f"{name}-with-a-long-name@chat"): table for name, table in chat.items()}
    path = tmp_path_factory.mktemp("choices") / "accuracy.csv"
    rows = tabulate_accuracy(gather_answers(tables, Summary(rounds=50)))
    write_rows(path, rows, CHOICE_ACCURACY)
    return path


def test_a_factor_shows_the_models_that_were_asked_and_their_baseline(accuracy, tmp_path):
    asked = read_accuracy(accuracy, "options", "letter")
    assert {each["model"] for each in asked} == {f"{name}-with-a-long-name@chat" for name in NAMES}
    assert [each["variation"] for each in asked if math.isnan(each["change"])] == ["as-shipped"] * 2
    parts = {"factor": "options", "way": "letter"}
    (numbers,) = draw_twice(tmp_path, "choices", {"accuracy": accuracy}, parts)
    rows = read_delimited(numbers, ",", CHOICE_ACCURACY.names)
    always = {row["variation"]: row["accuracy"] for row in rows if row["model"].startswith("always-b")}
    assert (always["right-B"], always["right-C"]) == ("1", "0")


def test_a_trained_model_has_the_name_of_its_base_unless_there_are_two():
    one, two = "a/glm-4+papers", "a/glm-4+papers+more"
    assert list(name_trained(["a/glm-4", one], {one: "a/glm-4"}).values()) == ["glm-4", "glm-4, trained"]
    every = name_trained(["a/glm-4", one, two], {one: "a/glm-4", two: "a/glm-4"})
    assert list(every.values()) == ["glm-4", "glm-4 adapted to papers", "glm-4 adapted to papers, then more"]
    assert list(name_trained([one], {one: "a/glm-4"}).values()) == ["glm-4 adapted to papers"]


def test_marks_are_the_numbers_and_nothing_is_cut(accuracy):
    with use_style():
        asked = read_accuracy(accuracy, "examples", "letter")
        figure = draw_factor(asked, "examples", "20 questions", Summary())
        assert figure.get_suptitle().endswith("Whiskers: 95 % intervals")
        figure.draw_without_rendering()
        top, bottom = figure.axes
        drawn = {
            line.get_label(): list(line.get_ydata())
            for line in top.lines
            if line.get_marker() not in ("None", "")
        }
        assert drawn["as shipped"] == [
            each["accuracy"] for each in asked if each["variation"] == "as-shipped"
        ]
        assert "as shipped" not in {line.get_label() for line in bottom.lines}
        assert top.get_position().y0 > bottom.get_position().y1
        short = shorten_names(each["model"] for each in asked).values()
        assert [name.replace(" ", "") for name in list_names(bottom)] == [
            name.replace(" ", "") for name in short
        ]
        assert list_cut(figure) == []
        orders = draw_orders(read_accuracy(accuracy, "orders", "letter"), "20 questions")
        orders.draw_without_rendering()
    (axes,) = orders.axes
    assert [tick.get_text() for tick in axes.get_xticklabels()][:4] == [
        "as shipped",
        "moved by 1",
        "moved by 2",
        "moved by 3",
    ]
    lengths = {line.get_label(): len(line.get_xdata()) for line in axes.lines}
    assert lengths["longest"] == 4 and lengths["longest-with-a-long-name (chat template)"] == 4 + 7
    assert list_cut(orders) == []


def test_the_lower_panel_has_changes_relative_to_the_baseline_in_percent(accuracy):
    asked = read_accuracy(accuracy, "options", "letter")
    with use_style():
        figure = draw_factor(asked, "options", "20 questions", Summary())
        figure.draw_without_rendering()
    _, bottom = figure.axes
    drawn = {line.get_label(): list(line.get_ydata()) for line in bottom.lines}
    for letter in "ABCD":
        some = [each for each in asked if each["variation"] == f"right-{letter}"]
        assert drawn[f"right: {letter}"] == [each["relative_change"] for each in some]
    shipped = {each["model"]: each["accuracy"] for each in asked if each["variation"] == "as-shipped"}
    moved = [each for each in asked if each["variation"] == "right-C"]
    assert drawn["right: C"] == pytest.approx(
        [each["accuracy"] / shipped[each["model"]] - 1 for each in moved], abs=1e-5
    )
    assert "relative" in bottom.get_ylabel()
    assert all(label.get_text().endswith(" %") for label in bottom.get_yticklabels())
    assert list_cut(figure) == []


@pytest.mark.parametrize("count", [3, 8, 16])
def test_each_model_has_a_column_of_its_own(accuracy, count):
    rows = read_accuracy(accuracy, "examples", "letter")
    one = [row for row in rows if row["model"] == "longest"]
    models = [f"Mistral-7B-Instruct-v0.{number}@chat" for number in range(count)]
    with use_style():
        figure = draw_factor(
            [{**row, "model": name} for name in models for row in one], "examples", "20 questions", Summary()
        )
        figure.draw_without_rendering()
    names = [f"Mistral-7B-Instruct-v0.{number}" for number in range(count)]
    assert "inside their chat templates" in figure.get_suptitle()
    assert list_names(figure.axes[1]) == names and list_cut(figure) == []
    for axes in figure.axes:
        marks = [line for line in axes.lines if line.get_marker() not in ("None", "")]
        for line in marks:
            assert [round(place) for place in line.get_xdata()] == list(range(count))
        places = [axes.transData.transform((place, 0))[0] for line in marks for place in line.get_xdata()]
        assert min(np.diff(np.sort(places))) > 5  # pixels: no mark covers the next one


@pytest.mark.parametrize("factor", ["examples", "options", "styles", "orders"])
def test_figures_of_choices_name_subjects_and_one_word_for_the_baseline(tmp_path, factor):
    settings = Choices(ways=["letter"], factors=["examples", "options", "styles"])
    tables = {
        (name, model): table
        for name in ("sums", "logs")
        for model, table in answer_table(make_table(20), settings, False, NAMES[:1]).items()
    }
    chat = answer_table(make_table(20), settings, True, NAMES[:1])
    tables |= {("sums", f"{model}@chat"): table for model, table in chat.items()}
    tables |= {("logs", f"{model}@chat"): table for model, table in chat.items()}
    path = tmp_path / "accuracy.csv"
    write_rows(path, tabulate_accuracy(gather_answers(tables, Summary(rounds=50))), CHOICE_ACCURACY)
    subjects = {"sums": "Sums of numbers", "logs": "Logarithms"}
    figure = draw_one("choices", {"accuracy": path}, {"factor": factor, "way": "letter"}, subjects=subjects)
    title = figure.axes[0].get_title() if factor == "orders" else figure.get_suptitle()
    assert "Questions on Sums of numbers, Logarithms\n40 questions; answer: " in title
    assert list_cut(figure) == []
    if factor != "orders":
        word = "standard" if factor == "styles" else "as shipped"
        labels = [text.get_text() for text in figure.legends[0].get_texts()]
        assert labels[0] == word and len({*labels}) == len(labels)
        assert f"“{word}”" in figure.axes[1].get_ylabel()


@pytest.mark.parametrize(
    ("count", "named"),
    [(4, "s0, s1, s2, s3"), (5, "s0, s1, s2, s3, 1 other"), (7, "s0, s1, s2, s3, 3 others")],
)
def test_subjects_beyond_the_fourth_are_counted(accuracy, tmp_path, count, named):
    rows = [row | {"questions": EVERY_SET} for row in read_rows(accuracy, CHOICE_ACCURACY)]
    write_rows(tmp_path / "accuracy.csv", rows, CHOICE_ACCURACY)
    subjects = {f"set{place}": f"s{place}" for place in range(count)}
    parts = {"factor": "options", "way": "letter"}
    figure = draw_one("choices", {"accuracy": tmp_path / "accuracy.csv"}, parts, subjects=subjects)
    assert f"Questions on {named}\n" in figure.get_suptitle()


def test_a_factor_without_answers_is_refused(accuracy):
    with pytest.raises(InputError, match="no answers that vary styles"):
        read_accuracy(accuracy, "styles", "letter")
    with pytest.raises(InputError, match="way 'text'"):
        read_accuracy(accuracy, "options", "text")


THRESHOLDS = (("t_d", "0.3", "78"), ("t_d", "0.9", "23"), ("t_c", "0", "1200"), ("t_c", "", "5000"))
THRESHOLD_KINDS = (
    ("binary", "memorise", "accuracy"),
    ("open", "create", "bleu_4"),
    ("open", "create", "bleu_2"),
)


@pytest.fixture
def threshold_rows(tmp_path) -> list[Row]:
    """Return the scores of two models; one of them lacks one."""
    found = []
    ways = (("small", "rag"), ("large", "rag"))
    for place, (where, way, kind) in enumerate(product(THRESHOLDS, ways, THRESHOLD_KINDS)):
        value = "" if place == 0 else f"{0.02 * place:.6g}"
        ends = ("", "") if not value else (f"{0.02 * place - 0.01:.6g}", f"{0.02 * place + 0.03:.6g}")
        found.append(("courses", *where, *way, *kind, value, *ends, 20, 0))
    found = type_rows(found, QUESTION_THRESHOLDS, tmp_path)
    return [*found, {**found[0], "set": "other"}]


def test_a_line_for_each_model_over_both_thresholds(threshold_rows, tmp_path):
    own = [row for row in threshold_rows if row["set"] == "courses"]
    with use_style():
        figure = draw_answer_thresholds(own, "courses", Summary())
    assert "RAG" in figure.get_suptitle()
    assert [axes.get_xlabel()[:4] for axes in figure.axes] == ["t_d:", "t_d:", "t_c:", "t_c:"]
    titles = [axes.get_title().split("\n") for axes in figure.axes]
    assert [kind for kind, _ in titles] == ["binary, memorise", "open, create"] * 2
    assert all(count.endswith(" questions") for _, count in titles)
    assert [axes.get_ylabel() for axes in figure.axes[:2]] == ["accuracy", "BLEU-4"]
    assert [each.get_text() for each in figure.axes[0].get_xticklabels()] == ["0.3\n78", "0.9\n23"]
    assert [each.get_text() for each in figure.axes[3].get_xticklabels()] == ["0\n1,200", "none\n5,000"]
    small, large = figure.axes[0].containers
    assert list(small.lines[0].get_ydata()) == [0.12] and len(large.lines[0].get_ydata()) == 2
    segment = small.lines[2][0].get_segments()[0]
    assert [y for _, y in segment] == pytest.approx([0.11, 0.15])
    write_rows(tmp_path / "s.csv", [tuple(row.values()) for row in threshold_rows], QUESTION_THRESHOLDS)
    tables = {"scores": tmp_path / "s.csv"}
    (numbers,) = draw_twice(tmp_path, "answers-by-threshold", tables, {"set": "courses"})
    assert len(numbers.read_text().splitlines()) == 1 + 4 * 2 * 2
    with pytest.raises(InputError, match="no scores of papers"):
        draw_twice(tmp_path, "answers-by-threshold", tables, {"set": "papers"})


def test_models_stand_by_their_own_threshold(threshold_rows):
    own = [row for row in threshold_rows if row["set"] == "courses" and row["model"] == "large"]
    with use_style():
        many = [{**row, "model": f"model-{number}"} for number in range(12) for row in own]
        figure = draw_answer_thresholds(many, "courses", Summary())
    for axes in figure.axes:
        places = np.array([drawn.lines[0].get_xdata() for drawn in axes.containers], dtype=float)
        assert np.abs(places - np.arange(2)).max() < 0.45
        assert (np.diff(places, axis=0) > 0).all()
