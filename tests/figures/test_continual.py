"""Figures of continual pretraining: what is drawn for few and many stages, and that nothing is cut."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from tests.figures.frames import draw_twice
from tests.programs import STATISTICS, run_program
from tests.studies.test_stages import make_order, make_rows

from fathom.config.scoring import Summary
from fathom.figures.catalogue import CATALOGUE
from fathom.figures.study_figures import KINDS, draw_order, draw_stages, list_rows, read_relations
from fathom.figures.style import use_style
from fathom.io.contracts.benchmark import DOMAIN_ORDERS
from fathom.io.contracts.studies import FOLLOWING
from fathom.io.tables import write_table
from fathom.studies.stages import select_stages

PLACES = [
    *((variant, metric, aggregate) for variant in ("reference", "tf", "tfidf")
      for metric in ("rank", "probability")
      for aggregate in ("trimmed_mean", "geometric_mean", "mean", "median")),
    ("tf", "log_probability", "mean"), ("text", "perplexity", "mean"), ("keywords", "attribute_rate", "mean"),
]  # fmt: skip


def make_study(count: int, places=PLACES) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the rows of a track of many stages, and its order."""
    random = np.random.default_rng(0)
    similarities = np.round(np.linspace(0.1, 0.9, count), 6).tolist()
    return make_rows((5 + random.random(count + 1)).tolist(), places), make_order(similarities)


def check_page(figure):
    figure.draw_without_rendering()
    page = figure.bbox
    for axes in figure.axes:
        box = axes.get_tightbbox()
        assert page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1


@pytest.mark.parametrize(("count", "names"), [(12, True), (165, False)])
def test_a_figure_has_a_row_for_each_metric_however_many_stages(count, names):
    rows, order = make_study(count)
    stages = select_stages(rows, order)
    labels = [row.label for row in list_rows(stages, "trimmed-mean", Summary())]
    assert labels == [
        "reference: 20 % trimmed mean rank", "TF: 20 % trimmed mean rank", "TF-IDF: 20 % trimmed mean rank",
        "Perplexity", "Attribute rate",
    ]  # fmt: skip
    with use_style():
        figure = draw_stages(stages, {}, "trimmed-mean", "Artificial intelligence", Summary())
        check_page(figure)
    left = figure.axes[:-1:2]
    assert len(left) == 5 and f"{count} stages" in figure.get_suptitle()
    drawn = sum(len(each.get_offsets()) for each in left[1].collections[1:])
    assert drawn == count
    minima = stages.filter(variant="tf", aggregate="trimmed_mean", extremum="minimum", metric="rank")
    assert len(left[1].collections[1].get_offsets()) == len(minima) > 0
    ticks = [text.get_text() for text in left[-1].get_xticklabels()]
    assert (ticks[:2] == ["start", "d1"]) == names


def test_a_domain_order_names_what_fits_and_all_that_is_trained_on():
    for count in (13, 165):
        order = make_order(np.linspace(0.1, 0.9, count).tolist())
        order = order.with_columns(
            stage=pl.when(pl.col("place") % 13 == 1).then(pl.col("place")).otherwise(0),
            chosen=pl.col("place") < 14,
        )
        with use_style():
            figure = draw_order(order.cast({"stage": pl.Int32}), "study")
            check_page(figure)
        (axes,) = figure.axes
        # 13 are chosen; 12 more are a stage
        assert len(axes.get_yticks()) == (13 if count == 13 else 25)
        assert sum(len(each.get_offsets()) for each in axes.collections) == count


def test_the_programs_draw_what_the_tables_hold(tmp_path, monkeypatch):
    entry, two = CATALOGUE["stages"], ("trimmed-mean", "log-probability")
    assert set(entry.values["kind"]) == set(KINDS)
    kinds = {name: entry.values["kind"][name] for name in two}
    monkeypatch.setitem(CATALOGUE, "stages", replace(entry, values={"kind": kinds}))
    rows, order = make_study(8)
    write_table(tmp_path / "following.parquet", rows, FOLLOWING)
    write_table(tmp_path / "order.parquet", order, DOMAIN_ORDERS)
    tables = (
        "--following",
        tmp_path / "following.parquet",
        "--track",
        "a+s",
        "--order",
        tmp_path / "order.parquet",
    )
    relations = ("--relations", tmp_path / "relations.csv", "--settings", '{"rounds": 50}')
    run_program("relate_stages", *tables, *relations, imports=STATISTICS)
    found = read_relations(tmp_path / "relations.csv")
    assert found["tf", "rank", "trimmed_mean", "reference", "pearson"]["value"] == 1
    named = {"order": tmp_path / "order.parquet", "relations": tmp_path / "relations.csv"}
    named["following"] = tmp_path / "following.parquet"
    drawn = draw_twice(tmp_path / "stages", "stages", named, {"track": "a+s"})
    assert {path.name.split(".")[2] for path in drawn} == {*two}
    for path in drawn:
        header, *lines = path.read_text().splitlines()
        assert header.endswith(",similarity,extremum")
        assert len(lines) == (3 if ".log-probability." in path.name else 5) * 9
    (numbers,) = draw_twice(tmp_path / "o", "order", {"order": named["order"]}, {"study": "s"})
    assert len(numbers.read_text().splitlines()) == 9
