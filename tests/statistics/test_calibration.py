import math

import numpy as np
import pytest
from perf.calibration import of_changes, of_rivals
from perf.calibration.__main__ import tabulate, write_page
from perf.calibration.case import (
    FAMILY,
    GOALS,
    HOLDS,
    INTERVAL,
    NARROW,
    REFUSED,
    WIDE,
    Case,
    Outcome,
    Shape,
    run_case,
)
from perf.calibration.registry import CASES, EXEMPT, list_judged

from fathom.config.scoring import Summary


def _simulate(share):
    def draw(random, shape, settings):
        hit = None if math.isnan(share) else bool(random.random() < share)
        yield Outcome("interval", INTERVAL, hit)
        yield Outcome("family", FAMILY, hit)

    return Case("made up", (), draw)


@pytest.mark.parametrize(
    ("share", "interval", "family"),
    [(0.95, HOLDS, NARROW), (0.8, NARROW, NARROW), (1.0, WIDE, NARROW), (0.02, NARROW, HOLDS),
     (np.nan, REFUSED, REFUSED)],
)  # fmt: skip
def test_what_lies_outside_its_goal_is_a_miss(share, interval, family):
    found = list(run_case(_simulate(share), Shape(20), 600))
    assert [each.verdict for each in found] == [interval, family]


def test_a_case_of_the_registry_runs_and_is_the_same_again():
    rates = next(each for each in CASES if each.name == "summary.csv, attribute rate")
    first, second = (list(run_case(rates, Shape(50), 60)) for _ in range(2))
    assert first == second
    assert first[0].rounds == 60 and 0.85 < first[0].share <= 1
    page = write_page(tabulate(first))
    assert f"| {100 * first[0].share:.1f} |" in page


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_each_case_calls_the_product_as_it_is(case, monkeypatch):
    monkeypatch.setattr(of_changes, "_find_contrast", lambda *_: (0.1, 0.1))  # takes 1,000 simulations
    means = {"mean": 0.5, "trimmed_mean": 9.0, "geometric_mean": 9.0}
    monkeypatch.setattr(of_rivals, "find_truth", lambda *_: means)  # draws a hundred thousand prompts
    found = list(case.simulate(np.random.default_rng(0), case.shapes[0], Summary(rounds=40)))
    assert found and {each.kind for each in found} <= GOALS.keys()
    assert len(found) == len({each[:2] for each in found})


def test_every_column_with_an_interval_or_a_verdict_is_simulated_or_says_why_not():
    simulated = {column for each in CASES for column in each.columns}
    judged = list_judged()
    named = {(contract.files, name) for contract, name in simulated | EXEMPT.keys()}
    assert named == {(contract.files, name) for contract, name in judged}
    assert not simulated & EXEMPT.keys()
