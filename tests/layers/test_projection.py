"""The last layer gives the model's own logits, whatever the architecture; the tuned lens."""

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
import torch
from tests.layers.plain import SETTINGS, make_model, read_all_states
from tests.layers.test_target_ranks import WORDS, make_tokenizer
from tests.refusals import refuses

from fathom.config.layers import TunedLens
from fathom.errors import InputError
from fathom.io.files import hash_file
from fathom.layers.projection import (
    LayerReader,
    find_model_parts,
    load_lens,
    make_identity_translators,
    open_layer_reader,
    read_hidden_states,
    save_lens,
    train_lens,
)
from fathom.planning.rehearsal.tiny_models import make_family
from fathom.scoring.logits import Float32OutputLayer, make_batch
from fathom.scoring.scored_sequences import ScoredSequence

IDS = [5, 9, 33, 2, 7, 60, 11]
NAMED = ["gpt2", "gpt_neox", "llama", "mistral", "qwen2", "qwen3", "gemma2", "olmo2", "phi3"]


@pytest.mark.parametrize("kind", sorted(SETTINGS))
def test_the_last_layer_with_the_norm_is_the_models_output(kind):
    model = make_model(kind)
    layers = open_layer_reader(model, IDS, kind)
    with torch.inference_mode():
        own = model(input_ids=torch.tensor([IDS])).logits[0]
        batch = make_batch([ScoredSequence(tuple(IDS), [(place, 0) for place in range(len(IDS))])], "cpu")
        states = layers.run(batch)
        mine = layers.to_logits(states[-1])
        others = [layers.to_logits(states[-2]), layers.to_logits(states[-1], normed=False)]
    assert states.shape == (4, len(IDS), 16)
    assert (own - mine).abs().max() < 1e-5
    # and no other layer does, nor the last one without the norm
    for other in others:
        assert (own - other).abs().max() > 1e-2


@pytest.mark.parametrize(("error", "refused"), [(2.5e-5, False), (1e-2, True)])
def test_rounding_of_a_deep_model_is_no_other_model(error, refused):
    model = make_model("llama")  # SmolLM2's logits differ by 2.4e-5 from those of its last layer
    model.get_output_embeddings().register_forward_hook(lambda module, given, logits: logits + error)
    with pytest.raises(InputError, match="does not reproduce") if refused else nullcontext():
        open_layer_reader(model, IDS, "llama")


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("kind", NAMED)
def test_the_output_layer_counts_whether_it_is_tied_or_not(kind, tied):
    model = make_model(kind, tie_word_embeddings=tied)
    assert (model.get_output_embeddings().weight is model.get_input_embeddings().weight) == tied
    layers = open_layer_reader(model, IDS, kind)
    with torch.inference_mode():
        own = model(input_ids=torch.tensor([IDS])).logits[0, -1]
        mine = layers.to_logits(layers.run(make_batch([ScoredSequence(tuple(IDS), [(6, 0)])], "cpu"))[-1])[0]
    assert (own - mine).abs().max() < 1e-5


@pytest.mark.parametrize("kind", sorted(SETTINGS))
def test_states_are_what_blocks_hand_on_at_the_places_asked_for_in_any_batch(kind):
    model = make_model(kind)
    sequences = [IDS, IDS[:3], IDS[2:]]
    passes = [ScoredSequence(tuple(ids), [(0, 1), (len(ids) - 1, 2)]) for ids in sequences]
    layers = LayerReader(model)
    for budget in (1, 14, 1000):
        with torch.inference_mode():
            found = list(read_hidden_states(layers, passes, budget, "sequences"))
        states = torch.cat([states for states, _ in found], dim=1)
        assert torch.cat([target for _, target in found]).tolist() == [1, 2] * 3
        for row, ids in enumerate(sequences):
            for layer, plain in enumerate(read_all_states(model, ids)):
                assert (states[layer, 2 * row] - plain[0]).abs().max() < 1e-5
                assert (states[layer, 2 * row + 1] - plain[-1]).abs().max() < 1e-5


def test_hooks_are_gone_after_a_run_and_after_a_failure():
    model = make_model("gpt2")
    layers = open_layer_reader(model, IDS)
    with pytest.raises(IndexError):
        layers.run(make_batch([ScoredSequence((999,), [(0, 0)])], "cpu"))
    assert all(not module._forward_hooks and not module._forward_pre_hooks for module in model.modules())


LENS = TunedLens(steps=150, batch=8, sequence=8, positions=64, learning_rate=0.03)


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
    translators, points = train_lens(model, tokenizer, make_texts(), LENS)
    for point in points:
        assert point.plain > 0.1
        assert point.tuned < 0.05 * point.plain
    assert translators.weights.shape == (3, 16, 16)


def test_training_leaves_the_model_as_it_is_and_repeats_to_the_byte(tmp_path):
    model, tokenizer = make_pair()
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    short = LENS.model_copy(update={"steps": 5})
    for name in ("one", "two"):
        translators, _ = train_lens(model, tokenizer, make_texts(), short)
        save_lens(tmp_path / name, translators, "abc")
    assert all(torch.equal(weight, before[name]) for name, weight in model.state_dict().items())
    assert hash_file(tmp_path / "one") == hash_file(tmp_path / "two")
    loaded = load_lens(tmp_path / "one", "abc")
    assert torch.equal(loaded.weights, translators.weights) and torch.equal(loaded.biases, translators.biases)


def test_a_model_in_bfloat16_gets_a_lens():
    model, tokenizer = make_pair()
    short = LENS.model_copy(update={"steps": 2})
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
    wild = LENS.model_copy(update={"steps": 2, "learning_rate": 5.0})
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
        train_lens(model, tokenizer, make_texts(2), LENS.model_copy(update={"batch": 30}))


TOKEN_IDS = [5, 9, 33]


def test_what_no_list_names_is_looked_into():
    model = make_model("llama")
    model.config.model_type = "newcomer"
    parts = find_model_parts(model, "novel")
    assert (parts.blocks, parts.final) == (list(model.model.layers), [model.model.norm])


def test_a_model_without_blocks_is_refused():
    model = make_model("llama")
    model.model.layers = torch.nn.ModuleList()
    with refuses("bare", "'llama'", "blocks"):
        find_model_parts(model, "bare")


def test_blocks_that_run_in_a_loop_are_refused():
    with refuses("looped", "'hrm_text'", "once"):
        find_model_parts(make_family("hrm_text"), "looped")


def test_a_model_without_an_output_layer_is_refused():
    with refuses("bare", "layer"):
        find_model_parts(make_model("gpt2").base_model, "bare")


def test_blocks_that_norm_their_own_output_need_no_final_norm():
    model = make_model("opt", do_layer_norm_before=False)
    with torch.inference_mode():
        own = model(torch.tensor([TOKEN_IDS])).logits[0, -1]
        reader = open_layer_reader(model, TOKEN_IDS, "post")
        states = reader.run(make_batch([ScoredSequence(tuple(TOKEN_IDS), [(len(TOKEN_IDS) - 1, 0)])], "cpu"))
        for normed in (True, False):
            assert (reader.to_logits(states[-1], normed)[0] - own).abs().max() < 1e-5


@pytest.mark.parametrize("tied", [True, False])
def test_an_adapter_over_the_output_layer_is_refused(tied):
    peft = pytest.importorskip("peft")
    model = make_model("llama", tie_word_embeddings=tied)
    settings = peft.LoraConfig(r=2, target_modules=["lm_head"], task_type="CAUSAL_LM")
    adapted = peft.get_peft_model(model, settings)
    with refuses("adapter", "output layer", "tuned") as error:
        open_layer_reader(adapted, TOKEN_IDS, "tuned")
    assert ("tied" in str(error.value)) == ("untie it" in str(error.value)) == tied


def test_an_adapter_over_the_blocks_counts():
    peft = pytest.importorskip("peft")
    model = make_model("llama")
    with torch.no_grad():
        before = model(torch.tensor([TOKEN_IDS])).logits
    settings = peft.LoraConfig(r=2, target_modules=["q_proj"], task_type="CAUSAL_LM")
    adapted = peft.get_peft_model(model, settings)
    with torch.no_grad():
        for name, weight in adapted.named_parameters():
            if "lora_B" in name:
                weight.normal_()
        after = adapted(torch.tensor([TOKEN_IDS])).logits
    assert (before - after).abs().max() > 1e-2
    assert open_layer_reader(adapted, TOKEN_IDS).n_layers == 4


def test_a_tied_output_layer_that_differs_from_the_embedding_is_refused():
    model = make_model("gpt2")
    model.lm_head.weight = torch.nn.Parameter(model.lm_head.weight.detach().clone() + 1)
    with refuses("merged", "tied"):
        LayerReader(model, "merged")


def test_a_model_that_does_more_than_is_known_is_refused():
    model = make_model("llama")
    plain = model.forward

    def double(*arguments: Any, **named: Any) -> Any:
        return SimpleNamespace(logits=plain(*arguments, **named).logits * 2)

    model.forward = double
    with refuses("odd", "logits", "'llama'"):
        open_layer_reader(model, TOKEN_IDS, "odd")
