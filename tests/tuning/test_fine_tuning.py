"""The tuning: against plain PyTorch, merged against unmerged, stopped against undisturbed."""

import math
from typing import Any

import pytest
import torch
from tests.refusals import refuses
from tests.tuning.conftest import KINDS, make_model
from torch.nn.functional import cross_entropy

from fathom.config.tuning import Lora
from fathom.jobs import resume
from fathom.jobs.resume import Resume
from fathom.models import steps
from fathom.models.adapters import (
    add_adapter,
    copy_weights,
    find_modules,
    list_weights,
    restore_weights,
)
from fathom.models.tokens import EncodedPair
from fathom.planning.rehearsal.tiny_models import make_family
from fathom.tuning.fine_tuning import divide_batch, measure_loss, order_batches, sum_losses, tune

SETTINGS = Lora(learning_rate=1e-2, dropout=0.0, batch=4, epochs=5, dtype="float32", batch_tokens=100)


def make_training(count: int = 22) -> list[EncodedPair]:
    """Return examples of many lengths, one to three target tokens each."""
    random = torch.Generator().manual_seed(1)
    lengths = torch.randint(4, 30, (count,), generator=random).tolist()
    return [
        EncodedPair(
            torch.randint(0, 300, (length,), generator=random).tolist(), length - 1 - place % 3, False
        )
        for place, length in enumerate(lengths)
    ]


class PlainAdapter(torch.nn.Module):
    """Low-rank adapter in a few lines, for the comparison."""

    def __init__(self, inner: Any, first: torch.Tensor, second: torch.Tensor, scale: float) -> None:
        super().__init__()
        self.inner, self.scale = inner, scale
        self.first, self.second = torch.nn.Parameter(first.clone()), torch.nn.Parameter(second.clone())

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        return self.inner(values) + values @ self.first.T @ self.second.T * self.scale


def train_plainly(name: str, start: dict[str, torch.Tensor], settings: Lora) -> list[float]:
    """Return the losses of a loop in plain PyTorch: own adapter, one example at a time, whole logits."""
    model = make_model(name).requires_grad_(requires_grad=False)
    learning = []
    for key in sorted(key for key in start if "lora_A" in key):
        path = key.split(".lora_A")[0]
        parent, _, child = path.rpartition(".")
        adapter = PlainAdapter(
            model.get_submodule(path), start[key], start[key.replace("lora_A", "lora_B")],
            settings.alpha / settings.rank,
        )  # fmt: skip
        setattr(model.get_submodule(parent), child, adapter)
        learning += [adapter.first, adapter.second]
    training = make_training()
    steps = math.ceil(len(training) / settings.batch)
    total = steps * settings.epochs
    optimizer = torch.optim.AdamW(learning, lr=settings.learning_rate, weight_decay=settings.weight_decay)
    losses = []
    for epoch in range(settings.epochs):
        for batch in order_batches(training, settings, epoch):
            optimizer.param_groups[0]["lr"] = settings.learning_rate * (1 - len(losses) / total)
            parts = []
            for pair in batch:
                logits = model(torch.tensor([pair.ids])).logits[0, pair.start - 1 : -1]
                parts.append(cross_entropy(logits, torch.tensor(pair.ids[pair.start :]), reduction="none"))
            loss = torch.cat(parts).mean()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(learning, 1.0)
            optimizer.step()
            optimizer.zero_grad()
            losses.append(loss.item())
    return losses


@pytest.mark.parametrize("name", ["gpt2", "llama", "gemma2"])
def test_the_loss_curve_is_that_of_plain_pytorch(name):
    model = make_model(name)
    add_adapter(model, SETTINGS)
    start = copy_weights(model)
    tuned = tune(model, make_training(), lambda: 0.0, SETTINGS, "acc")
    plain = train_plainly(name, start, SETTINGS)
    assert len(plain) == 30
    assert plain[-1] < plain[0]
    assert tuned.losses == pytest.approx(plain, rel=2e-4)


@pytest.mark.parametrize("name", KINDS)
def test_an_untrained_adapter_changes_nothing(name):
    model = make_model(name)
    ids = torch.arange(20)[None]
    before = model(ids).logits
    add_adapter(model, SETTINGS)
    assert torch.equal(model.eval()(ids).logits, before)
    random = torch.Generator().manual_seed(2)
    weights = {
        key: torch.randn(value.shape, generator=random) * 0.1 for key, value in copy_weights(model).items()
    }
    restore_weights(model, weights)
    assert (model.eval()(ids).logits - before).abs().max() > 1e-2


def test_every_matrix_of_a_block_takes_an_adapter():
    for name in KINDS:
        model = make_model(name)
        matrices = {
            path for path, module in model.named_modules()
            if type(module).__name__ in ("Linear", "Conv1D") and module is not model.get_output_embeddings()
        }  # fmt: skip
        add_adapter(model, SETTINGS)
        adapted = {key.split(".lora_A")[0] for key in list_weights(model) if "lora_A" in key}
        assert adapted == matrices, name
        assert all("lora_" in key for key in list_weights(model)), "only the adapter is trainable"


def test_a_model_without_linear_layers_in_its_blocks_is_refused():
    model = make_model("gpt2")
    for block in model.transformer.h:
        block.attn, block.mlp = torch.nn.Identity(), torch.nn.Identity()
    with refuses("'gpt2'", "some model", "linear"):
        add_adapter(model, SETTINGS, "some model")
    with refuses("PEFT", "'phi3'"):
        find_modules(make_model("phi3"), "peft", "Phi-3")


class InterruptedRunError(Exception):
    """What stops a run in the test."""


def test_a_run_that_is_stopped_twice_ends_as_an_undisturbed_one(tmp_path, monkeypatch):
    settings = SETTINGS.model_copy(update={"dropout": 0.3})
    scores = [0.2, 0.5, 0.4, 0.5, 0.1]

    def run(stops: list[int], saved: Resume | None) -> tuple[Any, dict[str, torch.Tensor]]:
        model = make_model("llama")
        add_adapter(model, settings)
        waiting = iter(scores[len(saved.load().values["scores"]) if saved and saved.load() else 0 :])
        steps = [0]

        def interrupt(*arguments: Any, **more: Any) -> Any:
            steps[0] += 1
            if stops and steps[0] == stops[0]:
                raise InterruptedRunError
            return sum_losses(*arguments, **more)

        monkeypatch.setattr("fathom.tuning.fine_tuning.sum_losses", interrupt)
        tuned = tune(model, make_training(), lambda: next(waiting), settings, "acc", saved)
        return tuned, copy_weights(model)

    monkeypatch.setattr(resume, "INTERVAL", 0)
    whole, weights = run([], None)
    assert whole.epoch == 2, "the first of the best"
    assert whole.scores == scores
    for stops in ([9], [21]):
        with pytest.raises(InterruptedRunError):
            run(stops, Resume(tmp_path / "out.parquet", "key"))
    saved = Resume(tmp_path / "out.parquet", "key")
    assert 0 < saved.load().values["stepper"]["step"] < len(whole.losses)
    resumed, again = run([], saved)
    assert resumed == whole
    assert all(torch.equal(weights[key], again[key]) for key in weights)
    saved.remove()
    assert list(tmp_path.iterdir()) == []


def test_a_halved_micro_batch_stays_halved_when_a_run_resumes(tmp_path, monkeypatch, caplog):
    def run(saved: Resume, stop: int) -> Any:
        model, steps = make_model("llama"), [0]
        add_adapter(model, SETTINGS)

        def run_out(model: Any, batch: list[EncodedPair], length: int | None = None) -> torch.Tensor:
            steps[0] += 1
            if steps[0] == stop:
                raise InterruptedRunError
            if len(batch) > 2:
                raise torch.OutOfMemoryError
            return sum_losses(model, batch)

        monkeypatch.setattr("fathom.tuning.fine_tuning.sum_losses", run_out)
        return tune(model, make_training(), lambda: 0.0, SETTINGS, "acc", saved)

    monkeypatch.setattr(resume, "INTERVAL", 0)
    with pytest.raises(InterruptedRunError):
        run(Resume(tmp_path / "out.parquet", "key"), 40)
    halved = Resume(tmp_path / "out.parquet", "key").load().values["stepper"]
    assert halved["tokens"] < SETTINGS.batch_tokens and halved["recomputes"]
    with caplog.at_level("INFO", "fathom"):
        tuned = run(Resume(tmp_path / "out.parquet", "key"), 0)
    assert "out of GPU memory" not in caplog.text.partition("resuming")[2]
    assert len(tuned.losses) == 30


def test_every_example_once_in_an_epoch_and_another_order_in_the_next():
    training = make_training(50)
    first, second = (order_batches(training, SETTINGS, epoch) for epoch in (0, 1))
    for batches in (first, second):
        assert sorted(one.ids for batch in batches for one in batch) == sorted(pair.ids for pair in training)
        assert all(len(batch) <= SETTINGS.batch for batch in batches)
    assert first != second
    assert first == order_batches(training, SETTINGS, 0)


def test_batches_hold_examples_of_similar_length():
    training = make_training(200)
    batches = order_batches(training, SETTINGS, 0)
    padded = sum(len(batch) * max(len(pair.ids) for pair in batch) for batch in batches)
    assert padded < 1.1 * sum(len(pair.ids) for pair in training)


@pytest.mark.parametrize("name", ["gpt2", "llama"])
def test_padding_and_pieces_do_not_change_the_loss(name):
    model = make_model(name)
    batch = make_training(8)
    whole = sum_losses(model, batch)
    assert float(sum_losses(model, batch, length=60)) == pytest.approx(float(whole), rel=1e-6)
    pieces = divide_batch(batch, 40)
    assert len(pieces) > 2
    assert sorted(pair.ids for piece in pieces for pair in piece) == sorted(pair.ids for pair in batch)
    assert sum(float(sum_losses(model, piece)) for piece in pieces) == pytest.approx(float(whole), rel=1e-6)


def test_fewer_examples_than_a_step_takes():
    model = make_model("gpt2")
    with refuses("3 training examples", "4"):
        tune(model, make_training(3), lambda: 0.0, SETTINGS, "acc")


def test_a_loss_that_runs_away_is_named(monkeypatch):
    model = make_model("gpt2")
    add_adapter(model, SETTINGS)
    monkeypatch.setattr(
        "fathom.tuning.fine_tuning.sum_losses", lambda model, batch: sum_losses(model, batch) * math.inf
    )
    with refuses("inf", "step 1", "learning_rate"):
        tune(model, make_training(), lambda: 0.0, SETTINGS, "acc")


@pytest.mark.parametrize(("kind", "attention", "peft"), [
    ("gpt2", {"attn.c_attn", "attn.c_proj"}, {"attn.c_attn"}),
    ("gpt_neox", {"attention.query_key_value", "attention.dense"}, {"attention.query_key_value"}),
    ("llama", {f"self_attn.{name}_proj" for name in "qkvo"}, {"self_attn.q_proj", "self_attn.v_proj"}),
])  # fmt: skip
def test_the_adapter_is_where_the_settings_say(kind, attention, peft):
    for modules, expected in (("attention", attention), ("peft", peft)):
        model = make_model(kind)
        add_adapter(model, Lora(modules=modules))
        adapted = {".".join(name.split(".lora_")[0].split(".")[-2:]) for name in list_weights(model)}
        assert adapted == expected
    counts = [len(find_modules(make_model(kind), chosen, "m")) for chosen in ("all", "attention")]
    assert counts[0] > counts[1]


@pytest.mark.parametrize("kind", ["glm", "phi3"])
def test_an_adapter_changes_every_matrix_of_a_layer(kind):
    model = make_model(kind)
    matrices = {
        name for name, part in model.model.layers.named_modules() if isinstance(part, torch.nn.Linear)
    }
    add_adapter(model, Lora(modules="all"))
    assert {name.split("layers.")[1].split(".lora_")[0] for name in list_weights(model)} == matrices


def test_an_architecture_that_makes_all_logits_is_learned_at_the_right_places():
    model, pair = make_family("xlstm"), EncodedPair([3, 5, 9, 7, 2], 3, False)
    with torch.no_grad():
        logs = model(torch.tensor([pair.ids]), use_cache=False).logits[0].log_softmax(1)
        assert float(sum_losses(model, [pair])) == pytest.approx(float(-logs[2, 7] - logs[3, 2]), rel=1e-5)


def test_the_validation_loss_is_the_mean_over_tokens():
    model, encoded = make_model("llama"), make_training()
    losses = [float(sum_losses(model, [pair])) for pair in encoded]
    count = sum(len(pair.ids) - pair.start for pair in encoded)
    assert measure_loss(model, encoded, 100) == pytest.approx(sum(losses) / count, rel=1e-5)


def test_short_examples_leave_room_for_activations(monkeypatch):
    """Memory is calculated for the tokens that a batch has, not for those that it may have."""
    seen = []
    monkeypatch.setattr(steps, "LARGE", 1000)
    monkeypatch.setattr(steps, "keeps_activations", lambda _, limits, __: seen.append(limits.tokens) or True)
    model = make_model("llama")
    add_adapter(model, SETTINGS)
    training = [pair for pair in make_training(44) if len(pair.ids) <= 12]
    tune(
        model, training, lambda: 0.0, SETTINGS.model_copy(update={"batch_tokens": 8192, "epochs": 1}), "loss"
    )
    assert seen == [4 * max(len(pair.ids) for pair in training)]
