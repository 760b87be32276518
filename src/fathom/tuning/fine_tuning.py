"""The same short fine-tuning for every model, with fixed settings [TrainBeforeTest, App. A.3].

Only a target's tokens are learned, unless `lora.loss` is all. A step's loss is the mean over the learned
tokens of its examples, whatever the micro-batches, so the batch size is always that of the settings.
"""

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from fathom.config.tuning import Criterion, Lora
from fathom.errors import InputError
from fathom.io.files import hash_text
from fathom.io.names import show_count
from fathom.jobs.program import log, show_progress
from fathom.jobs.resume import Resume, State
from fathom.models.adapters import copy_weights, list_weights, restore_weights
from fathom.models.randomness import fix_randomness
from fathom.models.steps import Method, Stepper, StepSettings
from fathom.models.tokens import EncodedPair
from fathom.numerics.precision import use_full_precision
from fathom.statistics.metrics import METRICS

if TYPE_CHECKING:
    from torch import Tensor

BETAS = (0.9, 0.999)
_CHUNK = 64  # batches whose examples are sorted by length together


class Tuned(NamedTuple):
    """Losses and validation scores of a tuning.

    `losses`: mean over the learned tokens of each step, in nats; `rates`: learning rates of the steps;
    `scores`: on the validation split after each epoch; `epoch`: the best of them, from 1, the earlier of
    ties; 0: none has ended.
    """

    losses: list[float]
    rates: list[float]
    scores: list[float]
    epoch: int


def tune(
    model: Any,
    training: Sequence[EncodedPair],
    validate: Callable[[], float],
    settings: Lora,
    criterion: Criterion,
    resume: Resume | None = None,
) -> Tuned:
    """Train a model's adapter in place, and restore the weights of the best epoch.

    AdamW without warm-up, linear decay, clipped gradients. Dropout follows from the seed and the step, so
    that a resumed run ends with the same weights.

    Parameters
    ----------
    model : transformers causal language model
        With an adapter, see :func:`fathom.models.adapters.add_adapter`.

    Raises
    ------
    InputError
        If there are fewer examples than one batch, or the loss is not finite.
    """
    import torch

    if len(training) < settings.batch:
        what = f"{show_count(len(training), 'training example')}, fewer than one batch of {settings.batch}"
        raise InputError(what, "train_before_test", "lower lora.batch, or give the task more examples")
    steps = math.ceil(len(training) / settings.batch)
    total = steps * settings.epochs
    with fix_randomness(settings.seed):
        stepper = make_stepper(model, settings, max(len(pair.ids) for pair in training))
        progress, best = _restore(stepper, resume, total)
        first = stepper.step
        for step in show_progress(range(first, total), "steps", total - first):
            if step % steps == 0 or step == first:
                batches = order_batches(training, settings, step // steps)
            torch.manual_seed(int(hash_text(str(settings.seed), str(step))[:12], 16))
            progress.rates.append(settings.learning_rate * (1 - step / total))
            progress.losses.append(stepper.take(batches[step % steps], progress.rates[-1]))
            ends = (step + 1) % steps == 0
            if ends:
                progress, better = _close_epoch(progress, validate(), criterion, settings.epochs)
                best = copy_weights(model) if better else best
            if resume and (ends or resume.is_due()):
                _save(resume, stepper, progress, best)
        restore_weights(model, best)
    model.eval()
    return progress


def _close_epoch(progress: Tuned, score: float, criterion: Criterion, epochs: int) -> tuple[Tuned, bool]:
    """Record an epoch's validation score; return whether it is the best so far."""
    epoch = len(progress.scores) + 1
    log.info("epoch %s of %s: %s %.4g", epoch, epochs, criterion, score)
    better = progress.epoch == 0 or METRICS[criterion].is_better(score, progress.scores[progress.epoch - 1])
    progress.scores.append(score)
    return progress._replace(epoch=epoch if better else progress.epoch), better


def order_batches(training: Sequence[EncodedPair], settings: Lora, epoch: int) -> list[list[EncodedPair]]:
    """Return the batches of one epoch, shuffled, each of examples of similar length.

    Examples are sorted by length within chunks of 64 batches, whose order is then shuffled: little is padded,
    and batches differ between epochs.
    """
    import numpy as np

    random = np.random.default_rng([settings.seed, epoch])
    order = random.permutation(len(training)).tolist()
    batches = []
    size = settings.batch * _CHUNK
    for start in range(0, len(order), size):
        chunk = sorted(order[start : start + size], key=lambda place: len(training[place].ids))
        some = [chunk[place : place + settings.batch] for place in range(0, len(chunk), settings.batch)]
        batches += [some[place] for place in random.permutation(len(some))]
    return [[training[place] for place in batch] for batch in batches]


def make_stepper(model: Any, settings: Lora, longest: int) -> Stepper:
    """Return the stepper of a tuning of a model with an adapter; `longest`: tokens of an example."""
    import torch

    optimizer = torch.optim.AdamW(
        list(list_weights(model).values()),
        lr=settings.learning_rate,
        betas=BETAS,
        weight_decay=settings.weight_decay,
        fused=model.device.type == "cuda",
    )
    method = Method(divide_batch, _count, _size, sum_losses)
    # short examples leave room for their activations
    tokens = min(settings.batch_tokens, settings.batch * longest)
    return Stepper(model, optimizer, method, StepSettings(tokens, where="train_before_test.lora"))


def _restore(stepper: Stepper, resume: Resume | None, total: int) -> tuple[Tuned, dict[str, Any]]:
    import torch

    saved = resume.load() if resume is not None else None
    if saved is None:
        return Tuned([], [], [], 0), copy_weights(stepper.model)
    stepper.restore(saved.values["stepper"], saved.arrays)
    log.info("resuming a stopped run at step %s of %s", stepper.step + 1, total)
    best = {name: torch.from_numpy(saved.arrays[f"best.{name}"]) for name in stepper.weights}
    return Tuned(*(saved.values[name] for name in Tuned._fields)), best


def _save(resume: Resume, stepper: Stepper, progress: Tuned, best: "dict[str, Tensor]") -> None:
    arrays = {f"best.{name}": weight.numpy() for name, weight in best.items()}
    values = progress._asdict() | {"stepper": stepper.list_values()}
    resume.save(State(values, arrays | stepper.list_arrays()))


def divide_batch(batch: Sequence[EncodedPair], budget: int) -> list[list[EncodedPair]]:
    """Return micro-batches of at most `budget` tokens, padding included, longest examples first."""
    pieces: list[list[EncodedPair]] = []
    for pair in sorted(batch, key=lambda pair: -len(pair.ids)):
        if pieces and len(pieces[-1][0].ids) * (len(pieces[-1]) + 1) <= budget:
            pieces[-1].append(pair)
        else:
            pieces.append([pair])
    return pieces


def _count(batch: Sequence[EncodedPair]) -> int:
    return sum(len(pair.ids) - pair.start for pair in batch)


def _size(batch: Sequence[EncodedPair]) -> int:
    return max(len(pair.ids) for pair in batch) * len(batch)


def measure_loss(model: Any, encoded: Sequence[EncodedPair], budget: int) -> float:
    """Return the mean loss over the learned tokens of some examples, in nats."""
    import torch

    model.eval()
    with torch.inference_mode(), use_full_precision():
        total = sum(float(sum_losses(model, piece)) for piece in divide_batch(encoded, budget))
    return total / _count(encoded)


def sum_losses(model: Any, batch: Sequence[EncodedPair], length: int | None = None) -> "Tensor":
    """Return the summed loss over the target tokens of some examples, right-padded, in nats.

    They are padded to the longest, or to a `length` (for `perf/tuning.py`).
    """
    import torch
    from torch.nn.functional import cross_entropy

    longest = length or max(len(pair.ids) for pair in batch)
    ids = torch.zeros((len(batch), longest), dtype=torch.long)
    mask = torch.zeros_like(ids)
    places, device = [], model.device
    for row, pair in enumerate(batch):
        ids[row, : len(pair.ids)] = torch.tensor(pair.ids)
        mask[row, : len(pair.ids)] = 1
        places += [(row, place) for place in range(pair.start, len(pair.ids))]
    rows, columns = torch.tensor(places).T
    padded = any(len(pair.ids) < longest for pair in batch)
    first = min(pair.start for pair in batch) - 1  # no logits for earlier tokens
    output = model(
        input_ids=ids.to(device),
        attention_mask=mask.to(device) if padded else None,
        use_cache=False,
        logits_to_keep=torch.arange(first, longest, device=device),
    )
    left_out = longest - output.logits.shape[1]  # some architectures always make all logits
    logits = output.logits[rows.to(device), (columns - 1 - left_out).to(device)].float()
    wanted = ids[rows, columns].to(device)
    return cross_entropy(logits, wanted, reduction="sum")
