"""Stages of continual pretraining: extrema, and how metrics go with similarity and with the reference."""

import math

import numpy as np
import polars as pl
import pytest

from fathom.config.scoring import Summary
from fathom.errors import InputError
from fathom.io.contracts.benchmark import DOMAIN_ORDERS
from fathom.io.contracts.studies import FOLLOWING, RELATIONS
from fathom.io.tables import make_empty_table
from fathom.studies.stages import EXTREMA, relate_stages, select_stages

SETTINGS = Summary(rounds=200)
SIMILARITIES = [0.1, 0.5, 0.2, 0.6, 0.3, 0.7, 0.4, 0.9]
PLACES = [("reference", "rank", "trimmed_mean"), ("tf", "rank", "trimmed_mean"),
          ("text", "perplexity", "mean")]  # fmt: skip


def make_order(similarities=SIMILARITIES) -> pl.DataFrame:
    rows = [
        {"evaluation_domain": "t", "domain": f"d{number}", "similarity": value, "place": number,
         "chosen": True, "stage": number}
        for number, value in enumerate(similarities, 1)
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=make_empty_table(DOMAIN_ORDERS).schema)


def make_rows(values, places=PLACES, seeds=("0",)) -> pl.DataFrame:
    """Return a track whose metrics have these values after each stage; half-way stands another value."""
    rows = [
        {"track": "a+s", "model": f"m{stage}", "stand_in": "", "seed": seed, "stage": stage,
         "trained_on": f"d{stage}" if stage else "", "step": 10 * stage - early, "tokens": 0, "domain": "t",
         "variant": variant, "metric": metric, "aggregate": aggregate,
         "value": 1e6 if early else values[stage], "ci_low": 0.0, "ci_high": 1.0, "items": 5,
         "noise": 1.0, "signal_to_noise": 1.0}
        for variant, metric, aggregate in places for seed in seeds for stage in range(len(values))
        for early in ((5, 0) if stage else (0,))
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=make_empty_table(FOLLOWING).schema)


def find(relations, *wanted, of=("", "")):
    """Return a relation by variant, metric, aggregate, other series and statistic; `of`: the reference's."""
    wanted = (*wanted[:4], *of, *wanted[4:])
    (row,) = [dict(zip(RELATIONS.names, row, strict=True)) for row in relations if row[2:9] == wanted]
    return row


def test_stages_are_ends_with_similarity_and_extrema_of_the_mean_over_seeds():
    values = [9.0, 5.0, 3.0, 4.0, 2.0, 2.0, 1.0, 3.0, 2.0]
    stages = select_stages(make_rows(values), make_order()).filter(variant="tf")
    assert stages["value"].to_list() == values
    assert stages["similarity"].to_list() == [None, *SIMILARITIES]
    # a tie is no extremum, and neither end is one
    kinds = ["", "", "minimum", "maximum", "", "", "minimum", "maximum", ""]
    assert stages["extremum"].to_list() == kinds
    stages = select_stages(make_rows([3.0, 2.0, 1.0], seeds=("0", "1", "all")), make_order())
    assert stages["seed"].unique().to_list() == ["all"] and len(stages) == 3 * len(PLACES)


def test_a_metric_that_follows_similarity_is_told_from_one_that_does_not():
    follows = make_rows([1.0, *(1 - value for value in SIMILARITIES)], PLACES[:2])
    other = make_rows([2.0, 1.0, 2.0, 1.0, 1.5, 1.2, 1.1, 1.9, 1.4], PLACES[2:])
    relations = relate_stages(select_stages(pl.concat([follows, other]), make_order()), SETTINGS)
    rank = find(relations, "tf", "rank", "trimmed_mean", "similarity", "pearson")
    assert rank["value"] == pytest.approx(-1) and rank["ci_high"] < 0 and rank["stages"] == 8
    extrema = find(relations, "tf", "rank", "trimmed_mean", "similarity", EXTREMA)
    # minima after stages 2, 4 and 6; maxima after 3, 5 and 7, the first stage lies below the start
    assert extrema["value"] == pytest.approx(np.mean([0.5, 0.6, 0.7]) - np.mean([0.2, 0.3, 0.4]))
    assert extrema["stages"] == 6 and 0 < extrema["p"] < 0.4 and math.isnan(extrema["ci_low"])
    perplexity = find(relations, "text", "perplexity", "mean", "similarity", "pearson")
    assert abs(perplexity["value"]) < 0.7
    # against the reference the start counts too
    same = find(relations, "tf", "rank", "trimmed_mean", "reference", "pearson", of=("rank", "trimmed_mean"))
    assert same["value"] == pytest.approx(1) and same["stages"] == 9
    assert not [row for row in relations if row[2] == "reference" and row[5] == "reference"]


def test_without_a_reference_there_is_only_similarity():
    relations = relate_stages(
        select_stages(make_rows([3.0, 2.0, 4.0, 1.0], PLACES[1:2]), make_order()), SETTINGS
    )
    assert {row[5] for row in relations} == {"similarity"}
    short = relate_stages(select_stages(make_rows([3.0, 2.0], PLACES[1:2]), make_order()), SETTINGS)
    assert all(math.isnan(row[9]) for row in short)


def test_metrics_go_with_the_same_metric_of_the_reference_and_texts_with_all_of_them():
    ranks, chances = (
        [9.0, 5.0, 3.0, 4.0, 2.0, 2.0, 1.0, 3.0, 2.0],
        [1.0, 2.0, 3.0, 1.5, 4.0, 2.5, 2.2, 1.1, 3.3],
    )
    mean = [(variant, "probability", "mean") for variant in ("reference", "tf")]
    rows = pl.concat([make_rows(ranks, PLACES[:1]), make_rows(chances, [*mean, PLACES[2]])])
    relations = relate_stages(select_stages(rows, make_order()), SETTINGS)
    with_rank = np.corrcoef(ranks, chances)[0, 1]
    for place in (mean[1], PLACES[2]):
        found = find(relations, *place, "reference", "pearson", of=("probability", "mean"))
        assert found["value"] == pytest.approx(1)
        found = find(relations, *place, "reference", "pearson", of=("rank", "trimmed_mean"))
        assert found["value"] == pytest.approx(with_rank) and abs(with_rank) < 0.9
    # the reference's probability goes with its rank, and nothing with itself
    of_reference = {row[3:5] + row[6:8] for row in relations if row[2] == row[5] == "reference"}
    assert of_reference == {("probability", "mean", "rank", "trimmed_mean")}


def test_an_order_without_a_domain_of_the_training_is_refused():
    with pytest.raises(InputError, match="lacks 'd3'"):
        select_stages(make_rows([1.0, 2.0, 3.0, 4.0]), make_order([0.1, 0.2]))
