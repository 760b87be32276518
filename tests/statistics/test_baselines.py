"""Summaries of perplexity and attribute rates against a bootstrap that builds its resamples."""

import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.programs import STATISTICS, run_program
from tests.tables import read_delimited

from fathom.config.scoring import Summary
from fathom.errors import InputError
from fathom.figures.model_ranks import read_model_ranks
from fathom.io.contracts.scoring import ATTRIBUTE_RATES, PERPLEXITY, SCORES
from fathom.io.contracts.statistics import SUMMARY
from fathom.io.delimited import write_rows
from fathom.io.tables import make_empty_table, write_table
from fathom.statistics.baselines import (
    read_baselines,
    resample_likelihood,
    summarize_attribute_rates,
    summarize_perplexity,
)
from fathom.statistics.bootstrap import Estimate, draw_resamples, find_interval


def make_likelihood(seed: int = 0, count: int = 12) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    tokens = random.integers(0, 90, count)
    return pl.DataFrame(
        {"doc_id": [f"d{number:02d}" for number in range(count)], "tokens": tokens, "bytes": tokens * 4 + 1,
         "nats": tokens * random.uniform(1, 5, count), "tokens_left_out": [1] * count,
         "bytes_left_out": [2] * count, "tokens_overlap": [3] * count,
         "bytes_overlap": [9] * count, "nats_overlap": [4.5] * count},
    )  # fmt: skip


def make_rates(seed: int = 0, count: int = 15) -> pl.DataFrame:
    hits = np.random.default_rng(seed).integers(0, 51, count)
    return pl.DataFrame(
        {"keyword": [f"k{number:02d}" for number in range(count)], "rate": hits / 50,
         "hits": pl.Series(hits, dtype=pl.Int32), "list_length": pl.Series([1200] * count, dtype=pl.Int32)},
    )  # fmt: skip


def estimate_likelihood(frame: pl.DataFrame, chosen: Summary) -> dict[str, Estimate]:
    found = resample_likelihood(frame, chosen)
    return {name: each.estimate(chosen.confidence) for name, each in found.items()}


def test_perplexity_is_a_ratio_of_sums_in_every_resample() -> None:
    frame, chosen = make_likelihood(), Summary(rounds=80, confidence=0.9)
    found = estimate_likelihood(frame, chosen)
    drawn = []
    for counts in draw_resamples(12, chosen):
        rows = [row for row, count in zip(frame.rows(named=True), counts, strict=True) for _ in range(count)]
        nats, tokens, size = (sum(row[column] for row in rows) for column in ("nats", "tokens", "bytes"))
        drawn.append((math.exp(nats / tokens), nats / math.log(2) / size))
    nats, tokens, size = (frame[column].sum() for column in ("nats", "tokens", "bytes"))
    whole = (math.exp(nats / tokens), nats / math.log(2) / size)
    for place, metric in enumerate(("perplexity", "bits_per_byte")):
        low, high = find_interval(np.array([pair[place] for pair in drawn]), 0.9, 11)
        assert found[metric] == pytest.approx((whole[place], low, high), rel=1e-9)
        assert low < whole[place] < high


def test_rows_of_perplexity() -> None:
    scores = {("b", "m"): make_likelihood(1), ("a", "m"): make_likelihood(2), ("a", "n"): make_likelihood(3)}
    rows = summarize_perplexity(scores, Summary(rounds=30))
    assert rows == sorted(rows)
    assert [row[:5] for row in rows] == [(domain, "text", model, metric, "mean")
                                         for domain, model in (("a", "m"), ("a", "n"), ("b", "m"))
                                         for metric in ("bits_per_byte", "perplexity")]  # fmt: skip
    assert all(len(row) == len(SUMMARY.names) and row[8] == 12 for row in rows)
    turned = {key: frame.reverse() for key, frame in scores.items()}
    assert summarize_perplexity(turned, Summary(rounds=30)) == rows


def test_a_domain_without_held_out_text_has_no_row(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", "fathom"):
        empty, whole = {("a", "m"): make_likelihood().clear()}, {("b", "m"): make_likelihood()}
        assert summarize_perplexity(empty, Summary(rounds=5)) == []
        rows = summarize_perplexity(empty | whole, Summary(rounds=5))
    assert rows == summarize_perplexity(whole, Summary(rounds=5)) and len(rows) == 2
    assert "m: no held-out text of a" in caplog.text


def test_documents_of_which_nothing_is_predicted_do_not_spoil_the_interval() -> None:
    frame = make_likelihood(count=2).with_columns(
        tokens=pl.Series([0, 10]), bytes=pl.Series([0, 40]), nats=pl.Series([0.0, 20.0])
    )
    found = estimate_likelihood(frame, Summary(rounds=40))  # some resamples hold the first document only
    assert found["perplexity"] == pytest.approx((math.exp(2),) * 3)


def test_documents_that_occur_whole_in_training_text_are_not_counted() -> None:
    frame = make_likelihood(count=6).with_columns(tokens=pl.Series([0, 10, 10, 0, 10, 10]))
    (row, _) = summarize_perplexity({("a", "m"): frame}, Summary(rounds=9))
    assert row[8] == 4


def test_rows_of_attribute_rates() -> None:
    frame = make_rates()
    rows = summarize_attribute_rates({("a", "m"): frame, ("a", "n"): frame.reverse()}, Summary(rounds=60))
    assert [row[:5] for row in rows] == [("a", "keywords", m, "attribute_rate", "mean") for m in "mn"]
    assert rows[0][5:] == rows[1][5:]
    value, low, high = (float(number) for number in rows[0][5:8])
    assert value == pytest.approx(frame["rate"].mean(), rel=1e-5)
    assert low < value < high
    assert rows[0][8] == 15


def test_models_on_different_documents_or_keywords_are_an_error() -> None:
    with pytest.raises(InputError, match=r"m and n were scored on different documents \(2 are not shared\)"):
        summarize_perplexity(
            {("a", "m"): make_likelihood(), ("a", "n"): make_likelihood(count=10)}, Summary()
        )
    with pytest.raises(InputError, match=r"m and n were scored on different documents \(2 are not shared\)"):
        summarize_perplexity(
            {("a", "m"): make_likelihood(count=10), ("a", "n"): make_likelihood()}, Summary()
        )
    with pytest.raises(InputError, match=r"m and n were scored on different keywords \(1 are not shared\)"):
        summarize_attribute_rates({("a", "m"): make_rates(), ("a", "n"): make_rates(count=14)}, Summary())


def test_a_table_that_is_given_twice_is_an_error(tmp_path: Path) -> None:
    write_table(tmp_path / "m.parquet", make_rates(), ATTRIBUTE_RATES)
    file = ("a", "m", str(tmp_path / "m.parquet"))
    assert read_baselines([file], ATTRIBUTE_RATES)["a", "m"].equals(make_rates())
    with pytest.raises(InputError, match="duplicate table of m on a"):
        read_baselines([file, file], ATTRIBUTE_RATES)


def test_the_figure_does_not_see_these_rows(tmp_path: Path) -> None:
    rows = summarize_perplexity({("a", "m"): make_likelihood()}, Summary(rounds=9))
    rows += summarize_attribute_rates({("a", "m"): make_rates()}, Summary(rounds=9))
    rows.append(("a", "tf", "m", "rank", "trimmed_mean", "5", "4", "6", 9, "keywords"))
    write_rows(tmp_path / "summary.csv", rows, SUMMARY)
    (model,) = read_model_ranks(tmp_path / "summary.csv")["a"]
    assert set(model.ranks) == {"tf"}


def make_scores() -> pl.DataFrame:
    """Return scores of one pair: 0 as log-probability, 1 in all other columns that are numbers."""
    return (
        make_empty_table(SCORES)
        .clear(n=1)
        .select(
            pl.lit("x" if kind == pl.String else int(name != "log_probability")).cast(kind).alias(name)
            for name, kind in make_empty_table(SCORES).schema.items()
        )
    )


def test_the_summary_holds_them(tmp_path: Path) -> None:
    write_table(tmp_path / "text.parquet", make_likelihood(), PERPLEXITY)
    write_table(tmp_path / "rates.parquet", make_rates(), ATTRIBUTE_RATES)
    write_table(tmp_path / "scores.parquet", make_scores(), SCORES)
    run_program(
        "summarize_scores", "--scores", f"a/tf/m={tmp_path / 'scores.parquet'}",
        "--perplexity", f"a/m={tmp_path / 'text.parquet'}",
        "--attribute-rates", f"a/m={tmp_path / 'rates.parquet'}",
        "--summary", tmp_path / "summary.csv", "--settings", '{"rounds": 20}', imports=STATISTICS,
    )  # fmt: skip
    rows = read_delimited(tmp_path / "summary.csv", ",")
    keys = [tuple(row[name] for name in SUMMARY.names[:5]) for row in rows]
    assert keys == sorted(keys)
    assert {key[1:4:2] for key in keys} > {("tf", "rank"), ("text", "perplexity"), ("text", "bits_per_byte"),
                                           ("keywords", "attribute_rate")}  # fmt: skip
