"""Figures by layer: what stands in their numbers, that nothing overlaps, that they repeat to the byte."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.tables import type_rows

from fathom.config.layers import Layers
from fathom.config.scoring import Summary
from fathom.errors import InputError
from fathom.figures.catalogue import CATALOGUE
from fathom.figures.layer_figures import (
    BUILDERS,
    Curve,
    FigureData,
    Panel,
    choose_keywords,
    draw_curves,
    draw_heat_map,
    draw_keywords,
    draw_panels,
)
from fathom.figures.style import use_style
from fathom.io.contracts.layers import LAYER_CHANGES, LAYER_RATES, LAYER_SUMMARY
from fathom.io.delimited import read_rows
from fathom.io.tables import make_empty_table
from fathom.layers.layer_changes import compare_layers, list_changes, make_curves, summarize_layers

SETTINGS = Layers(other_k=[25], other_lengths=[300])
MODELS = ["gpt2-medium", "gpt2-medium+cs.AI", "gpt2-medium+cs.AI+cond-mat", "gpt2-medium+cond-mat"]


def make_rates(seed: int, keywords: int, layers: int) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    rows = [
        {"keyword": f"keyword {number:03d}", "layer": layer, "projection": projection, "k": k,
         "list_length": length, "rate": float(random.uniform(0, layer / layers)), "hits": 1,
         "inside": float(random.uniform(0, 0.2)), "outside": 0.1, "outside_any": 0.5}
        for number in range(keywords)
        for projection in ("normed", "raw", "geva")
        for k in SETTINGS.all_k
        for length in SETTINGS.all_lengths
        for layer in range(layers + (projection != "geva"))
    ]  # fmt: skip
    return pl.DataFrame(rows).cast(make_empty_table(LAYER_RATES).schema)


def make_targets(seed: int, keywords: int, layers: int) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    rows = [
        {"pair_id": str(number), "keyword": f"keyword {number:03d}", "lens": lens, "layer": layer,
         "tokens": 1, "rank": float(random.integers(1, 30_000) / (1 + layer) ** 2),
         "probability": 0.01 * (1 + layer), "entropy": 3.0, "agreement": layer / layers,
         "divergence": float(layers - layer)}
        for number in range(keywords)
        for lens in ("plain", "tuned")
        for layer in range(layers + 1)
    ]  # fmt: skip
    return pl.DataFrame(rows)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> FigureData:
    folder = tmp_path_factory.mktemp("numbers")
    rates = {model: make_rates(place, 60, 24) for place, model in enumerate(MODELS)}
    targets = {model: make_targets(place, 60, 24) for place, model in enumerate(MODELS)}
    curves, summary = make_curves(rates, targets), Summary(rounds=20)
    changes = compare_layers(curves, [(model, MODELS[0]) for model in MODELS[1:]], SETTINGS, summary)
    tables = [summarize_layers(curves, summary), list_changes(changes, summary)]
    contracts = (LAYER_SUMMARY, LAYER_CHANGES)
    found = [type_rows(rows, contract, folder) for rows, contract in zip(tables, contracts, strict=True)]
    return FigureData(MODELS, found[0], found[1], rates[MODELS[0]], SETTINGS)


def test_every_figure_is_built() -> None:
    assert {*BUILDERS, "keywords"} == {*CATALOGUE["layers"].values["figure"]}


@pytest.mark.parametrize(
    ("name", "panels", "lines"),
    [
        ("norm", 6, 6),
        ("sums", 1, 3),
        ("variations", 1, 4),
        ("rates", 4, 14),
        ("targets", 4, 14),
        ("lens", 3, 6),
    ],
)
def test_panels_hold_what_they_promise_and_texts_stay_apart(
    data: FigureData, name: str, panels: int, lines: int
) -> None:
    built = BUILDERS[name][0](data)
    assert (len(built), sum(len(panel.curves) for panel in built)) == (panels, lines)
    assert all(curve.layers for panel in built for curve in panel.curves)
    with use_style():
        figure = draw_panels(built, "Attributes by layer\nComputer science: artificial intelligence")
        figure.draw_without_rendering()
        texts = [figure._suptitle]
        for axes in figure.axes:
            texts += [axes.title, axes.xaxis.label, axes.yaxis.label]
            texts += axes.get_legend().get_texts() if axes.get_legend() else []
        texts += [text for legend in figure.legends for text in legend.get_texts()]
        boxes = [text.get_window_extent() for text in texts if text is not None and text.get_text()]
    frame = figure.bbox
    for place, box in enumerate(boxes):
        assert box.x0 >= frame.x0 and box.x1 <= frame.x1 and box.y0 >= frame.y0 and box.y1 <= frame.y1
        assert not any(box.overlaps(other) for other in boxes[place + 1 :])


def test_a_band_without_an_end_does_not_hide_the_curve() -> None:
    curve = Curve("model", [0, 1, 2], [0.0, -5.0, 20.0], [-90.0, -20.0, 5.0], [1e60, 9.0, 40.0], 0)
    with use_style():
        figure = draw_panels([Panel("change", "%", [curve], zero=True)], "title")
        low, high = figure.axes[0].get_ylim()
    assert -100 < low < -20 and 40 < high < 120


def test_an_axis_does_not_go_on_below_a_band_that_ends() -> None:
    curve = Curve("model", [0, 1, 2], [0.0, -50.0, 400.0], [-100.0, -100.0, -100.0], [1e60, 9.0, 1e20], 0)
    with use_style():
        figure = draw_panels([Panel("change", "%", [curve], zero=True)], "title")
        low, high = figure.axes[0].get_ylim()
    assert -200 < low < -100 and 400 < high < 2000


@pytest.mark.parametrize("length", [8, 20, 26, 30, 33, 36, 45, 60])
@pytest.mark.parametrize("panels", [1, 2])
def test_a_legend_of_long_names_stays_inside_the_figure(length: int, panels: int) -> None:
    names = [f"{place}{'+base-model' * 9}"[:length] for place in range(6)]
    lines = [Curve(name, [0, 1], [1, 2], [1, 2], [1, 2], place) for place, name in enumerate(names)]
    with use_style():
        figure = draw_panels([Panel(f"panel {place}", "%", lines) for place in range(panels)], "title")
        figure.draw_without_rendering()
        box = figure.legends[0].get_window_extent()
    assert box.x0 >= 0 and box.x1 <= figure.bbox.x1


def test_numbers_of_a_figure_are_those_of_the_tables_in_percent(data: FigureData) -> None:
    with use_style():
        _, (contract, rows) = draw_curves("rates", data, "CS.AI")
    table = pl.DataFrame(rows, schema=contract.names, orient="row").with_columns(
        pl.col("value").cast(pl.Float64, strict=False)
    )
    assert table["panel"].unique(maintain_order=True).to_list() == [
        "attribute rate", "probability sum", "change of the attribute rate", "change of the probability sum",
    ]  # fmt: skip
    found = table.filter(panel="attribute rate", series=MODELS[0], layer=12)["value"][0]
    standard = data.rates.filter(projection="normed", k=50, list_length=1200, layer=12)
    assert found == pytest.approx(100 * standard["rate"].mean(), rel=1e-4)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("norm", "Means over 60 keywords; bands: 95 % intervals"),
        ("variations", "Means over 60 keywords"),
        ("targets", "Means over 60 keywords; bands: 95 % intervals, of changes for all layers at once"),
    ],
)
def test_the_heading_says_what_is_averaged_and_what_bands_are(data: FigureData, name: str, told: str) -> None:
    with use_style():
        figure, _ = draw_curves(name, data, "CS.AI")
    assert figure.get_suptitle().split("\n")[-1] == told


def test_the_heading_counts_changes_that_have_no_value_or_no_band(data: FigureData) -> None:
    with use_style():  # all rates are 0 at layer 0
        figure, (contract, rows) = draw_curves("rates", data, "CS.AI")
    table = pl.DataFrame(rows, schema=contract.names, orient="row")
    changes = table.filter(pl.col("panel").str.starts_with("change"))
    assert changes.filter(layer=0, panel="change of the attribute rate")["value"].is_nan().all()
    assert figure.get_suptitle().split("\n")[3:] == [
        "Not drawn: 3 of 150 changes, undefined because the first model has 0"
    ]
    some = [row | ({"band_high": float("inf")} if row["layer"] in (3, 4) else {}) for row in data.changes]
    with use_style():
        figure, _ = draw_curves("rates", replace(data, changes=some), "CS.AI")
        figure.draw_without_rendering()
    *_, line = figure.get_suptitle().split("\n")
    assert line.startswith("Without a band: 12 of 150 changes, ")
    assert figure._suptitle is not None
    box = figure._suptitle.get_window_extent()
    assert figure.bbox.x0 < box.x0 and box.x1 < figure.bbox.x1


def test_what_is_compared_by_eye_has_one_axis_and_changes_name_their_reference(data: FigureData) -> None:
    with use_style():
        norm, _ = draw_curves("norm", data, "CS.AI")
        rates, _ = draw_curves("rates", data, "CS.AI")
    left, middle, right = (axes.get_ylim() for axes in norm.axes[:3])
    assert left == middle == right
    assert norm.axes[0].get_title().endswith("(2023)") and norm.axes[2].get_title().endswith("final norm")
    assert rates.axes[0].get_ylim() != rates.axes[1].get_ylim()
    assert rates.axes[2].get_ylabel() == "change from gpt2-medium (%)"
    assert [text.get_text() for text in rates.legends[0].get_texts()] == [
        *("gpt2-medium", "to cs.AI", "to cs.AI, then cond-mat", "to cond-mat")
    ]


def test_a_model_without_a_reference_has_no_panels_of_changes(data: FigureData) -> None:
    alone = FigureData(MODELS[:1], data.summary, [], data.rates, SETTINGS)
    assert len(BUILDERS["rates"][0](alone)) == 2


def test_the_heat_map_shows_at_most_forty_keywords_from_best_to_worst(data: FigureData) -> None:
    table = choose_keywords(data.rates, SETTINGS)
    assert table.shape == (40, 26)
    means = table.drop("keyword").mean_horizontal().to_list()
    assert means == sorted(means, reverse=True) and 20 < max(means) < 100
    with use_style():
        _, (_, rows) = draw_keywords(data, "CS.AI")
        assert (len(rows), len(rows[0])) == (40, 26)
        figure = draw_heat_map(table, "title")
        figure.draw_without_rendering()
        boxes = [label.get_window_extent() for label in figure.axes[0].get_yticklabels()]
    assert not any(box.overlaps(other) for place, box in enumerate(boxes) for other in boxes[place + 1 :])
    few = choose_keywords(data.rates.filter(pl.col("keyword") < "keyword 003"), SETTINGS)
    assert len(few) == 3


def test_missing_columns_and_missing_numbers_are_named(data: FigureData, tmp_path: Path) -> None:
    (tmp_path / "layers.csv").write_text("model,layer\nm,0\n")
    with pytest.raises(InputError, match="missing columns: projection"):
        read_rows(tmp_path / "layers.csv", LAYER_SUMMARY)
    nobody = FigureData(["nobody"], data.summary, [], data.rates, SETTINGS)
    with pytest.raises(InputError, match="no data for figure 'sums'"):
        draw_curves("sums", nobody, "")
    raw = data.rates.filter(projection="raw")
    with pytest.raises(InputError, match="no rates with the final norm"):
        choose_keywords(raw, SETTINGS)
