"""A tuned lens: it learns a map that is known, changes nothing at first, and belongs to one model."""

from typing import Any

import polars as pl
import torch
from tests.layers.plain import make_model
from tests.layers.test_target_ranks import WORDS, make_tokenizer
from tests.refusals import refuses

from fathom.config.layers import TunedLens
from fathom.io.files import hash_file
from fathom.layers.projection import LayerReader, load_lens, make_identity_translators, save_lens, train_lens
from fathom.scoring.logits import Float32OutputLayer

SETTINGS = TunedLens(steps=150, batch=8, sequence=8, positions=64, learning_rate=0.03)


def make_texts(documents: int = 60) -> pl.DataFrame:
    generator = torch.Generator().manual_seed(0)
    texts = [
        " ".join(WORDS[3 + int(n)] for n in torch.randint(0, 50, (20,), generator=generator))
        for _ in range(documents)
    ]
    splits = ["adapt-valid" if n % 4 == 0 else "adapt-train" for n in range(documents)]
    return pl.DataFrame({"doc_id": [str(n) for n in range(documents)], "split": splits, "text": texts})


def make_pair(kind: str = "llama") -> tuple[Any, Any]:
    tokenizer = make_tokenizer()
    tokenizer.add_special_tokens({"eos_token": "<s>"})
    return make_model(kind), tokenizer


def test_maps_change_nothing_at_first():
    model = make_model("gpt2")
    translators = make_identity_translators(LayerReader(model))
    states = torch.randn(5, 16)
    assert all(torch.equal(translators.apply(states, layer), states) for layer in range(4))


def test_a_map_finds_what_a_later_block_does():
    model, tokenizer = make_pair()
    with torch.no_grad():  # the last block adds a fixed vector, the others nothing: a map can learn that
        for name, weight in model.model.layers.named_parameters():
            if "down_proj" in name or "o_proj" in name:
                weight.zero_()
    moved = torch.linspace(-2, 2, 16)
    model.model.layers[2].register_forward_hook(lambda _, __, output: output + moved)
    translators, points = train_lens(model, tokenizer, make_texts(), SETTINGS)
    for point in points:
        assert point.plain > 0.1
        assert point.tuned < 0.05 * point.plain
    assert translators.weights.shape == (3, 16, 16)


def test_training_leaves_the_model_as_it_is_and_repeats_to_the_byte(tmp_path):
    model, tokenizer = make_pair()
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    short = SETTINGS.model_copy(update={"steps": 5})
    for name in ("one", "two"):
        translators, _ = train_lens(model, tokenizer, make_texts(), short)
        save_lens(tmp_path / name, translators, "abc")
    assert all(torch.equal(weight, before[name]) for name, weight in model.state_dict().items())
    assert hash_file(tmp_path / "one") == hash_file(tmp_path / "two")
    loaded = load_lens(tmp_path / "one", "abc")
    assert torch.equal(loaded.weights, translators.weights) and torch.equal(loaded.biases, translators.biases)


def test_a_model_in_bfloat16_gets_a_lens():
    model, tokenizer = make_pair()
    short = SETTINGS.model_copy(update={"steps": 2})
    translators, _ = train_lens(model.to(torch.bfloat16), tokenizer, make_texts(), short)
    assert torch.isfinite(translators.weights).all()


def test_logits_that_a_gpu_sums_in_float32_have_a_gradient_where_one_is_needed():
    layer = Float32OutputLayer(make_model("llama").to(torch.bfloat16))
    layer.half = layer.head.weight.detach()  # as on a GPU
    states = torch.randn(3, 16, dtype=torch.bfloat16, requires_grad=True)
    layer.to_logits(states).sum().backward()
    assert states.grad is not None and states.grad.abs().sum() > 0


def test_what_is_worse_on_held_out_text_is_set_back(caplog):
    model, tokenizer = make_pair()
    wild = SETTINGS.model_copy(update={"steps": 2, "learning_rate": 5.0})
    with caplog.at_level("INFO", "fathom"):
        translators, points = train_lens(model, tokenizer, make_texts(), wild)
    assert all(point.tuned <= point.plain for point in points)
    back = [point.layer for point in points if point.tuned == point.plain]
    assert back and "worse on held-out text, reset to the logit lens" in caplog.text
    assert all(float(translators.weights[layer].abs().max()) == 0 for layer in back)


def test_a_lens_of_other_weights_or_none_at_all_is_refused(tmp_path):
    save_lens(tmp_path / "lens", make_identity_translators(LayerReader(make_model("gpt2"))), "abc")
    with refuses("tuned", "weights"):
        load_lens(tmp_path / "lens", "def")
    (tmp_path / "text").write_text("no lens")
    with refuses("tuned lens"):
        load_lens(tmp_path / "text", "abc")
    with refuses("no such file"):
        load_lens(tmp_path / "nothing", "abc")


def test_too_little_text_is_refused():
    model, tokenizer = make_pair()
    with refuses("2 sequences", "adapt-train"):
        train_lens(model, tokenizer, make_texts(2), SETTINGS.model_copy(update={"batch": 30}))
