"""Examples: documents stay in one split, options are wrong ones, nothing depends on the order of pairs."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.refusals import refuses

from fathom.config.tuning import Limits
from fathom.io.contracts.ranking import EXAMPLES
from fathom.io.tables import check_table
from fathom.tuning.examples import (
    SPLITS,
    limit_examples,
    make_completions,
    make_questions,
    make_texts,
    split_by,
    take_training,
)


def test_completions_keep_a_document_in_one_split(pairs):
    examples = make_completions(pairs)
    check_table(examples.to_arrow(), EXAMPLES)
    joined = examples.join(pairs, left_on="example_id", right_on="pair_id")
    assert len(joined) == len(pairs)
    assert set(examples["split"]) == set(SPLITS)
    assert joined.group_by("doc_id").agg(pl.col("split").n_unique())["split"].to_list() == [1] * 40
    assert joined["prompts"].list.first().to_list() == joined["prompt"].to_list()


def test_questions_have_one_right_option(pairs):
    examples = make_questions(pairs, 4)
    check_table(examples.to_arrow(), EXAMPLES)
    by_prompt = pairs.group_by("prompt").agg(pl.col("target"))
    right = {prompt: set(targets) for prompt, targets in by_prompt.iter_rows()}
    own = dict(pairs.select("pair_id", "target").iter_rows())
    for row in examples.iter_rows(named=True):
        assert len(set(row["targets"])) == 4
        assert row["targets"][row["gold"]] == own[row["example_id"]]
        assert len(set(row["targets"]) & right[row["prompts"][0]]) == 1, "no other option is right as well"
    assert set(examples["gold"]) == {0, 1, 2, 3}


def test_the_order_of_pairs_does_not_matter(pairs):
    other = pairs.sort("prompt", descending=True)
    for make in (make_completions, lambda frame: make_questions(frame, 3)):
        assert make(pairs).sort("example_id").equals(make(other).sort("example_id"))
    assert not make_questions(pairs, 3).equals(make_questions(pairs, 3, seed=1))


def test_a_question_of_more_options_than_there_are_targets(pairs):
    with refuses("40 options"):
        make_questions(pairs, 40)


def test_texts_are_split_eight_to_one_to_one():
    texts = pl.DataFrame(
        [{"doc_id": f"d{number}", "split": "", "text": "a text"} for number in range(3000)]
        + [{"doc_id": "empty", "split": "", "text": " \n"}]
    )
    examples = make_texts(texts)
    check_table(examples.to_arrow(), EXAMPLES)
    counts = dict(examples["split"].value_counts().iter_rows())
    assert len(examples) == 3000
    assert counts["train"] == pytest.approx(2400, rel=0.05)
    assert counts["valid"] == pytest.approx(300, rel=0.2)


def test_no_text_is_tested_that_models_were_adapted_on():
    splits = ["adapt-train"] * 80 + ["adapt-valid"] * 10 + ["adapt-test"] * 10
    texts = pl.DataFrame(
        [{"doc_id": f"d{number}", "split": split, "text": "a text"} for number, split in enumerate(splits)]
    )
    joined = make_texts(texts).join(texts, left_on="example_id", right_on="doc_id")
    assert joined.group_by("split").agg(pl.col("split_right").unique()).sort("split").rows() == [
        ("test", ["adapt-test"]), ("train", ["adapt-train"]), ("valid", ["adapt-valid"])]  # fmt: skip


@given(st.text(), st.floats(0.1, 0.5), st.floats(0.5, 0.9))
def test_a_split_is_one_of_three(name, first, second):
    assert split_by(name, (first, second)) in SPLITS
    assert split_by(name, (1.0, 1.0)) == "train"


def test_limits_choose_by_content(pairs):
    examples = make_completions(pairs)
    limited, left = limit_examples(examples, Limits(train=10, valid=5, test=7))
    again, _ = limit_examples(examples.reverse(), Limits(train=10, valid=5, test=7))
    assert limited.equals(again)
    assert dict(limited["split"].value_counts().iter_rows()) == {"train": 10, "valid": 5, "test": 7}
    assert sum(left.values()) == len(examples) - 22


def test_fewer_training_examples_are_a_part_of_more(pairs):
    examples, _ = limit_examples(make_completions(pairs), Limits())
    few, more = (take_training(examples, count) for count in (5, 20))
    for some, count in ((few, 5), (more, 20)):
        assert (some["split"] == "train").sum() == count
        assert some.filter(pl.col("split") != "train").equals(examples.filter(pl.col("split") != "train"))
    assert set(few["example_id"]) < set(more["example_id"]) < set(examples["example_id"])
    assert take_training(examples, None).equals(examples)


def test_without_a_validation_split_a_share_of_the_training_part_becomes_one(pairs):
    examples = make_completions(pairs).filter(pl.col("split") != "valid")
    limited, _ = limit_examples(examples, Limits(valid_share=0.5))
    counts = dict(limited["split"].value_counts().iter_rows())
    assert counts["train"] + counts["valid"] == (examples["split"] == "train").sum()
    assert counts["valid"] == pytest.approx(counts["train"], rel=0.5)
    assert counts["test"] == (examples["split"] == "test").sum()


@pytest.mark.parametrize(("split", "what"), [("train", "to train on"), ("test", "to test")])
def test_a_task_without_a_part_is_refused(pairs, split, what):
    examples = make_completions(pairs).filter(pl.col("split") != split)
    with refuses("no examples", what):
        limit_examples(examples, Limits())
