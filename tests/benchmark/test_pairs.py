"""Which pairs are drawn, in which order, and that nothing else decides."""

import json
import subprocess
from pathlib import Path

import polars as pl
import pytest
from tests.benchmark.made_pairs import KEYWORD, TERMS, encode_offsets, make, matches, sentence_with
from tests.programs import MODELS, run_program
from tests.refusals import refuses
from tests.tables import fill_table, write_delimited

from fathom.benchmark.association import Associations
from fathom.benchmark.pairs import Accepted, write_pairs
from fathom.config.benchmark import Pairs
from fathom.io.contracts.benchmark import ASSOCIATIONS, MATCHES, PAIRS
from fathom.io.contracts.corpus import INDEX
from fathom.io.files import hash_file, hash_text
from fathom.io.tables import make_empty_table, read_table, write_table


def test_pairs_meet_their_contract():
    none = Associations(make_empty_table(ASSOCIATIONS))
    frame = matches((KEYWORD, "a1", sentence_with("pooling")))
    (row,) = make(frame, "pooling", associations=none, min_association=0, gifts=True).pairs.to_dicts()
    prompt = "We saw that in the year 0 people wrote much about"
    assert row == {
        "pair_id": hash_text(KEYWORD, "tf", prompt, " pooling")[:16], "keyword": KEYWORD, "variant": "tf",
        "prompt": prompt, "target": " pooling", "doc_id": "a1", "date": "2024-01-02", "cosine": 0.625,
        "target_in_prompt": False, "target_in_keyword": False, "association": 0.0,
    }  # fmt: skip


def test_targets_take_turns(many):
    pairs = make(many, *TERMS, per_keyword=8).pairs
    for keyword in many["keyword"].unique():
        counts = pairs.filter(pl.col("keyword") == keyword)["target"].value_counts()
        assert dict(counts.iter_rows()) == {f" {word}": 2 for word in TERMS}


def test_a_frequent_target_fills_up_only_when_the_others_are_spent(many):
    one = many.filter(pl.col("keyword") == KEYWORD)
    available = {word: one["clean"].str.contains(f" {word} ").sum() for word in TERMS}
    quota = available["pooling"] + available["Laplacian"] + available["node"] + 60
    counts = dict(make(one, *TERMS, per_keyword=quota).pairs["target"].value_counts().iter_rows())
    assert counts == {f" {word}": min(available[word], 60) for word in TERMS}


def test_documents_take_turns_too():
    rows = [(KEYWORD, "big", sentence_with("pooling", number)) for number in range(50)]
    rows += [(KEYWORD, f"small{number}", sentence_with("pooling", 100 + number)) for number in range(9)]
    pairs = make(matches(*rows), "pooling", per_keyword=10).pairs
    assert pairs["doc_id"].n_unique() == 10


def test_documents_are_used_alike_however_often():
    rows = [(KEYWORD, f"d{number % 3}", sentence_with("pooling", number)) for number in range(120)]
    pairs = make(matches(*rows), "pooling", per_keyword=60).pairs
    assert pairs["doc_id"].value_counts()["count"].to_list() == [20, 20, 20]


def test_of_documents_with_the_same_sentence_one_is_drawn():
    frame = matches(*((KEYWORD, f"d{number}", sentence_with("pooling")) for number in range(9)))
    chosen = {make(frame, "pooling", seed=seed).pairs["doc_id"].item() for seed in range(9)}
    assert len(chosen) > 2


def test_documents_are_drawn_not_taken_in_their_order():
    rows = [(KEYWORD, f"d{number:02}", sentence_with("pooling", number)) for number in range(60)]
    chosen = make(matches(*rows), "pooling", per_keyword=6).pairs["doc_id"].to_list()
    assert max(chosen) > "d20" and sorted(chosen) != [f"d{number:02}" for number in range(6)]


def test_the_order_of_rows_changes_no_byte(many, tmp_path):
    hashes = set()
    for seed in range(3):
        shuffled = many.sample(fraction=1.0, shuffle=True, seed=seed)
        table, lines = tmp_path / f"{seed}.parquet", tmp_path / f"{seed}.jsonl"
        write_pairs(make(shuffled, *reversed(TERMS), per_keyword=20).pairs, table, lines)
        hashes.add((hash_file(table), hash_file(lines)))
    assert len(hashes) == 1


def test_how_many_sentences_are_tokenised_at_once_changes_nothing(many, monkeypatch):
    expected = make(many, *TERMS, per_keyword=20)
    assert expected.report["pairs"] == 40 and expected.report["left_out"]["quota_reached"] == 560
    monkeypatch.setattr("fathom.benchmark.pairs._CHUNK", 1)
    assert make(many, *TERMS, per_keyword=20).pairs.equals(expected.pairs)


def test_no_more_is_tokenised_than_needed(many):
    seen: list[str] = []

    def encode(sentences: list[str]) -> list[list[tuple[int, int]]]:
        seen.extend(sentences)
        return encode_offsets(sentences)

    make(many, *TERMS, per_keyword=2, encode=encode)
    assert len(seen) <= 2 * 2 * 32


def test_a_smaller_quota_gives_a_part_of_the_larger_ones_pairs(many):
    one = many.filter(pl.col("keyword") == KEYWORD)
    small, large = (set(make(one, *TERMS, per_keyword=quota).pairs["pair_id"]) for quota in (7, 23))
    assert len(small) == 7 and len(large) == 23 and small < large


def test_another_seed_gives_other_pairs(many):
    first, second = (make(many, *TERMS, per_keyword=10, seed=seed).pairs["pair_id"] for seed in (0, 1))
    assert set(first) != set(second)


def test_where_keywords_may_share_pairs_none_depends_on_the_others():
    both = [(keyword, "d", sentence_with("pooling", number)) for keyword in "ab" for number in range(30)]
    settings = {"per_keyword": 20, "in_other_keyword": True}
    alone = make(matches(*both[:30]), "pooling", **settings).pairs
    assert make(matches(*both), "pooling", **settings).pairs.filter(keyword="a").equals(alone)


def test_among_several_targets_one_is_drawn():
    middle = " ".join(f"w{number}" for number in range(10))
    rows = [(KEYWORD, f"d{number}", f"Case {number} {middle} node or edges here.") for number in range(40)]
    counts = make(matches(*rows), "node", "edges", earlier_terms="adjacent").pairs["target"].value_counts()
    assert dict(counts.iter_rows()).keys() == {" node", " edges"}
    for seed in range(5):  # each target has its turn, whatever the sentence could have
        some = make(
            matches(*rows), "node", "edges", earlier_terms="adjacent", per_keyword=20, seed=seed
        ).pairs
        assert sorted(some["target"]) == [" edges"] * 10 + [" node"] * 10


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    write_table(tmp_path / "sentences.parquet", matches((KEYWORD, "a1", sentence_with("pooling"))), MATCHES)
    index = fill_table(INDEX, doc_id=["a1"], date="2024-05-06", domains=[["g"]])
    write_table(tmp_path / "index.parquet", index, INDEX)
    write_delimited(tmp_path / "vocabulary.tsv", ["keyword", "term"], [[KEYWORD, " pooling"]])
    write_table(tmp_path / "associations.parquet", make_empty_table(ASSOCIATIONS), ASSOCIATIONS)
    return tmp_path


def run_script(folder: Path, tokenizer: Path) -> subprocess.CompletedProcess[str]:
    names = {
        "--sentences": "sentences.parquet", "--vocabulary": "vocabulary.tsv", "--index": "index.parquet",
        "--pairs": "pairs.parquet", "--lines": "pairs.jsonl", "--report": "pairs.json",
        "--associations": "associations.parquet",
    }  # fmt: skip
    paths = [part for option, name in names.items() for part in (option, str(folder / name))]
    settings = json.dumps({"tokenizer": "gpt2", "min_association": 0, "gifts": True})
    return run_program(
        "make_pairs", *paths, "--tokenizer", tokenizer, "--variant", "tf", "--settings", settings,
        imports=MODELS,
    )  # fmt: skip


def test_the_script_writes_the_same_pairs_twice(inputs, shared):
    run_script(inputs, shared / "tokenizers/gpt2")
    pairs = read_table(inputs / "pairs.parquet", PAIRS)
    lines = [json.loads(line) for line in (inputs / "pairs.jsonl").read_text().splitlines()]
    assert lines == pairs.to_dicts() and pairs["date"].to_list() == ["2024-05-06"]
    assert list(lines[0]) == PAIRS.names
    assert len(json.loads((inputs / "pairs.json").read_text())["tokenizer"]) == 64


def test_a_folder_without_tokenizer_is_an_error(inputs):
    with refuses("tokenizer"):
        run_script(inputs, inputs)


WORDS = [f"{first}{second}x" for first in "abcdefgh" for second in "aeiou"]


def accept(**values) -> Accepted:
    return Accepted(Pairs(tokenizer="t", **values))


def write(*numbers: int) -> str:
    return " ".join(WORDS[number] for number in numbers)


@pytest.mark.parametrize("words", ["network", "networks"])
def test_a_target_may_have_five_pairs_whatever_its_share(words):
    accepted = accept(max_target_share=0.01)
    for number in range(5):
        assert accepted.has_room("network")
        accepted.add((f"prompt {number}", " Network"), write(number))
    assert not accepted.has_room(words) and accepted.has_room("tree")


def test_beyond_five_a_target_has_its_share_of_all_pairs_with_the_new_one():
    accepted = accept(max_target_share=0.5)
    for number in range(10):
        accepted.add((f"prompt {number}", f" {WORDS[20 + number] if number < 5 else 'tree'}"), write(number))
    assert not accepted.has_room("tree")
    accepted.add(("other", f" {WORDS[30]}"), write(30))
    assert accepted.has_room("tree"), "6 of 12"


@pytest.mark.parametrize(
    ("sentence", "copies"),
    [
        (write(0, 1, 2, 3, 4, 5, 6, 7), True),
        (write(0, 1, 2, 3, 4, 5, 6, 7).upper() + ".", True),
        (write(0, 1, 2, 3, 4, 5, 6), True),
        (write(0, 1, 2, 3, 4, 5, 8, 9), True),  # 4 sequences of 8
        (write(0, 1, 2, 3, 4, 8, 9, 10), False),  # 3 of 9
        (write(0, 1, 2, 3, 4, 5), True),  # 4 of 6
        (write(1, 2, 3, 4), False),  # 2 of 6
        (write(1, 2, 3, 4, 5), True),  # 3 of 6
        (write(0, 1, 8, 2, 3, 9, 4, 5), False),
        (write(7, 6, 5, 4, 3, 2, 1, 0), False),
    ],
)
def test_a_copy_shares_half_of_all_sequences_of_three_words(sentence, copies):
    accepted = accept()
    accepted.add(("prompt", " target"), write(*range(20, 40)))
    accepted.add(("first", " target"), write(*range(8)))
    found = accepted.find_reason(("second", " target"), sentence)
    assert found == ("near_copy" if copies else "")
    assert accept(near_copies=True).find_reason(("second", " target"), sentence) == ""


def test_short_sentences_are_copies_if_they_are_equal_but_for_numbers():
    accepted = accept()
    accepted.add(("a", " b"), "In 1999 it")
    accepted.add(("c", " d"), "two words")
    assert accepted.find_reason(("e", " f"), "In 2004 it") == "near_copy"
    assert accepted.find_reason(("e", " f"), "In May it") == ""
    assert accepted.find_reason(("e", " f"), "two words") == "near_copy"
    assert accepted.find_reason(("e", " f"), "two words more") == ""
    assert accepted.find_reason(("e", " f"), "two") == ""


@pytest.mark.parametrize("shared", [True, False])
def test_pairs_of_other_keywords_count_unless_keywords_may_share_them(shared):
    accepted = accept(in_other_keyword=shared)
    accepted.begin_keyword()
    accepted.add(("a", " b"), write(0, 1, 2, 3))
    assert accepted.find_reason(("a", " b"), write(5)) == "same_pair"
    accepted.begin_keyword()
    assert accepted.find_reason(("a", " b"), write(5)) == ("" if shared else "in_other_keyword")
    assert accepted.find_reason(("c", " d"), write(0, 1, 2, 3)) == ("" if shared else "near_copy")
    accepted.add(("c", " d"), write(9))
    accepted.begin_keyword()
    assert accepted.find_reason(("a", " b"), write(5)) == ("" if shared else "in_other_keyword")
