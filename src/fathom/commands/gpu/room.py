"""Checks that steps stay within the GPU memory that their jobs ask for, with batches as set."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from fathom.commands.gpu import gpu_models
from fathom.commands.gpu.checks import Earlier, Measured, Place
from fathom.commands.gpu.correctness import listen, score

if TYPE_CHECKING:
    from fathom.models import shapes
    from fathom.models.memory import Dtype, Memory

_SMALLER = ("out of GPU memory: ", "activations are computed again")  # starts of log lines


def check_scoring_room(place: Place, shape: gpu_models.Shape, _: Earlier, dtype: "Dtype") -> Measured:
    """Score pairs and running text."""
    from fathom.config.scoring import BATCH_TOKENS
    from fathom.models.memory import measure_scoring
    from fathom.scoring.perplexity import Windows, score_texts

    sizes, kind = place.sizes, place.device.partition(":")[0]
    tokens = BATCH_TOKENS[kind]

    def run() -> None:
        model, tokenizer = (
            gpu_models.build_model(shape, place.device, dtype),
            gpu_models.make_tokenizer(shape),
        )
        score(model, tokenizer, gpu_models.make_pairs(model, shape, sizes), tokens)
        score_texts(
            model,
            tokenizer,
            gpu_models.make_texts(shape, sizes, 2),
            Windows(sizes.sequence, sizes.sequence // 2),
            tokens,
        )

    expected = measure_scoring(_read_shape(shape), dtype, tokens, sizes.sequence, kind)
    return _run_inside(place, expected, run)


def check_lora_room(place: Place, shape: gpu_models.Shape, _: Earlier) -> Measured:
    """Train an adapter for two steps on whole sequences, learning all tokens."""
    from fathom.config.tuning import Lora
    from fathom.models.adapters import add_adapter
    from fathom.models.memory import Training, measure_training
    from fathom.models.steps import LARGE
    from fathom.tuning.fine_tuning import tune

    sizes = place.sizes._replace(prompt=place.sizes.sequence)
    settings = Lora(batch=sizes.batch, epochs=2, dtype=place.low_precision)

    def run() -> None:
        model = gpu_models.build_model(shape, place.device, place.low_precision)
        add_adapter(model, settings)
        made = gpu_models.make_examples(shape, sizes, 2 * sizes.batch)
        examples = [each._replace(ids=(2 * each.ids)[: sizes.sequence], start=1) for each in made]
        tune(model, examples, lambda: 0.0, settings, "loss")

    full = _read_shape(shape)
    how = Training(
        sizes.count_tokens(1), settings.dtype, checkpointing=full.parameters >= LARGE, rank=settings.rank
    )
    return _run_inside(place, measure_training(full, how), run, how.checkpointing)


def check_adaptation_room(place: Place, shape: gpu_models.Shape, _: Earlier) -> Measured:
    """Train all weights for two steps."""
    from fathom.config.models import Adaptation
    from fathom.models.memory import Training, measure_training
    from fathom.models.parallel import SingleProcess
    from fathom.models.steps import LARGE
    from fathom.models.training import train

    sizes = place.sizes
    settings = Adaptation(base="base", paths=[["texts"]], steps=2, batch=sizes.batch, sequence=sizes.sequence)

    def run() -> None:
        model, tokenizer = gpu_models.build_model(shape, place.device), gpu_models.make_tokenizer(shape)
        train(
            model,
            tokenizer,
            gpu_models.make_texts(shape, sizes, settings.steps),
            settings,
            SingleProcess(place.device),
        )

    full = _read_shape(shape)
    autocast = place.device != "cpu"
    how = Training(sizes.count_tokens(1), autocast=autocast, checkpointing=full.parameters >= LARGE)
    return _run_inside(place, measure_training(full, how), run, how.checkpointing)


def _read_shape(shape: gpu_models.Shape) -> "shapes.Shape":
    from fathom.models.shapes import parse_shape

    return cast("shapes.Shape", parse_shape(gpu_models.configure(shape).to_dict()))


def _run_inside(
    place: Place, expected: "Memory", run: Callable[[], Any], recomputes: bool = False
) -> Measured:
    import torch

    from fathom.models.memory import CONTEXT, GB, request_card

    calculated, asked = expected.total / GB, request_card(expected)
    if place.device == "cpu":
        run()
        return Measured(f"calculated {calculated:.1f} GB; a processor has no memory of its own", None, {})
    present = torch.cuda.mem_get_info(place.device)[1]
    torch.cuda.set_per_process_memory_fraction(min(1.0, (asked - CONTEXT) / present), place.device)
    with listen() as lines:
        run()
    smaller = sum(line.startswith(_SMALLER) for line in lines) - recomputes
    reserved = torch.cuda.memory_reserved(place.device)
    numbers = {
        "calculated": calculated, "asked": asked / GB,
        "allocated": torch.cuda.max_memory_allocated(place.device) / GB,
        "reserved": torch.cuda.max_memory_reserved(place.device) / GB,
        "beside": (present - torch.cuda.mem_get_info(place.device)[0] - reserved) / GB,
    }  # fmt: skip
    value = (
        f"allocated {numbers['allocated']:.1f} GB, calculated {calculated:.1f}, asked for {asked / GB:.1f}; "
        f"batches made smaller {smaller} times"
    )
    return Measured(value, smaller == 0, numbers)
