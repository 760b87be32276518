"""Summaries against scipy and a bootstrap that builds its resamples."""

import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import gmean, t, trim_mean
from tests.programs import STATISTICS, run_program
from tests.refusals import refuses
from tests.scores import tabulate_scores
from tests.tables import read_delimited

from fathom.benchmark.reference import ReferencePair, make_reference_pairs
from fathom.config.scoring import Summary
from fathom.errors import InputError
from fathom.io.contracts.benchmark import OVERLAP, PAIRS
from fathom.io.contracts.scoring import SCORES
from fathom.io.contracts.statistics import DATES, SUMMARY
from fathom.io.tables import make_empty_table, write_table
from fathom.scoring.bits import FOLDS
from fathom.statistics.aggregates import MEAN
from fathom.statistics.bootstrap import draw_resamples, find_interval
from fathom.statistics.left_out import leave_out_overlap
from fathom.statistics.metrics import BITS, SUMMARIZED
from fathom.statistics.summaries import (
    AGGREGATES,
    add_documents,
    describe_ranks,
    find_reach,
    read_scores,
    resample_values,
    split_by_date,
    split_ranks,
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


def _draw(random, sizes, between=1.0):
    clusters = np.repeat(np.arange(len(sizes)), sizes)
    return between * random.normal(size=len(sizes))[clusters] + random.normal(size=len(clusters)), clusters


def _resample(values, clusters, fitted_on):
    names = [f"{code:03d}" for code in clusters]
    return resample_values(values, names, Summary(rounds=200), [MEAN.name], fitted_on)[MEAN.name]


def test_clusters_of_one_size_stretch_nothing_and_those_of_many_do():
    random = np.random.default_rng(0)
    even = find_reach(*_draw(random, [5] * 40), 0.8)
    assert even.stretch == pytest.approx(1) and even.freedom <= 39
    uneven = find_reach(*_draw(random, [60, 50, *[3] * 38]), 0.8)
    assert uneven.stretch > 1.05 and uneven.freedom < 10


def test_the_cost_of_a_fit_is_half_a_nat_by_value_that_speaks_for_itself():
    random = np.random.default_rng(1)
    alone = find_reach(random.normal(size=500), np.arange(500), 0.8)
    assert alone.cost == pytest.approx(0.5 / math.log(2) / 400, rel=0.01)
    values, clusters = _draw(random, [10] * 50, between=30.0)
    assert find_reach(values, clusters, 0.8).cost == pytest.approx(10 * alone.cost, rel=0.05)


@pytest.mark.parametrize("values", [np.ones(6), np.array([1.0, 2, 2, 1, 1, 2])])
def test_clusters_with_one_mean_have_no_reach(values):
    assert find_reach(values, np.array([0, 0, 1, 1, 2, 2]), 0.8) is None
    assert find_reach(values, np.zeros(6, int), 0.8) is None
    assert _resample(values, [0, 0, 1, 1, 2, 2], 0.8).estimate(0.95).value == values.mean()


def test_two_clusters_have_an_interval():
    value, low, high = _resample(np.array([1.0, 2.0, 4.0]), [0, 0, 1], 0.8).estimate(0.95)
    assert low <= value < high and math.isfinite(low + high)


def test_the_interval_of_a_number_is_wider_and_that_of_a_difference_is_not():
    values, clusters = _draw(np.random.default_rng(2), [40, 30, *[4] * 18])
    plain, fitted = (_resample(values, clusters, share) for share in (0.0, 0.8))
    before, after = plain.estimate(0.95), fitted.estimate(0.95)
    assert after.value == before.value and after.low < before.low and after.high > before.high
    other = _resample(values**2, clusters, 0.8)
    assert (fitted - other).estimate(0.95) == (plain - other).estimate(0.95)
    low, high = fitted.find_ends(0.95)
    assert (low, high) == (after.low, after.high)


@pytest.mark.parametrize("place", range(0, 200, 20))
def test_p_is_small_exactly_where_the_interval_excludes_a_threshold(place):
    values, clusters = _draw(np.random.default_rng(place), [40, 30, *[4] * 28])
    found = _resample(values, clusters, 0.8)
    low, high = found.estimate(0.95)[1:]
    for threshold in (low - 1e-9, low + 1e-9, high - 1e-9, high + 1e-9):
        assert (found.test(threshold) <= 0.05) == (not low <= threshold <= high)


def test_intervals_of_uneven_clusters_hold_where_plain_ones_do_not():
    random, held = np.random.default_rng(3), np.zeros(2)
    for _ in range(300):
        sizes = 1 + random.multinomial(300, random.dirichlet(np.full(20, 0.7)))
        values, clusters = _draw(random, sizes)
        reach = find_reach(values, clusters, 0.8)
        error = np.sqrt((np.bincount(clusters, values - values.mean()) ** 2).sum()) / len(values)
        for place, width in enumerate(
            (
                t.ppf(0.975, 19) * math.sqrt(20 / 19),
                t.ppf(0.975, reach.freedom) * reach.stretch * math.sqrt(20 / 19),
            )
        ):
            held[place] += abs(values.mean()) <= width * error
    assert held[0] / 300 < 0.92 < held[1] / 300


def test_bits_are_fitted_on_the_other_folds():
    assert BITS.fitted_on == 1 - 1 / FOLDS


def test_a_line_on_bits_has_the_interval_of_the_summary():
    random = np.random.default_rng(4)
    keywords = [f"k{code}" for code in np.repeat(np.arange(20), [40, 30, *[4] * 18])]
    names = [f"p{number:03d}" for number in range(len(keywords))]
    ranks = random.integers(1, 50, len(names)).astype(float).tolist()
    bits = np.repeat(random.normal(1, 1, 20), [40, 30, *[4] * 18]) + random.normal(size=len(names))
    scores = tabulate_scores(names, keywords, ranks).with_columns(bits=pl.Series(bits), ceiling=pl.lit(5.0))
    rows = summarize_scores({("a", "tf", "m"): scores}, Summary())
    ((value, low, high),) = ([float(each) for each in row[5:8]] for row in rows if row[3] == BITS.name)
    said = describe_ranks(scores, scores.select("pair_id", "keyword"))
    assert said.startswith(f"{value:z.2f} [{low:z.2f}, {high:z.2f}] bits of at most 5.00")


SETTINGS = Summary(rounds=50)
DAYS = ["2019-05-01", "2023-12-31", "2024-01-01", "2024-06-30", "", "2022-01-01"]


def make_ranks(ranks):
    numbers = range(len(ranks))
    return tabulate_scores([f"p{n}" for n in numbers], [f"k{n % 3}" for n in numbers], ranks)


def test_ranks_with_and_without_some_pairs():
    scores = {"a": make_ranks([1, 1, 100, 100]), "b": make_ranks([8, 8, 8, 8])}
    rows = split_ranks(scores, pl.DataFrame({"pair_id": ["p0", "p1", "elsewhere"]}), SETTINGS)
    means = {(row[0], row[2]): (row[3], row[6]) for row in rows if row[1] == "geometric_mean"}
    assert means == {("a", "all"): ("10", 4), ("a", "found"): ("1", 2), ("a", "others"): ("100", 2),
                     ("b", "all"): ("8", 4), ("b", "found"): ("8", 2), ("b", "others"): ("8", 2)}  # fmt: skip
    nothing = split_ranks(scores, pl.DataFrame({"pair_id": []}, schema={"pair_id": pl.String}), SETTINGS)
    assert {row[2] for row in nothing} == {"all", "others"}
    with pytest.raises(InputError, match="different pairs"):
        split_ranks({**scores, "c": make_ranks([1])}, pl.DataFrame({"pair_id": ["p0"]}), SETTINGS)


def test_the_last_day_is_before_and_pairs_without_a_date_are_in_neither_part():
    dates = pl.DataFrame({"pair_id": [f"p{n}" for n in range(6)], "date": DAYS})
    scores = {"a": make_ranks([2, 8, 50, 50, 999, 4])}
    rows = split_by_date(scores, dates, {"a": "2023-12-31"}, SETTINGS)
    found = {row[2]: (row[3], row[6]) for row in rows if row[1] == "geometric_mean"}
    assert found == {"before": ("4", 3), "after": ("50", 2)}
    cutoffs = {"b": "2020-01-01", "a": "2023-12-31"}
    both = split_by_date({**scores, "b": make_ranks([1] * 6)}, dates, cutoffs, SETTINGS)
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
    write_table(tmp_path / "a.parquet", make_ranks([2, 8, 50, 50, 999, 4]), SCORES)
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
    with pytest.raises(InputError, match="all pairs occur in training text") as caught:
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
