"""Knowledge or style: gains over the base, shares, and which condition is ahead."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.tables import fill_table

from fathom.config.models import Point
from fathom.config.scoring import Summary
from fathom.errors import InputError
from fathom.io.contracts.benchmark import PAIRS
from fathom.io.contracts.studies import CONTRASTS
from fathom.io.tables import write_table
from fathom.statistics.bootstrap import Resampled
from fathom.statistics.metrics import METRICS
from fathom.studies.controls import compare_conditions, compare_shares, count_once, count_shares
from fathom.studies.following import CONTROLLED, measure_pairs

SETTINGS = Summary(rounds=400)
CONDITIONS = {"as-is": "b+d", "terms-exchanged": "b+d.terms-exchanged", "terms-only": "b+d.terms-only",
              "far": "b+far"}  # fmt: skip
NOISE = np.random.default_rng(0).normal(0, 0.05, 400)


def make_series(value: float, own: float = 0.0) -> Resampled:
    """Return a metric whose resamples share their noise with those of other models."""
    random = np.random.default_rng(int(1000 * value))
    return Resampled.join(value, value * np.exp(NOISE + own * random.normal(0, 1, 400)), 40)


def make_tracks(steps: int = 100) -> dict[str, list[Point]]:
    tracks = {}
    for name in CONDITIONS.values():
        tracks[name] = [
            point
            for seed, mark in (("0", ""), ("1", "@seed1"))
            for point in (Point(model="b", seed=seed),
                          Point(model=f"{name}@step50", seed=seed, stage=1, domain="d", step=50, tokens=500),
                          Point(model=f"{name}{mark}", seed=seed, stage=1, domain="d", step=steps,
                                tokens=1000))
        ]  # fmt: skip
    return tracks


def compare(values, metric="rank", own=0.0):
    models = {"b": make_series(values["base"], own)}
    for condition, track in CONDITIONS.items():
        for mark, factor in (("", 0.98), ("@seed1", 1.02)):
            models[f"{track}{mark}"] = make_series(values[condition] * factor, own)
    measured = {("d", "tf", metric, "geometric_mean"): models, ("other", "tf", metric, "geometric_mean"): {}}
    gains, contrasts = compare_conditions("d", CONDITIONS, make_tracks(), measured, SETTINGS)
    return {row[5]: row for row in gains}, {row[5:7]: row for row in contrasts}


def test_a_metric_of_knowledge_puts_knowledge_ahead_whatever_items_are_drawn():
    values = {"base": 400.0, "as-is": 100.0, "terms-exchanged": 300.0, "terms-only": 120.0, "far": 450.0}
    gains, contrasts = compare(values)
    assert list(gains) == ["base", *CONDITIONS] and gains["base"][6] == 1 and gains["as-is"][6] == 2
    gain, low, high = (float(number) for number in gains["as-is"][10:13])
    assert gain == pytest.approx(np.log(400 / 100), abs=0.001) and low <= gain <= high
    # items are paired: only the errors of two seeds are left, 2 % each, with one degree of freedom
    assert 0.2 < high - low < 1.5
    share = float(gains["terms-exchanged"][13])
    assert share == pytest.approx(np.log(400 / 300) / np.log(4), abs=0.001)
    assert float(gains["far"][10]) < 0
    assert list(contrasts) == [(first, second) for first in ("as-is", "terms-only")
                               for second in ("terms-exchanged", "far")]  # fmt: skip
    assert {row[-1] for row in contrasts.values()} == {"ahead"}


def test_verdicts_hold_for_all_differences_of_a_metric_together():
    """One of four lies just beyond its interval: alone it would be found, of four it is not."""
    base = np.random.default_rng(3).normal(0, 1, 400)
    near = np.sort(base)[12]  # the interval of 400 resamples leaves out nine at either end
    models = {"b": Resampled.join(0.0, np.zeros(400))}
    values = {"as-is": -near, "terms-exchanged": 0.0, "terms-only": 0.0, "far": 0.0}
    for condition, track in CONDITIONS.items():
        drawn = values[condition] + (base if condition == "as-is" else 0.0 * base)
        models |= {f"{track}{mark}": Resampled.join(values[condition], drawn) for mark in ("", "@seed1")}
    measured = {("d", "tf", "probability", "mean"): models}
    _, rows = compare_conditions("d", CONDITIONS, make_tracks(), measured, SETTINGS)
    found = {row[5:7]: dict(zip(CONTRASTS.names, row, strict=True)) for row in rows}
    alone = found["as-is", "far"]
    assert float(alone["ci_low"]) < 0 and float(alone["p"]) > 0.05
    models["b+d"] = models["b+d@seed1"] = Resampled.join(2.2, 2.2 + base)
    _, rows = compare_conditions("d", CONDITIONS, make_tracks(), measured, SETTINGS)
    one = dict(zip(CONTRASTS.names, rows[0], strict=True))
    assert float(one["ci_low"]) > 0 and float(one["p"]) <= 0.05 < float(one["p_adjusted"])
    assert one["verdict"] == "cannot be told"


def test_a_metric_of_style_does_not():
    values = {"base": 400.0, "as-is": 100.0, "terms-exchanged": 101.0, "terms-only": 200.0, "far": 390.0}
    _, contrasts = compare(values, "perplexity", own=0.02)
    assert contrasts["as-is", "terms-exchanged"][-1] == "cannot be told"
    assert contrasts["terms-only", "terms-exchanged"][-1] == "behind"
    assert contrasts["as-is", "far"][-1] == "ahead"


def test_metrics_differ_by_their_paired_shares_not_by_one_verdict_each():
    """One metric's share excludes 1 by a hair, another's does not: their difference cannot be told."""
    random = np.random.default_rng(1)
    kept = random.normal(0, 0.02, 400)

    def measure(share: float, noise: np.ndarray) -> dict[str, Resampled]:
        models = {"b": Resampled.join(0.0, np.zeros(400))}
        for condition, track in CONDITIONS.items():
            gained = np.full(400, 1.0) if condition == "as-is" else share + noise
            value = 1.0 if condition == "as-is" else share
            models |= {f"{track}{mark}": Resampled.join(value, gained) for mark in ("", "@seed1")}
        return models

    measured = {
        ("d", "keywords", "attribute_rate", "mean"): measure(0.95, kept),
        ("d", "tf", "probability", "mean"): measure(0.97, random.normal(0, 0.02, 400)),
        ("d", "tfidf", "probability", "mean"): measure(0.90, kept),
    }
    rows = list(compare_shares("d", CONDITIONS, make_tracks(), measured, SETTINGS))
    found = {(row[3], row[4], row[6]): row for row in rows if row[2] == "terms-exchanged"}
    assert {row[2] for row in rows} == CONDITIONS.keys() - {"as-is"} and len(rows) == 3 * 3
    assert found["keywords", "attribute_rate", "tf"][-1] == "cannot be told"
    same = found["keywords", "attribute_rate", "tfidf"]  # the same noise: paired, all of it goes
    assert same[-1] == "larger" and [float(number) for number in same[9:12]] == pytest.approx([0.05] * 3)
    without = {name: track for name, track in CONDITIONS.items() if name != "as-is"}
    assert not list(compare_shares("d", without, make_tracks(), measured, SETTINGS))


def test_a_pair_of_both_benchmarks_counts_once(tmp_path):
    """Both have the same pairs, so two verdicts would be one that is counted twice."""
    ranks = {"b": 400.0, "b+d": 100.0, "b+d.terms-exchanged": 300.0, "b+d.terms-only": 90.0, "b+far": 450.0}
    files, scores = [], {}
    for variant, shift in (("tf", 0), ("tfidf", 1)):  # pairs 1 to 19 stand in both
        numbers = range(shift, 20 + shift)
        pairs = {"pair_id": [f"{variant}{number}" for number in numbers],
                 "keyword": [f"k{number % 5}" for number in numbers],
                 "prompt": [f"p{number}" for number in numbers], "target": [" t"] * 20}  # fmt: skip
        files.append(("d", variant, str(tmp_path / f"{variant}.parquet")))
        write_table(Path(files[-1][-1]), fill_table(PAIRS, **pairs), PAIRS)
        scores |= {
            ("d", variant, f"{model}{mark}"): pl.DataFrame(pairs).select("pair_id", "keyword").with_columns(
                pl.Series([rank + number for number in numbers]).alias("rank"),
                pl.Series([rank / 2 + number for number in numbers]).alias("rival_rank"),
                pl.Series([-rank / 50 - number for number in numbers]).alias("bits"),
                pl.Series([-rank / 100 - number for number in numbers]).alias("log_probability"))
            for model, rank in ranks.items() for mark in ("", "@seed1")
        }  # fmt: skip
    once = count_once(scores, files)
    assert {key[1] for key in once} == {"both"} and len(once) == len(scores) // 2
    assert once["d", "both", "b"]["pair_id"].to_list() == [
        *(f"tf{number}" for number in range(20)),
        "tfidf20",
    ]
    measured = measure_pairs(scores | once, SETTINGS, CONTROLLED)
    gains, contrasts = compare_conditions("d", CONDITIONS, make_tracks(), measured, SETTINGS)
    shares = list(compare_shares("d", CONDITIONS, make_tracks(), measured, SETTINGS))
    assert {row[1] for row in gains} == {"tf", "tfidf", "both"}
    assert (
        {row[1] for row in contrasts} == {row[3] for row in shares} == {row[6] for row in shares} == {"both"}
    )
    assert all(float(row[7]) > 0 for row in contrasts) and len(contrasts) == 6 * 4
    assert not count_once({key: each for key, each in scores.items() if key[1] == "tf"}, files)
    others = {f"{model}{mark}": make_series(rank) for model, rank in ranks.items() for mark in ("", "@seed1")}
    measured |= {
        ("d", METRICS[name].variant, name, "mean"): others
        for name in ("perplexity", "bits_per_byte", "attribute_rate")
    }
    every = list(compare_shares("d", CONDITIONS, make_tracks(), measured, SETTINGS))
    assert len(every) == 3 * count_shares()


def test_gains_are_positive_where_the_model_is_better():
    better, worse = make_series(0.3), make_series(0.2)
    assert METRICS["attribute_rate"].measure_gain(better, worse).value == pytest.approx(0.1)
    assert METRICS["bits_per_byte"].measure_gain(better, worse).value == pytest.approx(-0.1)
    assert METRICS["perplexity"].measure_gain(worse, better).value == pytest.approx(np.log(1.5))


def test_conditions_with_other_steps_are_refused():
    tracks = make_tracks() | {"b+far": make_tracks(steps=80)["b+far"]}
    with pytest.raises(InputError, match="controls differ in steps"):
        compare_conditions("d", CONDITIONS, tracks, {}, SETTINGS)
