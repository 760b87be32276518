"""Scoring and layers on GPUs that there are not: every path finds its tensors on one device."""

from typing import Any

import pytest
import torch
from tests.layers.plain import make_model
from tests.models.fake_cuda import (
    GPU,
    TRAINER,
    FakeTensorDeviceMismatchError,
    fake_cuda,
    move_to_fake_cuda,
    spread_model,
)
from tests.models.test_fake_cuda import HALVES

from fathom.layers import projection, target_ranks
from fathom.models.placement import find_input_device
from fathom.scoring import attribute_rate, logits
from fathom.scoring.scored_sequences import ScoredSequence

SEQUENCES = [ScoredSequence((5, 9, 33, 2), [(2, 7), (3, 1)]), ScoredSequence((5, 9), [(1, 8)])]


def read(model: Any) -> None:
    """Run all that scores and layers compute on a device, up to what needs values."""
    device = find_input_device(model)
    compared = logits.compare_logits(model, [5, 9, 33])
    layer = compared.output_layer
    assert layer is not None and compared.found is not None and compared.before is not None
    assert layer.weight.device == compared.found.device
    for chosen in (layer, logits.NativeLogits(model)):
        for sequences in (SEQUENCES, SEQUENCES[:1]):  # with padding and without
            for columns in logits.measure_batch(chosen, sequences, device):  # ranks, perplexity
                assert [part.device.type for part in columns] == [device.type] * 3
        for row in attribute_rate.read_next_logits(model, chosen, [[5, 9], [7]]):
            assert (row.device.type, row.dtype) == (device.type, torch.float32)


def read_layers(model: Any) -> None:
    """The same for hidden states, their projection and the tuned lens."""
    reader = projection.LayerReader(model)
    expected, found = projection.compare_last_layer(reader, [5, 9, 33])
    assert expected.device == found.device
    batch = logits.make_batch(SEQUENCES, find_input_device(model))
    states = reader.run(batch)
    targets = batch.targets.to(states.device)
    for normed in (True, False):
        assert reader.to_logits(states[1], normed).device == reader.output_layer.weight.device
    last = target_ranks.summarize_last_layer(reader.to_logits(states[-1]))
    tuned = projection.make_identity_translators(reader).apply_each(states[:-1], 0)
    for rows in (states[0], tuned[1]):
        target_ranks.measure_row_tensors(reader.to_logits(rows), last, targets)


@pytest.fixture(autouse=True)
def tied_is_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Comparing the tied weights needs their values."""
    monkeypatch.setattr(projection, "check_tied_output", lambda model, name: None)


@pytest.mark.parametrize("kind", ["gpt2", "gemma2"])
def test_one_gpu(kind):
    model = make_model(kind)
    with fake_cuda(), torch.no_grad():
        move_to_fake_cuda(model)
        read(model)
        read_layers(model)


@pytest.mark.parametrize("kind", HALVES)
def test_two_gpus(kind):
    model = make_model(kind)
    with fake_cuda(), torch.no_grad():
        spread_model(model, HALVES[kind])
        read(model)
        read_layers(model)


def learn(model: Any) -> set[torch.device]:
    """Take a step of the tuned lens as `train_lens` does; return the devices of all that it leaves."""
    reader = projection.LayerReader(model)
    translators = projection.make_identity_translators(reader)
    parameters = [translators.weights.requires_grad_(), translators.biases.requires_grad_()]
    optimizer = torch.optim.Adam(parameters)
    places = torch.tensor([0, 1]), torch.tensor([1, 2])
    ids = torch.zeros((2, 4), dtype=torch.long)
    losses = projection.accumulate(reader, translators, logits.Batch(ids, None, places, ids.new_zeros(2)))
    norm = torch.nn.utils.clip_grad_norm_(parameters, 1.0)
    optimizer.step()
    moments = [optimizer.state[each][name] for each in parameters for name in ("exp_avg", "exp_avg_sq")]
    gradients = [each.grad for each in parameters if each.grad is not None]
    assert len(gradients) == 2
    return {each.device for each in (*losses, norm, *parameters, *gradients, *moments)}


@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_the_lens_learns_on_a_gpu(kind):
    model = make_model(kind).requires_grad_(False)
    with fake_cuda():
        assert learn(move_to_fake_cuda(model, TRAINER)) == {TRAINER}


def compare_on_the_processor(last: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    return (last.cpu().exp() * (last - rows.log_softmax(1))).sum(1)


def make_translators_on_the_processor(reader: Any) -> projection.Translators:
    count = reader.n_layers - 1
    return projection.Translators(
        torch.zeros(count, reader.width, reader.width), torch.zeros(count, reader.width)
    )


@pytest.mark.parametrize(("name", "planted"), [
    ("diverge", compare_on_the_processor),
    ("make_identity_translators", make_translators_on_the_processor),
    ("find_input_device", lambda model: torch.device("cpu")),
])  # fmt: skip
def test_planted_mistakes_in_the_lens_are_found(name, planted, monkeypatch):
    model = make_model("llama").requires_grad_(False)
    monkeypatch.setattr(projection, name, planted)
    with fake_cuda():
        move_to_fake_cuda(model, TRAINER)
        with pytest.raises(FakeTensorDeviceMismatchError):
            learn(model)


def test_planted_mistakes_are_found(monkeypatch):
    model, spread = make_model("gpt2"), make_model("gpt2")
    with fake_cuda(), torch.no_grad():
        move_to_fake_cuda(model)
        spread_model(spread, HALVES["gpt2"])
        layer = logits.Float32OutputLayer(model)
        found = layer.to_logits(torch.zeros((3, 16), device=GPU))
        with pytest.raises(FakeTensorDeviceMismatchError):
            logits.measure_logits(found.cpu(), torch.zeros(3, dtype=torch.long, device=GPU))
        with monkeypatch.context() as planted:
            planted.setattr(logits, "take_positions", lambda states, places: states[places].cpu())
            planted.setattr(logits.Float32OutputLayer, "to_logits", project_where_it_lies)
            with pytest.raises(FakeTensorDeviceMismatchError):
                read(model)
        with (
            monkeypatch.context() as planted
        ):  # the last block is on the second GPU, the tied head on the first
            planted.setattr(logits.Float32OutputLayer, "to_logits", project_where_it_lies)
            with pytest.raises(FakeTensorDeviceMismatchError):
                read_layers(spread)


def project_where_it_lies(layer: Any, hidden: torch.Tensor) -> torch.Tensor:
    return hidden.float() @ layer.weight.T


def test_bfloat16_weights_are_multiplied_into_float32_without_a_copy(monkeypatch):
    model = make_model("llama").bfloat16()
    with fake_cuda(), torch.no_grad():
        move_to_fake_cuda(model)
        monkeypatch.setattr(logits, "sums_in_float32", lambda weight: weight.dtype == torch.bfloat16)
        layer = logits.Float32OutputLayer(model)
        batch = logits.make_batch(SEQUENCES, find_input_device(model))
        hidden = layer.run(batch.ids, batch.mask, batch.positions)
        found = layer.to_logits(hidden)
        assert (hidden.dtype, found.dtype) == (torch.bfloat16, torch.float32)
        assert found.shape == (3, layer.entries) and "weight" not in vars(layer)
        assert layer.to_logits(hidden.float()).shape == found.shape
