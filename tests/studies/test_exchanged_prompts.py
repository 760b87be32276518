import polars as pl
import pytest
from perf.studies.exchanged_prompts import correlate_pairs, draw_pairs, exchange_prompts

TERMS = ["spin", "lattice", "phonon", "magnet", "gap"]


def _make_pairs(prompts, target=" lattice"):
    return pl.DataFrame(
        [(f"p{place}", f"k{place % 2}", prompt, target) for place, prompt in enumerate(prompts)],
        ["pair_id", "keyword", "prompt", "target"],
        orient="row",
    )


def test_exchanged_prompts_have_other_terms_and_no_form_of_the_target():
    pairs = _make_pairs(
        ["the spin of a phonon couples to the", "a magnet has a gap in its", "we show that the"]
    )
    exchanged, told = exchange_prompts(pairs, TERMS, 3)
    sources = dict(pairs.select("pair_id", "prompt").iter_rows())
    assert exchanged["source"].unique().sort().to_list() == ["p0", "p1"]
    assert exchanged.group_by("source").len()["len"].to_list() == [3, 3]
    for prompt, source in exchanged.select("prompt", "source").iter_rows():
        words, before = prompt.split(), sources[source].split()
        assert len(words) == len(before) and words != before and "lattice" not in words
        changed = [(one, other) for one, other in zip(before, words, strict=True) if one != other]
        assert all(one in TERMS and other in TERMS for one, other in changed)
    assert "2 of 3 pairs" in told and "1 have no term" in told


def test_pairs_are_drawn_by_their_texts_alone():
    pairs = _make_pairs([f"prompt {number} of the" for number in range(30)])
    drawn = draw_pairs(pairs, 10)
    again = draw_pairs(pairs.reverse(), 10)
    assert drawn.equals(again) and len(drawn) == 10


def test_a_correlation_over_pairs_draws_clusters():
    values = pl.Series([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).to_numpy()
    found = correlate_pairs(values, values * 2, ["a", "a", "b", "b", "c", "c"], "pearson")
    assert found.value == pytest.approx(1)
    assert found.freedom == 2
