"""Token lists on sentences that can be counted by hand, under two kinds of tokenizer."""

from typing import Any

import polars as pl
import pytest
from tests.refusals import refuses
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from fathom.benchmark.gathered_matches import divide_by_keyword
from fathom.io.contracts.scoring import TOKEN_LISTS
from fathom.io.tables import check_table
from fathom.scoring.token_lists import decode_vocabulary, find_content_tokens, make_token_lists

STOPWORDS = frozenset({"the", "and", "with"})
SENTENCES = pl.DataFrame([
    {"keyword": "policy learning", "clean": "The agent learns with the agent"},
    {"keyword": "policy learning", "clean": "agent policy and policy"},
    {"keyword": "deep nets", "clean": "nets of an agent"},
])  # fmt: skip


def metaspace() -> PreTrainedTokenizerFast:
    """Return a tokenizer of whole words that marks the blank before a word, and divides `learns`."""
    words = ["<unk>", "<s>", "▁The", "▁the", "▁agent", "▁learn", "s", "▁with", "▁policy", "▁and", "▁nets",
             "▁of", "▁an", "▁Agent", "gent", "▁policies"]  # fmt: skip
    core = Tokenizer(models.Unigram([(word, -1.0 - len(word) / 100) for word in words], unk_id=0))
    core.pre_tokenizer = pre_tokenizers.Metaspace()
    core.decoder = decoders.Metaspace()
    return PreTrainedTokenizerFast(tokenizer_object=core, bos_token="<s>", unk_token="<unk>")


def wordpiece() -> PreTrainedTokenizerFast:
    words = ["[UNK]", "The", "the", "agent", "learn", "##s", "with", "pol", "##icy", "and", "nets", "of",
             "an", "##the"]  # fmt: skip
    core = Tokenizer(models.WordPiece({word: n for n, word in enumerate(words)}, unk_token="[UNK]"))
    core.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    core.decoder = decoders.WordPiece()
    return PreTrainedTokenizerFast(tokenizer_object=core, unk_token="[UNK]")


def bytes_of_characters() -> PreTrainedTokenizerFast:
    """Return a byte-level tokenizer with tokens for halves of a character."""
    words = ["<|end|>", "ð", "Ł", "ðŁĺ", "Ġagent", "!!!", "Ġab"]
    core = Tokenizer(models.WordLevel({word: n for n, word in enumerate(words)}, unk_token="<|end|>"))
    core.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=core, eos_token="<|end|>")


def make_lists(tokenizer: Any, length: int = 1200) -> list[tuple[str, str, int]]:
    names = decode_vocabulary(tokenizer)
    lists = make_token_lists(
        tokenizer, divide_by_keyword(SENTENCES), names, find_content_tokens(names, STOPWORDS), length
    )
    check_table(lists.to_arrow(), TOKEN_LISTS)
    assert [names[i] for i in lists["token_id"]] == lists["token"].to_list()
    return lists.select("keyword", "token", "count").rows()


NETS, AGENT = [("deep nets", "agent", 1), ("deep nets", "nets", 1)], ("policy learning", "agent", 3)


@pytest.mark.parametrize(("make", "length", "policy"), [
    (metaspace, 1200, {"policy": 2, "learn": 1}),  # it marks blanks
    (wordpiece, 1200, {"icy": 2, "pol": 2, "learn": 1}),  # it marks what stands inside a word
    (wordpiece, 2, {"icy": 2}),  # the most frequent are kept, ties go by text
])  # fmt: skip
def test_lists_by_frequency(make, length, policy):
    found = [("policy learning", token, count) for token, count in policy.items()]
    assert make_lists(make(), length) == [*NETS, AGENT, *found]


def test_the_order_of_sentences_does_not_matter():
    tokenizer = metaspace()
    names = decode_vocabulary(tokenizer)
    content = find_content_tokens(names, STOPWORDS)
    assert make_token_lists(tokenizer, divide_by_keyword(SENTENCES), names, content, 9).equals(
        make_token_lists(tokenizer, divide_by_keyword(SENTENCES.reverse()), names, content, 9)
    )


def test_special_tokens_and_parts_of_characters_are_no_content():
    names = decode_vocabulary(bytes_of_characters())
    assert names == ["", "", "", "", "agent", "!!!", "ab"]
    assert find_content_tokens(names, frozenset()).tolist() == [False] * 4 + [True, True, False]


def test_ids_that_a_vocabulary_leaves_out_are_no_content():
    core = Tokenizer(models.WordLevel({"<unk>": 0, "agent": 1, "policy": 7}, unk_token="<unk>"))
    core.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, unk_token="<unk>")
    names = decode_vocabulary(tokenizer)
    assert names == ["", "agent", "", "", "", "", "", "policy"]
    content = find_content_tokens(names, STOPWORDS)
    lists = make_token_lists(tokenizer, divide_by_keyword(SENTENCES[1:2]), names, content, 10)
    assert lists.select("token_id", "token", "count").rows() == [(7, "policy", 2), (1, "agent", 1)]


def test_stopwords_are_met_in_any_case():
    names = decode_vocabulary(metaspace())
    content = find_content_tokens(names, STOPWORDS)
    assert [name for name, kept in zip(names, content, strict=True) if kept] == [
        "agent", "learn", "policy", "nets", "Agent", "gent", "policies",
    ]  # fmt: skip


def test_a_keyword_of_stopwords_only_has_an_empty_list():
    tokenizer = metaspace()
    names = decode_vocabulary(tokenizer)
    sentences = pl.DataFrame({"keyword": ["k"], "clean": ["the and with"]})
    found = make_token_lists(
        tokenizer, divide_by_keyword(sentences), names, find_content_tokens(names, STOPWORDS), 9
    )
    assert found.is_empty()


def test_a_vocabulary_without_content_words_is_an_error():
    with refuses("3 characters"):
        find_content_tokens(["a", "the", "", "xy"], STOPWORDS)
