"""Ranks on parts of a benchmark: by a set of pairs, and by date."""

import polars as pl
import pytest
from tests.programs import STATISTICS, run_program
from tests.scores import tabulate_scores
from tests.tables import read_delimited

from fathom.config.scoring import Summary
from fathom.errors import InputError
from fathom.io.contracts.benchmark import OVERLAP, PAIRS
from fathom.io.contracts.scoring import SCORES
from fathom.io.contracts.statistics import DATES
from fathom.io.tables import make_empty_table, write_table
from fathom.statistics.summaries import split_by_date, split_ranks

SETTINGS = Summary(rounds=50)
DAYS = ["2019-05-01", "2023-12-31", "2024-01-01", "2024-06-30", "", "2022-01-01"]


def make_scores(ranks):
    numbers = range(len(ranks))
    return tabulate_scores([f"p{n}" for n in numbers], [f"k{n % 3}" for n in numbers], ranks)


def test_ranks_with_and_without_some_pairs():
    scores = {"a": make_scores([1, 1, 100, 100]), "b": make_scores([8, 8, 8, 8])}
    rows = split_ranks(scores, pl.DataFrame({"pair_id": ["p0", "p1", "elsewhere"]}), SETTINGS)
    means = {(row[0], row[2]): (row[3], row[6]) for row in rows if row[1] == "geometric_mean"}
    assert means == {("a", "all"): ("10", 4), ("a", "found"): ("1", 2), ("a", "others"): ("100", 2),
                     ("b", "all"): ("8", 4), ("b", "found"): ("8", 2), ("b", "others"): ("8", 2)}  # fmt: skip
    nothing = split_ranks(scores, pl.DataFrame({"pair_id": []}, schema={"pair_id": pl.String}), SETTINGS)
    assert {row[2] for row in nothing} == {"all", "others"}
    with pytest.raises(InputError, match="different pairs"):
        split_ranks({**scores, "c": make_scores([1])}, pl.DataFrame({"pair_id": ["p0"]}), SETTINGS)


def test_the_last_day_is_before_and_pairs_without_a_date_are_in_neither_part():
    dates = pl.DataFrame({"pair_id": [f"p{n}" for n in range(6)], "date": DAYS})
    scores = {"a": make_scores([2, 8, 50, 50, 999, 4])}
    rows = split_by_date(scores, dates, {"a": "2023-12-31"}, SETTINGS)
    found = {row[2]: (row[3], row[6]) for row in rows if row[1] == "geometric_mean"}
    assert found == {"before": ("4", 3), "after": ("50", 2)}
    cutoffs = {"b": "2020-01-01", "a": "2023-12-31"}
    both = split_by_date({**scores, "b": make_scores([1] * 6)}, dates, cutoffs, SETTINGS)
    assert both[:4] == rows and [(row[0], row[2], row[6]) for row in both[4::2]] == [
        ("b", "before", 1), ("b", "after", 4)]  # fmt: skip
    later = split_by_date(scores, dates, {"a": "2025-01-01"}, SETTINGS)
    assert {row[2] for row in later} == {"before"}


def test_the_program_leaves_out_what_stands_in_training_text(tmp_path):
    pairs = [
        {"pair_id": f"p{n}", "keyword": f"k{n % 3}", "variant": "tf", "prompt": "p", "target": " t",
         "doc_id": "d", "date": day, "cosine": 0.5, "target_in_prompt": False, "target_in_keyword": False,
         "association": 2.5}
        for n, day in enumerate(DAYS)
    ]  # fmt: skip
    write_table(tmp_path / "pairs.parquet", pl.DataFrame(pairs, make_empty_table(PAIRS).schema), PAIRS)
    write_table(tmp_path / "a.parquet", make_scores([2, 8, 50, 50, 999, 4]), SCORES)
    overlap = pl.DataFrame(
        {"pair_id": [f"p{n}" for n in range(6)], "sentence": False, "ending": [True] + [False] * 5}
    )
    write_table(tmp_path / "overlap.parquet", overlap, OVERLAP)
    arguments = ("--pairs", "near/tf=pairs.parquet", "--scores", "near/tf/a=a.parquet",
                 "--overlap", "near/tf=overlap.parquet", "--cutoffs", '{"a": "2023-12-31"}',
                 "--table", "dates.csv")  # fmt: skip
    done = run_program("split_by_date", *arguments, folder=tmp_path, imports=STATISTICS)
    assert "near, tf: 1 of 6 pairs have no date" in done.stderr
    rows = read_delimited(tmp_path / "dates.csv", ",", DATES.names)
    found = {row["part"]: (row["rank"], row["pairs"], row["cutoff"]) for row in rows
             if row["aggregate"] == "geometric_mean"}  # fmt: skip
    assert found == {"before": ("5.65685", "2", "2023-12-31"), "after": ("50", "2", "2023-12-31")}
