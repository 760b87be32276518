"""Training small models from scratch and adapting models to a domain, in plain PyTorch.

Source: [RawCorpora, Sec. 4.1].

The same inputs give the same bytes of model.safetensors for any number of cores, and whether or not a run
was stopped: training uses one thread, deterministic kernels, and random numbers only from the seed.
"""

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from fathom.config.models import Adaptation, Training
from fathom.errors import InputError
from fathom.jobs.program import log, show_progress
from fathom.jobs.resume import Resume, State
from fathom.models import text_model
from fathom.models.adapters import add_adapter, cast_weights, list_weights
from fathom.models.loading import find_context_length
from fathom.models.parallel import SingleProcess
from fathom.models.randomness import fix_randomness
from fathom.models.saving import Checkpoints
from fathom.models.sequences import SequencePacking, order_sequences, pack_splits
from fathom.models.steps import Method, Stepper, StepSettings, refuse_full_memory
from fathom.models.tokens import uses_bos
from fathom.numerics.precision import pick_precision

if TYPE_CHECKING:
    from torch import Tensor


WARM_UP, FLOOR = 0.05, 0.1  # shares: of the steps for the warm-up, of the learning rate at the end
BETAS, WEIGHT_DECAY = (0.9, 0.95), 0.1  # of a training from scratch [GPT3]
VALIDATION_INTERVAL = 50  # steps between two measurements of the validation loss
VALID_SEQUENCES = 64
_CHECKED = 16  # tokens for comparing the training's logits with the model's own
_BEFORE_LAST = (slice(None), slice(-1))  # of all sequences, the positions that predict a token of theirs
_FIRST, _LAST, _RISE = 5, 20, 1.0  # diverged: the last losses are on average one nat above the first


Losses = Callable[[Any, "Tensor"], "Tensor"]
"""Takes a model and a batch of ids; returns the summed next-token loss."""


class CurvePoint(NamedTuple):
    """One row of training.csv; losses in nats per token."""

    step: int
    loss: float
    valid_loss: float | None
    learning_rate: float


def train(
    model: Any,
    tokenizer: Any,
    texts: pl.DataFrame,
    settings: Training | Adaptation,
    processes: SingleProcess | None = None,
    add_bos: bool | None = None,
    resume: Resume | None = None,
) -> list[CurvePoint]:
    """Train a model in place on split adapt-train, with the validation loss on adapt-valid at intervals.

    Next-token loss; AdamW with weight decay on matrices; warm-up and cosine decay of the learning rate;
    gradient clipping. All weights are trained, or an adapter, which stays beside them in the model.

    Parameters
    ----------
    texts : DataFrame
        Under contract TEXTS.
    settings : Training or Adaptation
        Dropout of an adaptation is set on every dropout layer while training; 0.2 in
        [BeyondBenchmarks, Sec. 2.2.1].
    processes : SingleProcess, optional
        Who trains, and where; by default this process alone, on the processor.
    add_bos : bool, optional
        Whether every document starts with a BOS token; None: the tokenizer's default.

    Raises
    ------
    InputError
        If there is too little text, a sequence is longer than the model's context, the loss is not finite or
        has risen, or GPU memory cannot hold one sequence.
    """
    import torch

    processes = processes or SingleProcess()
    device = processes.device
    _check_settings(model, settings, processes.count)
    packing = SequencePacking(settings.sequence, settings.seed, uses_bos(tokenizer, add_bos))
    packed, valid = pack_splits(texts, tokenizer, packing, settings.batch, count_valid_sequences(settings))
    log.info("%s sequences of %s tokens for %s steps", f"{len(packed):,}", settings.sequence, settings.steps)
    order = order_sequences(len(packed), settings)
    lora = settings.lora if isinstance(settings, Adaptation) else None
    with fix_randomness(settings.seed):
        set_dropout(model, settings.dropout if isinstance(settings, Adaptation) else 0.0)
        frozen = settings.frozen if isinstance(settings, Adaptation) else []
        if lora is not None:  # it has its own dropout
            cast_weights(model, getattr(torch, lora.dtype))
            add_adapter(model, lora, tokenizer.name_or_path, frozen)
        else:
            freeze_weights(model, frozen)
        with refuse_full_memory("the model", "models"):
            model.to(device)
        sum_them = choose_losses(model, torch.from_numpy(packed[:1, :_CHECKED]).to(device))
        stepper = make_stepper(model, settings, processes, sum_them)
        validation = torch.from_numpy(valid).to(device)
        schedule = make_schedule(settings.steps)
        curve = _restore(stepper, resume)
        for step in show_progress(range(len(curve), settings.steps), "steps", settings.steps - len(curve)):
            rate = settings.learning_rate * schedule(step)
            loss = stepper.take(torch.from_numpy(packed[order[step]]).to(device), rate)
            due = (step + 1) % VALIDATION_INTERVAL == 0 or step + 1 == settings.steps
            valid_loss = _validate(stepper, validation, settings.batch, sum_them) if due else None
            curve.append(CurvePoint(step + 1, loss, valid_loss, rate))
            _log_point(curve, settings.steps)
            if isinstance(resume, Checkpoints):
                resume.keep(step + 1, model)
            if resume is not None and resume.is_due():
                values = {**stepper.list_values(), "curve": [list(point) for point in curve]}
                resume.save(State(values, stepper.list_arrays()))
        set_dropout(model, 0.0)
    model.to("cpu").eval()
    return curve


def freeze_weights(model: Any, frozen: Sequence[int]) -> None:
    """Freeze some blocks, and parts beside the text model, such as for images."""
    within = (weight for block in text_model.find_frozen(model, frozen) for weight in block.parameters())
    for weight in (*text_model.list_other_weights(model), *within):
        weight.requires_grad_(False)


def make_stepper(
    model: Any, settings: Training | Adaptation, processes: SingleProcess, sum_them: Losses | None = None
) -> Stepper:
    """Return the stepper of a training; the model is on the device, with its adapter, if any."""
    method = PACKED if sum_them in (None, sum_losses) else PACKED._replace(sum_losses=sum_them)
    precision = pick_precision(processes.device, settings.precision, "models")
    tokens = min(settings.batch_tokens, settings.batch * settings.sequence)
    limits = StepSettings(tokens, settings.checkpointing, precision, "models")
    return Stepper(model, _make_optimizer(model, settings), method, limits, processes)


def _restore(stepper: Stepper, resume: Resume | None) -> list[CurvePoint]:
    saved = resume.load() if resume is not None else None
    if saved is None:
        return []
    values = dict(saved.values)
    curve = [CurvePoint(*point) for point in values.pop("curve")]
    stepper.restore(values, saved.arrays)
    log.info("resuming a stopped run after step %s", len(curve))
    return curve


def sum_losses(model: Any, batch: "Tensor") -> "Tensor":
    """Return the summed next-token loss, in nats, of a batch of ids of shape (n_sequences, n_tokens)."""
    from torch.nn.functional import cross_entropy

    logits = text_model.compute_logits(model, batch, positions=_BEFORE_LAST).flatten(0, 1)
    return cross_entropy(logits, batch[:, 1:].flatten(), reduction="sum")


def sum_own_losses(model: Any, batch: "Tensor") -> "Tensor":
    """Return :func:`sum_losses` computed from the model's own logits, which is right for any model."""
    from torch.nn.functional import cross_entropy

    logits = model(input_ids=batch, use_cache=False).logits[_BEFORE_LAST].flatten(0, 1).float()
    return cross_entropy(logits, batch[:, 1:].flatten(), reduction="sum")


def choose_losses(model: Any, batch: "Tensor") -> Losses:
    """Return :func:`sum_losses` if it learns from the model's own logits, else :func:`sum_own_losses`."""
    return sum_losses if text_model.follows_hidden_states(model, batch) else sum_own_losses


def _divide(batch: "Tensor", tokens: int) -> Sequence["Tensor"]:
    return _cut(batch, max(1, tokens // batch.shape[1]))


def _cut(batch: "Tensor", rows: int) -> Sequence["Tensor"]:
    return [batch[start : start + rows] for start in range(0, len(batch), rows)]


def _count(batch: "Tensor") -> int:
    """All tokens but the first of each sequence are learned."""
    return batch.numel() - len(batch)


PACKED = Method(_divide, _count, lambda batch: batch.numel(), sum_losses)
"""How to learn from sequences that fill the context."""


def make_schedule(steps: int) -> Callable[[int], float]:
    """Return the factor of the learning rate by step: linear warm-up, then cosine decay to FLOOR."""
    warm = max(1, math.ceil(WARM_UP * steps))

    def factor(step: int) -> float:
        if step < warm:
            return (step + 1) / warm
        done = (step - warm) / max(1, steps - warm)
        return FLOOR + (1 - FLOOR) * 0.5 * (1 + math.cos(math.pi * min(done, 1.0)))

    return factor


def _make_optimizer(model: Any, settings: Training | Adaptation) -> Any:
    import torch

    betas, decay = BETAS, WEIGHT_DECAY
    if isinstance(settings, Adaptation):
        (first, second), decay = settings.betas, settings.weight_decay
        betas = (first, second)
    weights = list_weights(model).values()
    matrices = [weight for weight in weights if weight.ndim >= 2]
    others = [weight for weight in weights if weight.ndim < 2]
    groups = [{"params": matrices, "weight_decay": decay}, {"params": others, "weight_decay": 0.0}]
    fused = model.device.type in ("cpu", "cuda")
    return torch.optim.AdamW(groups, lr=settings.learning_rate, betas=betas, fused=fused)


def count_valid_sequences(settings: Training | Adaptation) -> int:
    """Return the number of sequences for validation: a quarter of a short training's."""
    learned = settings.steps * settings.batch
    return min(VALID_SEQUENCES, max(settings.batch, learned // 4))


def _validate(stepper: Stepper, sequences: "Tensor", batch: int, sum_them: Losses) -> float:
    import torch

    stepper.model.eval()
    rows = min(batch, len(_divide(sequences, stepper.tokens)[0]))
    with torch.no_grad(), stepper.autocast():
        losses = [
            (sum_them(stepper.model, some) / _count(some)).item() * len(some)
            for some in _cut(sequences, rows)
        ]
    return float(sum(losses) / len(sequences))


def _log_point(curve: Sequence[CurvePoint], steps: int) -> None:
    """Log a point that has a validation loss; raise `InputError` if the training loss has risen for good."""
    point = curve[-1]
    if len(curve) >= _FIRST + _LAST:
        first = max(earlier.loss for earlier in curve[:_FIRST])
        last = sum(later.loss for later in curve[-_LAST:]) / _LAST
        if last > first + _RISE:
            raise InputError(
                f"training diverges: the loss has risen from {first:.2f} to {last:.2f} by step {point.step}",
                "models",
                "lower learning_rate",
            )
    if point.valid_loss is not None:
        log.info("step %s of %s: loss %.3f, valid %.3f", point.step, steps, point.loss, point.valid_loss)


def _check_settings(model: Any, settings: Training | Adaptation, processes: int) -> None:
    if settings.batch < processes:
        what = f"a batch of {settings.batch} cannot be shared among {processes} processes"
        raise InputError(what, "models", "raise batch, or take fewer GPUs")
    if not (isinstance(settings, Adaptation) and settings.lora):  # an adapter is written beside its base
        try:
            text_model.choose_class(model.config, "models")
        except InputError as error:
            raise InputError(
                f"a model of type {model.config.model_type!r} cannot be loaded again after saving",
                "models",
                "train an adapter (lora), which is written beside its base",
            ) from error
    context = find_context_length(model)
    if context is not None and settings.sequence > context:
        what = f"sequence = {settings.sequence} is longer than the model's context of {context}"
        raise InputError(what, "models", "lower sequence")


def set_dropout(model: Any, share: float) -> None:
    """Set the dropout of all layers, including attention; log if there is none."""
    import torch

    found = False
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p, found = share, True
        elif isinstance(getattr(module, "attention_dropout", None), int | float):  # 0 in some config.json
            module.attention_dropout, found = share, True
    if share and not found:
        log.warning("this architecture has no dropout: it is trained without")


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
