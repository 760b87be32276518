"""Logits at chosen positions, and what is read off them, against plain PyTorch and a model's own logits."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from tests.models.fake_cuda import GPU, fake_cuda
from tests.refusals import refuses
from tests.tiny import KnownModel, make_config, make_model
from transformers import BloomConfig

from fathom.scoring import logits
from fathom.scoring.scored_sequences import ScoredSequence

ENTRIES = 60
SEQUENCES = [ScoredSequence((5, 9, 33, 2), [(2, 7), (3, 1)]), ScoredSequence((4, 8), [(1, 8)])]


def make_biased() -> Any:
    """Return a model whose output layer has a bias."""
    model = make_model(make_config("phi", ENTRIES, 20, initializer_range=0.5))
    with torch.no_grad():
        model.lm_head.bias.normal_(std=5)
    return model


def read_plainly(model: Any, sequences: list[ScoredSequence] = SEQUENCES) -> torch.Tensor:
    """Return the model's own logits at the positions of sequences, each read alone."""
    with torch.no_grad():
        rows = [model(torch.tensor([some.ids])).logits[0, place].float()
                for some in sequences for place, _ in some.targets]  # fmt: skip
    return torch.stack(rows)


def read(layer: logits.Projection, sequences: list[ScoredSequence] = SEQUENCES) -> torch.Tensor:
    batch = logits.make_batch(sequences, "cpu")
    with torch.no_grad():
        return layer.to_logits(layer.run(batch.ids, batch.mask, batch.positions))


def test_models_are_evaluated_without_gradients_and_each_is_set_back():
    models = [make_model(make_config("gpt2", ENTRIES, 20)) for _ in range(2)]
    models[0].train()
    with logits.evaluate_models(models):
        assert not any(model.training for model in models)
        assert not models[0](torch.tensor([[1, 2]])).logits.requires_grad
    assert [model.training for model in models] == [True, False]
    with pytest.raises(ZeroDivisionError), logits.evaluate_models(models):
        raise ZeroDivisionError
    assert [model.training for model in models] == [True, False]


@pytest.mark.parametrize("evaluated", [False, True], ids=["plain", "prepacked"])
def test_a_bias_of_the_output_layer_counts(evaluated):
    model = make_biased()
    expected = read_plainly(model)
    with logits.evaluate_models([model]) if evaluated else torch.no_grad():
        layer = logits.choose_projection(model, [5, 9, 33], "it")
        assert isinstance(layer, logits.Float32OutputLayer) and layer.entries == ENTRIES
        assert torch.allclose(read(layer), expected, atol=1e-4)


def test_the_product_of_bfloat16_weights_gets_the_bias_too(monkeypatch):
    monkeypatch.setattr(logits, "sums_in_float32", lambda weight: weight.dtype == torch.bfloat16)
    seen: list[torch.dtype] = []

    def multiply(hidden: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        seen.append(hidden.dtype)
        return hidden.float() @ weight.float().T

    monkeypatch.setattr(logits, "multiply_in_float32", multiply)
    for model in (make_biased().bfloat16(), make_model(make_config("llama", ENTRIES, 20)).bfloat16()):
        layer = logits.Float32OutputLayer(model)
        expected = read(layer)
        batch = logits.make_batch(SEQUENCES, "cpu")
        with torch.no_grad():
            hidden = layer.run(batch.ids, batch.mask, batch.positions).float()
        bias = getattr(model.lm_head, "bias", None)
        head = hidden @ model.lm_head.weight.float().T + (0 if bias is None else bias.float())
        assert torch.allclose(expected, head, atol=1e-4)
        # hidden states in another format than the weights take the float32 copy
        assert torch.allclose(layer.to_logits(hidden), head, atol=1e-4)
    assert seen == [torch.bfloat16] * 2


def test_only_bfloat16_on_a_gpu_that_can_is_multiplied_in_its_own_format(monkeypatch):
    plain = torch.ones(20, 8)
    assert not logits.sums_in_float32(plain) and not logits.sums_in_float32(plain.bfloat16())
    asked: list[torch.dtype] = []

    def multiply(hidden: torch.Tensor, weight: torch.Tensor) -> None:
        asked.append(weight.dtype)
        if len(asked) > 1:
            raise RuntimeError("not on this GPU")

    monkeypatch.setattr(logits, "multiply_in_float32", multiply)
    with fake_cuda():
        weights = torch.zeros((20, 8), device=GPU)
        found = [logits.sums_in_float32(each) for each in (weights, weights.bfloat16(), weights.bfloat16())]
    assert found == [False, True, False] and asked == [torch.bfloat16] * 2


@pytest.mark.parametrize("kind", ["gpt2", "llama", "bloom"])  # bloom takes no positions
def test_padded_sequences_have_the_logits_that_they_have_alone(kind):
    if kind == "bloom":
        config = BloomConfig(vocab_size=ENTRIES, hidden_size=16, n_layer=2, n_head=2, initializer_range=0.5)
    else:
        config = make_config(kind, ENTRIES, 20, initializer_range=0.5)
    model = make_model(config)
    expected = read_plainly(model)
    for layer in (logits.Float32OutputLayer(model), logits.NativeLogits(model)):
        assert layer.entries == ENTRIES
        assert torch.allclose(read(layer), expected, atol=1e-4)
        assert torch.allclose(read(layer, SEQUENCES[:1]), expected[:2], atol=1e-4)


def test_a_batch_is_padded_on_the_right_and_masked_only_where_it_is():
    batch = logits.make_batch(SEQUENCES, "cpu")
    assert batch.ids.tolist() == [[5, 9, 33, 2], [4, 8, 0, 0]]
    assert batch.mask is not None and batch.mask.tolist() == [[1, 1, 1, 1], [1, 1, 0, 0]]
    assert [part.tolist() for part in batch.positions] == [[0, 0, 1], [2, 3, 1]]
    assert batch.targets.tolist() == [7, 1, 8]
    assert logits.make_batch(SEQUENCES[:1], "cpu").mask is None


class Changed(torch.nn.Module):
    """A language model whose last step is another one than its output layer says."""

    def __init__(self, change: Any) -> None:
        super().__init__()
        self.inner, self.change = make_model(make_config("gpt2", ENTRIES, 20, initializer_range=0.5)), change

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self.inner, name)

    def forward(self, input_ids: torch.Tensor, **more: Any) -> Any:
        return SimpleNamespace(logits=self.change(self.inner(input_ids, **more).logits, input_ids))


@pytest.mark.parametrize(("change", "kept"), [
    (lambda found, _: found, True),
    (lambda found, _: found + 1e-6, True),
    (lambda found, _: found + 0.01, False),
    (lambda found, _: found - 0.01, False),
    (lambda found, _: found[..., :-1], False),
    (lambda found, ids: found + (torch.arange(ids.shape[1]) == 2)[:, None], False),  # the last
    (lambda found, _: found * float("nan"), True),  # reported when a pair is scored
])  # fmt: skip
def test_the_output_layer_is_taken_where_it_gives_the_models_own_logits(change, kept):
    with torch.no_grad():
        layer = logits.choose_projection(Changed(change), [5, 9, 33], "it")
    assert isinstance(layer, logits.Float32OutputLayer if kept else logits.NativeLogits)


@pytest.mark.parametrize("ids", [[5, 9, 33], [5, 9, 0], [5, 9]])
def test_a_model_that_sees_the_token_that_it_predicts_is_refused(ids):
    def look_ahead(found: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
        return found - (ids.roll(-1) != 0)[..., None] * 1.0

    with torch.no_grad(), refuses("it is not causal", "causal language model"):
        logits.choose_projection(Changed(look_ahead), ids, "it")
    with torch.no_grad():
        logits.choose_projection(Changed(look_ahead), ids[:1], "it")  # a single token shows nothing


def test_a_model_without_an_output_layer_of_floats_is_read_by_its_own_logits():
    model = make_model(make_config("gpt2", ENTRIES, 20))
    assert logits.has_float_head(model) and not logits.has_float_head(KnownModel(torch.zeros(5)))
    model.lm_head = torch.nn.Module()
    model.lm_head.weight = torch.nn.Parameter(torch.ones(3, dtype=torch.int8), requires_grad=False)
    assert not logits.has_float_head(model)
    assert isinstance(logits.choose_projection(KnownModel(torch.zeros(5)), [1, 2], "it"), logits.NativeLogits)


@pytest.mark.parametrize(("dtype", "least"), [
    ("float32", 1e-4), ("float16", 2e-2), ("bfloat16", 1e-1), ("float64", 1e-4),
])  # fmt: skip
def test_the_tolerance_is_of_the_dtype_and_grows_with_logits_above_ten(dtype, least):
    model = SimpleNamespace(dtype=getattr(torch, dtype))
    for largest, factor in ((0.0, 1), (-9.0, 1), (10.0, 1), (-25.0, 2.5)):
        found = logits.find_tolerance(model, torch.tensor([[1.0, largest]]))
        assert found == pytest.approx(factor * least)


def test_as_many_rows_as_fit_are_held_at_once_but_not_too_few():
    assert logits.count_rows(1000, "cpu") == 2**22 // 4000
    assert logits.count_rows(1000, "cuda") == logits.count_rows(1000, "mps") == 2**27 // 4000
    assert logits.count_rows(10**6, "cpu") == 128


@pytest.mark.parametrize("device", ["cpu", "other"])
def test_ranks_ties_and_probabilities_of_a_token_and_of_others(device, monkeypatch):
    rows = torch.tensor([[3.0, 1, 1, -2, 1], [0.5, 0.25, -1, 4, 2], [-900.0, -900, -901, -899, -899]])
    targets, others = torch.tensor([1, 4, 0]), [3, 0]
    if device == "other":  # a GPU counts whole tables at once
        monkeypatch.setattr(torch.Tensor, "device", SimpleNamespace(type="other"))
    rank, ties, own, found = logits.measure_logits(rows.clone(), targets, others)
    without = logits.measure_logits(rows.clone(), targets)
    monkeypatch.undo()
    assert rank.tolist() == [2, 2, 3] and ties.tolist() == [2, 0, 1]
    expected = rows.double().log_softmax(1)
    assert own.tolist() == pytest.approx(expected[[0, 1, 2], targets].tolist(), rel=1e-6)
    assert (own.dtype, found.dtype) == (torch.float64, torch.float32)
    assert torch.allclose(found.double(), expected[:, others], rtol=1e-6)
    assert len(without) == 3 and without[2].equal(own)


def test_a_batch_is_scored_some_rows_at_a_time_as_at_once(monkeypatch):
    model = make_model(make_config("gpt2", ENTRIES, 20, initializer_range=0.5))
    layer = logits.NativeLogits(model)
    with torch.no_grad():
        whole = logits.score_batch(layer, SEQUENCES, "cpu", [3, 4])
        monkeypatch.setattr(logits, "count_rows", lambda entries, device: 2)
        pieces = list(logits.measure_batch(layer, SEQUENCES, "cpu", [3, 4]))
        joined = logits.score_batch(layer, SEQUENCES, "cpu", [3, 4])
    assert [len(rank) for rank, *_ in pieces] == [2, 1]
    expected = read_plainly(model).double().log_softmax(1)
    assert whole.log_probability == pytest.approx(expected[[0, 1, 2], [7, 1, 8]].numpy(), abs=1e-5)
    assert whole.others == pytest.approx(expected[:, [3, 4]].numpy(), abs=1e-4)
    for name, column in whole.to_arrays().items():
        assert (column == joined.to_arrays()[name]).all(), name
