"""What looks say of keywords, from tables of scores that lie in the folder of a watch."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from tests.refusals import refuses

from fathom.explorer.watch_page import write_watch_page
from fathom.io.contracts.scoring import SCORES
from fathom.io.files import hash_file, write_json, write_json_lines
from fathom.io.tables import write_table
from fathom.models.loading import Pointer
from fathom.models.open_model import OpenModel
from fathom.statistics.clustered_tests import bound_mean
from fathom.studies.watching import Watch, describe_look, is_tied, plan_watch

LOOKS, SENTENCES = 6, 9
WORDS = ("grain", "stamp", "lever", "oxide", "plume", "hinge", "cedar", "quartz", "viola")
KEYWORDS = ("decision tree", "random forest", "kernel", "lattice")


def make_pairs(narrow: str = "") -> pl.DataFrame:
    """Return pairs of four keywords; the targets of the narrow one are forms of one word."""
    rows = [
        (f"{keyword}-{number}", keyword, f"In text {number} the {keyword} is a",
         f" {('decision', 'decisions')[number % 2] if keyword == narrow else WORDS[number]}", f"d{number}")
        for keyword in KEYWORDS
        for number in range(SENTENCES)
    ]  # fmt: skip
    return pl.DataFrame(rows, ["pair_id", "keyword", "prompt", "target", "doc_id"], orient="row")


def make_scores(
    pairs: pl.DataFrame, bits: NDArray[np.float64], ties: int = 0, tokens: int = 1
) -> pl.DataFrame:
    """Return a table of scores with these bits."""
    count = len(pairs)
    columns = {
        "tokens": (tokens, pl.Int32), "rank": (1.0, pl.Float64), "rank_midpoint": (1.0, pl.Float64),
        "rank_first": (1, pl.Int64), "rank_share": (0.01, pl.Float64), "ties": (ties, pl.Int64),
        "probability": (0.5, pl.Float64), "log_probability": (-0.7, pl.Float64),
        "backed_off": (False, pl.Boolean), "rival_rank": (2.0, pl.Float64), "rival": ("stamp", pl.String),
        "bits": (bits, pl.Float64), "ceiling": (3.0, pl.Float64),
    }  # fmt: skip
    series = [
        pl.Series(name, value if isinstance(value, np.ndarray) else [value] * count, dtype=dtype)
        for name, (value, dtype) in columns.items()
    ]
    return pairs.select("pair_id", "keyword").with_columns(series)


def watch_scores(folder: Path, pairs: pl.DataFrame, moved: str, forgotten: str = "") -> Watch:
    """Return a watch over scores in which one keyword learns steadily, one may be forgotten, others stay."""
    write_json_lines(folder / "pairs.jsonl", pairs.iter_rows(named=True))
    output, random = folder / "w", np.random.default_rng(0)
    identity = {"pairs": hash_file(folder / "pairs.jsonl"), "base": "", "by": "bits"}
    write_json(output / "watch.json", identity)
    for look in range(LOOKS):
        gain = 0.6 * look * (pairs["keyword"] == moved).to_numpy()
        gain -= 0.6 * look * (pairs["keyword"] == forgotten).to_numpy()
        bits = gain + random.normal(scale=0.05, size=len(pairs))
        write_table(output / "scores" / f"checkpoint-{look}.parquet", make_scores(pairs, bits), SCORES)
        write_json(output / "scores" / f"checkpoint-{look}.json", {})
    return Watch(folder / "pairs.jsonl", output, "", refuse_to_open)


def refuse_to_open(pointer: Pointer) -> OpenModel:
    raise AssertionError(pointer)


def test_a_keyword_that_knowledge_moves_is_named_and_its_pairs_stand_below_it(tmp_path):
    watch = watch_scores(tmp_path, make_pairs(), "kernel")
    assert watch.rows[-1]["learned"] == ["kernel"] and watch.rows[-1]["forgotten"] == []
    assert watch.rows[-1]["bits"] == pytest.approx(0.6 * 5 / 4, abs=0.1)
    shown = watch.list_pairs("kernel")
    assert len(shown) == SENTENCES and all(pair["prompt"].endswith("kernel is a") for pair in shown)
    assert all(pair["change"] == pytest.approx(pair["last"] - pair["first"]) for pair in shown)
    write_watch_page(watch)
    page = (watch.output / "index.html").read_text()
    assert page.count("<summary>") == 1 and "its 9 pairs" in page
    assert "In text 3 the kernel is a → oxide" in page and "the lattice is a" not in page
    assert "compared with checkpoint-0" in page and "(bits)" in page
    assert "of 4 keywords none is forgotten and 1 is learned" in page


def test_forgotten_keywords_come_first_each_with_the_look_from_which_on_it_is(tmp_path):
    watch = watch_scores(tmp_path, make_pairs(), "decision tree", "random forest")
    rows = watch.list_keywords()
    changes = [row["change"] for row in rows]
    assert rows[0]["keyword"] == "random forest" and rows[-1]["keyword"] == "decision tree"
    assert changes == sorted(changes) and changes[0] == pytest.approx(-3, abs=0.1)
    for row, verdict in ((rows[0], "forgotten"), (rows[-1], "learned")):
        named = [look["checkpoint"] for look in watch.rows if row["keyword"] in look[verdict]]
        assert row["verdict"] == verdict and row["since"] == named[0] and len(named) > 1
        assert named == watch.scored[-len(named) :] != watch.scored
    assert {(row["verdict"], row["since"]) for row in rows[1:-1]} == {("", "")}
    assert watch.forgotten == ["random forest"]


def test_the_change_over_all_pairs_has_an_interval_over_keywords(tmp_path):
    row = watch_scores(tmp_path, make_pairs(), "kernel").rows[-1]
    # one of four keywords moved by 3 bits
    assert row["low"] < 0 < row["change"] < row["high"] and abs(row["change"] - 0.75) < 0.1
    changes = np.repeat([0.0, 3.0, 0.0, 0.0], SENTENCES)
    low, high = bound_mean(changes, np.repeat(np.arange(4), SENTENCES), 0.95)
    assert (row["low"], row["high"]) == pytest.approx((low, high), abs=0.1)


def test_only_keywords_that_can_be_named_are_counted(tmp_path):
    watch = watch_scores(tmp_path, make_pairs(narrow="decision tree"), "decision tree")
    assert "of 3 keywords none is forgotten" in describe_look(watch.rows, watch.plan)


def test_a_keyword_whose_targets_are_one_word_is_never_named(tmp_path):
    watch = watch_scores(tmp_path, make_pairs(narrow="decision tree"), "decision tree")
    assert [row["learned"] for row in watch.rows] == [[]] * LOOKS
    (told,) = (row for row in watch.list_keywords() if row["keyword"] == "decision tree")
    assert told["targets"] == 1 and told["change"] > 1 and np.isnan(told["p"])
    assert "1 keyword cannot be named" in watch.plan.describe()


def test_one_target_in_most_pairs_is_not_several_targets():
    pairs = make_pairs()
    many = pl.when(pl.int_range(pl.len()).over("keyword") < 6).then(pl.lit(" viola")).otherwise("target")
    crowded = pairs.with_columns(target=pl.when(keyword="lattice").then(many).otherwise("target"))
    assert plan_watch(pairs).sentences.can_be_named.all()
    plan = plan_watch(crowded)
    assert dict(zip(plan.sentences.names, plan.sentences.can_be_named.tolist(), strict=True)) == {
        "decision tree": True, "kernel": True, "lattice": False, "random forest": True,
    }  # fmt: skip


def test_pairs_without_documents_are_of_one_sentence_if_they_begin_alike():
    prompts = ["The red pump is", "The red pump lifts water to", "The red tank is"]
    pairs = pl.DataFrame({"keyword": "pump", "prompt": prompts, "target": [" a", " the", " a"]})
    places = plan_watch(pairs, "log_probability").sentences.places.tolist()
    assert places[0] == places[1] != places[2]


def test_pairs_without_keywords_are_tested_by_log_probability_and_bits_are_refused():
    pairs = make_pairs().with_columns(keyword=pl.lit(""))
    plan = plan_watch(pairs)
    assert plan.metric.name == "log_probability" and plan.kept.all()
    with refuses("no bits", "log_probability"):
        plan_watch(pairs, "bits")


def test_a_folder_of_a_watch_by_another_measure_is_refused(tmp_path):
    watch_scores(tmp_path, make_pairs(), "kernel")
    with refuses("another --by"):
        Watch(tmp_path / "pairs.jsonl", tmp_path / "w", "", refuse_to_open, "log_probability")


def test_pairs_without_bits_are_refused_with_the_measure_that_they_have(tmp_path):
    pairs = make_pairs()
    watch_scores(tmp_path, pairs, "kernel")
    bits = np.where(np.arange(len(pairs)) < 2, np.nan, 1.0)
    write_table(tmp_path / "w" / "scores" / "checkpoint-3.parquet", make_scores(pairs, bits), SCORES)
    with refuses("2 of 36 pairs", "checkpoint-3", "--by log_probability"):
        Watch(tmp_path / "pairs.jsonl", tmp_path / "w", "", refuse_to_open)


def test_a_model_to_which_all_words_are_alike_is_told():
    pairs = make_pairs()
    zeros = np.zeros(len(pairs))
    for tokens in (1, 2):  # ties of all tokens are added up
        assert is_tied(make_scores(pairs, zeros, 99 * tokens, tokens))
        assert not is_tied(make_scores(pairs, zeros, 98 * tokens, tokens))
    row = {"checkpoint": "checkpoint-7", "tied": True}
    assert "checkpoint-7 all words are equally likely" in describe_look([row], plan_watch(pairs))
