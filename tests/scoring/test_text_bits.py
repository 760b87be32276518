"""Bits of any text: the same as perplexity's, on the same bytes for all models; where models differ."""

import math

import numpy as np
import polars as pl
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.refusals import refuses
from tests.tiny import KnownModel, make_byte_tokenizer, make_config, make_model, make_word_tokenizer

from fathom.models.tokens import encode_document
from fathom.scoring import text_bits
from fathom.scoring.perplexity import Windows, encode_texts, score_texts, score_tokens
from fathom.scoring.text_bits import (
    MeasuredText,
    Passage,
    compare_on_texts,
    count_bytes,
    find_passages,
    find_words,
    list_passages,
    spread_bits,
)

WORDS = [f"w{number}" for number in range(50)]
TEXT = "Der Bär trägt 東京の𝄞 music ,  and so on .\n\nA new line follows.  "
BYTES = make_byte_tokenizer([TEXT, "the music and the line"], 300)


def measure(model, tokenizer, texts: pl.DataFrame, add_bos: bool = False) -> MeasuredText:
    documents = encode_texts(tokenizer, texts, add_bos)
    nats = score_tokens(model, documents, texts["doc_id"].to_list(), Windows(20, 10), 64)
    bits = [spread_bits(*each) for each in zip(texts["text"], documents, nats, strict=True)]
    return MeasuredText(bits, sum(len(each.ids) for each in documents), {})


def make_texts(*texts: str) -> pl.DataFrame:
    names = [f"d{number}" for number in range(len(texts))]
    return pl.DataFrame({"doc_id": names, "file": names, "text": list(texts)})


@settings(deadline=None, max_examples=30)
@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40), st.booleans())
def test_bits_of_characters_add_up_to_those_of_tokens(text, add_bos):
    document = encode_document(BYTES, text, add_bos)
    nats = [1.0 + place / 7 for place in range(len(document.ids))]
    bits = spread_bits(text, document, nats)
    left_out = np.isnan(bits)
    assert not left_out[left_out.sum() :].any()  # nothing but a beginning is left out
    assert count_bytes(text)[left_out].sum() == document.left_out
    assert count_bytes(text)[~left_out].sum() == document.size
    assert bits[~left_out].sum() * math.log(2) == pytest.approx(math.fsum(nats[document.start :]))


@pytest.mark.parametrize("add_bos", [False, True])
def test_one_model_has_the_bits_per_byte_of_perplexity(add_bos):
    model = make_model(make_config("gpt2", len(BYTES), 20, width=16, heads=2, initializer_range=0.5))
    texts = make_texts(TEXT, "and the music", "no")
    scores = score_texts(model, BYTES, texts, Windows(20, 10), 64, add_bos)
    found = compare_on_texts({"one": measure(model, BYTES, texts, add_bos)}, texts)
    expected = scores["nats"].sum() / math.log(2) / scores["bytes"].sum()
    assert found.estimate("one").value == pytest.approx(expected)
    assert found.sizes.sum() == scores["bytes"].sum()


def test_models_are_compared_on_the_bytes_that_all_of_them_predict():
    texts = make_texts("w1 w2 w3", "w4", "w5 w6")
    words = make_word_tokenizer(WORDS, eos_token="<s>")
    found = compare_on_texts(
        {"whole": measure(KnownModel(torch.zeros(52)), words, texts, True),
         "rest": measure(KnownModel(torch.zeros(52)), words, texts, False)},
        texts,
    )  # fmt: skip
    assert found.texts["doc_id"].to_list() == ["d0", "d2"]  # d1 is its first token
    assert found.sizes.tolist() == [6, 3]
    assert found.estimate("whole").value == pytest.approx(3 * math.log2(52) / 9)
    (difference,) = found.differences
    assert difference.value == pytest.approx(0) and not difference.apart


def test_models_that_differ_in_a_word_differ_there():
    rows = [
        " ".join(f"w{(17 * row + place) % 50}" for place in range(9)) + f" w7 w{row}" for row in range(40)
    ]
    texts, words = make_texts(*rows), make_word_tokenizer(WORDS, eos_token="<s>")
    sharp = torch.zeros(52)
    sharp[words.convert_tokens_to_ids("w7")] = 1.5
    models = {"flat": KnownModel(torch.zeros(52)), "sharp": KnownModel(sharp)}
    found = compare_on_texts(
        {name: measure(model, words, texts, True) for name, model in models.items()}, texts
    )
    assert found.order == ["sharp", "flat"] and found.letters == {"sharp": "a", "flat": "b"}
    passages = list_passages(found, "flat")
    top, *others = find_words(passages)
    share = math.exp(1.5) / (51 + math.exp(1.5))
    assert (top.word, top.uses >= 40) == ("w7", True)
    assert top.bits == pytest.approx(top.uses * (math.log2(52) + math.log2(share)), rel=1e-5)
    assert others and all(each.bits < 0 for each in others)
    assert "".join(each.text for each in passages) == "".join(rows)
    assert math.fsum(each.bits for each in passages) == pytest.approx(
        (found.sum_bits("flat") - found.sum_bits("sharp")).sum()
    )
    assert {each.doc_id for each in find_passages(passages)} <= set(texts["doc_id"])


def test_passages_are_ordered_from_the_best_models_gain_to_its_loss(monkeypatch):
    bits = [1.0, 3.0, -2.0, 0.0, -5.0, 2.0, -1.0]
    passages = [Passage(f"d{row}", 0, [("w", value)]) for row, value in enumerate(bits)]
    assert [each.bits for each in find_passages(passages)] == [3, 2, 1, -1, -2, -5]
    monkeypatch.setattr(text_bits, "PASSAGES", 2)
    assert [each.bits for each in find_passages(passages)] == [3, 2, -2, -5]


def test_documents_of_a_file_are_drawn_together():
    texts = make_texts(*(f"w{row} w1 w2" for row in range(8)))
    words = make_word_tokenizer(WORDS, eos_token="<s>")
    table = torch.linspace(0, 2, 52)
    measured = {"one": measure(KnownModel(table), words, texts, True)}
    alone = compare_on_texts(measured, texts).estimate("one")
    same = texts.with_columns(file=pl.Series(["a", "b"] * 4))
    together = compare_on_texts(measured, same).estimate("one")
    assert alone.value == together.value and alone != together
    one = compare_on_texts(measured, texts.with_columns(file=pl.lit("a"))).estimate("one")
    assert one == alone  # sections of the only file


def test_texts_of_one_token_are_refused():
    texts, words = make_texts("w1"), make_word_tokenizer(WORDS, eos_token="<s>")
    measured = {"one": measure(KnownModel(torch.zeros(52)), words, texts)}
    with refuses("no document"):
        compare_on_texts(measured, texts)
