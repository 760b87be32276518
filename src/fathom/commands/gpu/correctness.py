"""Checks of correctness: equal results on the processor, with less memory, when repeated, after a kill."""

import gc
import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from logging import Handler, LogRecord
from typing import TYPE_CHECKING, Any

from fathom.commands.gpu import gpu_models
from fathom.commands.gpu.checks import Earlier, Measured, Place
from fathom.jobs.program import log
from fathom.jobs.resume import Resume, State

if TYPE_CHECKING:
    import polars as pl

    from fathom.config.models import Adaptation
    from fathom.config.tuning import Lora

FAR = 1000
"""Ranks above this may move by rounding, as their logits are close together."""
LARGEST_DIFFERENCE = 1e-4  # of log-probabilities
LAYERS_DIFFERENCE = 5e-4  # the first have logits ten times as large; TF32 moves the others by 1e-3 to 4e-3
CLOSE = 1e-5  # share of a document's nats
_HALVED = "out of GPU memory: "  # start of a log line
MOVED = 0.01  # share of near ranks that rounding may move, by one: random weights give nearly equal logits
_FEW = 2  # ranks that rounding may always move


def score(model: Any, tokenizer: Any, pairs: "pl.DataFrame", tokens: int) -> "pl.DataFrame":
    """Return scores of pairs, with some tokens in a batch."""
    from fathom.config.scoring import Scoring
    from fathom.scoring.ranks import score_benchmarks

    return score_benchmarks(model, tokenizer, [pairs], Scoring(batch_tokens=tokens))[0]


def compare_scores(
    expected: "pl.DataFrame", found: "pl.DataFrame", largest: float = LARGEST_DIFFERENCE
) -> Measured:
    """Compare ranks and log-probabilities with those of a reference."""
    import numpy as np

    ranks, others = expected["rank"].to_numpy(), found["rank"].to_numpy()
    near, apart = ranks <= FAR, np.abs(ranks - others)
    moved, farthest = int((apart[near] > 0).sum()), int(apart[near].max(initial=0))
    logs = np.abs(expected["log_probability"].to_numpy() - found["log_probability"].to_numpy())
    difference = float(logs.max())
    met = moved <= max(_FEW, MOVED * near.sum()) and farthest <= 1 and difference <= largest
    value = (
        f"{moved} of {int(near.sum())} ranks up to {FAR:,} differ, by at most {farthest}; "
        f"{int((apart[~near] > 0).sum())} of {int((~near).sum())} farther ones; "
        f"log-probabilities by at most {difference:.0e}"
    )
    numbers = {"near_moved": moved, "near": int(near.sum()), "farthest": farthest, "difference": difference}
    return Measured(value, bool(met), numbers)


def check_ranks(place: Place, shape: gpu_models.Shape, _: Earlier) -> Measured:
    """Score in float32 on the processor and on the device; the model is loaded from a folder."""
    from fathom.models.folders import save_model
    from fathom.models.loading import load_model

    folder = place.folder / shape.kind
    tokenizer = gpu_models.make_tokenizer(
        shape
    )  # keep our tokenizer: transformers would load the model family's own
    save_model(folder, gpu_models.build_model(shape, place.device), tokenizer)
    model, _ = load_model(folder, "float32", place.device)
    pairs = gpu_models.make_pairs(model, shape, place.sizes)[: place.sizes.compared]
    found = score(model, tokenizer, pairs, 4096)
    del model
    reference, _ = load_model(folder, "float32", "cpu")
    return compare_scores(score(reference, tokenizer, pairs, 1024), found)


def check_perplexity(place: Place, shape: gpu_models.Shape, _: Earlier) -> Measured:
    """Score running text in float32 on the processor and on the device."""
    import numpy as np

    from fathom.scoring.perplexity import Windows, score_texts

    texts, tokenizer = gpu_models.make_texts(shape, place.sizes, 1)[:4], gpu_models.make_tokenizer(shape)
    windows = Windows(place.sizes.sequence // 2, place.sizes.sequence // 4)
    model = gpu_models.build_model(shape, place.device)
    expected, found = (
        score_texts(model.to(device), tokenizer, texts, windows, 2048)["nats"].to_numpy()
        for device in ("cpu", place.device)
    )
    difference = float(np.abs(found / expected - 1).max())
    value = f"nats of {len(texts)} documents differ by at most {difference:.0e} of themselves"
    return Measured(value, difference <= CLOSE, {"difference": difference})


def check_layers(place: Place, shape: gpu_models.Shape, _: Earlier) -> Measured:
    """Follow targets through the layers in float32, on the processor and on the device."""
    import numpy as np
    import polars as pl

    from fathom.layers.target_ranks import ForwardSettings, measure_targets

    model, tokenizer = gpu_models.build_model(shape, place.device), gpu_models.make_tokenizer(shape)
    pairs = gpu_models.make_pairs(model, shape, place.sizes)[: place.sizes.compared // 4]
    found, expected = (
        measure_targets(model.to(device), tokenizer, pairs, ForwardSettings(1024)).with_columns(
            log_probability=pl.col("probability").log()
        )
        for device in (place.device, "cpu")
    )
    ranks = compare_scores(expected, found, LAYERS_DIFFERENCE)
    nats = [frame.select("entropy", "divergence").to_numpy() for frame in (expected, found)]
    difference = float(np.abs(nats[0] - nats[1]).max())
    value = f"{ranks.value}; entropy and divergence by at most {difference:.0e}"
    numbers = {**ranks.numbers, "nats": difference}
    return Measured(value, bool(ranks.met) and difference <= LAYERS_DIFFERENCE, numbers)


def check_low_precision(place: Place, shape: gpu_models.Shape, _: Earlier) -> Measured:
    """Score in bfloat16 and in float32, both on the device."""
    import torch

    model, tokenizer = gpu_models.build_model(shape, place.device), gpu_models.make_tokenizer(shape)
    pairs = gpu_models.make_pairs(model, shape, place.sizes)
    expected = score(model, tokenizer, pairs, 4096)["rank"].to_list()
    found = score(model.to(torch.bfloat16), tokenizer, pairs, 4096)["rank"].to_list()
    changed = sum(one != other for one, other in zip(expected, found, strict=True)) / len(expected)
    change = _trim(found) / _trim(expected) - 1
    value = f"{changed:.1%} of ranks changed; trimmed mean by {change:+.2%}"
    return Measured(value, abs(change) <= 0.01, {"changed": changed, "trimmed_mean": change})


def _trim(ranks: Sequence[float]) -> float:
    import numpy as np

    from fathom.config.scoring import Summary
    from fathom.statistics.aggregates import TRIMMED_MEAN, measure_values

    return measure_values(np.array(ranks), TRIMMED_MEAN, Summary().trim)


def check_halved_scoring(place: Place, shape: gpu_models.Shape, _: Earlier) -> Measured:
    """Score in batches that do not fit into the free memory."""
    model, tokenizer = gpu_models.build_model(shape, place.device), gpu_models.make_tokenizer(shape)
    pairs = gpu_models.make_pairs(model, shape, place.sizes)
    small, large = 8 * place.sizes.prompt, place.sizes.pairs * place.sizes.prompt
    with measure_peak(place.device) as low:
        expected = score(model, tokenizer, pairs, small)
    with measure_peak(place.device) as high:
        score(model, tokenizer, pairs, large)
    with listen() as lines, leave_memory(model, (low[0] + high[0]) // 2, 2 * small):
        found = score(model, tokenizer, pairs, large)
    return judge_halving(lines, compare_scores(expected, found))


def check_halved_training(place: Place, shape: gpu_models.Shape, _: Earlier, once: Any) -> Measured:
    """Train with micro-batches that do not fit into the free memory; compare losses."""
    import numpy as np

    sizes = place.sizes
    small = 2 * (sizes.sequence if once is adapt_once else sizes.prompt + sizes.target)
    large = 4 * sizes.batch * small
    with measure_peak(place.device) as low:
        once(place, shape, tokens=small)
    with measure_peak(place.device) as high:
        _, expected = once(place, shape, tokens=large)
    # beside the model: too little even with checkpointed activations, so batches are halved
    room = low[0] + (high[0] - low[0]) // 64 - 4 * shape.parameters
    with listen() as lines:
        _, found = once(place, shape, tokens=large, room=(room, small))
    difference = float(np.abs(np.array(expected) / np.array(found) - 1).max())
    measured = Measured(
        f"losses differ by at most {difference:.0e}", difference < 1e-3, {"difference": difference}
    )
    return judge_halving(lines, measured)


def judge_halving(lines: Sequence[str], measured: Measured) -> Measured:
    """Return a measurement that passes only if the log says that memory ran out and batches were halved."""
    count = sum(line.startswith(_HALVED) for line in lines)
    value = f"memory ran out {count} times; {measured.value}"
    return Measured(value, bool(measured.met) and count > 0, {**measured.numbers, "halved": count})


def check_determinism(place: Place, shape: gpu_models.Shape, _: Earlier) -> Measured:
    """Score, tune and adapt twice; compare bytes."""
    model, tokenizer = gpu_models.build_model(shape, place.device), gpu_models.make_tokenizer(shape)
    pairs = gpu_models.make_pairs(model, shape, place.sizes)
    same = {"scores": score(model, tokenizer, pairs, 4096).equals(score(model, tokenizer, pairs, 4096))}
    del model
    for name, once in (("tuned weights", tune_once), ("adapted weights", adapt_once)):
        same[name] = once(place, shape) == once(place, shape)
    value = "; ".join(f"{name} {'equal' if equal else 'differ'}" for name, equal in same.items())
    return Measured(value, all(same.values()), {name: float(equal) for name, equal in same.items()})


def check_resumed_training(place: Place, shape: gpu_models.Shape, _: Earlier, once: Any) -> Measured:
    """Kill a training after a save, resume it, and compare it with one that was never stopped."""
    output = place.folder / once.__name__
    child = os.fork()  # before this process touches the GPU
    if not child:
        once(place, shape, resume=_KilledAfterSave(output, "key"))
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    if not os.WIFSIGNALED(status):
        return Measured("it ended before it could be killed", False, {})
    resume = Resume(output, "key")
    saved = resume.file.exists()
    equal = once(place, shape, resume=resume) == once(place, shape)
    value = (
        f"{'killed after a save' if saved else 'nothing was saved'}; weights {'equal' if equal else 'differ'}"
    )
    return Measured(value, saved and equal, {"equal": float(equal)})


class _KilledAfterSave(Resume):
    """Saves whenever possible, and kills its process after the first save."""

    def is_due(self) -> bool:
        """Return True."""
        return True

    def save(self, state: State) -> None:
        """Save, and be killed."""
        super().save(state)
        os.kill(os.getpid(), signal.SIGKILL)


def tune_once(
    place: Place,
    shape: gpu_models.Shape,
    resume: Resume | None = None,
    tokens: int = 4096,
    room: tuple[int, int] | None = None,
) -> tuple[str, list[float]]:
    """Train an adapter for two epochs; return a hash of all weights, and the losses.

    Parameters
    ----------
    room : tuple of int, optional
        Bytes to leave, and tokens that fit, see :func:`leave_memory`.
    """
    from fathom.models.adapters import add_adapter
    from fathom.models.loading import hash_weights
    from fathom.tuning.fine_tuning import tune

    model, settings = gpu_models.build_model(shape, place.device), make_lora(place, tokens, 2)
    add_adapter(model, settings)
    examples = gpu_models.make_examples(shape, place.sizes, 2 * settings.batch)
    with leave_memory(model, *(room or (0, 0))):
        tuned = tune(model, examples, lambda: 0.0, settings, "loss", resume)
    return hash_weights(model), tuned.losses


def make_lora(place: Place, tokens: int, epochs: int = 1, dtype: Any = "float32") -> "Lora":
    """Return the settings of a tuning; in float32 its losses can be compared."""
    from fathom.config.tuning import Lora

    return Lora(
        batch=4 * place.sizes.batch, batch_tokens=tokens, epochs=epochs, dtype=dtype, dropout=0.0,
        learning_rate=1e-3,
    )  # fmt: skip


def adapt_once(
    place: Place,
    shape: gpu_models.Shape,
    resume: Resume | None = None,
    tokens: int = 4096,
    room: tuple[int, int] | None = None,
) -> tuple[str, list[float]]:
    """Train all weights for some steps; return a hash of them, and the losses. See :func:`tune_once`."""
    from fathom.models.loading import hash_weights
    from fathom.models.parallel import SingleProcess
    from fathom.models.training import train

    model, settings = (
        gpu_models.build_model(shape, place.device),
        make_adaptation(place, place.sizes.steps, tokens),
    )
    texts = gpu_models.make_texts(shape, place.sizes, place.sizes.steps)
    with leave_memory(model, *(room or (0, 0))):
        curve = train(
            model,
            gpu_models.make_tokenizer(shape),
            texts,
            settings,
            SingleProcess(place.device),
            resume=resume,
        )
    return hash_weights(model), [point.loss for point in curve]


def make_adaptation(place: Place, steps: int, tokens: int) -> "Adaptation":
    """Return the settings of an adaptation in float32, whose losses can be compared."""
    from fathom.config.models import Adaptation

    return Adaptation(
        base="base", paths=[["texts"]], steps=steps, batch=place.sizes.batch, sequence=place.sizes.sequence,
        learning_rate=1e-4, batch_tokens=tokens, precision="float32", checkpointing="never",
    )  # fmt: skip


@contextmanager
def listen() -> Iterator[list[str]]:
    """Yield a list of the messages logged inside the `with` block."""
    lines: list[str] = []

    class Listener(Handler):
        def emit(self, record: LogRecord) -> None:
            lines.append(record.getMessage())

    listener = Listener()
    log.addHandler(listener)
    try:
        yield lines
    finally:
        log.removeHandler(listener)


@contextmanager
def measure_peak(device: str) -> Iterator[list[int]]:
    """Yield a list that holds, after the `with` block, the bytes of a GPU that it took beyond the model."""
    import torch

    peak: list[int] = []
    if device == "cpu":
        yield peak
        peak.append(0)
        return
    before = torch.cuda.memory_allocated(device)
    torch.cuda.synchronize(device)  # statistics cannot be reset before the GPU is in use
    torch.cuda.reset_peak_memory_stats(device)
    yield peak
    peak.append(torch.cuda.max_memory_allocated(device) - before)
    gc.collect()  # a model with an adapter refers to itself
    torch.cuda.empty_cache()  # else a later model fragments the memory that its batches need


@contextmanager
def leave_memory(model: Any, room: int, tokens: int) -> Iterator[None]:
    """Fill the memory of a GPU but for a small batch; on a processor, act as if memory were full.

    Parameters
    ----------
    room : int
        Bytes that stay free, on a GPU.
    tokens : int
        On a processor: tokens of the largest batch that is not refused. 0: leave everything as it is.
    """
    import torch

    def refuse(_: Any, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> None:
        ids = named.get("input_ids", arguments[0] if arguments else None)
        if ids.numel() > tokens:
            raise torch.OutOfMemoryError("filled on purpose")

    if not tokens:
        yield
        return
    if model.device.type == "cpu":
        hook = model.base_model.register_forward_pre_hook(refuse, with_kwargs=True)
        try:
            yield
        finally:
            hook.remove()
        return
    torch.cuda.empty_cache()
    free, _ = torch.cuda.mem_get_info(model.device)
    filler = torch.empty(max(0, free - room), dtype=torch.uint8, device=model.device)
    yield
    del filler
