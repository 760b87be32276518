"""A small model and its tokenizer of whole words, for rivals and bits."""

import pytest
from tests.scoring.word_pairs import ENTRIES, WORDS
from tests.tiny import make_config, make_model, make_word_tokenizer


@pytest.fixture(scope="session")
def word_tokenizer():
    return make_word_tokenizer([*WORDS, "a"], eos_token="<s>", pad_token="<unk>")


@pytest.fixture(scope="session")
def word_model():
    return make_model(make_config("gpt2", ENTRIES, 40, initializer_range=0.5))
