"""The calculated memory of a step is what the step allocates, on fake tensors of real widths."""

import pytest
from perf.studies import model_memory as tracked

from fathom.models.memory import (
    GB,
    Training,
    count_needed_gpus,
    measure_lens,
    measure_scoring,
    measure_training,
    request_card,
    request_host,
)
from fathom.models.shapes import SIZES, Shape, parse_shape

LAYERS = 2
LLAMA_7B = Shape(6_740_000_000, *SIZES["llama-2", 6_740_000_000])
LLAMA_70B = Shape(69_000_000_000, *SIZES["llama-2", 69_000_000_000])


def shorten(name):
    """Return a model of few layers and its shape."""
    config = tracked.CONFIGS[name](LAYERS)
    return config, parse_shape(config.to_dict())


def test_scoring_takes_what_is_calculated():
    config, shape = shorten("GPT-2 XL")
    peak = max(tracked.track_scoring(config, "bfloat16", 4096).values())
    assert measure_scoring(shape, "bfloat16", 4096, 4096).total == pytest.approx(peak, rel=0.2)


@pytest.mark.parametrize(("name", "how"), [
    ("GPT-2 XL", Training(2048, autocast=True)),
    ("Llama-2-7B", Training(2048, "bfloat16", checkpointing=True, rank=8)),
])  # fmt: skip
def test_training_takes_what_is_calculated(name, how):
    config, shape = shorten(name)
    peak = max(tracked.track_training(config, how).values())
    assert measure_training(shape, how).total == pytest.approx(peak, rel=0.2)


def test_a_gelu_of_several_operations_keeps_what_autocast_widens_on_a_gpu():
    config, how = tracked.CONFIGS["GPT-2 XL"], Training(2048, autocast=True)
    peak = tracked.continue_layers(lambda layers: tracked.track_training(config(layers), how), 24)
    calculated = measure_training(parse_shape(config(24).to_dict()), how).total
    assert calculated == pytest.approx(peak, rel=0.05)


def test_a_tracker_counts_each_storage_while_it_lives():
    torch = tracked.torch
    weight = torch.empty(1000)
    with tracked.Tracker([weight]) as tracker:
        tracker.phase = "a"
        kept = torch.zeros(1000)
        kept.view(10, 100)
        del kept
        tracker.phase = "b"
        torch.zeros(100)
    assert tracker.peaks == {"a": 8000, "b": 4400}


def test_a_7b_model_is_scored_on_a_small_card_and_all_its_weights_fit_none_of_80_gb():
    scoring = measure_scoring(LLAMA_7B, "bfloat16", 1024, 1024)
    assert count_needed_gpus(scoring, 24 * GB) == 1
    adapter = measure_training(LLAMA_7B, Training(8192, "bfloat16", True, True, 8))
    assert count_needed_gpus(adapter, 80 * GB) == 1
    whole = measure_training(LLAMA_7B, Training(8192, autocast=True, checkpointing=True))
    assert 80 * GB < request_card(whole) < 141 * GB
    assert count_needed_gpus(whole, 2 * GB) == 0


def test_a_70b_model_is_scored_on_two_cards():
    assert count_needed_gpus(measure_scoring(LLAMA_70B, "bfloat16", 1024, 1024), 80 * GB) == 2


def test_a_lens_of_a_wide_model_takes_more_than_the_model():
    lens = measure_lens(LLAMA_70B, "bfloat16", 1024, 256)
    assert lens.whole["matrices and optimiser"] > 100 * GB
    assert count_needed_gpus(lens, 80 * GB) == 0


def test_host_memory_holds_the_model_only_without_a_gpu():
    scoring = measure_scoring(LLAMA_7B, "bfloat16", 1024, 1024)
    assert request_host(scoring, gpu=True) < 8 * GB < 14 * GB < request_host(scoring, gpu=False)
    tiny = Shape(2_600_000, 4, 192, 768, 192, 4096, 256, "gpt2", True)
    assert request_host(measure_scoring(tiny, "float32", 1024, 256, "cpu"), gpu=False) < 2 * GB


def test_a_block_of_gpt2_is_as_wide_as_on_a_gpu():
    """An H200 allocated 2.93 GB for float32 batches of 16,384 tokens of GPT-2 medium."""
    medium = Shape(354_300_000, 24, 1024, 4096, 1024, 50_257, 1024, "gpt2", True)
    assert measure_scoring(medium, "float32", 16_384, 1024).total / 1e9 == pytest.approx(2.93, abs=0.05)
