from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fathom.config.corpus import Splits
from fathom.corpus.selection import DomainSelector, SplitChooser, matches_category


@pytest.mark.parametrize(("pattern", "category", "fits"), [
    ("cs.AI", "cs.AI", True), ("cs.AI", "cs.AIX", False), ("cs.*", "cs.AI", True), ("cs.*", "cs", True),
    ("cs.*", "csx.AI", False), ("*", "anything", True),
])  # fmt: skip
def test_patterns(pattern, category, fits):
    assert matches_category(pattern, category) is fits


def test_categories_excludes_and_primary(dump):
    domains = {
        "b": {"categories": ["cs.*"]},
        "a": {"categories": ["cs.AI"]},
        "others": {"categories": ["*"], "exclude": ["cs.*"]},
    }
    any_category = DomainSelector(dump.select(domains=domains))
    assert any_category.select(["math.CO", "cs.AI"], "") == (["a", "b"], "")
    assert any_category.select([], "") == (["others"], "")
    primary = DomainSelector(dump.select(domains=domains, primary_only=True))
    assert primary.select(["math.CO", "cs.AI"], "") == (["others"], "")
    only_cs = DomainSelector(dump.select(domains={"a": {"categories": ["cs.AI"]}}))
    assert only_cs.select(["math.CO"], "2020-01-01") == ([], "in no domain")


def test_dates_limit_domains_and_corpus(dump):
    domains = {"new": {"categories": ["*"], "since": "2020-01-01", "until": "2020-12-31"}}
    selector = DomainSelector(dump.select(domains=domains))
    assert selector.select(["x"], "2020-01-01")[0] == ["new"]
    assert selector.select(["x"], "2020-12-31")[0] == ["new"]
    assert selector.select(["x"], "2019-12-31") == ([], "outside the dates")
    assert selector.select(["x"], "") == ([], "no date, but since or until is set")
    corpus = DomainSelector(dump.select(domains={"all": {"categories": ["*"]}}, since="2021-01-01"))
    assert corpus.select(["x"], "2020-06-01") == ([], "outside the dates")


def test_splits_keep_their_shares_and_depend_on_the_id_alone():
    chooser = SplitChooser(Splits())
    counts = Counter(chooser.choose(f"2401.{number:05d}") for number in range(20_000))
    shares = {"benchmark": 0.6, "adapt-train": 0.3, "adapt-valid": 0.05, "adapt-test": 0.05}
    for name, share in shares.items():
        assert abs(counts[name] / 20_000 - share) < 0.01
    assert chooser.choose("0704.0001") == "adapt-train"  # stays so on every machine


@given(st.text(), st.sampled_from([0.0, 0.25, 1.0]))
def test_an_empty_split_gets_nothing(doc_id, share):
    splits = Splits.model_validate(
        {"benchmark": share, "adapt-train": 1 - share, "adapt-valid": 0.0, "adapt-test": 0.0}
    )
    split = SplitChooser(splits).choose(doc_id)
    assert split in ("benchmark", "adapt-train")
    assert share or split != "benchmark"
    assert share < 1 or split == "benchmark"
