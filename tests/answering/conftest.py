"""A small tokenizer with a chat template, and a small model with random weights."""

from pathlib import Path

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast, set_seed

from fathom.answering.prompts import Item
from fathom.config.scoring import Scoring
from fathom.models.loading import Pointer
from fathom.models.open_model import OpenModel

TEMPLATE = (
    "{% for m in messages %}<|start|>{{ m['role'] }}\n{{ m['content'] }}<|turn|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|start|>assistant\n{% endif %}"
)
CAPITALS = {"France": "Paris", "Italy": "Rome", "Spain": "Madrid", "Germany": "Berlin", "Poland": "Warsaw"}


def make_item(country: str, **more) -> Item:
    """Return the question for a capital; the right one of four stands at a place of its own."""
    cities = sorted(CAPITALS.values())
    place = cities.index(CAPITALS[country])
    options = [city for city in cities if city != CAPITALS[country]][:3]
    options.insert(place % 4, CAPITALS[country])
    question = f"What is the capital of {country}?"
    return Item(country, question, tuple(options), (place % 4,), subject="geography", **more)


@pytest.fixture(scope="session")
def folder(tmp_path_factory) -> Path:
    """Return the folder of the model, whose own settings ask for sampling."""
    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    specials = ["<|end|>", "<|start|>", "<|turn|>"]
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(
        vocab_size=420, special_tokens=specials, initial_alphabet=alphabet, show_progress=False
    )
    texts = [f"Question: What is the capital of {name}?\nA. B. C. D.\nAnswer: A B C D" for name in CAPITALS]
    core.train_from_iterator(texts, trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core, bos_token="<|end|>", eos_token="<|end|>", extra_special_tokens=["<|turn|>"]
    )
    tokenizer.chat_template = TEMPLATE
    set_seed(0)
    model = GPT2LMHeadModel(
        GPT2Config(vocab_size=420, n_positions=224, n_embd=32, n_layer=2, n_head=4, initializer_range=0.3)
    )
    model.generation_config.update(do_sample=True, temperature=2.0, repetition_penalty=1.5)
    path = tmp_path_factory.mktemp("answering") / "model"
    model.save_pretrained(path)
    tokenizer.save_pretrained(path)
    return path


@pytest.fixture(scope="session")
def plain(folder) -> OpenModel:
    """Return the model as a base model."""
    return OpenModel(Pointer("small", folder), Scoring(device="cpu", batch_tokens=600))


@pytest.fixture(scope="session")
def chat(folder) -> OpenModel:
    """Return the model as one that answers inside its chat template."""
    return OpenModel(Pointer("small@chat", folder, chat_template=True), Scoring(device="cpu"))
