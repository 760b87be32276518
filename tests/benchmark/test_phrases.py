"""Candidate phrases: what is joined, and how uses are counted."""

import random

from fathom.benchmark.normalise import split_into_runs
from fathom.benchmark.phrases import Use, count_uses, find_candidates
from fathom.config.benchmark import Keywords

FILLER = [f"word{i}" for i in range(4000)]


def make_runs(phrases: dict[str, int], seed: int = 0) -> list[list[str]]:
    """Return runs that hold each phrase so often, between words that never meet twice."""
    choose = random.Random(seed)  # noqa: S311
    runs = [
        [choose.choice(FILLER), *phrase.split(), choose.choice(FILLER)]
        for phrase, times in phrases.items()
        for _ in range(times)
    ]
    return [*runs, *([word] for word in FILLER)]


def test_candidates_are_collected_after_every_pass() -> None:
    runs = make_runs({"graph neural networks": 20, "graph neural": 20})
    one = find_candidates(runs, Keywords(passes=1))
    two = find_candidates(runs, Keywords(passes=2))
    assert "graph neural" in one.phrases
    assert "graph neural networks" not in one.phrases
    assert {"graph neural", "graph neural networks"} <= set(two.phrases)
    assert two.after_pass[0] == len(one.phrases)


def test_rare_words_are_not_joined() -> None:
    runs = make_runs({"monte carlo": 4})
    assert find_candidates(runs, Keywords()).phrases == []
    assert find_candidates(runs, Keywords(min_count=3)).phrases == ["monte carlo"]


def test_longer_than_seven_words_is_counted_not_kept() -> None:
    runs = make_runs({"one two three four five six seven eight": 30})
    found = find_candidates(runs, Keywords(passes=4))
    assert found.too_long >= 1
    assert max(len(phrase.split()) for phrase in found.phrases) <= 7


def test_order_of_runs_does_not_matter() -> None:
    runs = make_runs({"graph neural networks": 20, "monte carlo": 9, "random walk": 12})
    shuffled = random.Random(1).sample(runs, len(runs))  # noqa: S311
    assert find_candidates(runs, Keywords()) == find_candidates(shuffled, Keywords())


def test_uses_are_counted_within_runs_only() -> None:
    documents = [
        split_into_runs("deep deep learning. Deep, learning of deep learning"),
        split_into_runs("deep learning models"),
        split_into_runs("nothing here"),
    ]
    uses = count_uses(documents, ["deep learning", "deep learning models", "deep deep", "absent phrase"])
    assert uses == {
        "deep learning": Use(2, 3),
        "deep learning models": Use(1, 1),
        "deep deep": Use(1, 1),
        "absent phrase": Use(0, 0),
    }
