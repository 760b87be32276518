"""What the page advises to do next, and what to mind."""

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from tests.explorer.runs import SETTINGS, write_run

from fathom.explorer.advice import (
    advise,
    count_judged,
    describe_advice,
    find_disagreements,
    find_limit,
    find_unknown_keywords,
    find_unsettled,
)
from fathom.explorer.answers import to_text, warn_of_vocabularies
from fathom.explorer.reader import read_run
from fathom.explorer.run import ORDERS, Compared, Ranking
from fathom.statistics.sizing import count_keywords, estimate_variances


def test_models_without_keywords_are_settled_by_documents(run):
    tf = run.benchmarks[0]
    bare = replace(tf, pairs=tf.pairs.with_columns(doc_id=pl.col("keyword"), keyword=pl.lit("")))
    assert find_unsettled(bare) == find_unsettled(tf)
    first = ORDERS["trimmed_mean"]
    advice = [describe_advice(each, first, [], SETTINGS)["clusters"] for each in (tf, bare)]
    assert advice == ["keywords", "documents"]


@pytest.mark.parametrize("name", [*ORDERS])
def test_unsettled_models_come_with_the_pairs_that_would_settle_them(run, name):
    """In each order by its own statistic: the answer, and what to do next, speak of the same numbers."""
    tf, order = run.benchmarks[0], ORDERS[name]
    (found,) = find_unsettled(tf, order, SETTINGS)
    assert {found.better, found.worse} == {"alpha", "beta"}
    ranks = {each.model: each.value for each in tf.rankings[name].models}
    values = ranks[found.better], ranks[found.worse]
    expected = values[0] - values[1] if name == "bits" else values[1] / values[0]
    assert found.gap == pytest.approx(expected, rel=1e-3) and found.gap > 0
    if name == "geometric_mean":
        kept = ~tf.left_out
        logs = np.log(tf.ranks[found.worse][kept]) - np.log(tf.ranks[found.better][kept])
        pilot = estimate_variances(logs, tf.pairs["keyword"].to_numpy()[kept].tolist())
        wanted = count_keywords(pilot, 10, pilot.difference, 0.8, 1 - 0.05 / 3)
        assert found.keywords == (wanted if wanted <= 10_000 else None)
    assert found.pairs is None or found.pairs == 10 * found.keywords > 119


@pytest.mark.parametrize(("factor", "equal"), [(1.002, True), (1.2, False)])
def test_models_that_need_more_than_a_hundred_thousand_pairs_are_taken_as_equal(tmp_path, factor, equal):
    tf = read_run(write_run(tmp_path / "run", {"alpha": 10.0}, variants=["tf"]), SETTINGS).benchmarks[0]
    noise = np.random.default_rng(1).lognormal(0, 0.5, len(tf.pairs))
    noise *= factor / np.exp(np.log(noise[1:]).mean())  # the first pair is left out
    row = Compared("alpha", "beta", 1.0, 0.5, 1.5, 0.5, 0.5, False)
    close = replace(tf, ranks=tf.ranks | {"beta": tf.ranks["alpha"] * noise})
    rankings = {"geometric_mean": Ranking([], [row])}
    (found,) = find_unsettled(replace(close, rankings=rankings), ORDERS["geometric_mean"], SETTINGS)
    assert (found.pairs is None) == equal and (found.pairs or 0) <= 100_000


def test_every_conflict_with_bits_per_byte_is_there_with_how_sure_it_is(run):
    """Bits per byte turn all three models round; two of three are apart by rank."""
    tf, summary = run.benchmarks[0], run.rows["summary.csv"]
    found = find_disagreements(tf, summary)
    assert [(each.by_order, each.by_text, each.apart) for each in found] == [
        ("alpha", "gamma+fine-tuned", True),
        ("beta", "gamma+fine-tuned", True),
        ("alpha", "beta", False),
    ]
    assert all(each.certain for each in found)
    turned = replace(tf, rankings={"geometric_mean": tf.rankings["geometric_mean"]})
    assert find_disagreements(turned, summary) == []
    assert find_disagreements(turned, summary, ORDERS["geometric_mean"])


def test_keywords_that_no_model_knows_need_several_pairs(run):
    tf = run.benchmarks[0]
    keywords = pl.Series(["easy"] * 5 + ["hard"] * 5 + ["rare"] * 2)
    ranks = {"alpha": [5.0] * 5 + [500.0] * 5 + [999.0] * 2,
             "beta": [900.0] * 5 + [200.0] * 4 + [20_000.0] + [999.0] * 2}  # fmt: skip
    few = replace(
        tf, pairs=tf.pairs.head(12).with_columns(keyword=keywords), left_out=np.zeros(12, dtype=bool),
        ranks={model: np.array(each) for model, each in ranks.items()},
    )  # fmt: skip
    (found,) = find_unknown_keywords(few, ORDERS["trimmed_mean"], SETTINGS)
    assert (found.keyword, found.pairs, found.model) == ("hard", 5, "beta")
    assert found.value == pytest.approx(200)
    (found,) = find_unknown_keywords(few, ORDERS["geometric_mean"], SETTINGS)
    assert found.model == "alpha" and found.value == pytest.approx(500)


def test_keywords_are_unknown_by_knowledge_where_no_model_has_more_than_zero(run):
    tf = run.benchmarks[0]
    keywords = pl.Series(["known"] * 3 + ["zero"] * 3 + ["below"] * 3 + ["rare"] * 2)
    bits = {"alpha": [0.1] * 3 + [0.0] * 3 + [-2.0] * 3 + [-1.0] * 2,
            "beta": [-1.0] * 3 + [-1.0] * 3 + [-1.0, -2.0, 0.5] + [-1.0] * 2}  # fmt: skip
    few = replace(
        tf, pairs=tf.pairs.head(11).with_columns(keyword=keywords), left_out=np.zeros(11, dtype=bool),
        rivals={model: pl.DataFrame({"bits": each}) for model, each in bits.items()},
    )  # fmt: skip
    found = find_unknown_keywords(few, ORDERS["bits"], SETTINGS)
    assert [(each.keyword, each.model) for each in found] == [("below", "beta"), ("zero", "alpha")]
    assert [each.value for each in found] == pytest.approx([-2.5 / 3, 0])


@pytest.mark.parametrize(("candidates", "limit"), [(65, 33.0), (9, 5.0), (5000, 100.0)])
def test_among_few_candidates_a_keyword_is_unknown_where_no_model_beats_a_guess(run, candidates, limit):
    tf, order = run.benchmarks[0], ORDERS["rival_rank.trimmed_mean"]
    keywords = pl.Series(["known"] * 3 + ["guessed"] * 3 + ["rare"] * 2)
    ranks = [limit - 1] * 3 + [limit + 1] * 3 + [limit + 1] * 2
    rivals = pl.DataFrame({"rival_rank": ranks, "ceiling": [math.log2(candidates)] * 8})
    few = replace(
        tf, pairs=tf.pairs.head(8).with_columns(keyword=keywords), left_out=np.zeros(8, dtype=bool),
        rivals=dict.fromkeys(("alpha", "beta"), rivals), ranks=dict.fromkeys(("alpha", "beta"), np.ones(8)),
    )  # fmt: skip
    assert find_limit(few, order, SETTINGS) == pytest.approx(limit)
    assert [each.keyword for each in find_unknown_keywords(few, order, SETTINGS)] == ["guessed"]
    assert count_judged(few, order) == 2


def test_vocabularies_of_different_sizes_are_said_where_a_rank_depends_on_them(copied):
    def say(order):
        (tf, _) = read_run(copied, SETTINGS).benchmarks
        return to_text(warn_of_vocabularies(tf, ORDERS[order]))

    assert say("trimmed_mean") == ""
    path = copied / "physics/scores/tf/beta.parquet"
    scores = pl.read_parquet(path)
    scores.with_columns(rank_share=pl.col("rank") / 50_257).write_parquet(path)
    said = say("trimmed_mean")
    assert "beta has 50,257" in said and "gamma+fine-tuned have 1,000,000,000" in said
    assert say("rival_rank.trimmed_mean") == ""


def test_advice_has_a_short_form(run):
    lines = advise(run)
    assert any(line.startswith("physics, tf: 1 comparison not settled") for line in lines)
    assert "physics, tf: alpha is ahead by knowledge, gamma+fine-tuned by bits per byte." in lines
    ranks = {name: each for name, each in run.benchmarks[0].rankings.items() if name != "bits"}
    by_rank = advise(replace(run, benchmarks=[replace(run.benchmarks[0], rankings=ranks)]))
    assert "physics, tf: alpha is ahead by rank, gamma+fine-tuned by bits per byte." in by_rank
