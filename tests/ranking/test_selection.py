"""Benchmarks that the paper's rules would leave out are named, each with its reason."""

import math

import numpy as np

from fathom.config.ranking import RankingSettings
from fathom.config.scoring import Summary
from fathom.io.contracts.ranking import SELECTION
from fathom.io.delimited import read_rows, write_rows
from fathom.ranking.benchmark_agreement import measure_tau_matrices, select_benchmarks
from fathom.ranking.resampled_scores import ResampledScores
from fathom.ranking.table import Benchmark, Model, ScoreTable

BEFORE = np.arange(10.0)  # ten models, of which each is better than the one before
BENCHMARKS = {
    "good": (BEFORE, BEFORE + 1, 5000),
    "reported": (BEFORE, BEFORE + 1, None),
    "fair": (BEFORE, np.where(BEFORE < 2, BEFORE, BEFORE + 1), 1000),  # two of ten: 20 %, not more
    "stubborn": (BEFORE, np.where(BEFORE < 3, BEFORE, BEFORE + 1), 5000),
    "small": (BEFORE, BEFORE + 1, 999),
    "opposite": (-BEFORE, BEFORE, 5000),
}


def select(conditions=("direct", "tuned"), flipped=()):
    names = list(BENCHMARKS)
    scores = np.array([[BENCHMARKS[name][place] for name in names] for place in range(len(conditions))])
    signs = np.array([-1.0 if name in flipped else 1.0 for name in names])
    shape = (len(conditions), len(BEFORE), len(names))
    table = ScoreTable(
        tuple(conditions),
        tuple(Model(f"m{number}", f"m{number}") for number in range(len(BEFORE))),
        tuple(Benchmark(name, name, lower_is_better=name in flipped, training_examples=BENCHMARKS[name][2])
              for name in names),
        scores.transpose(0, 2, 1) * signs,
        np.full(shape, math.nan),
        np.full((shape[0], shape[2], len(BEFORE) * (len(BEFORE) - 1) // 2), math.nan),
    )  # fmt: skip
    resampled = ResampledScores(table, RankingSettings(summary=Summary(rounds=10)))
    rows = select_benchmarks(table, measure_tau_matrices(resampled))
    return {row[0]: dict(zip(SELECTION.names, row, strict=True)) for row in rows}, rows


def test_each_rule_leaves_out_what_breaks_it():
    found, _ = select()
    assert {name: row["left_out_for"] for name, row in found.items()} == {
        "good": "", "reported": "", "fair": "", "stubborn": "not better after tuning",
        "small": "few training examples", "opposite": "against the others",
    }  # fmt: skip
    assert found["stubborn"]["unimproved"] == 3 and found["stubborn"]["models"] == 10
    assert found["opposite"]["opposed"] == found["opposite"]["others"] == 5
    assert found["good"]["opposed"] == 1


def test_a_low_score_may_be_good():
    assert select(flipped=["good", "stubborn"])[0] == select()[0]


def test_with_one_condition_nothing_is_said_of_improvement(tmp_path):
    found, rows = select(["direct"])
    assert {row["unimproved"] for row in found.values()} == {None}
    assert found["stubborn"]["left_out_for"] == "" and found["opposite"]["left_out_for"]
    write_rows(tmp_path / "selection.csv", rows, SELECTION)
    assert [row["benchmark"] for row in read_rows(tmp_path / "selection.csv", SELECTION)] == list(BENCHMARKS)
