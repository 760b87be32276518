"""When scoring stops: intervals that hold at every look, an order in step with keywords, and who goes on."""

import numpy as np
import polars as pl
import pytest
from tests.refusals import refuses

from fathom.config.scoring import Settled, Summary
from fathom.scoring.settling import RANK, Found, Settling, order_pairs, place_pairs, plan_looks
from fathom.statistics.aggregates import (
    COMPARED,
    GEOMETRIC_MEAN,
    LEADING,
    MEAN,
    TRIMMED_MEAN,
    measure_values,
)
from fathom.statistics.anytime import Order, estimate_models, find_reach, measure_growth, measure_influence


def make_pairs(sizes: dict[str, int], end: str = "") -> pl.DataFrame:
    rows = [
        {
            "pair_id": f"{keyword}{number}{end}",
            "keyword": keyword,
            "prompt": f"{keyword} text {number} goes on{end}",
        }
        for keyword, size in sizes.items()
        for number in range(size)
    ]
    return pl.DataFrame(rows)


def test_any_first_part_holds_that_part_of_every_keyword():
    sizes = {"a": 40, "b": 7, "c": 100, "d": 1}
    pairs = make_pairs(sizes)
    (places,) = place_pairs([pairs])
    assert places.min() >= 0 and places.max() < 1 and len(set(places)) == len(places)
    for share in (0.1, 0.5, 0.9):
        for keyword, size in sizes.items():
            own = places[(pairs["keyword"] == keyword).to_numpy()]
            assert abs((own < share).sum() - share * size) < 1


def test_the_order_depends_on_texts_alone():
    pairs = make_pairs({"a": 20, "b": 9})
    turned = pairs.sample(fraction=1, shuffle=True, seed=1)
    places = dict(zip(pairs["pair_id"], place_pairs([pairs])[0], strict=True))
    assert dict(zip(turned["pair_id"], place_pairs([turned])[0], strict=True)) == places
    assert [*places.values()] != sorted(places.values())


def test_what_benchmarks_share_is_drawn_together():
    first, second = place_pairs([make_pairs({"a": 20}), make_pairs({"a": 20}, " elsewhere")])
    assert first.tolist() == second.tolist()


def test_pairs_that_share_three_words_are_drawn_together():
    prompts = ["one two three four", "one two three five", "one two other four"]
    (places,) = place_pairs([pl.DataFrame({"keyword": ["k"] * 3, "prompt": prompts})])
    assert places[0] == places[1] != places[2]


def test_each_keyword_begins_elsewhere_and_its_sentences_are_mixed():
    (places,) = place_pairs([make_pairs({f"k{number}": 1 for number in range(50)})])
    assert len(set(places)) == 50 and places.mean() == pytest.approx(0.5, abs=0.1)
    pairs = make_pairs({"a": 50})
    assert pairs["prompt"].gather(np.argsort(place_pairs([pairs])[0])).to_list() != sorted(pairs["prompt"])


def test_the_order_is_that_of_places_and_keeps_pairs_together():
    pairs = make_pairs({"a": 20, "b": 9})
    (places,) = place_pairs([pairs])
    ordered, order = order_pairs(pairs, places)
    assert sorted(ordered["pair_id"]) == sorted(pairs["pair_id"])
    assert order.places.tolist() == sorted(places)
    assert ["ab"[code] for code in order.keywords] == ordered["keyword"].to_list()
    assert order.find_end(0.5) == (places < 0.5).sum() and order.find_end(1) == 29


def test_looks_grow_until_all_pairs_are_scored():
    assert plan_looks(1000, 200) == pytest.approx([0.2, 0.3, 0.45, 0.675, 1.0])
    assert plan_looks(1000, 900) == pytest.approx([0.9, 1.0])
    with refuses("200 pairs", "150"):
        plan_looks(150, 200)


@pytest.mark.parametrize("statistic", COMPARED, ids=lambda each: each.name)
def test_influence_says_how_a_statistic_varies(statistic):
    random = np.random.default_rng(0)
    values = random.lognormal(4, 1, 400)
    influence = measure_influence(values, statistic, 0.2)
    assert influence.mean() == pytest.approx(0, abs=1e-9)
    drawn = [measure_values(values[random.integers(400, size=400)], statistic, 0.2) for _ in range(2000)]
    assert np.std(drawn) == pytest.approx(influence.std() / 20, rel=0.06)


def test_influence_of_a_trimmed_mean_ends_where_values_are_cut():
    found = measure_influence(np.arange(10.0)[::-1], TRIMMED_MEAN, 0.2)
    assert found * 0.6 + 4.5 == pytest.approx([7, 7, 7, 6, 5, 4, 3, 2, 2, 2])
    with pytest.raises(ValueError, match="no influence function for mean"):
        measure_influence(np.arange(10.0), MEAN, 0.2)


def estimate_plainly(moves: np.ndarray, order: Order, share: float) -> tuple[float, float]:
    """Return the variances `ahead` and `whole` of a difference with these influences, by loops."""
    sums: dict[int, dict[float, float]] = {}
    for move, keyword, place in zip(moves, order.keywords, order.places, strict=False):
        own = sums.setdefault(int(keyword), {})
        own[float(place)] = own.get(float(place), 0.0) + move
    sizes = {key: len(set(order.places[order.keywords == key])) for key in set(order.keywords.tolist())}
    within = sum(
        np.square(np.subtract([*own.values()], np.mean([*own.values()]))).sum() for own in sums.values()
    )
    within /= sum(map(len, sums.values())) - len(sums)
    left = {key: 1 - len(own) / sizes[key] for key, own in sums.items()}
    among = np.mean([np.mean([*own.values()]) ** 2 for own in sums.values()])
    among -= within * np.mean([left[key] / len(own) for key, own in sums.items()])
    parts = [share * size % 1 for size in sizes.values()]
    ahead = within * sum(len(own) * left[key] for key, own in sums.items())
    ahead += max(among, 0.0) * sum(part * (1 - part) for part in parts)
    ahead /= len(moves) ** 2
    clusters = sum(sum(own.values()) ** 2 for own in sums.values()) * len(sums) / (len(sums) - 1)
    least = within * sum(sizes.values()) / len(order.places) ** 2
    return ahead, max(clusters / len(moves) ** 2 - ahead, least)


@pytest.mark.parametrize("spread", [0.0, 1.0])
@pytest.mark.parametrize("statistic", COMPARED, ids=lambda each: each.name)
def test_variances_are_those_of_plain_loops(statistic, spread):
    random = np.random.default_rng(6)
    keywords = np.arange(12).repeat(random.integers(3, 9, 12))
    places = np.concatenate(
        [(np.arange(size) + random.random()) / size for size in np.bincount(keywords)]
    ).repeat(2)
    keywords = keywords.repeat(2)  # two pairs of each sentence
    rows = np.argsort(places, kind="stable")
    order = Order(keywords[rows], places[rows])
    first = random.lognormal(3, 1, (2, order.find_end(0.6)))
    first[1] *= np.exp(spread * random.normal(size=12))[order.keywords[: first.shape[1]]]
    found = estimate_models(first, order, 0.6, statistic, 0.2)
    moves = np.subtract(*(measure_influence(row, statistic, 0.2) for row in first))
    assert (found.ahead[0, 1], found.whole[0, 1]) == pytest.approx(estimate_plainly(moves, order, 0.6))
    assert found.ahead[0, 0] == 0


def test_no_interval_without_logarithms_or_keywords():
    values, places = np.array([[0.0, 1, 2, 3], [1, 2, 3, 5]]), np.arange(8) / 8
    two = Order(np.arange(8) % 2, places)
    assert np.isnan(estimate_models(values, two, 0.5, GEOMETRIC_MEAN, 0.2).ahead[0, 1])
    assert not np.isnan(estimate_models(values, two, 0.5, TRIMMED_MEAN, 0.2).ahead).any()
    for keywords in (np.zeros(8, dtype=int), np.arange(8)):
        assert np.isnan(estimate_models(values, Order(keywords, places), 0.5, TRIMMED_MEAN, 0.2).whole).all()


def test_variances_are_those_of_the_order():
    """Keywords of few sentences, pairs of a sentence alike: both add to what the first pairs differ by."""
    random = np.random.default_rng(3)
    sizes = random.integers(1, 8, 40)
    sentences = np.arange(sizes.sum()).repeat(random.integers(1, 4, sizes.sum()))
    keywords = np.arange(40).repeat(sizes)[sentences]
    shared = random.normal(0, 1, 40)[keywords] + random.normal(0, 1, sizes.sum())[sentences]
    ranks = np.exp([shared + random.normal(0, 0.3, len(keywords)), 0.5 * shared + 0.2])
    apart, ahead, whole = [], [], []
    for _ in range(300):
        turns = [random.permutation(size) + random.random() for size in sizes]
        places = np.concatenate([turn / len(turn) for turn in turns])[sentences]
        rows = np.argsort(places, kind="stable")
        order = Order(keywords[rows], places[rows])
        first, all_pairs = (
            estimate_models(ranks[:, rows][:, : order.find_end(share)], order, share, GEOMETRIC_MEAN, 0.2)
            for share in (0.6, 1.0)
        )
        apart.append(first.values[0] - first.values[1] - all_pairs.values[0] + all_pairs.values[1])
        ahead.append(first.ahead[0, 1])
        whole.append(first.whole[0, 1] / all_pairs.whole[0, 1])
    assert all_pairs.ahead[0, 1] == 0
    assert np.mean(np.square(apart)) == pytest.approx(np.mean(ahead), rel=0.2)
    assert np.mean(whole) == pytest.approx(1, rel=0.1)


def test_the_sequence_holds_at_every_look():
    """2,000 times: the mean of all pairs is outside at any of seven looks in at most 5 % of cases."""
    random, total, missed = np.random.default_rng(0), 1200, 0
    looks = [round(share * total) for share in plan_looks(total, 100)[:-1]]
    for _ in range(2000):
        values = random.lognormal(0, 1, total)
        inside = True
        for end in looks:
            ahead = np.array(values[:end].var(ddof=1) * (1 / end - 1 / total))
            reach = find_reach(ahead, measure_growth(end, looks[0], total), 0.05)
            inside &= abs(values[:end].mean() - values.mean()) <= reach
        missed += not inside
    assert 0 < missed / 2000 <= 0.05


@pytest.mark.parametrize(
    ("error", "growth", "reach"), [(0.05, 1.0, 3.0354464), (0.05, 3.0, 3.1069303), (0.01, 2.0, 3.6006102)]
)
def test_the_reach_is_that_of_the_formula(error, growth, reach):
    """sqrt((1 + 1 / t) (log(1 + t) - 2 log error)), t = growth (a + log a + 1), a = -2 log error."""
    assert find_reach(np.array([0.0, 1.0, 4.0]), growth, error) == pytest.approx([0, reach, 2 * reach])


def draw_ranks(shifts: list[float], keywords: int = 60, each: int = 20) -> tuple[np.ndarray, Order]:
    """Return ranks of shape (n_models, n_pairs) in an order, and the order; `shifts` are of logarithms."""
    random = np.random.default_rng(5)
    places = ((np.arange(each) + random.random((keywords, 1))) / each).ravel()
    rows = np.argsort(places)
    codes = np.arange(keywords).repeat(each)[rows]
    shared = random.normal(4, 1, keywords)[codes] + random.normal(0, 0.5, len(codes))
    own = (
        random.normal(0, 0.3, (len(shifts), len(codes)))
        + random.normal(0, 0.1, (len(shifts), keywords))[:, codes]
    )
    return np.exp(shared + own + np.array(shifts)[:, None]), Order(codes, places[rows])


def run(shifts: list[float], compare: object = "all") -> tuple[Settling, list[list[str]]]:
    """Return the looks at models a, b, ..., and who goes on after each."""
    ranks, order = draw_ranks(shifts)
    models = [chr(ord("a") + number) for number in range(len(shifts))]
    settled = Settled(compare=compare)
    settling, going = Settling(models, order, settled, Summary()), [models]
    for share in plan_looks(len(order.places), 120)[:-1]:
        values = {model: ranks[models.index(model), : order.find_end(share)] for model in going[-1]}
        settling.look({RANK: values}, share)
        going.append(settling.open)
    return settling, going[1:]


def test_models_far_apart_stop_and_close_ones_go_on():
    settling, going = run([0.0, 2.0, 2.04])
    assert going[0] == ["b", "c"]
    assert settling.order[0] == "a"
    assert settling.settled[0].tolist() == [False, True, True]
    assert settling.pairs[0, 1] == 120 < settling.pairs[1, 2]
    found = settling.found[RANK, LEADING.name]
    assert found.apart[0, 1] and found.differences[0, 1] < 0


def test_equal_models_are_settled_as_alike():
    ranks, order = draw_ranks([0.0])
    settling = Settling(["a", "b"], order, Settled(), Summary())
    ends = [order.find_end(share) for share in (0.25, 0.75)]
    settling.look({RANK: {"a": ranks[0, : ends[0]], "b": ranks[0, : ends[0]]}}, 0.25)
    assert not settling.settled.any()  # no difference at all has no interval
    other = ranks[0] * np.exp(np.random.default_rng(1).normal(0, 0.4, 60))[order.keywords]
    settling.look({RANK: {"a": ranks[0, : ends[1]], "b": other[: ends[1]]}}, 0.75)
    assert settling.settled[0, 1] and settling.found[RANK, LEADING.name].alike[0, 1]


def test_a_difference_has_to_clear_the_interval_of_all_pairs_by_the_slack():
    half = np.array([0.86, 0.88, 1.15, 1.2])
    for difference, reach in ((1.0, 0.0), (-1.0, 0.0), (1.25, 0.25)):
        found = Found(np.full(4, difference), np.full(4, reach), half)
        assert found.apart.tolist() == [True, False, False, False]
    for difference, reach in ((1.0, 0.0), (-1.0, 0.0), (0.75, 0.25)):
        found = Found(np.full(4, difference), np.full(4, reach), half)
        assert found.alike.tolist() == [False, False, False, True]


def test_the_error_is_shared_by_all_comparisons_and_statistics():
    ranks, order = draw_ranks([0.0, 0.1, 0.2])
    settling = Settling(["a", "b", "c"], order, Settled(error=0.03), Summary(confidence=0.9))
    first = ranks[:, : order.find_end(0.3)]
    settling.look({RANK: dict(zip("abc", first, strict=True))}, 0.3)
    for statistic in COMPARED:
        found = settling.found[RANK, statistic.name]
        estimates = estimate_models(first, order, 0.3, statistic, 0.2)
        assert found.reach == pytest.approx(find_reach(estimates.ahead, 1.0, 0.03 / 3 / 2))
        assert found.half == pytest.approx(1.6448536 * np.sqrt(estimates.whole))


def test_a_verdict_stays_and_no_or_all_pairs_are_no_look():
    ranks, order = draw_ranks([2.0, 0.0])
    settling = Settling(["a", "b"], order, Settled(), Summary())
    for share, settled in ((0.0, False), (1.0, False), (0.3, True), (0.6, True)):
        first = ranks[:, : order.find_end(share)]
        other = first[0] if share == 0.6 else first[1]  # no difference at all
        settling.look({RANK: {"a": first[0], "b": other}}, share)
        assert settling.settled[0, 1] == settled


def test_models_are_ordered_by_differences_however_small():
    (ranks,), order = draw_ranks([0.0])
    settling = Settling(["a", "b", "c"], order, Settled(), Summary())
    first = ranks[: order.find_end(0.5)]
    settling.look({RANK: {"a": first + 0.5, "b": first, "c": first + 0.2}}, 0.5)
    assert settling.order == ["b", "c", "a"]


def test_only_comparisons_that_matter_keep_a_model_going():
    shifts = [0.0, 2.0, 2.04]
    assert run(shifts, 1)[1][0] == []
    assert run(shifts, "neighbours")[1][0] == ["b", "c"]
    assert run(shifts, 2)[1][0] == ["b", "c"]


def test_what_a_stopped_model_was_found_to_be_stays():
    settling, going = run([0.0, 2.0, 2.04])
    assert len(going) > 2
    assert settling.pairs[0].tolist() == [120, 120, 120]


def test_one_model_has_nothing_to_be_compared_with():
    with refuses("compare"):
        Settling(["a"], draw_ranks([0.0])[1], Settled(), Summary())
