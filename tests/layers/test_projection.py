"""The last layer gives the model's own logits, whatever the architecture."""

from contextlib import nullcontext

import pytest
import torch
from tests.layers.plain import SETTINGS, make_model, read_all_states

from fathom.errors import InputError
from fathom.layers.projection import LayerReader, open_layer_reader, read_hidden_states
from fathom.scoring.logits import make_batch
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
