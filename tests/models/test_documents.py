"""Documents and prompts as token ids: which tokens can be predicted, and the exact bytes of their text."""

from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.refusals import refuses
from tests.tiny import make_word_tokenizer
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from fathom.benchmark.overlap import find_held_out_overlap
from fathom.models.tokens import encode_document, encode_prompts, encode_texts


def byte_level() -> PreTrainedTokenizerFast:
    """Return a tokenizer with a token for each byte, `<s>`, and one for ` the`."""
    vocabulary = {
        letter: place for place, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()), start=1)
    }
    vocabulary |= {"<s>": 0, "Ġt": 257, "he": 258, "Ġthe": 259}
    core = Tokenizer(models.BPE(vocabulary, [("Ġ", "t"), ("h", "e"), ("Ġt", "he")]))
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=core, bos_token="<s>", eos_token="<s>")


def words(normalizer: Any = None) -> PreTrainedTokenizerFast:
    """Return a tokenizer of whole words, to which `<s>` in a text is a BOS token."""
    tokenizer = make_word_tokenizer(["deep", "nets"])
    if normalizer is not None:
        tokenizer.backend_tokenizer.normalizer = normalizer
    return tokenizer


BYTES = byte_level()


@pytest.mark.parametrize(("text", "add_bos", "count", "rest"), [
    ("a the", True, 2, (0, 0, 5, 0)),
    ("a the", False, 2, (None, 1, 4, 1)),  # the first token is left out with its bytes
    ("😀é the", False, 4 + 2 + 1, (None, 4, 2 + 4, 4)),  # so are tokens of a divided character, together
])  # fmt: skip
def test_tokens_that_can_be_predicted_and_their_bytes(text, add_bos, count, rest):
    found = encode_document(BYTES, text, add_bos)
    assert len(found.ids) == count
    assert found[1:5] == rest


@settings(max_examples=150)
@given(text=st.text(st.characters(codec="utf-8"), max_size=30), add_bos=st.booleans())
def test_bytes_are_those_of_the_text(text, add_bos):
    found = encode_document(BYTES, text, add_bos)
    assert found.size + found.left_out == len(text.encode())
    # each token is its own bytes here, so the bytes of what is predicted are known
    sizes = [len(BYTES.convert_ids_to_tokens(number)) for number in found.ids]
    assert found.size == sum(sizes[found.start :])
    assert found.left_out == sum(sizes[: found.start])
    assert found.start == 0 if add_bos else found.start >= min(1, len(found.ids))


def test_bytes_are_those_before_a_normalizer():
    found = encode_document(words(normalizers.NFKC()), "ﬁx deep", add_bos=False)
    assert found[1:5] == (None, 1, 5, 4)


def test_a_bos_token_is_not_doubled():
    assert encode_document(words(), "<s> deep nets", add_bos=True)[:5] == ([2, 3], 1, 0, 10, 3)
    assert encode_document(words(), "<s>", add_bos=True)[:5] == ([], 1, 0, 0, 3)
    assert encode_prompts(words(), ["<s> deep", "nets"], add_bos=True) == [[1, 2], [1, 3]]


def test_tokens_in_stretches_do_not_count_and_their_bytes_are_exact():
    found = encode_document(BYTES, "a the 😀é", False, [(1, 5)])
    counted = [index for index in range(found.start, len(found.ids)) if index not in found.overlap]
    assert found.overlap and counted and found.size == len("a the 😀é".encode()) - found.left_out
    assert found.overlap_size == len(" the")
    whole = encode_document(BYTES, "a the 😀é", False, [(6, 7)])  # a character of several tokens
    assert len(whole.overlap) > 1 and whole.overlap_size >= len("😀".encode())
    assert encode_document(BYTES, "a the 😀é", False, [(0, 8)]).overlap_size == found.size


LINE_ENDS = r"[^\r\n\p{L}\p{N}]?\p{L}+| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
"""How recent tokenizers divide text: a dot may hold the end of its line, a word the tab before it."""


WORDS = ["the", "agent", "in", "each", "step", "learns", "a", "good", "policy"]
GAPS = (" ", "  ", ". ", "\n", ".\n\n", ".\r\n", "\n    ", ".\n\t", "\t", ' ("', ".  \n \n ")


def learn_tokenizer(pattern: str = "") -> PreTrainedTokenizerFast:
    """Return a tokenizer with a token for every part of a text, by GPT-2's division or another one."""
    core = Tokenizer(models.BPE())
    own = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=not pattern)
    divide = [pre_tokenizers.Split(Regex(pattern), "isolated")] if pattern else []
    core.pre_tokenizer = pre_tokenizers.Sequence([*divide, own])
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    learner = trainers.BpeTrainer(
        special_tokens=["<s>"], initial_alphabet=alphabet, show_progress=False, min_frequency=1
    )
    core.train_from_iterator([gap.join(WORDS) for gap in GAPS], learner)
    return PreTrainedTokenizerFast(tokenizer_object=core, bos_token="<s>")


LEARNED = [learn_tokenizer(pattern) for pattern in ("", LINE_ENDS)]


@settings(max_examples=50)
@given(st.lists(st.sampled_from(GAPS), min_size=9, max_size=9))
def test_the_same_bytes_are_left_out_whatever_the_tokenizer(gaps):
    text = "".join(word + gap for word, gap in zip(WORDS, gaps, strict=True))
    frame = pl.DataFrame({"doc_id": ["d"], "text": [text]})
    found = find_held_out_overlap(frame, [], ["In each step learns a good"], "ending").stretches
    ((start, end),) = found.select("start", "end").rows()
    sizes = {encode_document(each, text, True, [(start, end)]).overlap_size for each in LEARNED}
    assert sizes == {len(text[start:end].encode())}


def test_a_text_without_tokens_has_no_bytes_that_are_scored():
    for add_bos in (True, False):
        found = encode_document(words(), " \n ", add_bos)
        assert (found.ids, found.size, found.left_out) == ([], 0, 3)


def test_prompts_are_plain_without_a_bos_token():
    prompts = ["the", "a the", "<s>"]
    assert encode_prompts(BYTES, prompts, add_bos=False) == encode_texts(BYTES, prompts)
    assert encode_prompts(BYTES, prompts) == encode_texts(BYTES, prompts)


def test_a_prompt_without_a_token_is_named():
    with refuses("no token", "' '"):
        encode_prompts(words(), ["deep", " "])
