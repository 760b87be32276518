"""Greedy decoding of a few tokens, in batches of left-padded prompts; order and batches do not matter."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from fathom.errors import InputError
from fathom.jobs.program import log, show_progress
from fathom.models.open_model import OpenModel
from fathom.models.placement import find_input_device
from fathom.models.text_model import count_alike, find_long_length
from fathom.models.tokens import decode_texts, find_answer_end
from fathom.numerics.precision import use_full_precision


def generate_texts(
    opened: OpenModel, prompts: Sequence[Sequence[int]], max_tokens: int, until: str = ""
) -> list[str]:
    """Return what a model's first copy writes after each prompt, the most likely token at every place.

    `until` ends a text, and is left out of it; empty: only the end of an answer.
    """
    longest_first = sorted({tuple(ids) for ids in prompts}, key=lambda ids: (-len(ids), ids))
    # on a GPU too: what attention keeps of each token takes far more memory than scoring does
    budget = opened.settings.count_tokens("cpu")
    batches = list(_cut_batches(longest_first, budget, max_tokens, find_long_length(opened.model)))
    written: dict[tuple[int, ...], str] = {}
    with _plain_decoding(opened, max_tokens):
        for batch in show_progress(batches, "batches of answers"):
            written.update(zip(batch, _write_batch(opened, batch, until), strict=True))
    texts = [written[tuple(ids)] for ids in prompts]
    return [text.partition(until)[0] if until else text for text in texts]


def _cut_batches(
    prompts: Sequence[tuple[int, ...]], budget: int, max_tokens: int, long: int | None
) -> Iterator[Sequence[tuple[int, ...]]]:
    """Yield batches of at most `budget` tokens, or one prompt; the first of each is its longest."""
    start = 0
    while start < len(prompts):
        size = max(1, budget // (len(prompts[start]) + max_tokens))
        size = count_alike(prompts, start, size, long, max_tokens)
        yield prompts[start : start + size]
        start += size


@contextmanager
def _plain_decoding(opened: OpenModel, max_tokens: int) -> Iterator[None]:
    """Decode greedily inside the `with` block, whatever settings the model came with."""
    from transformers import GenerationConfig

    model, tokenizer = opened.model, opened.tokenizer
    own, training = model.generation_config, model.training
    ends = {find_answer_end(tokenizer, opened.pointer.chat_template)[-1], tokenizer.eos_token_id}
    ends.update(_list_ends(own.eos_token_id))
    model.generation_config = GenerationConfig(
        do_sample=False,
        num_beams=1,
        max_new_tokens=max_tokens,
        eos_token_id=sorted(token for token in ends if token is not None),
        pad_token_id=0,  # behind the mask before a prompt, and behind the end after it
    )
    model.eval()
    try:
        yield
    finally:
        model.generation_config = own
        model.train(training)


def _list_ends(given: Any) -> list[int]:
    return given if isinstance(given, list) else [] if given is None else [given]


def _write_batch(opened: OpenModel, batch: Sequence[tuple[int, ...]], until: str) -> list[str]:
    """Return what follows each prompt; halve a batch that does not fit the memory of a GPU."""
    import torch

    try:
        return _generate_batch(opened, batch, until)
    except torch.cuda.OutOfMemoryError:
        if len(batch) == 1:
            raise InputError(
                "GPU memory cannot hold a single prompt",
                "scoring",
                "use a larger GPU or dtype bfloat16",
            ) from None
    torch.cuda.empty_cache()
    middle = len(batch) // 2
    log.info("out of GPU memory: a batch of %s prompts is divided", len(batch))
    return [text for half in (batch[:middle], batch[middle:]) for text in _write_batch(opened, half, until)]


def _generate_batch(opened: OpenModel, batch: Sequence[tuple[int, ...]], until: str) -> list[str]:
    import torch

    longest = max(map(len, batch))
    device = find_input_device(opened.model)
    ids = torch.tensor([[0] * (longest - len(each)) + list(each) for each in batch], device=device)
    mask = torch.tensor([[0] * (longest - len(each)) + [1] * len(each) for each in batch], device=device)
    more = {"stop_strings": [until], "tokenizer": opened.tokenizer} if until else {}
    with torch.inference_mode(), use_full_precision():
        found = opened.model.generate(input_ids=ids, attention_mask=mask, **more)
    ends = set(opened.model.generation_config.eos_token_id)
    rows = []
    for row in found[:, longest:].tolist():
        stop = next((place for place, token in enumerate(row) if token in ends), len(row))
        rows.append(row[:stop])
    return decode_texts(opened.tokenizer, rows, skip_special_tokens=True)
