"""Summaries against scipy and a bootstrap that builds its resamples."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import gmean, trim_mean
from tests.programs import STATISTICS, run_program
from tests.refusals import refuses
from tests.scores import tabulate_scores
from tests.tables import read_delimited

from fathom.benchmark.reference import ReferencePair, make_reference_pairs
from fathom.config.scoring import Summary
from fathom.io.contracts.benchmark import PAIRS
from fathom.io.contracts.scoring import SCORES
from fathom.io.contracts.statistics import SUMMARY
from fathom.io.tables import write_table
from fathom.statistics.bootstrap import draw_resamples, find_interval
from fathom.statistics.metrics import SUMMARIZED
from fathom.statistics.summaries import (
    AGGREGATES,
    add_documents,
    read_scores,
    summarize_scores,
    summarize_values,
)

PLAIN = {"geometric_mean": gmean, "mean": np.mean, "median": np.median,
         "trimmed_mean": lambda values: trim_mean(values, 0.2)}  # fmt: skip


def make_scores(seed: int = 0, count: int = 60, keywords: int = 7) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    rank = random.integers(1, 40, count).astype(float)
    pairs = [f"p{number:03d}" for number in range(count)]
    names = [f"k{number % keywords}" for number in range(count)]
    return tabulate_scores(pairs, names, rank, probability=random.random(count))


@settings(max_examples=40)
@given(
    ranks=st.lists(st.integers(1, 30).map(float), min_size=1, max_size=50),
    keywords=st.integers(1, 6),
    seed=st.integers(0, 5),
)
def test_same_as_resamples_that_are_built(ranks: list[float], keywords: int, seed: int) -> None:
    chosen = Summary(rounds=70, seed=seed, confidence=0.9)
    names = [f"k{place % keywords}" for place in range(len(ranks))]
    values = np.array(ranks)
    found = summarize_values(values, names, chosen)
    known = sorted(set(names))
    for aggregate in AGGREGATES:
        drawn = []
        for counts in draw_resamples(len(known), chosen):
            resample = [value for name, count in zip(known, counts, strict=True)
                        for value in np.repeat(values[np.array(names) == name], count)]  # fmt: skip
            drawn.append(PLAIN[aggregate](resample))
        low, high = find_interval(np.array(drawn), 0.9, max(1, len(known) - 1))
        assert found[aggregate].value == pytest.approx(PLAIN[aggregate](values), rel=1e-12)
        whole = found[aggregate].value
        assert found[aggregate].low == pytest.approx(min(low, whole), rel=1e-12)
        assert found[aggregate].high == pytest.approx(max(high, whole), rel=1e-12)


def test_ranks_that_are_unknown_above_a_limit_give_exact_numbers_or_none() -> None:
    random = np.random.default_rng(0)
    given_value, given_end, missing_end, missing = 0, 0, 0, 0
    for _ in range(60):
        names = [f"k{place % 20}" for place in range(120)]
        values = np.ceil(np.exp(random.normal(3, 1.5, 120)))
        limit = np.quantile(values, random.uniform(0.4, 0.99))
        exact = summarize_values(values, names, Summary(rounds=100))
        found = summarize_values(np.where(values > limit, np.inf, values), names, Summary(rounds=100))
        for aggregate, estimate in found.items():
            known = [not np.isnan(number) for number in estimate]
            assert [n for n, k in zip(estimate, known, strict=True) if k] == pytest.approx(
                [n for n, k in zip(exact[aggregate], known, strict=True) if k], rel=1e-12
            )
            if aggregate in ("mean", "geometric_mean"):
                assert not any(known)
                continue
            given_value, missing = given_value + known[0], missing + (not known[0])
            given_end, missing_end = given_end + known[2], missing_end + (known[1] and not known[2])
    assert min(given_value, given_end, missing_end, missing) > 0  # all cases occur


def test_draws_are_fair_and_follow_from_the_seed() -> None:
    counts = draw_resamples(5, Summary(rounds=2000))
    assert counts.shape == (2000, 5)
    assert (counts.sum(axis=1) == 5).all()
    assert counts.mean(axis=0) == pytest.approx(np.ones(5), abs=0.1)
    assert np.array_equal(counts, draw_resamples(5, Summary(rounds=2000)))
    assert not np.array_equal(counts, draw_resamples(5, Summary(rounds=2000, seed=1)))


def test_an_interval_covers_the_truth_as_often_as_it_says() -> None:
    random, covered = np.random.default_rng(0), 0
    for _ in range(200):
        effects = random.normal(0, 1, 30).repeat(10)  # drawing pairs alone would cover less
        values = 50 + effects + random.normal(0, 1, 300)
        names = [f"k{place // 10}" for place in range(300)]
        found = summarize_values(values, names, Summary(rounds=200))["mean"]
        covered += found.low <= 50 <= found.high
    assert 175 <= covered <= 198


def test_rows_are_sorted_and_complete() -> None:
    scores = {("b", "tf", "m"): make_scores(0), ("a", "tfidf", "m2"): make_scores(1),
              ("a", "tfidf", "m1"): make_scores(2).reverse(), ("a", "tf", "m1"): make_scores(3)}  # fmt: skip
    rows = summarize_scores(scores, Summary(rounds=50))
    assert len(rows) == 4 * (1 + 3 * 4)
    assert rows == sorted(rows)
    assert {row[3] for row in rows} == {"bits", "rank", "probability", "rival_rank"}
    assert all(len(row) == len(SUMMARY.names) for row in rows)
    assert all(float(row[6]) <= float(row[5]) <= float(row[7]) for row in rows if row[4] == "mean")
    assert {row[8] for row in rows} == {60}


def test_the_order_of_pairs_does_not_matter() -> None:
    frame = make_scores()
    key = ("a", "tf", "m")
    chosen = Summary(rounds=50)
    assert summarize_scores({key: frame}, chosen) == summarize_scores({key: frame.reverse()}, chosen)


def test_models_share_their_resamples() -> None:
    frame = make_scores()
    better = frame.with_columns(rank=pl.col("rank") - 0.5)
    rows = summarize_scores({("a", "tf", "m1"): frame, ("a", "tf", "m2"): better}, Summary(rounds=99))
    first, second = (
        next(row for row in rows if row[2:5] == (model, "rank", "mean")) for model in ("m1", "m2")
    )
    for place in (5, 6, 7):
        assert float(first[place]) - float(second[place]) == pytest.approx(0.5, abs=1e-3)


def test_one_keyword_draws_pairs(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", "fathom"):
        rows = summarize_scores({("a", "tf", "m"): make_scores(keywords=1)}, Summary(rounds=20))
    assert all(float(row[6]) < float(row[7]) for row in rows)
    assert "a, tf" in caplog.text and "over pairs" in caplog.text


def test_scores_of_different_pairs_are_an_error() -> None:
    scores = {("a", "tf", "m1"): make_scores(), ("a", "tf", "m2"): make_scores().head(50)}
    with refuses("a, tf", "m1", "m2", "10"):
        summarize_scores(scores, Summary(rounds=5))


def test_scores_of_another_benchmark_are_an_error(tmp_path: Path) -> None:
    entries = [ReferencePair(1, "graphs", f"The {number} of a", " graph") for number in range(9)]
    pairs = make_reference_pairs(entries)
    write_table(tmp_path / "pairs.parquet", pairs, PAIRS)
    files = [("a", "tf", str(tmp_path / "pairs.parquet"))]
    own = pairs.select("pair_id", "keyword").sample(fraction=1, shuffle=True, seed=0)
    found = add_documents({("a", "tf", "m"): own, ("a", "tfidf", "m"): make_scores()}, files)
    assert (
        found["a", "tf", "m"]
        .sort("pair_id")
        .equals(pairs.select("pair_id", "keyword", "doc_id").sort("pair_id"))
    )
    assert "doc_id" not in found["a", "tfidf", "m"].columns
    with refuses("n", "other pairs"):
        add_documents({("a", "tf", "n"): own.with_columns(keyword=pl.lit("k"))}, files)
    with refuses("n", "2 are not", "pairs.parquet", "again"):
        add_documents({("a", "tf", "m"): own, ("a", "tf", "n"): own.head(7)}, files)


def test_scores_are_read_by_benchmark_and_model(tmp_path: Path) -> None:
    write_table(tmp_path / "m.parquet", make_scores(), SCORES)
    place = ("a", "tf", "m", str(tmp_path / "m.parquet"))
    (found,) = read_scores([place]).items()
    assert found[0] == ("a", "tf", "m")
    assert found[1].equals(make_scores().select("pair_id", "keyword", *SUMMARIZED))
    with refuses("m", "a, tf"):
        read_scores([place, place])


def test_scores_of_older_versions_and_servers_have_no_rank_among_rivals(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "m.parquet"
    make_scores().drop("rival_rank", "rival", "bits", "ceiling").write_parquet(path)
    old = read_scores([("a", "tf", "m", str(path))])["a", "tf", "m"]
    with caplog.at_level("INFO", "fathom"):
        rows = summarize_scores({("a", "tf", "m"): old}, Summary(rounds=9))
    assert {row[3] for row in rows} == {"rank", "probability"} and "60 of 60 pairs" in caplog.text
    some = old.with_columns(rival_rank=pl.when(pl.col("rank") > 30).then("rank").otherwise(float("nan")))
    rows = summarize_scores({("a", "tf", "m"): some}, Summary(rounds=9))
    known = some.filter(~pl.col("rival_rank").is_nan())
    (mean,) = (row for row in rows if row[3:5] == ("rival_rank", "mean"))
    assert 0 < len(known) < 60 and mean[8] == len(known)
    assert float(mean[5]) == pytest.approx(known["rank"].mean(), rel=1e-5)


def test_no_scores_are_an_error() -> None:
    with refuses("scores"):
        summarize_scores({("a", "tf", "m"): make_scores().clear()}, Summary(rounds=5))


def test_the_program_writes_the_table(tmp_path: Path) -> None:
    command = ["--summary", tmp_path / "summary.csv"]
    for seed, model in enumerate(("m1", "m2")):
        write_table(tmp_path / f"{model}.parquet", make_scores(seed), SCORES)
        command += ["--scores", f"a/tf/{model}={tmp_path / model}.parquet"]
    rounds = ("--settings", '{"rounds": 20}')
    run_program("summarize_scores", *command, *rounds, imports=STATISTICS)
    rows = read_delimited(tmp_path / "summary.csv", ",")
    assert list(rows[0]) == SUMMARY.names
    assert len(rows) == 26
    write_table(tmp_path / "pairs.parquet", make_reference_pairs([ReferencePair(1, "k", "A", " b")]), PAIRS)
    pairs = ("--pairs", f"a/tf={tmp_path / 'pairs.parquet'}")
    with refuses("the scores of m1", "other pairs"):
        run_program("summarize_scores", *command, *pairs, imports=STATISTICS)
    with refuses("m2 on a, tf"):
        run_program("summarize_scores", *command, *command[-2:], imports=STATISTICS)
