"""Ranks of targets among the targets of their benchmark."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.encoding import encode_pair
from tests.scoring.word_pairs import WORDS, make_pairs
from tests.tiny import make_byte_tokenizer, make_config, make_model

from fathom.benchmark import target_words
from fathom.config.scoring import Scoring
from fathom.scoring.bits import Rivals, choose_rivals, rank_among_rivals
from fathom.scoring.ranks import score_benchmarks


def test_ranks_are_those_of_a_plain_loop_and_do_not_depend_on_what_is_read_together(
    word_tokenizer, word_model
):
    pairs = make_pairs("p", [WORDS[number * 7 % 11] + f" {WORDS[40]}" * (number % 2) for number in range(20)])
    others = make_pairs("q", WORDS[50:60])
    (found, _) = score_benchmarks(word_model, word_tokenizer, [pairs, others], Scoring(batch_tokens=64))
    (alone,) = score_benchmarks(word_model, word_tokenizer, [pairs], Scoring(batch_tokens=64))
    assert alone["rival_rank"].equals(found["rival_rank"]) and alone["rival"].equals(found["rival"])

    words = sorted(set(pairs["target"]))
    table = []
    for prompt, target in pairs.select("prompt", "target").iter_rows():
        ids, start, _ = encode_pair(word_tokenizer, prompt, target, None)
        with torch.no_grad():
            row = word_model(torch.tensor([ids[:start]])).logits[0, -1].double().log_softmax(0)
        table.append([float(row[word_tokenizer(word.split()[0])["input_ids"][-1]]) for word in words])
    favour = np.array(table) - np.mean(table, axis=0)
    for row, target, rank, rival in zip(
        favour, pairs["target"], found["rival_rank"], found["rival"], strict=True
    ):
        place = words.index(target)
        tied = [word.split()[0] == target.split()[0] and word != target for word in words]
        clear = [other for other in range(len(words)) if not tied[other] and other != place]
        larger = sum(row[other] > row[place] for other in clear)
        assert rank == 1 + larger
        assert rival == (words[max(clear, key=lambda other: row[other])].strip() if larger else "")


def test_words_of_several_tokens_have_the_rivals_of_words_of_one(word_tokenizer, word_model):
    targets = [WORDS[number * 7 % 11] for number in range(20)]
    letters = make_byte_tokenizer(["a b"], 257)  # a token for each letter
    others = make_model(make_config("gpt2", 257, 120, initializer_range=0.5))
    assert len(letters(f" {targets[0]}")["input_ids"]) > 2 > len(word_tokenizer(targets[0])["input_ids"])
    whole, spelled = (
        choose_rivals(each, [f" {target}" for target in targets]) for each in (word_tokenizer, letters)
    )
    assert whole.words == spelled.words
    for each, read in ((word_tokenizer, word_model), (letters, others)):
        (found,) = score_benchmarks(read, each, [make_pairs("p", targets)], Scoring(batch_tokens=200))
        assert found["rival_rank"].is_between(1, len(whole.words)).all()
        assert set(found["rival"]) <= {"", *targets}


def test_other_forms_of_a_word_are_no_rivals_and_ties_count_half():
    words = [" network", " networks", " tree", " walk"]
    others = np.array([[-1, 5, 0, -1], [-3, -5, -2, -3]], np.float32)
    found = rank_among_rivals(
        Rivals(words, [0, 1, 2, 3]), [" network", " tree"], others[[0, 1], [0, 2]], others
    )
    # the first prompt favours `networks` most, but that is the same word; both trees and walks tie
    assert found.rank.tolist() == [2.0, 2.0] and found.first == ["", ""]


@given(st.lists(st.integers(-64, 64), min_size=5, max_size=5), st.randoms(use_true_random=False))
def test_what_is_the_same_for_every_prompt_changes_nothing(shifts, random):
    words = [" alpha", " bridge", " cloud", " desert", " engine"]
    targets = [random.choice(words) for _ in range(8)]
    # in eighths, so that sums of float32 are exact
    others = np.array([[random.randrange(-80, 0) / 8 for _ in words] for _ in targets], np.float32)
    own = np.array([row[words.index(target)] for row, target in zip(others, targets, strict=True)], float)
    moved = others + np.array(shifts, np.float32)
    own_moved = np.array(
        [row[words.index(target)] for row, target in zip(moved, targets, strict=True)], float
    )
    plain, shifted = (
        rank_among_rivals(Rivals(words, [*range(5)]), targets, *each)
        for each in ((own, others), (own_moved, moved))
    )
    assert plain.rank.tolist() == shifted.rank.tolist() and plain.first == shifted.first


def test_of_too_many_words_the_most_frequent_are_rivals_and_the_others_have_no_rank(
    word_tokenizer, monkeypatch
):
    monkeypatch.setattr(target_words, "MOST_RIVALS", 2)
    targets = [f" {WORDS[number]}" for number in (1, 2, 2, 3, 3)]
    chosen = choose_rivals(word_tokenizer, targets)
    assert chosen.words == sorted(targets[2:4])
    found = rank_among_rivals(chosen, targets, np.zeros(5), np.zeros((5, 2), np.float32))
    assert np.isnan(found.rank).tolist() == [True, False, False, False, False]


def test_words_that_only_begin_alike_are_rivals_and_short_words_have_forms_too():
    words = [" cat", " cats", " treaty", " tree"]
    others = np.zeros((4, 4), np.float32)
    others[1] = [1, 2, 0, 0]
    others[2] = [0, 0, 3, 4]
    found = rank_among_rivals(Rivals(words, [0, 1, 2, 3]), words, others.diagonal().astype(float), others)
    # `cats` is no rival of `cat`; the third prompt favours `tree` more than `treaty`
    usual = others.mean(axis=0)
    assert found.rank[2] == 2 and found.first[2] == "tree"
    assert found.rank[0] == 1 + sum(-usual[2:] > -usual[0]) and found.rank[1] == 1


def test_a_single_tie_counts_half():
    words = [" desert", " engine", " forest"]
    others = np.array([[0, 0, -9], [0, 0, -3]], np.float32)
    found = rank_among_rivals(Rivals(words, [0, 1, 2]), words[:1] * 2, np.zeros(2), others)
    assert found.rank.tolist() == [1.5, 2.5] and found.first == ["", "forest"]


def test_without_another_word_there_is_no_rank():
    found = rank_among_rivals(Rivals([" a"], [0]), [" a", " a"], np.zeros(2), np.zeros((2, 1), np.float32))
    assert np.isnan(found.rank).all() and found.first == ["", ""]


def test_a_form_of_a_word_of_three_letters_is_no_rival():
    others = np.array([[0, 9, 0], [0, -9, 0]], np.float32)
    found = rank_among_rivals(
        Rivals([" cat", " cats", " tree"], [0, 1, 2]), [" cat"] * 2, np.zeros(2), others
    )
    assert found.rank.tolist() == [1.5, 1.5]
