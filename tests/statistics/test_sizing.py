"""The number of keywords and pairs that a benchmark needs, compared with simulated benchmarks."""

import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.programs import STATISTICS, run_command
from tests.refusals import refuses
from tests.statistics.test_comparisons import make_scores

from fathom.benchmark.reference import ReferencePair, make_reference_pairs
from fathom.config.scoring import Summary
from fathom.errors import InputError
from fathom.io.contracts.benchmark import OVERLAP, PAIRS
from fathom.io.contracts.scoring import SCORES
from fathom.io.tables import read_table, write_table
from fathom.statistics.metrics import BITS, RANK
from fathom.statistics.sizing import (
    Variances,
    count_keywords,
    estimate_variances,
    find_smallest,
    measure_pilot,
    measure_spread,
)


def test_variances_of_a_pilot_are_found() -> None:
    random, found = np.random.default_rng(0), []
    sizes = np.tile([1, 2, 5, 12], 15)
    names = [f"k{number:02d}" for number in range(60)]
    for _ in range(300):
        values = random.normal(0.3, 0.5, 60).repeat(sizes) + random.normal(0, 1.5, sizes.sum())
        found.append(estimate_variances(values, np.repeat(names, sizes).tolist()))
    assert np.mean([each.between for each in found]) == pytest.approx(0.25, abs=0.02)
    assert np.mean([each.within for each in found]) == pytest.approx(2.25, abs=0.03)
    assert (found[0].keywords, found[0].pairs) == (60, 300)


@pytest.mark.parametrize("each", [1, 8])
@pytest.mark.parametrize("power", [0.8, 0.95])
@pytest.mark.parametrize("difference", [0.1, 0.5])  # the second one needs few keywords
def test_planned_benchmarks_reach_the_power(each: int, power: float, difference: float) -> None:
    """4,000 simulated benchmarks: the standard error is below 0.7 %; one keyword of 11 more adds 4 %."""
    from scipy.stats import t

    count = count_keywords(Variances(0.0, 0.16, 1.0, 50, 500), each, difference, power)
    random, rounds = np.random.default_rng(1), 4000
    means = difference + random.normal(0, math.sqrt(0.16 + 1.0 / each), (rounds, count))
    scores = means.mean(axis=1) / (means.std(axis=1, ddof=1) / math.sqrt(count))
    assert power - 0.02 < (scores > t.isf(0.025, count - 1)).mean() < power + 0.04


def test_more_pairs_of_a_keyword_do_not_replace_keywords() -> None:
    alike = Variances(0.0, 1.0, 0.0, 50, 500)
    assert len({count_keywords(alike, each, 0.2, 0.8) for each in (1, 10, 100)}) == 1
    free = Variances(0.0, 0.0, 1.0, 50, 500)
    one, ten = (count_keywords(free, each, 0.2, 0.8) for each in (1, 10))
    assert one == pytest.approx(10 * ten, rel=0.1)


def write_pilot(folder: Path, **shifts: float) -> Path:
    for seed, (model, shift) in enumerate(shifts.items()):
        path = folder / "law" / "scores" / "tf" / f"{model}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_table(path, make_scores(shift, seed), SCORES)
    return folder


def test_the_command_plans_from_a_run(tmp_path: Path) -> None:
    run = write_pilot(tmp_path, one=0.0, two=5.0, three=60.0)
    done = run_command("plan", "--separate", run, "--factors", "1.05", "--each", "4", imports=STATISTICS)
    lines = done.stdout.splitlines()
    assert lines[0] == "law, tf: 20 keywords, 200 pairs"
    metric, neighbours = measure_pilot(run, Summary(lead="rank"))["law", "tf"]
    assert metric is RANK and len(neighbours) == 2
    needed = sorted(count_keywords(found, 4, math.log(1.05), 0.8) for found in neighbours)
    row = lines[4].split()
    assert row[:4] == ["1.05", "times", "4", str(needed[1])]
    assert row[5] == str(4 * needed[1])  # the higher of two is the middle, and at most


def test_a_plan_by_knowledge_is_made_from_bits(tmp_path: Path) -> None:
    """Bits that differ by half a bit on every pair, whatever the ranks; one pair of a model has none."""
    run, random = write_pilot(tmp_path, one=0.0, two=5.0), np.random.default_rng(3)
    for path, gain in zip(sorted(run.glob("*/scores/*/*.parquet")), (0.0, 0.5), strict=True):
        scores = read_table(path, SCORES)
        bits = gain + random.normal(0, 0.2, len(scores))
        bits[0] = np.nan if gain else bits[0]
        write_table(path, scores.with_columns(bits=pl.Series(bits)), SCORES)
    metric, (found,) = measure_pilot(run, Summary())["law", "tf"]
    assert metric is BITS and found.pairs == 199
    assert found.difference == pytest.approx(0.5, abs=0.05) and found.within == pytest.approx(0.08, rel=0.3)
    done = run_command("plan", "--separate", run, "--bits", "0.5", "--each", "4", imports=STATISTICS)
    needed = count_keywords(found, 4, 0.5, 0.8)
    assert done.stdout.splitlines()[4].split()[:5] == ["by", "0.5", "bits", "4", str(needed)]
    with refuses("--bits, --factors"):
        run_command("plan", "--separate", run, "--bits", "1", "--factors", "2", imports=STATISTICS)


def test_pairs_that_summaries_leave_out_do_not_count(tmp_path: Path) -> None:
    run = write_pilot(tmp_path, one=0.0, two=5.0)
    pairs = make_scores(0.0, 0).select("pair_id", sentence=False, ending=pl.int_range(pl.len()) < 30)
    (run / "law" / "benchmark" / "tf").mkdir(parents=True)
    write_table(run / "law" / "benchmark" / "tf" / "overlap.parquet", pairs, OVERLAP)
    _, (found,) = measure_pilot(run, Summary())["law", "tf"]
    _, (whole,) = measure_pilot(run, Summary(overlap="keep"))["law", "tf"]
    assert (found.pairs, whole.pairs) == (170, 200) and found.within != whole.within


def test_a_pilot_without_keywords_is_planned_by_document(tmp_path: Path) -> None:
    run = write_pilot(tmp_path, one=0.0, two=5.0)
    _, keyed = measure_pilot(run, Summary())["law", "tf"]
    documents = make_scores().select("pair_id", doc_id="keyword")
    for path in run.glob("*/scores/*/*.parquet"):
        write_table(path, read_table(path, SCORES).with_columns(keyword=pl.lit("")), SCORES)
    entries = [ReferencePair(1, "", f"Sentence {place} of a", " b") for place in range(len(documents))]
    pairs = make_reference_pairs(entries)
    pairs = pairs.with_columns(documents["pair_id"], documents["doc_id"], keyword=pl.lit(""))
    (run / "law" / "benchmark" / "tf").mkdir(parents=True)
    write_table(run / "law" / "benchmark" / "tf" / "pairs.parquet", pairs, PAIRS)
    _, found = measure_pilot(run, Summary())["law", "tf"]
    assert found == [each._replace(clusters="documents") for each in keyed]


def test_sizes_without_meaning_are_refused(tmp_path: Path) -> None:
    with refuses("--factors"):
        run_command("plan", "--separate", tmp_path, "--factors", "1", imports=STATISTICS)


@pytest.mark.parametrize(("values", "keywords"), [([1.0, 2.0], ["a", "a"]), ([1.0, 2.0], ["a", "b"])])
def test_a_pilot_that_shows_nothing_is_refused(values: list[float], keywords: list[str]) -> None:
    with pytest.raises(InputError, match="too few"):
        estimate_variances(np.array(values), keywords)


def test_a_run_without_two_models_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no scores"):
        measure_pilot(tmp_path, Summary())
    with pytest.raises(InputError, match="only one model"):
        measure_pilot(write_pilot(tmp_path, one=0.0), Summary())


def test_variances_of_unequal_keywords_are_those_of_the_textbook() -> None:
    """Mean squares 137 / 12 and 28 / 3, and (6 - 14 / 6) / 2 pairs a keyword."""
    found = estimate_variances(np.array([0.0, 1, 3, 2, 4, 9]), list("abbccc"))
    assert found[:3] == pytest.approx((19 / 6, 25 / 22, 28 / 3))


def test_each_benchmark_has_its_own_variances(tmp_path: Path) -> None:
    run = write_pilot(tmp_path, one=0.0, two=5.0)
    alone = measure_pilot(run, Summary())["law", "tf"]
    other = run / "law" / "scores" / "tfidf"
    other.mkdir()
    for seed, (model, shift) in enumerate({"one": 40.0, "two": 0.0}.items(), start=5):
        write_table(other / f"{model}.parquet", make_scores(shift, seed), SCORES)
    both = measure_pilot(run, Summary())
    assert both["law", "tf"] == alone and both["law", "tfidf"] != alone


def test_neighbours_are_those_by_rank(tmp_path: Path) -> None:
    run = write_pilot(tmp_path, b=5.0, a=60.0, c=0.0)
    _, (first, second) = measure_pilot(run, Summary(lead="rank"))["law", "tf"]
    scores = [make_scores(*each)["rank"].log().to_numpy() for each in ((0.0, 2), (5.0, 0), (60.0, 1))]
    assert [first.difference, second.difference] == pytest.approx(np.diff([each.mean() for each in scores]))
    assert first[:3] == pytest.approx(
        estimate_variances(scores[1] - scores[0], make_scores()["keyword"].to_list())[:3]
    )


def find_power(keywords: int, difference: float) -> float:
    """Return the power of a t test of a mean with a standard deviation of 1, over what the latter may be."""
    from scipy.stats import chi, norm, t

    freedom = keywords - 1
    spreads = chi.ppf((np.arange(20_000) + 0.5) / 20_000, freedom) / math.sqrt(freedom)
    bound = t.isf(0.025, freedom) * spreads
    return float(norm.sf(bound - difference * math.sqrt(keywords)).mean())


@pytest.mark.parametrize("difference", [0.31, 0.5, 0.62, 0.7, 0.8, 1.0, 1.3, 1.7, 2.0, 2.4, 2.8, 4.0])
def test_the_number_of_keywords_is_the_smallest(difference: float) -> None:
    count = count_keywords(Variances(0.0, 1.0, 0.0, 50, 500), 1, difference, 0.8)
    assert find_power(count, difference) >= 0.8
    assert count == 2 or find_power(count - 1, difference) < 0.8


def test_there_are_two_keywords_at_least() -> None:
    assert count_keywords(Variances(0.0, 0.0, 0.0, 50, 500), 1, 0.1, 0.8) == 2
    assert count_keywords(Variances(0.0, 1.0, 0.0, 50, 500), 1, 50.0, 0.8) == 2


@pytest.mark.parametrize("keywords", [2, 3, 8, 50])
@pytest.mark.parametrize("power", [0.8, 0.95])
def test_the_smallest_difference_is_found_with_the_power(keywords: int, power: float) -> None:
    one = find_smallest(Variances(0.0, 1.0, 0.0, keywords, 7 * keywords), power)
    assert find_power(keywords, one) == pytest.approx(power, abs=2e-3)
    # 0.5 + 2 / 4 within keywords of four pairs is as 1 between keywords
    both = Variances(0.3, 0.5, 2.0, keywords, 4 * keywords)
    assert find_smallest(both, power) == pytest.approx(one)
    assert find_smallest(both, power, 0.9) < one < find_smallest(both, power, 0.99)


def test_items_that_are_clusters_of_their_own_vary_as_they_do() -> None:
    values = np.array([0.0, 1.0, 5.0])
    assert measure_spread(values, ["a", "b", "c"]) == (2, 0, pytest.approx(7), 3, 3, "keywords")
    assert measure_spread(values[:2], ["a", "b"])[:4] == (0.5, 0, pytest.approx(0.5), 2)
    assert measure_spread(values, ["a", "a", "b"]) == estimate_variances(values, ["a", "a", "b"])
    for some in (0, 1):
        with pytest.raises(InputError, match="too few"):
            measure_spread(values[:some], ["a"][:some])
