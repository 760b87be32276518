"""What makes no pair, and that all of it is counted."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.benchmark.made_pairs import KEYWORD, TERMS, encode_offsets, make, matches, sentence_with
from tests.refusals import refuses

from fathom.benchmark.association import Associations
from fathom.benchmark.gathered_matches import divide_by_keyword
from fathom.benchmark.pairs import has_gap, make_pairs
from fathom.config.benchmark import Pairs
from fathom.io.contracts.benchmark import ASSOCIATIONS
from fathom.io.tables import make_empty_table

ANY = {"min_association": 0, "gifts": True}
"""Settings that keep pairs whatever ties their target to the prompt."""


@pytest.mark.parametrize(("prompt", "expected"), [
    ("We adopt the network model of : we represent", True),
    ("It was introduced in . Then", True),
    ("as is shown by , among others", True),
    ("Capacity, as defined in", False),
    ("By Theorem <ref> we have", True),
    ("a Backdoor Bail-in : we develop", False),
    ("the ratio of 1.5 to .5", False),
    ("x < y of graphs: we", False),
])  # fmt: skip
def test_gaps_in_prompts_are_seen(prompt, expected):
    assert has_gap(prompt) is expected


def test_prompts_with_gaps_are_left_out_and_counted():
    whole = sentence_with("pooling")
    rows = matches((KEYWORD, "a1", whole), (KEYWORD, "a2", whole.replace("year 0", "year of <ref>")))
    found = make(rows, "pooling")
    assert found.pairs["doc_id"].to_list() == ["a1"]
    assert found.report["left_out"]["gap_in_prompt"] == 1
    assert make(rows, "pooling", gap_in_prompt=True).pairs["doc_id"].n_unique() == 2
    # what follows the target does not matter
    assert len(make(matches((KEYWORD, "a1", f"{whole} See <ref>.")), "pooling").pairs) == 1


def test_a_pair_of_two_keywords_counts_once_under_that_of_fewer_sentences():
    frame = matches(
        ("a", "d1", sentence_with("pooling", 1)),
        ("a", "d2", sentence_with("pooling", 2)),
        ("b", "d1", sentence_with("pooling", 1)),
    )
    found = make(frame, "pooling")
    assert sorted(found.pairs.select("keyword", "doc_id").iter_rows()) == [("a", "d2"), ("b", "d1")]
    assert found.report["left_out"]["in_other_keyword"] == 1
    every = make(frame, "pooling", in_other_keyword=True)
    assert len(every.pairs) == 3 and every.report["left_out"]["in_other_keyword"] == 0


def test_a_pair_that_another_keyword_has_gives_way_to_the_next_sentence():
    rows = [(keyword, "d", sentence_with("pooling", number)) for keyword in "ab" for number in range(60)]
    pairs = make(matches(*rows), "pooling", per_keyword=30).pairs
    assert pairs["keyword"].value_counts()["count"].to_list() == [30, 30]
    assert pairs.select("prompt", "target").is_unique().all()


@given(
    rows=st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 6), st.sampled_from(TERMS)), min_size=1),
    shuffled=st.randoms(use_true_random=False),
)
def test_without_repeated_pairs_nothing_else_is_lost(rows, shuffled):
    sentences = [(keyword, f"d{number}", sentence_with(term, number)) for keyword, number, term in rows]
    found = make(matches(*sentences), *TERMS)
    texts = list(found.pairs.select("prompt", "target").iter_rows())
    every = make(matches(*sentences), *TERMS, in_other_keyword=True).pairs
    assert len(set(texts)) == len(texts)
    assert set(texts) == set(every.select("prompt", "target").iter_rows())
    assert set(found.pairs["pair_id"]) <= set(every["pair_id"])
    shuffled.shuffle(sentences)
    assert make(matches(*sentences), *TERMS).pairs.equals(found.pairs)


@pytest.mark.parametrize("share", [1.0, 0.1])
def test_every_sentence_is_accounted_for(many, share):
    rest = matches(
        (KEYWORD, "x", "Too short for node"),
        (KEYWORD, "x", "This sentence holds no term whatever, though it is long enough."),
        (KEYWORD, "x", "Nor does this one, which is as long and about something else."),
        (KEYWORD, "x", "Thissentenceisquitelongbuthas fewtokens node andisover."),
        (KEYWORD, "x", "Here the node comes too early for a target, as anyone can see."),
        (KEYWORD, "x", sentence_with("node", 10_001)),
        (KEYWORD, "x", sentence_with("node", 10_001)),
        ("unknown", "x", sentence_with("node")),
    )
    settings = Pairs(tokenizer="any", per_keyword=1000, near_copies=True, max_target_share=share)
    dates = dict.fromkeys([*many["doc_id"], "x"], "")
    vocabulary = {KEYWORD: frozenset(TERMS), "idle": frozenset({"node"})}
    groups = divide_by_keyword(pl.concat([many, rest]))
    report = make_pairs(groups, vocabulary, lambda _: dates, "tf", settings, encode_offsets).report
    left_out = report["left_out"]
    assert report["sentences"] == len(many) + 8 == report["pairs"] + sum(left_out.values())
    assert (left_out["too_few_characters"], left_out["no_term"]) == (1, 2)
    assert (report["keywords"], report["keywords_with_pairs"], report["per_keyword"]) == (4, 1, 1000)
    assert left_out["too_few_tokens"] == left_out["no_target"] == 1
    assert left_out["same_pair"] >= 1 or share < 1
    assert (left_out["target_share"] > 0) == (share < 1)
    assert left_out["no_vocabulary"] == 301
    assert report["keywords_under_quota"] == {
        KEYWORD: report["pairs"], "idle": 0, "node embeddings": 0, "unknown": 0,
    }  # fmt: skip


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5])
def test_no_target_has_more_than_its_share_in_all_its_forms(many, share):
    words = {"edges": "edge", "Edge": "edge"}
    other = many.with_columns(
        keyword=pl.lit("other"), clean=pl.col("clean").str.replace("edges", "Edge", literal=True)
    )
    pairs = make(pl.concat([many, other]), *TERMS, "Edge", max_target_share=share).pairs
    stems = [words.get(target.strip(), target) for target in pairs["target"]]
    counts = {stem: stems.count(stem) for stem in stems}
    assert max(counts.values()) <= max(5, share * len(pairs))
    assert max(counts.values()) >= 0.8 * share * len(pairs)


def test_of_sentences_that_differ_in_few_words_one_makes_a_pair(many):
    found = make(many, *TERMS, near_copies=False)
    assert len(found.pairs) == 1
    assert found.report["left_out"]["near_copy"] > 100
    other = (
        KEYWORD,
        "x",
        "A quite different sentence of about the same length also speaks of one node here.",
    )
    assert len(make(pl.concat([many, matches(other)]), *TERMS, near_copies=False).pairs) == 2


def test_where_keywords_do_not_depend_on_each_other_copies_are_looked_for_in_each():
    rows = [(keyword, f"d{n}", sentence_with("node", n)) for keyword in (KEYWORD, "b c") for n in range(3)]
    both = make(matches(*rows), "node", near_copies=False, in_other_keyword=True)
    assert sorted(both.pairs["keyword"]) == sorted([KEYWORD, "b c"])
    one = make(matches(*rows), "node", near_copies=False)
    assert len(one.pairs) == 1


def test_pairs_that_are_too_long_are_dropped():
    frame = matches(
        (KEYWORD, "a", sentence_with("pooling")), (KEYWORD, "b", f"Well, {sentence_with('node')}")
    )
    assert len(make(frame, "pooling", "node", max_tokens=13).pairs) == 2
    shorter = make(frame, "pooling", "node", max_tokens=12)
    assert shorter.pairs["target"].to_list() == [" pooling"] and shorter.report["left_out"]["too_long"] == 1
    with refuses("too long 2"):
        make(frame, "pooling", "node", max_tokens=11)


def test_targets_in_prompt_or_keyword_are_marked_and_can_be_left_out():
    prompted = "pooling is what people in this year wrote of when they did pooling of graphs."
    frame = matches(
        (KEYWORD, "a", prompted),
        (KEYWORD, "b", sentence_with("networks")),
        (KEYWORD, "c", sentence_with("edges")),
    )
    terms = ("pooling", "networks", "edges")
    pairs, report, *_ = vars(make(frame, *terms, target_in_prompt=True)).values()
    assert report["target_in_prompt"] == report["target_in_keyword"] == 0.3333
    assert dict(pairs.select("target", "target_in_prompt").iter_rows()) == {
        " pooling": True, " networks": False, " edges": False,
    }  # fmt: skip
    assert dict(pairs.select("target", "target_in_keyword").iter_rows()) == {
        " pooling": False, " networks": True, " edges": False,
    }  # fmt: skip
    assert set(make(frame, *terms).pairs["target"]) == {" networks", " edges"}
    found = make(frame, *terms, target_in_keyword=False, target_in_prompt=True)
    assert set(found.pairs["target"]) == {" pooling", " edges"}
    report = make(frame, *terms, target_in_keyword=False).report
    assert report["left_out"]["target_in_prompt"] == report["left_out"]["target_in_keyword"] == 1


def test_pairs_of_weak_association_are_left_out_and_counted():
    sentence = sentence_with("edges with many pooling layers")
    frame = matches((KEYWORD, "a1", sentence), (KEYWORD, "a2", sentence_with("pooling")))
    rows = {"doc_id": ["a1"] * 2, "position": [0, 0], "association": [1.0, 3.0], "gift": False}
    starts = [sentence.index("edges"), sentence.index("pooling")]
    known = Associations(pl.DataFrame({**rows, "start": starts}))
    every = make(frame, "edges", "pooling", associations=known, **ANY)
    assert len(every.pairs) == 2 and set(every.pairs["association"]) <= {0.0, 1.0, 3.0}
    strong = make(frame, "edges", "pooling", associations=known, min_association=2.0)
    assert strong.pairs.select("target", "association").rows() == [(" pooling", 3.0)]
    assert strong.report["left_out"]["weak_association"] == 1
    # NaN passes
    unknown = make(frame, "edges", "pooling", min_association=2.0).pairs
    assert len(unknown) == 2 and unknown["association"].is_nan().all()


@pytest.mark.parametrize(
    ("bond", "prompt", "reason", "kept"),
    [
        ((2.0, False), "", "", {}),
        ((2.0, True), "", "gift", {"gifts": True}),
        ((0.0, True), "", "weak_association", ANY),
        ((2.0, False), "An MNP is small. ", "spelled_out", {"gifts": True}),
        ((float("nan"), False), "", "", {}),
    ],
)
def test_what_needs_no_knowledge_of_the_field_is_left_out_and_counted(bond, prompt, reason, kept):
    sentence = prompt + sentence_with("pooling").replace("much about", "on many new")
    frame = matches((KEYWORD, "a", sentence), (KEYWORD, "b", sentence_with("edges")))
    rows = [
        ("a", 0, sentence.index("pooling"), *bond),
        ("b", 1, frame["clean"][1].index("edges"), 9.0, False),
    ]
    known = Associations(pl.DataFrame(rows, make_empty_table(ASSOCIATIONS).schema, orient="row"))
    found = make(frame, "pooling", "edges", associations=known, gifts=False)
    left_out = {name: count for name, count in found.report["left_out"].items() if count}
    assert left_out == ({reason: 1} if reason else {})
    assert len(found.pairs) == 2 - len(left_out)
    assert len(make(frame, "pooling", "edges", associations=known, **kept).pairs) == 2


def test_no_pairs_is_an_error_with_reasons():
    with refuses("no term 1"):
        make(matches((KEYWORD, "a", sentence_with("pooling"))), "node")
    with refuses("no pair"):
        make(matches((KEYWORD, "a", sentence_with("pooling"))))
    # as of one document a thousand times, whose words stand together nowhere else
    none = Associations(make_empty_table(ASSOCIATIONS))
    with refuses("weak association 1", "pairs.min_association"):
        make(matches((KEYWORD, "a", sentence_with("pooling"))), "pooling", associations=none)


def test_a_document_that_the_index_lacks_is_an_error():
    frame = matches((KEYWORD, "a", sentence_with("pooling")))
    with refuses("index"):
        make_pairs(
            divide_by_keyword(frame), {KEYWORD: frozenset({"pooling"})}, lambda _: {}, "tf",
            Pairs(tokenizer="any"), encode_offsets,
        )  # fmt: skip
