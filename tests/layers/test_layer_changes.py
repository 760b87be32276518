"""Sums over keywords and changes against a reference: known answers, paired intervals, refusals."""

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.refusals import refuses

from fathom.config.layers import Layers
from fathom.config.scoring import Summary
from fathom.io.contracts.layers import LAYER_CHANGES, LAYER_ONSETS, LAYER_RATES, LAYER_SUMMARY
from fathom.io.tables import make_empty_table, write_table
from fathom.layers.layer_changes import (
    LayerCurve,
    compare_layers,
    find_onsets,
    list_changes,
    make_curves,
    read_layers,
    summarize_layers,
)

SETTINGS = Summary(rounds=200)
LAYERS = Layers()


def make_rates(values: np.ndarray, keywords: list[str] | None = None) -> pl.DataFrame:
    """Return rates [keywords, layers] under the contract; all probability sums are the rate."""
    count, layers = values.shape
    names = keywords or [f"k{place:02d}" for place in range(count)]
    rows = [
        {"keyword": names[place], "layer": layer, "projection": "normed", "k": 50, "list_length": 1200,
         "rate": values[place, layer], "hits": 0, "inside": values[place, layer], "outside": 0.5,
         "outside_any": values[place, layer]}
        for place in range(count)
        for layer in range(layers)
    ]  # fmt: skip
    return pl.DataFrame(rows).cast(make_empty_table(LAYER_RATES).schema)


def make_targets(ranks: list[tuple[str, list[float]]]) -> pl.DataFrame:
    rows = [
        {"pair_id": str(place), "keyword": keyword, "lens": "plain", "layer": layer, "tokens": 1,
         "rank": rank, "probability": 1 / rank, "entropy": 1.0, "agreement": 1.0, "divergence": 0.0}
        for place, (keyword, values) in enumerate(ranks)
        for layer, rank in enumerate(values)
    ]  # fmt: skip
    return pl.DataFrame(rows)


def table(rows: list[tuple[Any, ...]], columns: tuple[str, ...]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String), orient="row", strict=False)


def test_means_are_over_pairs_and_intervals_over_keywords():
    targets = {"m": make_targets([("a", [10.0, 1.0]), ("a", [20.0, 1.0]), ("b", [60.0, 4.0])])}
    rows = table(summarize_layers(make_curves({}, targets), SETTINGS), LAYER_SUMMARY.names)
    found = rows.filter(metric="rank").sort("layer")
    assert found["value"].to_list() == ["30", "2"]
    assert found["projection"].unique().to_list() == ["normed"] and found["k"].unique().to_list() == [""]
    assert (found["ci_low"][0], found["ci_high"][0]) == ("15", "60")  # all a, all b
    assert set(rows["metric"]) == {"rank", "probability", "entropy", "agreement", "divergence"}


def test_a_change_is_that_of_the_means_in_percent_and_its_interval_is_paired():
    random = np.random.default_rng(0)
    base = random.uniform(0.1, 0.9, (60, 4))  # keywords differ much, but all change alike
    factor = np.array([1.0, 1.0, 0.5, 1.2])
    curves = make_curves({"base": make_rates(base), "moved": make_rates(base * factor)}, {})
    changes = compare_layers(curves, [("moved", "base")], LAYERS, SETTINGS)
    rows = table(list_changes(changes, SETTINGS), LAYER_CHANGES.names).filter(metric="rate").sort("layer")
    for name in ("change", "ci_low", "ci_high"):
        assert [float(value) for value in rows[name]] == pytest.approx([0, 0, -50, 20], abs=1e-9)


def test_onsets_name_the_layers_that_change_and_the_third_they_are_in():
    random = np.random.default_rng(0)
    base = random.uniform(0.3, 0.6, (50, 9))
    moved = base + random.normal(0, 0.05, base.shape)
    moved[:, 3:6] -= 0.2
    moved[:, 6:] -= 0.28
    curves = make_curves({"base": make_rates(base), "moved": make_rates(moved)}, {})
    changes = compare_layers(curves, [("moved", "base")], LAYERS, SETTINGS)
    rows = table(find_onsets(changes, SETTINGS), LAYER_ONSETS.names).filter(metric="inside")
    found = {row["part"]: row for row in rows.iter_rows(named=True)}
    assert found["first"]["layers"] == "3 4 5 6 7 8"
    assert [found[part]["layers"] for part in ("early", "middle", "late")] == ["0-2", "3-5", "6-8"]
    assert abs(float(found["early"]["change"])) < 5
    assert float(found["middle"]["change"]) < -30
    assert float(found["late - middle"]["ci_high"]) < 0


@pytest.mark.parametrize("keywords", [20, 100])
def test_equal_models_seldom_have_a_first_layer(keywords):
    """Of 200 comparisons, intervals of single layers would find one in 80 and more."""
    random, found = np.random.default_rng(0), 0
    for seed in range(200):
        models = {}
        for name in ("base", "equal"):
            noise = random.normal(size=(keywords, 13))
            for layer in range(1, 13):
                noise[:, layer] = 0.7 * noise[:, layer - 1] + math.sqrt(1 - 0.7**2) * noise[:, layer]
            models[name] = LayerCurve(tuple(map(str, range(keywords))), 0.3 + 0.05 * noise, np.ones(keywords))
        curves = {(name, "normed", 50, 1200, "rate"): curve for name, curve in models.items()}
        summary = Summary(rounds=200, seed=seed)
        rows = find_onsets(compare_layers(curves, [("equal", "base")], LAYERS, summary), summary)
        found += rows[0][5] != ""
    assert found <= 20  # 10 are expected; more than 20 in 1 of 1,000 seeds


def test_a_band_has_an_interval_only_where_enough_keywords_speak():
    random = np.random.default_rng(0)
    base = random.uniform(0.3, 0.6, (30, 4))
    moved = base * (1 + random.normal(0, 0.1, base.shape))
    moved[:, 1] = base[:, 1]
    moved[1:, 2] = base[1:, 2]  # one keyword alone
    moved[:, 3] = 0.0
    curves = make_curves({"base": make_rates(base), "moved": make_rates(moved)}, {})
    change = compare_layers(curves, [("moved", "base")], LAYERS, SETTINGS)["moved", "base", "normed", "rate"]
    low, high = change.find_band(0.95)
    assert low[0] < change.percent.rows[0, 0] < high[0]
    assert (low[1], high[1]) == (0, 0) and (low[3], high[3]) == (-100, -100)
    assert math.isnan(low[2]) and math.isnan(high[2])


def test_no_change_has_no_first_layer():
    base = np.random.default_rng(0).uniform(0.3, 0.6, (20, 2))
    curves = make_curves({"base": make_rates(base), "same": make_rates(base)}, {})
    rows = table(
        find_onsets(compare_layers(curves, [("same", "base")], LAYERS, SETTINGS), SETTINGS),
        LAYER_ONSETS.names,
    )
    first = rows.filter(metric="rate", part="first")
    assert first.select("layers", "change", "ci_low").row(0) == ("", "", "")


def test_a_reference_without_any_changes_by_no_percentage():
    base = np.array([[0.0, 0.5], [0.0, 0.5]])
    curves = make_curves({"base": make_rates(base), "moved": make_rates(base + 0.1)}, {})
    rows = table(
        list_changes(compare_layers(curves, [("moved", "base")], LAYERS, SETTINGS), SETTINGS),
        LAYER_CHANGES.names,
    )
    assert rows.filter(metric="rate").sort("layer")["change"].to_list() == ["", "20"]


def test_only_keywords_that_both_have_are_compared(caplog):
    base, moved = make_rates(np.full((2, 2), 0.5), ["a", "b"]), make_rates(np.full((2, 2), 0.6), ["b", "c"])
    with caplog.at_level("INFO", "fathom"):
        changes = compare_layers(
            make_curves({"base": base, "moved": moved}, {}), [("moved", "base")], LAYERS, SETTINGS
        )
    assert {change.percent.items for change in changes.values()} == {1}
    assert "moved against base: 2 keywords measured for only one of them are left out" in caplog.text


@pytest.mark.parametrize(("other", "message"), [
    (make_rates(np.full((1, 2), 0.5), ["z"]), "the models share no keyword"),
    (make_rates(np.full((1, 3), 0.5), ["a"]), "the models have 2 and 1 blocks"),
    (None, "moved has no measurements by layer"),
])  # fmt: skip
def test_models_that_cannot_be_compared_are_refused(other, message):
    rates = {"base": make_rates(np.full((1, 2), 0.5), ["a"])}
    curves = make_curves(rates | ({} if other is None else {"moved": other}), {})
    with refuses(message):
        compare_layers(curves, [("moved", "base")], LAYERS, SETTINGS)


def test_a_model_given_twice_is_refused(tmp_path):
    write_table(tmp_path / "rates.parquet", make_rates(np.ones((1, 2))), LAYER_RATES)
    path = str(tmp_path / "rates.parquet")
    with refuses("'m'"):
        read_layers([("m", path), ("m", path)], LAYER_RATES)
