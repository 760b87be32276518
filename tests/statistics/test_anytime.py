"""What all pairs will say, from a part of them: variances, and intervals that hold at every look."""

import numpy as np
import pytest

from fathom.statistics.anytime import Order, estimate_models, find_reach, measure_growth


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
    weights = {key: np.mean(order.keywords[: len(moves)] == key) for key in sums}
    clusters = sum((sum(own.values()) / (1 - weights[key])) ** 2 for key, own in sums.items())
    clusters *= (len(sums) - 1) / len(sums)
    least = within * sum(sizes.values()) / len(order.places) ** 2
    return ahead, max(clusters / len(moves) ** 2 - ahead, least)


@pytest.mark.parametrize("spread", [0.0, 1.0])
def test_variances_are_those_of_plain_loops(spread):
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
    found = estimate_models(first, order, 0.6)
    moves = np.subtract(*(row - row.mean() for row in first))
    assert (found.ahead[0, 1], found.whole[0, 1]) == pytest.approx(estimate_plainly(moves, order, 0.6))
    assert found.ahead[0, 0] == 0


def test_no_interval_from_one_keyword_or_one_sentence_of_each():
    values, places = np.array([[0.0, 1, 2, 3], [1, 2, 3, 5]]), np.arange(8) / 8
    two = Order(np.arange(8) % 2, places)
    assert not np.isnan(estimate_models(values, two, 0.5).ahead).any()
    one = Order(np.zeros(8, dtype=int), places)
    assert np.isnan(estimate_models(values, one, 0.5).whole).all()
    twins = Order(np.array([0, 1, 2, 3, 0, 1, 2, 3]), places)  # one of two sentences of each so far
    assert np.isnan(estimate_models(values, twins, 0.5).whole).all()


def test_pairs_that_are_keywords_of_their_own_are_a_simple_sample():
    random = np.random.default_rng(2)
    values = random.lognormal(3, 1, (2, 100))
    order = Order(random.permutation(400), np.arange(400) / 400)
    found = estimate_models(values, order, 0.25)
    moves = np.subtract(*(row - row.mean() for row in values))
    variance = np.square(moves).sum() / 99
    assert found.ahead[0, 1] == pytest.approx(variance * (1 / 100 - 1 / 400), rel=0.05)
    assert found.whole[0, 1] == pytest.approx(variance / 400, rel=0.05)


def test_variances_are_those_of_the_order():
    """Keywords of few sentences, pairs of a sentence alike: both add to what the first pairs differ by."""
    random = np.random.default_rng(3)
    sizes = random.integers(1, 8, 40)
    sentences = np.arange(sizes.sum()).repeat(random.integers(1, 4, sizes.sum()))
    keywords = np.arange(40).repeat(sizes)[sentences]
    shared = random.normal(0, 1, 40)[keywords] + random.normal(0, 1, sizes.sum())[sentences]
    ranks = np.array([shared + random.normal(0, 0.3, len(keywords)), 0.5 * shared + 0.2])
    apart, ahead, whole = [], [], []
    for _ in range(300):
        turns = [random.permutation(size) + random.random() for size in sizes]
        places = np.concatenate([turn / len(turn) for turn in turns])[sentences]
        rows = np.argsort(places, kind="stable")
        order = Order(keywords[rows], places[rows])
        first, all_pairs = (
            estimate_models(ranks[:, rows][:, : order.find_end(share)], order, share) for share in (0.6, 1.0)
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
    looks = [round(share * total) for share in (0.08, 0.12, 0.19, 0.28, 0.42, 0.63, 0.95)]
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
