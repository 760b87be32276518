"""Tokens per second and share of the peak for scoring, LoRA and adaptation, here and by other packages."""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from fathom.commands.gpu import gpu_models
from fathom.commands.gpu.checks import Earlier, Measured, Place
from fathom.commands.gpu.correctness import make_lora, score

if TYPE_CHECKING:
    from pathlib import Path

    from fathom.config.tuning import Lora
    from fathom.models.tokens import EncodedPair

SCORING, LORA, ADAPTATION = "scoring, speed", "LoRA, speed", "adaptation, speed"
HARNESS_BATCHES = (32, 128)  # sequences; the faster is taken
_ROUNDS = 3
_SHORT = 4.0  # seconds; shorter tasks vary by a fifth, so they are repeated
_TOKENS = 16_384  # of a batch


def check_scoring(place: Place, shape: gpu_models.Shape, _: Earlier) -> Measured:
    """Score pairs without a shared prefix: tokens of prompts and targets per second."""
    model, tokenizer = (
        gpu_models.build_model(shape, place.device, place.low_precision),
        gpu_models.make_tokenizer(shape),
    )
    pairs = gpu_models.make_pairs(model, shape, place.sizes)
    score(model, tokenizer, pairs[:64], _TOKENS)
    seconds = min(clock(place, lambda: score(model, tokenizer, pairs, _TOKENS)) for _ in range(2))
    tokens = len(pairs) * place.sizes.prompt
    operations = 2.0 * (shape.layers * shape.block * tokens + shape.width * shape.vocabulary * len(pairs))
    return _describe(place, tokens / seconds, operations / tokens)


def check_harness(place: Place, shape: gpu_models.Shape, earlier: Earlier) -> Measured:
    """Score the same pairs by lm-evaluation-harness."""
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    model, tokenizer = (
        gpu_models.build_model(shape, place.device, place.low_precision),
        gpu_models.make_tokenizer(shape),
    )
    pairs = gpu_models.make_pairs(model, shape, place.sizes).select("prompt", "target")
    requests = [Instance("loglikelihood", {}, words, 0) for words in pairs.iter_rows()]
    seconds = []
    for size in HARNESS_BATCHES:
        peer = HFLM(pretrained=model, tokenizer=tokenizer, device=place.device, batch_size=size)
        peer.loglikelihood(requests[:64], disable_tqdm=True)
        seconds.append(clock(place, partial(peer.loglikelihood, requests, disable_tqdm=True)))
    return _compare(place, earlier.get(SCORING, {}), len(pairs) * place.sizes.prompt / min(seconds))


def check_lora(place: Place, shape: gpu_models.Shape, _: Earlier) -> Measured:
    """Train an adapter: tokens of examples per second."""
    from fathom.tuning.fine_tuning import tune

    def train(model: Any, examples: "list[EncodedPair]", settings: "Lora") -> float:
        return clock(place, lambda: tune(model, examples, lambda: 0.0, settings, "loss"))

    # forward and backward through all products, without gradients of the frozen weights
    return _describe(place, _rate_adapter(place, shape, train), 4.0 * shape.parameters)


def check_lora_trainer(place: Place, shape: gpu_models.Shape, earlier: Earlier) -> Measured:
    """Train the same adapter on the same examples by the Hugging Face Trainer."""

    def train(model: Any, examples: "list[EncodedPair]", settings: "Lora") -> float:
        rows = [
            {"input_ids": pair.ids, "labels": [-100] * pair.start + pair.ids[pair.start :]}
            for pair in examples
        ]
        return run_trainer(place, model, rows, settings.batch)

    return _compare(place, earlier.get(LORA, {}), _rate_adapter(place, shape, train))


def _rate_adapter(place: Place, shape: gpu_models.Shape, train: Callable[..., float]) -> float:
    """Return the tokens per second of training an adapter; `train` returns seconds."""
    from fathom.models.adapters import add_adapter

    settings = make_lora(place, _TOKENS, dtype=place.low_precision)

    def make(steps: int) -> "list[EncodedPair]":
        return gpu_models.make_examples(shape, place.sizes, steps * settings.batch)

    def take(steps: int) -> float:
        model = gpu_models.build_model(shape, place.device, place.low_precision)
        add_adapter(model, settings)
        return train(model, make(steps), settings)

    return _rate(place, take, lambda steps: sum(len(pair.ids) for pair in make(steps)))


def check_adaptation(place: Place, shape: gpu_models.Shape, _: Earlier) -> Measured:
    """Train all weights on packed sequences: tokens per second."""
    from fathom.config.models import Adaptation
    from fathom.models.parallel import SingleProcess
    from fathom.models.training import train

    sizes, tokenizer = place.sizes, gpu_models.make_tokenizer(shape)

    def take(steps: int) -> float:
        model = gpu_models.build_model(shape, place.device)
        settings = Adaptation(
            base="base", paths=[["texts"]], steps=steps, batch=sizes.batch, sequence=sizes.sequence
        )
        texts = gpu_models.make_texts(shape, sizes, steps)
        return clock(place, lambda: train(model, tokenizer, texts, settings, SingleProcess(place.device)))

    return _describe(place, _rate(place, take, sizes.count_tokens), 6.0 * shape.parameters)


def check_adaptation_trainer(place: Place, shape: gpu_models.Shape, earlier: Earlier) -> Measured:
    """Train all weights on sequences of the same length by the Hugging Face Trainer."""
    import numpy as np
    import torch

    sizes = place.sizes

    def take(steps: int) -> float:
        ids = np.random.default_rng(2).integers(1, shape.vocabulary, (steps * sizes.batch, sizes.sequence))
        rows = [{"input_ids": row, "labels": row} for row in ids.tolist()]
        return run_trainer(place, gpu_models.build_model(shape, place.device), rows, sizes.batch)

    try:
        rate = _rate(place, take, sizes.count_tokens)
    except torch.OutOfMemoryError:
        return Measured("the Trainer runs out of memory in its defaults", None, {})
    return _compare(place, earlier.get(ADAPTATION, {}), rate)


def run_trainer(place: Place, model: Any, rows: Sequence[Mapping[str, Any]], batch: int) -> float:
    """Return the seconds that the Trainer, in its defaults, takes for one pass over some examples."""
    import torch
    from transformers import Trainer, TrainingArguments

    def collate(some: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        longest = max(len(row["input_ids"]) for row in some)
        filled = {
            name: torch.tensor([[*row[name], *[fill] * (longest - len(row[name]))] for row in some])
            for name, fill in (("input_ids", 0), ("labels", -100))
        }
        lengths = torch.tensor([len(row["input_ids"]) for row in some])
        return {**filled, "attention_mask": (torch.arange(longest) < lengths[:, None]).long()}

    folder: Path = place.folder / "trainer"
    on_processor = place.device == "cpu"
    arguments = TrainingArguments(
        output_dir=str(folder), per_device_train_batch_size=batch, num_train_epochs=1, bf16=not on_processor,
        use_cpu=on_processor, report_to=[], save_strategy="no", logging_strategy="no", disable_tqdm=True,
        remove_unused_columns=False, dataloader_pin_memory=not on_processor,
    )  # fmt: skip
    trainer = Trainer(model=model, args=arguments, train_dataset=list(rows), data_collator=collate)
    return clock(place, trainer.train)


def _rate(place: Place, take: Callable[[int], float], count: Callable[[int], int]) -> float:
    steps = place.sizes.steps
    rounds = _ROUNDS if take(steps) < _SHORT else 1
    shorter, longer = (min(take(number) for _ in range(rounds)) for number in (steps, 2 * steps))
    # too short to measure, as with tiny models on a processor: use the whole time
    spent = longer - shorter if longer > 1.2 * shorter else longer / 2
    return (count(2 * steps) - count(steps)) / spent


def clock(place: Place, task: Callable[[], Any]) -> float:
    """Return the seconds that a task takes on a device."""
    import torch

    start = time.perf_counter()
    task()
    if place.device != "cpu":
        torch.cuda.synchronize(place.device)
    return time.perf_counter() - start


def measure_product(place: Place) -> float:
    """Return the operations per second of a large matrix product: the peak that shares refer to."""
    import torch

    width = place.sizes.product
    left = torch.randn(width, width, device=place.device, dtype=getattr(torch, place.low_precision))
    left @ left
    return 2 * width**3 / min(clock(place, lambda: left @ left) for _ in range(_ROUNDS))


def _describe(place: Place, rate: float, operations: float) -> Measured:
    share = rate * operations / measure_product(place)
    value = f"{rate:,.0f} tokens/s, {share:.0%} of the peak of {place.low_precision} products"
    return Measured(value, None, {"tokens_per_second": rate, "share": share})


def _compare(place: Place, own: Mapping[str, float], rate: float) -> Measured:
    """Return Fathom's speed as a multiple of another package's; the goal is for GPUs."""
    if "tokens_per_second" not in own:
        return Measured(
            f"{rate:,.0f} tokens/s; Fathom's own speed is not known", None, {"tokens_per_second": rate}
        )
    ratio = own["tokens_per_second"] / rate
    value = f"{ratio:.2f} times as fast as its {rate:,.0f} tokens/s"
    met = None if place.device == "cpu" else ratio >= 1
    return Measured(value, met, {"ratio": ratio, "tokens_per_second": rate})
