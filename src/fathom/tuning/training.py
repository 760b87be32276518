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
from fathom.models.lora import copy_weights, list_weights, restore_weights
from fathom.models.tokens import EncodedPair
from fathom.models.training import fix_randomness
from fathom.running.program import log, show_progress
from fathom.running.resume import Resume, State
from fathom.tuning.evaluation import is_better

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor

BETAS, CLIP = (0.9, 0.999), 1.0
_CHUNK = 64  # batches whose examples are sorted by length together


class Progress(NamedTuple):
    """Finished steps, their losses, the validation score of each epoch, and the best epoch."""

    step: int
    losses: list[float]
    scores: list[float]
    epoch: int


class Tuned(NamedTuple):
    """Losses and validation scores of a tuning.

    Attributes
    ----------
    losses : list of float
        Mean loss over the learned tokens of each step, in nats.
    scores : list of float
        Score on the validation split after each epoch.
    epoch : int
        The best of them, from 1; the earlier of ties.
    """

    losses: list[float]
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
        With an adapter, see :func:`fathom.models.lora.add_adapter`.
    training : sequence of EncodedPair
        Training examples.
    validate : callable
        Returns the model's score on the validation split.
    settings : Lora
    criterion : Metric or "loss"
        Decides which of two scores is better.
    resume : Resume, optional
        Where the state is saved, so that a stopped run resumes.

    Raises
    ------
    InputError
        If there are fewer examples than one batch, or the loss is not finite.
    """
    if len(training) < settings.batch:
        raise InputError(
            f"{len(training)} training examples are fewer than one batch of {settings.batch}",
            "train_before_test",
            "lower lora.batch, or give the task more examples",
        )
    steps = math.ceil(len(training) / settings.batch)
    total = steps * settings.epochs
    with fix_randomness(settings.seed):
        runner = _Runner(model, settings, total)
        saved = resume.load() if resume else None
        progress = runner.restore(saved) if saved else Progress(0, [], [], 0)
        for step in show_progress(range(progress.step, total), "steps", total - progress.step):
            if step % steps == 0 or step == progress.step:
                batches = order_batches(training, settings, step // steps)
            progress.losses.append(runner.take_step(batches[step % steps], step))
            ends = (step + 1) % steps == 0
            progress = progress._replace(step=step + 1)
            progress = runner.close_epoch(progress, validate(), criterion) if ends else progress
            if resume and (ends or resume.is_due()):
                resume.save(State(progress._asdict(), runner.list_arrays()))
        restore_weights(model, runner.best)
    model.eval()
    return Tuned(progress.losses, progress.scores, progress.epoch)


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


class _Runner:
    """A model's adapter, its optimiser, and the best weights so far."""

    def __init__(self, model: Any, settings: Lora, total: int) -> None:
        import torch

        self.model, self.settings, self.total = model, settings, total
        self.weights = list_weights(model)
        self.optimizer = torch.optim.AdamW(
            list(self.weights.values()),
            lr=settings.learning_rate,
            betas=BETAS,
            weight_decay=settings.weight_decay,
        )
        self.best = copy_weights(model)
        self.budget = settings.batch_tokens

    def take_step(self, batch: Sequence[EncodedPair], step: int) -> float:
        """Take one step; on out-of-memory halve the micro-batch and try again."""
        import torch

        for group in self.optimizer.param_groups:
            group["lr"] = self.settings.learning_rate * (1 - step / self.total)
        while True:
            torch.manual_seed(int(hash_text(str(self.settings.seed), str(step))[:12], 16))
            try:
                loss = self._accumulate(batch)
                break
            except torch.cuda.OutOfMemoryError:
                self._halve(batch)
        if not math.isfinite(loss):
            raise InputError(
                f"the loss is {loss} at step {step + 1}", "train_before_test.lora", "lower learning_rate"
            )
        torch.nn.utils.clip_grad_norm_(self.weights.values(), CLIP)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return loss

    def _accumulate(self, batch: Sequence[EncodedPair]) -> float:
        """Accumulate the gradients of a batch over its micro-batches; return its loss."""
        self.model.train()
        count = sum(len(pair.ids) - pair.start for pair in batch)
        loss = 0.0
        for piece in divide_batch(batch, self.budget):
            part = sum_losses(self.model, piece) / count
            part.backward()  # type: ignore[no-untyped-call]
            loss += float(part.item())
        return loss

    def _halve(self, batch: Sequence[EncodedPair]) -> None:
        """Halve the micro-batch from here on."""
        import torch

        self.optimizer.zero_grad(set_to_none=True)
        torch.cuda.empty_cache()
        if self.budget <= max(len(pair.ids) for pair in batch):
            raise InputError(
                "one example does not fit into GPU memory", "train_before_test.lora", "lower max_tokens"
            )
        self.budget //= 2
        log.info("out of GPU memory: micro-batches of %s tokens from here on", self.budget)

    def close_epoch(self, progress: Progress, score: float, criterion: Criterion) -> Progress:
        """Record an epoch's validation score; keep its weights if it is the best."""
        epoch = len(progress.scores) + 1
        progress.scores.append(score)
        log.info("epoch %s of %s: %s %.4g", epoch, self.settings.epochs, criterion, score)
        if progress.epoch == 0 or is_better(criterion, score, progress.scores[progress.epoch - 1]):
            self.best = copy_weights(self.model)
            progress = progress._replace(epoch=epoch)
        return progress

    def list_arrays(self) -> "dict[str, NDArray[np.float32]]":
        """Return what a run needs to resume: weights, best weights, moments of the optimiser."""
        found = {f"best.{name}": weight for name, weight in self.best.items()}
        for name, weight in self.weights.items():
            moments = self.optimizer.state[weight]
            found[f"weight.{name}"] = weight.detach()
            found[f"first.{name}"] = moments["exp_avg"]
            found[f"second.{name}"] = moments["exp_avg_sq"]
        return {name: tensor.cpu().numpy() for name, tensor in found.items()}

    def restore(self, state: State) -> Progress:
        """Resume from the state that a stopped run saved."""
        import torch

        progress = Progress(**state.values)
        tensors = {name: torch.from_numpy(array) for name, array in state.arrays.items()}
        restore_weights(self.model, {name: tensors[f"weight.{name}"] for name in self.weights})
        self.best = {name: tensors[f"best.{name}"] for name in self.weights}
        for name, weight in self.weights.items():
            self.optimizer.state[weight] = {
                "step": torch.tensor(float(progress.step)),
                "exp_avg": tensors[f"first.{name}"].to(weight.device),
                "exp_avg_sq": tensors[f"second.{name}"].to(weight.device),
            }
        log.info("resuming a stopped run at step %s of %s", progress.step + 1, self.total)
        return progress


def divide_batch(batch: Sequence[EncodedPair], budget: int) -> list[list[EncodedPair]]:
    """Return micro-batches of at most `budget` tokens, padding included, longest examples first."""
    pieces: list[list[EncodedPair]] = []
    for pair in sorted(batch, key=lambda pair: -len(pair.ids)):
        if pieces and len(pieces[-1][0].ids) * (len(pieces[-1]) + 1) <= budget:
            pieces[-1].append(pair)
        else:
            pieces.append([pair])
    return pieces


def measure_loss(model: Any, encoded: Sequence[EncodedPair], budget: int) -> float:
    """Return the mean loss over the learned tokens of some examples, in nats.

    Parameters
    ----------
    model : transformers causal language model
    encoded : sequence of EncodedPair
    budget : int
        Tokens in a micro-batch, padding included.
    """
    import torch

    model.eval()
    with torch.inference_mode():
        total = sum(float(sum_losses(model, piece)) for piece in divide_batch(encoded, budget))
    return total / sum(len(pair.ids) - pair.start for pair in encoded)


def sum_losses(model: Any, batch: Sequence[EncodedPair], length: int | None = None) -> "Tensor":
    """Return the summed loss over the target tokens of some examples, in nats.

    Parameters
    ----------
    model : transformers causal language model
    batch : sequence of EncodedPair
        Right-padded to the longest.
    length : int, optional
        Pad to this length instead (for `perf/tuning.py`).
    """
    import torch
    from torch.nn.functional import cross_entropy

    longest = length or max(len(pair.ids) for pair in batch)
    ids = torch.zeros((len(batch), longest), dtype=torch.long)
    mask = torch.zeros_like(ids)
    places = []
    for row, pair in enumerate(batch):
        ids[row, : len(pair.ids)] = torch.tensor(pair.ids)
        mask[row, : len(pair.ids)] = 1
        places += [(row, place) for place in range(pair.start, len(pair.ids))]
    rows, columns = torch.tensor(places).T
    first = min(pair.start for pair in batch) - 1  # no logits are made for what stands before
    output = model(
        input_ids=ids.to(model.device),
        attention_mask=None if bool(mask.all()) else mask.to(model.device),
        use_cache=False,
        logits_to_keep=torch.arange(first, longest, device=model.device),
    )
    logits = output.logits[rows, columns - 1 - first].float()
    wanted = ids[rows, columns].to(model.device)
    return cross_entropy(logits, wanted, reduction="sum")
