"""The answer in a sentence: who leads, who cannot be told apart, what is not known."""

import polars as pl
import pytest
from tests.explorer.runs import make_manifest

from fathom.explorer.answers import answer, explain, find_leaders, spell_number, to_text
from fathom.explorer.run_tables import Benchmark, Run

NAMES = "abcd"
ALIKE = " cannot be told apart."
FROM_IT = " cannot be told apart from it."


def make_run(tmp_path, apart, models=NAMES, p="0.01", letters=True):
    """Return a run whose models stand in the order of their names; `apart` lists pairs that are apart."""
    pairs = pl.DataFrame({"keyword": ["k"], "doc_id": ["d"], "date": [""]})
    benchmark = Benchmark("physics", "tf", pairs, pl.Series([False]).to_numpy(), {}, make_manifest("Physics"))
    place = {"domain": "physics", "variant": "tf", "aggregate": "trimmed_mean"}
    groups = [
        place | {"model": model, "place": str(number), "value": str(10.0 * number), "groups": ""}
        for number, model in enumerate(models, start=1)
    ]
    comparisons = [
        place | {"metric": "rank", "better": a, "worse": b, "ci_low": "1", "ci_high": "9", "p": p,
                 "apart": "yes" if a + b in apart else "no"}
        for number, a in enumerate(models) for b in models[number + 1 :]
    ]  # fmt: skip
    return Run(tmp_path, [benchmark], [], comparisons, groups if letters else []), benchmark


@pytest.mark.parametrize(
    ("models", "apart", "expected"),
    [
        ("abcd", ["ab", "ac", "ad"], "Of four models, a knows Physics best."),
        ("abcd", ["ac", "ad", "bc", "bd"], "Of four models, a and b know Physics best; they" + ALIKE),
        ("abcd", ["ad", "bd", "cd"], "Of four models, a, b and c know Physics best; they" + ALIKE),
        ("abcd", ["ad", "bc"], "Of four models, a ranks first on Physics; b and c" + FROM_IT),
        ("abcd", [], "The four models cannot be told apart on Physics; a ranks first."),
        ("a", [], "a is the only model that was scored on Physics: its trimmed mean rank is 10.0."),
        ("", [], "No model has been ranked on Physics yet."),
    ],
)  # fmt: skip
def test_the_answer_names_those_who_lead(tmp_path, models, apart, expected):
    run, benchmark = make_run(tmp_path, apart, models)
    found = answer(run, benchmark, "trimmed_mean")
    assert to_text(found) == expected
    assert {piece.text for piece in found if piece.name} <= {*NAMES, "Physics"}


def test_without_intervals_the_answer_does_not_say_who_is_apart(tmp_path):
    run, benchmark = make_run(tmp_path, [], p="")
    assert to_text(answer(run, benchmark, "trimmed_mean")).endswith("cannot be said with a single keyword.")
    alone = Run(tmp_path, [benchmark], [], [], run.groups)
    assert to_text(answer(alone, benchmark, "trimmed_mean")).endswith(
        "cannot be said before they are compared."
    )


def test_the_lead_has_its_interval(tmp_path):
    run, benchmark = make_run(tmp_path, ["ab"])
    (lead,) = explain(run, benchmark, "trimmed_mean")
    text = "a has a trimmed mean rank of 10.0, b one of 20.0 (the difference lies between 1.0 and 9.0)."
    assert to_text(lead) == text


def test_leaders_are_those_not_apart_from_the_best(tmp_path):
    run, _ = make_run(tmp_path, ["ad", "bc"])
    assert find_leaders("abcd", run.comparisons) == (["a", "b", "c"], False)


def test_numbers_are_words_up_to_twelve():
    assert [spell_number(number) for number in (2, 12, 13, 1200)] == ["two", "twelve", "13", "1,200"]
