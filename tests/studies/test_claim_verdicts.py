"""The papers' claims: planted models for which each verdict is known."""

import math

import numpy as np
import pytest

from fathom.config.claims import Condition
from fathom.config.scoring import Summary
from fathom.errors import InputError
from fathom.io.contracts.studies import CLAIM_CORRELATIONS, CLAIM_MODELS, CLAIMS, FAILS, HOLDS, UNCLEAR
from fathom.statistics.bootstrap import Resampled
from fathom.studies.claim_verdicts import (
    Family,
    check_claims,
    correlate_metrics,
    count_checked,
    describe_conditions,
    judge,
    list_references,
)

SETTINGS = Summary(rounds=400)
PATHS = ([], ["d"], ["near"], ["far"], ["far", "d"], ["d", "far"])
KNOWLEDGE = (0.0, 2.0, 1.7, -0.5, 1.2, 0.5)
"""What each path knows of the domain, in the order of PATHS."""
RANK = {"rank": lambda known: 400 * math.exp(-known), "bits": lambda known: known,
        "perplexity": lambda known: 90 * math.exp(-known),
        "attribute_rate": lambda known: 0.3 + 0.1 * known}  # fmt: skip


def make_conditions(seeds=5):
    """Return the base and five kinds of adapted models."""
    return [
        Condition(
            path=path, models=[f"{'+'.join(['b', *path])}@{seed}" for seed in range(seeds if path else 1)]
        )
        for path in PATHS
    ]


def make_models(metric, known, conditions, noise):
    """Return series of all models whose resamples scatter by `noise` in units of knowledge."""
    random = np.random.default_rng(7)
    found = {}
    for condition, value in zip(conditions, known, strict=True):
        for name in condition.models:
            own = value + (noise * random.normal() if condition.path else 0.0)
            drawn = own + noise * random.normal(size=SETTINGS.rounds)
            found[name] = Resampled.join(RANK[metric](own), np.vectorize(RANK[metric])(drawn), 40)
    return found


def make_family(noise=0.02, seeds=5, **known):
    """Return a family; `known` says what a metric hears instead of the knowledge."""
    conditions = make_conditions(seeds)
    places = {"tf": ("tf", "rank"), "tfidf": ("tfidf", "rank"), "unused": ("unused", "rank"),
              "perplexity": ("text", "perplexity"), "attribute": ("keywords", "attribute_rate")}  # fmt: skip
    measured = {}
    for place, (name, (variant, metric)) in enumerate(places.items()):
        models = make_models(metric, known.get(name, KNOWLEDGE), conditions, noise * (1 + place / 10))
        for aggregate in ("trimmed_mean", "mean") if metric == "rank" else ("mean",):
            measured["d", variant, metric, aggregate] = models
    for variant in ("tf", "tfidf") if "bits" in known else ():
        measured["d", variant, "bits", "mean"] = make_models("bits", known["bits"], conditions, noise)
    return Family("d", conditions, ["near"], measured, SETTINGS)


def find_verdicts(family):
    """Return verdicts by claim and variant."""
    rows = [dict(zip(CLAIMS.names, row, strict=True)) for row in check_claims(family, ["unused"])]
    assert len(rows) == count_checked(1)
    return {(row["claim"], row["variant"]): row for row in rows}


def test_every_claim_holds_where_ranks_hear_knowledge_and_the_others_something_else():
    style = (0.0, -1.0, 0.5, 2.0, -0.5, 1.0)
    rows = find_verdicts(make_family(perplexity=style, attribute=style))
    held = {key for key, row in rows.items() if row["verdict"] == HOLDS}
    of_others = {"own before near", "last domain decides", "first domain is heard"}
    assert {key for key in rows if key[1] in ("tf", "tfidf")} <= held
    assert {("perplexity goes less", "text"), ("attribute rate does not", "keywords"),
            ("others order worse", "text"), ("others order worse", "keywords")} <= held  # fmt: skip
    failed = {key for key, row in rows.items() if row["verdict"] == FAILS}
    assert failed == {(claim, variant) for claim in of_others for variant in ("text", "keywords")}
    row = rows["near before far", "tf"]
    assert float(row["value"]) == pytest.approx(2.2, abs=0.05)
    assert float(row["ci_low"]) < 2.2 + 0.05 and row["claimed"] == "above 0" and row["reference"] == ""
    assert row["seeds"] == 5 and row["says"].startswith("the TF rank is better after")
    assert rows["goes with the reference", "tf"]["reference"] == "unused"
    assert rows["far is worse than the base", "tf"]["claimed"] == "below 0"


def test_what_is_said_of_ranks_is_asked_of_bits_and_leaves_the_papers_lines_as_they_are():
    style = (0.0, 1.0, 0.9, 0.9, 1.0, 0.9)
    papers = check_claims(make_family(tf=style, tfidf=style), ["unused"])
    found = check_claims(make_family(tf=style, tfidf=style, bits=KNOWLEDGE), ["unused"])
    assert found[: len(papers)] == papers and count_checked(1) == len(papers)
    rows = [dict(zip(CLAIMS.names, row, strict=True)) for row in found[len(papers) :]]
    assert {row["metric"] for row in rows} == {"bits"}
    of_bits = {(row["claim"], row["variant"]): row for row in rows}
    ranks = {row[2:3] + row[5:6] for row in papers if row[6:8] == ("rank", "trimmed_mean")}
    assert of_bits.keys() == ranks
    assert {row["verdict"] for row in rows} == {HOLDS}
    assert float(of_bits["near before far", "tf"]["value"]) == pytest.approx(2.2, abs=0.05)
    verdicts = {row[2:3] + row[5:6]: row[-1] for row in papers}
    assert verdicts["far is worse than the base", "tf"] == FAILS


def test_verdicts_hold_for_all_claims_together():
    """Claims without a difference seldom get a verdict; each alone, one of ten is outside its interval."""
    given = alone = 0
    for seed in range(15):
        conditions = make_conditions(5)
        random = np.random.default_rng(seed)
        models = {
            name: Resampled(np.exp(np.full(SETTINGS.rounds + 1, 5 + 0.1 * random.normal())), 40, 49)
            for each in conditions for name in each.models
        }  # fmt: skip
        measured = {("d", variant, "rank", "trimmed_mean"): models for variant in ("tf", "tfidf")}
        rows = find_verdicts(Family("d", conditions, ["near"], measured, SETTINGS)).values()
        gains = [row for row in rows if row["measured"].startswith("gain") and row["value"]]
        assert len(gains) == 10
        given += any(row["verdict"] != UNCLEAR for row in gains)
        alone += any(float(row["p"]) <= 0.05 for row in gains)
        for row in gains:
            assert float(row["p_adjusted"]) >= float(row["p"])
            outside = float(row["ci_low"]) > 0 or float(row["ci_high"]) < 0
            assert outside == (float(row["p"]) <= 0.05)
    assert given <= 2 < alone


def test_claims_fail_where_all_metrics_hear_the_same_or_far_domains_help():
    rows = find_verdicts(make_family(tf=(0.0, 1.0, 2.0, 1.5, 0.5, 0.8)))
    assert rows["attribute rate does not", "keywords"]["verdict"] == FAILS
    for claim in ("goes with the reference", "far is worse than the base", "expected order"):
        assert rows[claim, "tf"]["verdict"] == FAILS
    assert rows["perplexity goes less", "text"]["verdict"] == FAILS
    assert rows["goes with the reference", "tfidf"]["verdict"] == HOLDS


def test_nothing_can_be_told_from_noise_few_seeds_or_absent_models():
    noisy = find_verdicts(make_family(noise=3.0))
    assert noisy["near before far", "tf"]["verdict"] == UNCLEAR
    assert {row["verdict"] for row in find_verdicts(make_family(seeds=2)).values()} == {UNCLEAR}
    family = make_family()
    family.conditions = [each for each in family.conditions if each.path != ["near"]]
    row = find_verdicts(family)["near before far", "tf"]
    assert (row["value"], row["ci_low"], row["verdict"]) == ("", "", UNCLEAR)


@pytest.mark.parametrize(
    ("interval", "threshold", "above", "verdict"),
    [((0.8, 0.9), 0.7, True, HOLDS), ((0.6, 0.9), 0.7, True, UNCLEAR), ((0.5, 0.6), 0.7, True, FAILS),
     ((-0.3, -0.1), 0.0, False, HOLDS), ((0.1, 0.2), 0.0, False, FAILS), ((-0.1, 0.2), 0.0, False, UNCLEAR),
     ((0.0, 0.2), 0.0, True, UNCLEAR), ((0.0, 0.2), 0.0, False, UNCLEAR), ((-0.2, 0.0), 0.0, True, UNCLEAR),
     ((-0.2, 0.0), 0.0, False, UNCLEAR), ((math.nan, math.nan), 0.0, True, UNCLEAR)],
)  # fmt: skip
def test_the_whole_interval_decides(interval, threshold, above, verdict):
    assert judge((sum(interval) / 2, *interval), threshold, above, True) == verdict
    assert judge((sum(interval) / 2, *interval), threshold, above, False) == UNCLEAR


def test_agreement_is_positive_whatever_the_direction_of_a_metric():
    family = make_family()
    rows = [dict(zip(CLAIM_CORRELATIONS.names, row, strict=True))
            for row in correlate_metrics(family, ["unused"])]  # fmt: skip
    assert {row["variant"] for row in rows} == {"tf", "tfidf", "text", "keywords"}
    assert {row["reference"] for row in rows} == {"unused"}
    assert {(row["models"], row["seeds"]) for row in rows} == {(26, 5)}
    for row in rows:
        low, value, high = (float(row[name]) for name in ("ci_low", "value", "ci_high"))
        assert 0.8 < value <= 1 and low <= high
    against = make_family(attribute=[-known for known in KNOWLEDGE])
    found = against.correlate(("keywords", "attribute_rate", "mean"), ("unused", "rank", "trimmed_mean"))
    assert found.value < -0.8


def test_seeds_that_differ_widen_the_interval():
    family = make_family(noise=0.001)
    place = ("d", "tf", "rank", "trimmed_mean")
    narrow = family.gain(place[1:], "near").drawn.std()
    models = dict(family._measured[place])
    for seed, shift in enumerate((0.5, 0.8, 1.0, 1.2, 2.0)):
        own = models[f"b+near@{seed}"]
        models[f"b+near@{seed}"] = Resampled(own.rows * shift, own.items)
    family._measured[place] = models
    assert family.gain(place[1:], "near").drawn.std() > 10 * narrow


def test_models_are_described_with_their_roles_and_gains():
    rows = [dict(zip(CLAIM_MODELS.names, row, strict=True)) for row in describe_conditions(make_family())]
    tf = {row["role"]: row for row in rows if (row["variant"], row["aggregate"]) == ("tf", "trimmed_mean")}
    assert list(tf) == ["base", "own", "near", "far", "far, then own", "own, then far"]
    assert float(tf["base"]["gain"]) == 0 and float(tf["own"]["gain"]) == pytest.approx(2, abs=0.05)
    assert tf["near"]["seeds"] == 5 and tf["base"]["seeds"] == 1


def test_a_reference_that_was_written_counts_too_and_seeds_must_be_the_same():
    family = make_family()
    others = {("e", "clozes", "rank", "trimmed_mean"): {}}
    measured = family._measured | {("d", "reference", "rank", "trimmed_mean"): {}} | others
    assert list_references(measured, "d", ["unused", "clozes"]) == ["unused", "reference"]
    conditions = make_conditions()
    conditions[1].models.pop()
    with pytest.raises(InputError, match="differ in their number of seeds"):
        Family("d", conditions, [], measured, SETTINGS)
