"""The answer in a sentence: who leads, who are not significantly different, what is not known."""

from dataclasses import replace

import polars as pl
import pytest
from tests.explorer.runs import make_manifest

from fathom.explorer.answers import (
    answer,
    describe_origins,
    explain,
    find_leaders,
)
from fathom.explorer.run import NAN, Benchmark, Compared, Ranked, Ranking
from fathom.explorer.wording import spell_number, to_text
from fathom.models.origins import Origins

NAMES = "abcd"
ALIKE = " are not significantly different."
FROM_IT = " are not significantly different from it."


def make_benchmark(apart, models=NAMES, p=0.01, compared=True):
    """Return a benchmark whose models stand in the order of their names; pairs in `apart` differ."""
    pairs = pl.DataFrame({"keyword": ["k"], "doc_id": ["d"], "date": [""]})
    ranked = [Ranked(model, 10.0 * place, NAN, NAN, "") for place, model in enumerate(models, start=1)]
    comparisons = [Compared(a, b, 5.0, 1.0, 9.0, p, p, a + b in apart) for number, a in enumerate(models)
                   for b in models[number + 1 :]]  # fmt: skip
    rankings = {"trimmed_mean": Ranking(ranked, comparisons if compared else [])} if models else {}
    left_out = pl.Series([False]).to_numpy()
    return Benchmark("physics", "tf", pairs, left_out, {}, make_manifest("Physics"), rankings)


@pytest.mark.parametrize(
    ("models", "apart", "expected"),
    [("abcd", ["ab", "ac", "ad"], "Of four models, a knows Physics best."),
     ("abcd", ["ac", "ad", "bc", "bd"], "Of four models, a and b know Physics best; they" + ALIKE),
     ("abcd", ["ad", "bd", "cd"], "Of four models, a, b and c know Physics best; they" + ALIKE),
     ("abcd", ["ad", "bc"], "Of four models, a ranks first on Physics; b and c" + FROM_IT),
     ("abcd", [], "The four models are not significantly different on Physics; a ranks first."),
     ("a", [], "a is the only model that was scored on Physics: its trimmed mean rank is 10."),
     ("", [], "No model has been ranked on Physics yet.")],
)  # fmt: skip
def test_the_answer_names_those_who_lead(models, apart, expected):
    found = answer(make_benchmark(apart, models), "trimmed_mean")
    assert to_text(found) == expected
    assert {piece.text for piece in found if piece.name} <= {*NAMES, "Physics"}


def test_without_intervals_the_answer_does_not_say_who_is_apart():
    benchmark = make_benchmark([], p=NAN)
    assert to_text(answer(benchmark, "trimmed_mean")).endswith("cannot be said with a single pair.")
    alone = make_benchmark([], compared=False)
    assert to_text(answer(alone, "trimmed_mean")).endswith("cannot be said before they are compared.")


def test_the_lead_has_its_interval():
    benchmark = make_benchmark(["ab"])
    (lead,) = explain(benchmark, "trimmed_mean", [benchmark])
    text = "a has a trimmed mean rank of 10, b one of 20 (the difference lies between 1 and 9)."
    assert to_text(lead) == text


@pytest.mark.parametrize(("clusters", "said"), [("documents", True), ("keywords", False), ("", False)])
def test_what_intervals_draw_is_said_where_it_is_not_keywords(clusters, said):
    benchmark = make_benchmark(["ab"])
    ranking = benchmark.rankings["trimmed_mean"]._replace(clusters=clusters)
    found = explain(replace(benchmark, rankings={"trimmed_mean": ranking}), "trimmed_mean", [benchmark])
    assert any("documents" in to_text(each) for each in found) == said


def test_leaders_are_those_not_apart_from_the_best():
    ranking = make_benchmark(["ad", "bc"]).rankings["trimmed_mean"]
    assert find_leaders("abcd", ranking.comparisons) == (["a", "b", "c"], False)


def test_numbers_are_words_up_to_twelve():
    assert [spell_number(number) for number in (2, 12, 13, 1200)] == ["two", "twelve", "13", "1,200"]


@pytest.mark.parametrize(
    ("trained", "pretrained", "expected"),
    [
        ("", "a", ""),
        ("a", "", "This run trained a from scratch."),
        ("ab", "c", "This run trained a and b from scratch; c is pretrained."),
        ("a", "bc", "This run trained a from scratch; b and c are pretrained."),
    ],
)
def test_models_that_the_run_trained_itself_are_named(trained, pretrained, expected):
    assert to_text(describe_origins(Origins(list(trained), list(pretrained)))) == expected
