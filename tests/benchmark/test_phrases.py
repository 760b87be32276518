"""Candidate phrases: what is joined, and how uses are counted."""

import random
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fathom.benchmark.normalise import split_into_runs
from fathom.benchmark.pairs import spells_out
from fathom.benchmark.phrases import Use, count_uses, find_candidates, find_copied
from fathom.config.benchmark import Keywords

FILLER = [f"word{i}" for i in range(4000)]


def make_runs(phrases: dict[str, int], seed: int = 0) -> list[list[str]]:
    """Return runs that hold each phrase so often, between words that never meet twice."""
    choose = random.Random(seed)
    runs = [
        [choose.choice(FILLER), *phrase.split(), choose.choice(FILLER)]
        for phrase, times in phrases.items()
        for _ in range(times)
    ]
    return [*runs, *([word] for word in FILLER)]


def test_candidates_are_collected_after_every_pass():
    runs = make_runs({"graph neural networks": 20, "graph neural": 20})
    one = find_candidates(runs, Keywords(passes=1))
    two = find_candidates(runs, Keywords(passes=2))
    assert "graph neural" in one.phrases
    assert "graph neural networks" not in one.phrases
    assert {"graph neural", "graph neural networks"} <= set(two.phrases)
    assert two.after_pass[0] == len(one.phrases)


def test_rare_words_are_not_joined():
    runs = make_runs({"monte carlo": 4})
    assert find_candidates(runs, Keywords()).phrases == []
    assert find_candidates(runs, Keywords(min_count=3)).phrases == ["monte carlo"]


def test_longer_than_seven_words_is_counted_not_kept():
    seven, nine = "a b c d e f g", "one two three four five six seven eight nine"
    found = find_candidates(make_runs({seven: 30, nine: 30}), Keywords(passes=4))
    assert seven in found.phrases and found.too_long == 2  # of eight words, and of all nine
    assert max(len(phrase.split()) for phrase in found.phrases) == 7


def test_order_of_runs_does_not_matter():
    runs = make_runs({"graph neural networks": 20, "monte carlo": 9, "random walk": 12})
    shuffled = random.Random(1).sample(runs, len(runs))
    assert find_candidates(runs, Keywords()) == find_candidates(shuffled, Keywords())


def join_by_the_rule(runs: list[list[str]], settings: Keywords) -> tuple[list[str], list[int]]:
    """Join words by the published rule, counted and scored here."""
    found: set[str] = set()
    after_pass = []
    for _ in range(settings.passes):
        tokens = Counter(token for run in runs for token in run)
        pairs = Counter(pair for run in runs for pair in pairwise(run))
        entries = len(tokens) + len(pairs)
        joined = []
        for run in runs:
            line, place = [], 0
            while place < len(run):
                pair = tuple(run[place : place + 2])
                score = 0.0
                if len(pair) == 2:
                    score = (pairs[pair] - settings.min_count) / (tokens[pair[0]] * tokens[pair[1]]) * entries
                taken = 2 if score > settings.threshold else 1
                line.append(" ".join(run[place : place + taken]))
                place += taken
            joined.append(line)
        runs = joined
        found |= {token for run in runs for token in run if " " in token}
        after_pass.append(len(found))
    return sorted(phrase for phrase in found if phrase.count(" ") < 7), after_pass


# few words, so that one phrase comes about in several ways: `a b` + `c`, `a` + `b c`, `a b c` joined before
@given(
    st.lists(st.lists(st.sampled_from("abcde"), max_size=12), max_size=30), st.integers(1, 4),
    st.integers(1, 3), st.sampled_from([0.01, 0.2, 0.5, 1.0, 2.0]),
)  # fmt: skip
def test_phrases_are_those_of_the_published_rule(runs, passes, min_count, threshold):
    settings = Keywords(passes=passes, min_count=min_count, threshold=threshold)
    found = find_candidates(runs, settings)
    phrases, after_pass = join_by_the_rule(runs, settings)
    assert found.phrases == phrases
    if not found.too_long:
        assert found.after_pass == after_pass


def test_phrases_of_a_larger_text_are_those_of_the_published_rule():
    choose = random.Random(5)
    words = [f"w{number}" for number in range(30)]
    runs = make_runs({"a b c d e": 30, "a b": 20, "c d e f g h": 25, "w1 a b c w2": 9})
    runs += [choose.choices(words, range(1, 31), k=choose.randrange(1, 15)) for _ in range(2000)]
    settings = Keywords(min_count=2, threshold=0.4, passes=4)
    found = find_candidates(runs, settings)
    assert found.phrases == join_by_the_rule(runs, settings)[0]
    assert any(phrase.count(" ") > 2 for phrase in found.phrases)


def test_uses_are_counted_within_runs_only():
    documents = [
        split_into_runs("deep deep learning. Deep, learning of deep learning"),
        split_into_runs("deep learning models"),
        split_into_runs("nothing here"),
    ]
    uses = count_uses(documents, ["deep learning", "deep learning models", "deep deep", "absent phrase"])
    assert uses == {
        "deep learning": Use(2, 3), "deep learning models": Use(1, 1), "deep deep": Use(1, 1),
        "absent phrase": Use(0, 0),
    }  # fmt: skip


@pytest.mark.parametrize(("documents", "copied"), [
    ([["a log file"], ["a log file"], ["a log file"]], True),  # a link on every page
    ([["a log file", "the log file"], ["a log file", "the log file"]], True),  # one manual in two formats
    ([["a log file"], ["the log file"]], False),
    ([["a log file"], ["a log file", "the log file"], ["the log file"]], True),  # the second says it all
    ([["a log file", "the log file"], ["the log file", "its log file"]], False),
    ([["a log file", "the log file"], ["log rotation"]], True),
])  # fmt: skip
def test_what_one_document_alone_speaks_of(documents, copied):
    texts = [[run.split() for run in runs] for runs in documents]
    for order in (texts, texts[::-1]):
        assert find_copied(order, ["log file"]) == (["log file"] if copied else [])


@pytest.mark.parametrize(
    ("prompt", "target"),
    [
        ("We train a convolutional neural network (3D", " CNN"),
        ("It affects the GUI (graphical user", " interface"),
        ("Signals have a low signal-to-noise ratio, or", " SNR"),
        ("Bosons form a BEC, a Bose-Einstein", " condensate"),
        ("The ROC is low, as the rate of", " convergence"),
        ("Convolutional neural networks beat other", " CNNs"),
    ],
)
def test_a_prompt_spells_out_what_it_abbreviates(prompt, target):
    assert spells_out(prompt, target)


@pytest.mark.parametrize(
    ("prompt", "target"),
    [
        ("We train a network on a graph, unlike a", " CNN"),
        ("The GUI is slow for the graphical", " editor"),
        ("The DNA of a large", " dog"),
        ("A GPU and graphics", " memory"),
        ("", " CNN"),
        ("It has", " 3"),
    ],
)
def test_other_abbreviations_give_nothing_away(prompt, target):
    assert not spells_out(prompt, target)
