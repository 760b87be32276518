"""Pairs that occur in training text are left out of summaries."""

from pathlib import Path

import polars as pl
import pytest
from tests.programs import run_program
from tests.statistics.test_summaries import make_scores
from tests.tables import read_delimited

from fathom.config.scoring import Summary
from fathom.errors import InputError
from fathom.io.contracts.benchmark import OVERLAP
from fathom.io.contracts.scoring import SCORES
from fathom.io.contracts.statistics import SUMMARY
from fathom.io.tables import write_table
from fathom.statistics.summaries import leave_out_overlap, summarize_scores


def _write_overlap(path: Path, scores: pl.DataFrame, sentence: int, ending: int) -> Path:
    """Write flags for the first pairs."""
    number = pl.int_range(pl.len())
    table = scores.select("pair_id", sentence=number < sentence, ending=number < ending)
    write_table(path, table, OVERLAP)
    return path


def test_flagged_pairs_are_left_out_for_all_models(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    scores = {("d", variant, model): make_scores(seed) for seed, (variant, model) in
              enumerate([("tf", "a"), ("tf", "b"), ("tfidf", "a")])}  # fmt: skip
    path = _write_overlap(tmp_path / "o.parquet", scores["d", "tf", "a"], 4, 9)
    with caplog.at_level("INFO", logger="fathom"):
        kept = leave_out_overlap(scores, [("d", "tf", str(path))], Summary())
    assert "d, tf: 9 of 60 pairs are left out because they occur in training text" in caplog.text
    assert [len(frame) for frame in kept.values()] == [51, 51, 60]
    assert kept["d", "tf", "b"].equals(scores["d", "tf", "b"][9:])
    words = Summary(overlap="sentence", rounds=20)
    kept = leave_out_overlap(scores, [("d", "tf", str(path))], words)
    assert kept["d", "tf", "a"].equals(scores["d", "tf", "a"][4:])
    rows = summarize_scores(kept, words)
    assert {row[:3]: row[-2] for row in rows} == {
        ("d", "tf", "a"): 56, ("d", "tf", "b"): 56, ("d", "tfidf", "a"): 60}  # fmt: skip
    everything = leave_out_overlap(scores, [("d", "tf", str(path))], Summary(overlap="keep"))
    assert everything["d", "tf", "a"] is scores["d", "tf", "a"]


def test_each_benchmark_has_its_own_flags(tmp_path: Path) -> None:
    scores = {("d", variant, "a"): make_scores() for variant in ("other", "tf", "tfidf")}
    files = [("d", variant, str(_write_overlap(tmp_path / variant, make_scores(), 0, count)))
             for variant, count in (("other", 0), ("tf", 9), ("tfidf", 5))]  # fmt: skip
    assert [len(frame) for frame in leave_out_overlap(scores, files, Summary()).values()] == [60, 51, 55]
    assert [len(frame) for frame in leave_out_overlap(scores, files[:2], Summary()).values()] == [60, 51, 60]


def test_a_benchmark_that_stands_in_training_text_is_refused(tmp_path: Path) -> None:
    scores = {("d", "tf", "a"): make_scores()}
    path = _write_overlap(tmp_path / "o.parquet", scores["d", "tf", "a"], 0, 60)
    with pytest.raises(InputError, match="all pairs occur in the text that models are trained on") as caught:
        leave_out_overlap(scores, [("d", "tf", str(path))], Summary())
    assert "summary.overlap: keep" in str(caught.value)


def test_programs_leave_flagged_pairs_out(tmp_path: Path) -> None:
    given = ["--scores"]
    for seed, model in enumerate(("a", "b", "c")):
        write_table(tmp_path / f"{model}.parquet", make_scores(seed), SCORES)
        given.append(f"d/tf/{model}={tmp_path / model}.parquet")
    overlap = ["--overlap", f"d/tf={_write_overlap(tmp_path / 'o.parquet', make_scores(), 0, 10)}"]
    few = ["--settings", '{"rounds": 20}']
    summary, out = tmp_path / "s.csv", tmp_path / "o.csv"
    run_program("summarize_scores", *given, *overlap, *few, "--summary", summary)
    assert {row["pairs"] for row in read_delimited(summary, ",", SUMMARY.names)} == {"50"}
    others = ["--groups", tmp_path / "g.csv", "--correlations", tmp_path / "c.csv", "--summary", summary]
    run_program("compare_models", *given, *few, *others, "--comparisons", out)
    whole = out.read_text()
    run_program("compare_models", *given, *overlap, *few, *others, "--comparisons", out)
    assert out.read_text() != whole
