"""The answer in a sentence: who leads, who are not significantly different, what is not known."""

from dataclasses import replace

import polars as pl
import pytest
from tests.explorer.runs import make_manifest

from fathom.explorer.answers import (
    add_to_answer,
    answer,
    define_terms,
    describe_origins,
    explain,
    find_leaders,
    spell_number,
    to_text,
)
from fathom.explorer.run import NAN, ORDERS, Benchmark, Compared, Ranked, Ranking
from fathom.models.origins import Origins

NAMES = "abcd"
ALIKE = " are not significantly different."
FROM_IT = " are not significantly different from it."
PREDICT = "predict the words of Physics best; they"


def make_benchmark(apart, models=NAMES, p=0.01, compared=True):
    """Return a benchmark whose models stand in the order of their names; pairs in `apart` differ."""
    pairs = pl.DataFrame({"keyword": ["k"], "doc_id": ["d"], "date": [""]})
    ranked = [Ranked(model, 10.0 * place, NAN, NAN, "") for place, model in enumerate(models, start=1)]
    comparisons = [Compared(a, b, 5.0, 1.0, 9.0, p, p, a + b in apart) for number, a in enumerate(models)
                   for b in models[number + 1 :]]  # fmt: skip
    rankings = {"trimmed_mean": Ranking(ranked, comparisons if compared else [])} if models else {}
    left_out = pl.Series([False]).to_numpy()
    return Benchmark("physics", "tf", pairs, left_out, {}, make_manifest("Physics"), rankings)


def make_knowledge(apart, lows, values=None, highs=None, ceiling=5.92, models=NAMES):
    """Return a benchmark whose models stand in the order of their names, with bits and ends of intervals."""
    values = values or [3 - 0.5 * place for place in range(len(lows))]
    highs = highs or [value + 1 for value in values]
    ranked = [Ranked(*each, "") for each in zip(models, values, lows, highs, strict=False)]
    bare = make_benchmark(apart, models[: len(lows)])
    of_ranks = bare.rankings["trimmed_mean"]
    ranking = Ranking(ranked, of_ranks.comparisons, "keywords", ceiling)
    return replace(bare, rankings={"bits": ranking})


@pytest.mark.parametrize(
    ("models", "apart", "expected"),
    # by rank, who sounds like the field is ahead, too: nothing is said of knowledge
    [("abcd", ["ab", "ac", "ad"], "Of four models, a predicts the words of Physics best."),
     ("abcd", ["ac", "ad", "bc", "bd"], f"Of four models, a and b {PREDICT}{ALIKE}"),
     ("abcd", ["ad", "bd", "cd"], f"Of four models, a, b and c {PREDICT}{ALIKE}"),
     ("abcd", ["ad", "bc"], "Of four models, a ranks first on Physics; b and c" + FROM_IT),
     ("abcd", [], "The four models are not significantly different on Physics; a ranks first."),
     ("a", [], "a is the only model that was scored on Physics: its trimmed mean rank is 10.0."),
     ("", [], "No model has been ranked on Physics yet.")],
)  # fmt: skip
def test_the_answer_names_those_who_lead(models, apart, expected):
    found = answer(make_benchmark(apart, models), "trimmed_mean")
    assert to_text(found) == expected
    assert {piece.text for piece in found if piece.name} <= {*NAMES, "Physics"}


KNOWS = "Of four models, a knows Physics best: 3.00 of at most 5.92 bits."
LEADS = "a leads on Physics with 3.00 of at most 5.92 bits; "
BEST = ["ab", "ac", "ad"]


def say(benchmark):
    """Return the answer in bits with the sentence that follows it."""
    return " ".join(filter(None, (to_text(each(benchmark, "bits")) for each in (answer, add_to_answer))))


@pytest.mark.parametrize(
    ("lows", "apart", "expected"),
    [([1, 1, 1, 1], BEST, KNOWS),
     ([1, 0, 1, 1], BEST, f"{KNOWS} b shows no knowledge of it: its interval contains 0."),
     ([1, 0, -1, 0], BEST, f"{KNOWS} b, c and d show no knowledge of it: their intervals contain 0."),
     ([1, 1, 1, 1], ["ac", "ad", "bc", "bd"], "Of four models, a and b know Physics best; they" + ALIKE),
     # who shows no knowledge does not know best
     ([1, 0, 1, 1], ["ac", "ad", "bc", "bd"], f"Of four models, {LEADS}b is not significantly different"
      " from it. b shows no knowledge of it: its interval contains 0."),
     ([1, 1, 1, 1], ["ad", "bc"], f"Of four models, {LEADS}b and c{FROM_IT}"),
     ([1, 1, 1, 1], [], "The four models are not significantly different on Physics; a leads with 3.00 of at"
      " most 5.92 bits."),
     ([0, 0, -1, 0], BEST, "No model shows knowledge of Physics."),
     ([0, 1, 1, 0], BEST, "Of four models, only b and c show knowledge of Physics; a has the highest mean,"
      " 3.00 of at most 5.92 bits, but its interval contains 0."),
     ([1], [], "a is the only model that was scored on Physics, with 3.00 of at most 5.92 bits."),
     ([0], [], "a is the only model that was scored on Physics, and shows no knowledge of it: its interval"
      " contains 0.")],
)  # fmt: skip
def test_knowledge_is_said_in_bits_and_nothing_is_said_of_who_has_none(lows, apart, expected):
    benchmark = make_knowledge(apart, lows)
    assert say(benchmark) == expected


def test_many_models_without_knowledge_are_counted_and_those_below_zero_said():
    many = [chr(97 + place) for place in range(5)]
    benchmark = make_knowledge(["ab", "ac", "ad", "ae"], [1, 0, 0, 0, 0], models=many)
    found = say(benchmark)
    assert found.endswith(" Four models show no knowledge of it: their intervals contain 0.")
    below = make_knowledge(BEST, [1, -2, 0, 1], [3, -1, 1, 2], [4, -0.5, 2, 3])
    found = say(below)
    assert found.endswith(" b and c show no knowledge of it: their intervals do not lie above 0.")


@pytest.mark.parametrize(
    ("apart", "expected"),
    [(["ab", "ad", "bd", "cd"], "b is ahead of c, but not among the best: it is closer to a than c is, and"
      " more surely behind it."),
     (["ab", "ac"], "b and c are ahead of d, but not among the best: they are closer to a than d is, and more"
      " surely behind it."),
     (["ac", "ad", "bc", "bd"], None)],
)  # fmt: skip
def test_a_model_between_the_best_is_explained(apart, expected):
    benchmark = make_knowledge(apart, [1, 1, 1, 1])
    said = [to_text(each) for each in explain(benchmark, "bits", [benchmark])]
    assert [each for each in said if "among the best" in each] == ([expected] if expected else [])


def test_equal_knowledge_and_none_that_was_measured():
    equal = make_knowledge([], [1, 1], [2.0, 2.0])
    assert (
        to_text(answer(equal, "bits")) == "The two models know as much of Physics: 2.00 of at most 5.92 bits."
    )
    unmeasured = make_benchmark([], "")
    assert to_text(answer(unmeasured, "bits")) == "No model has been scored on Physics yet."


def test_the_ceiling_is_a_part_of_the_term():
    assert all(define_terms(order, 0.2)[0][0] == order.metric.label for order in ORDERS.values())
    ((term, meaning),) = define_terms(ORDERS["bits"], 0.2, 5.918)
    assert term == "knowledge (bits)" and meaning.endswith("; 0: nothing, 5.92: always sure")


@pytest.mark.parametrize(
    ("first", "expected"),
    [("aa", ["The same model leads by the papers’ metrics."]),
     ("bb", ["b leads by the papers’ metrics."]),
     ("ba", ["The same model leads by one of the papers’ metrics: the geometric mean of TF ranks.",
             "b leads by one of the papers’ metrics: the trimmed mean of TF ranks."])],
)  # fmt: skip
def test_other_orders_are_the_metrics_of_the_papers(first, expected):
    benchmark = make_knowledge(["ab"], [1, 1])
    names = dict(zip(("trimmed_mean", "geometric_mean"), first, strict=True))
    others = {
        name: Ranking([Ranked(each, value, NAN, NAN, "") for each, value in ((model, 9.0), ("z", 8.0))], [])
        for name, model in names.items()
    }
    tf = replace(benchmark, rankings=benchmark.rankings | others)
    lead, *found = explain(tf, "bits", [tf])
    assert [to_text(each) for each in found] == expected
    assert to_text(lead) == "a has 3.00 bits, b 2.50 (the difference lies between 1.00 and 9.00)."
    tfidf = replace(benchmark, variant="tfidf")
    nothing = replace(make_knowledge([], [0, 0]), variant="reference")
    further = "the papers’ metrics and " if first == "aa" else ""
    assert to_text(explain(tf, "bits", [tf, tfidf, nothing])[-1]) == (
        f"The same model leads by {further}knowledge of TF-IDF targets."
    )
    if first == "bb":
        (of_ranks,) = explain(tf, "trimmed_mean", [tf])[-1:]
        assert to_text(of_ranks) == "By knowledge of TF targets, a leads."


def test_without_intervals_the_answer_does_not_say_who_is_apart():
    benchmark = make_benchmark([], p=NAN)
    assert to_text(answer(benchmark, "trimmed_mean")).endswith("cannot be said with a single pair.")
    alone = make_benchmark([], compared=False)
    assert to_text(answer(alone, "trimmed_mean")).endswith("cannot be said before they are compared.")


def test_the_lead_has_its_interval():
    benchmark = make_benchmark(["ab", "ac", "ad"])
    (lead,) = explain(benchmark, "trimmed_mean", [benchmark])
    text = "a has a trimmed mean rank of 10.0, b one of 20.0 (the difference lies between 1.0 and 9.0)."
    assert to_text(lead) == text


@pytest.mark.parametrize("name", ["bits", "trimmed_mean"])
def test_the_interval_of_a_difference_is_said_only_of_models_that_are_apart(name):
    """An interval of two models alone may leave out 0 where they are alike among all comparisons."""
    alike = make_knowledge([], [1, 1]) if name == "bits" else make_benchmark([])
    (lead,) = explain(alike, name, [alike])
    assert "difference" not in to_text(lead)


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
