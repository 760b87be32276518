"""Training small models from scratch and adapting models to a domain, in plain PyTorch.

Source: [RawCorpora, Sec. 4.1].

The same inputs give the same bytes of model.safetensors whatever the number of cores: training uses one
thread, deterministic kernels, and random numbers from the seed alone.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from fathom.config.models import Adaptation, Training
from fathom.errors import InputError
from fathom.models.logits import find_logit_transform
from fathom.models.sequences import SequencePacking, pack_folds
from fathom.models.tokens import uses_bos
from fathom.running.program import log, show_progress

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CURVE_COLUMNS = ("step", "loss", "valid_loss", "learning_rate")
WARM_UP, FLOOR = 0.05, 0.1  # shares: of the steps for the warm-up, of the learning rate at the end
BETAS, WEIGHT_DECAY, CLIP = (0.9, 0.95), 0.1, 1.0
VALIDATION_INTERVAL = 50  # steps between two measurements of the validation loss
VALID_SEQUENCES = 64


class CurvePoint(NamedTuple):
    """One row of training.csv; losses in nats per token."""

    step: int
    loss: float
    valid_loss: float | None
    learning_rate: float


def build_model(settings: Training, tokenizer: Any) -> Any:
    """Return an untrained GPT-2 or Llama model, initialised from the seed.

    Raises
    ------
    InputError
        If `width` is not an even multiple of `heads`.
    """
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

    if settings.width % settings.heads or settings.width // settings.heads % 2:
        raise InputError(
            f"width = {settings.width} is not an even multiple of heads = {settings.heads}", "models.train"
        )
    shared = {
        "vocab_size": len(tokenizer),
        "max_position_embeddings": settings.context,
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "num_hidden_layers": settings.layers,
        "hidden_size": settings.width,
        "num_attention_heads": settings.heads,
        "tie_word_embeddings": True,
        "dtype": "float32",
    }
    torch.manual_seed(settings.seed)
    if settings.architecture == "llama":
        inner = math.ceil(settings.width * 8 / 3 / 16) * 16
        return LlamaForCausalLM(LlamaConfig(intermediate_size=inner, **shared))
    # a fused implementation of GPT-2's activation, gelu_new
    return GPT2LMHeadModel(GPT2Config(activation_function="gelu_pytorch_tanh", **shared))


def train(
    model: Any,
    tokenizer: Any,
    texts: pl.DataFrame,
    settings: Training | Adaptation,
    dropout: float = 0.0,
    device: str = "cpu",
    add_bos: bool | None = None,
) -> list[CurvePoint]:
    """Train a model in place on fold adapt-train, with the validation loss on adapt-valid at intervals.

    Next-token loss; AdamW with weight decay on matrices; warm-up and cosine decay of the learning rate;
    gradient clipping.

    Parameters
    ----------
    model, tokenizer : transformers model and tokenizer
    texts : DataFrame
        Under contract TEXTS.
    settings : Training or Adaptation
        Uses `steps`, `batch`, `sequence`, `learning_rate`, `seed`.
    dropout : float, default=0.0
        Set on every dropout layer of the model while training; 0.2 in [RawCorpora, App. A.5].
    device : str, default="cpu"
        Device to train on.
    add_bos : bool, optional
        Whether every document starts with a BOS token; None: the tokenizer's default.

    Returns
    -------
    list of CurvePoint
        The training curve.

    Raises
    ------
    InputError
        If there is too little text, a sequence is longer than the model's context, or the loss is not finite.
    """
    import torch

    _check_context(model, settings.sequence)
    packing = SequencePacking(settings.sequence, settings.seed, uses_bos(tokenizer, add_bos))
    packed, valid = pack_folds(texts, tokenizer, packing, settings.batch, VALID_SEQUENCES)
    log.info("%s sequences of %s tokens for %s steps", f"{len(packed):,}", settings.sequence, settings.steps)
    with fix_randomness(settings.seed):
        model.to(device)
        _set_dropout(model, dropout)
        optimizer = _make_optimizer(model, settings.learning_rate)
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, make_schedule(settings.steps))
        validation = torch.from_numpy(valid).to(device)
        curve = []
        batches = _draw_batches(packed, settings, device)
        for step, batch in enumerate(show_progress(batches, "steps", settings.steps), start=1):
            rate = float(schedule.get_last_lr()[0])
            loss = _take_step(model, batch, optimizer)
            schedule.step()
            due = step % VALIDATION_INTERVAL == 0 or step == settings.steps
            valid_loss = _validate(model, validation, settings.batch) if due else None
            curve.append(CurvePoint(step, loss, valid_loss, rate))
            _log_point(curve[-1], settings.steps)
        _set_dropout(model, 0.0)
    model.to("cpu").eval()
    return curve


def _take_step(model: Any, batch: Any, optimizer: Any) -> float:
    """Take one optimiser step; return its loss."""
    import torch

    model.train()
    loss = measure_loss(model, batch)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return float(loss.item())


def measure_loss(model: Any, batch: Any) -> Any:
    """Return the mean next-token loss, in nats, of a batch of ids of shape (n_sequences, n_tokens)."""
    from torch.nn.functional import cross_entropy

    hidden = model.base_model(input_ids=batch, use_cache=False).last_hidden_state[:, :-1]
    logits = model.get_output_embeddings()(hidden).flatten(0, 1).float()
    return cross_entropy(find_logit_transform(model).apply(logits), batch[:, 1:].flatten())


def make_schedule(steps: int) -> Callable[[int], float]:
    """Return the factor of the learning rate by step: linear warm-up, then cosine decay to FLOOR."""
    warm = max(1, math.ceil(WARM_UP * steps))

    def factor(step: int) -> float:
        if step < warm:
            return (step + 1) / warm
        done = (step - warm) / max(1, steps - warm)
        return FLOOR + (1 - FLOOR) * 0.5 * (1 + math.cos(math.pi * min(done, 1.0)))

    return factor


def _make_optimizer(model: Any, learning_rate: float) -> Any:
    """Return AdamW with weight decay on matrices but not on norms and biases."""
    import torch

    matrices = [weight for weight in model.parameters() if weight.ndim >= 2]
    others = [weight for weight in model.parameters() if weight.ndim < 2]
    groups = [{"params": matrices, "weight_decay": WEIGHT_DECAY}, {"params": others, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=learning_rate, betas=BETAS, fused=True)


def _draw_batches(packed: "NDArray[np.int64]", settings: Training | Adaptation, device: str) -> Iterator[Any]:
    """Yield one batch per step; each epoch visits the sequences in its own random order."""
    import numpy as np
    import torch

    random = np.random.default_rng(settings.seed)
    order = np.empty(0, dtype=np.int64)
    for _ in range(settings.steps):
        while len(order) < settings.batch:
            order = np.concatenate([order, random.permutation(len(packed))])
        chosen, order = order[: settings.batch], order[settings.batch :]
        yield torch.from_numpy(packed[chosen]).to(device)


def _validate(model: Any, sequences: Any, batch: int) -> float:
    """Return the mean loss over the validation sequences, in nats."""
    import torch

    model.eval()
    with torch.no_grad():
        parts = [(measure_loss(model, rows).item(), len(rows)) for rows in sequences.split(batch)]
    return float(sum(loss * count for loss, count in parts) / len(sequences))


def _log_point(point: CurvePoint, steps: int) -> None:
    """Log a point that has a validation loss; raise `InputError` if training has diverged."""
    if not math.isfinite(point.loss):
        raise InputError(f"the loss is {point.loss} at step {point.step}", "models", "lower learning_rate")
    if point.valid_loss is not None:
        log.info("step %s of %s: loss %.3f, valid %.3f", point.step, steps, point.loss, point.valid_loss)


def _check_context(model: Any, sequence: int) -> None:
    """Raise `InputError` if training sequences do not fit the model."""
    context = getattr(model.config, "max_position_embeddings", None)
    if context is not None and sequence > context:
        raise InputError(
            f"sequence = {sequence} is longer than the model's context of {context}",
            "models",
            "lower sequence",
        )


def _set_dropout(model: Any, share: float) -> None:
    """Set the dropout of all layers, including attention."""
    import torch

    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = share
        elif isinstance(getattr(module, "attention_dropout", None), float):
            module.attention_dropout = share


@contextmanager
def fix_randomness(seed: int) -> Iterator[None]:
    """Use one thread, deterministic kernels and a fixed seed inside the `with` block."""
    import torch

    threads, strict = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    memory: Any = torch.utils.deterministic
    fill = memory.fill_uninitialized_memory
    memory.fill_uninitialized_memory = False  # it is never read, and filling takes time
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(seed)
    try:
        yield
    finally:
        memory.fill_uninitialized_memory = fill
        torch.use_deterministic_algorithms(strict)
        torch.set_num_threads(threads)
