"""Scoring in one line of a notebook: `fathom.score`."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from fathom.config.scoring import Scoring
from fathom.config.section import check_values
from fathom.jobs.program import require_extra
from fathom.models.fetching import find_pointer
from fathom.models.loading import check_fingerprint, load_copies
from fathom.scoring.pair_files import take_pairs
from fathom.scoring.ranks import score_benchmarks


def score(
    model: Path | str,
    pairs: pl.DataFrame | Path | str | Sequence[Mapping[str, Any]],
    *,
    base: Path | str | None = None,
    add_bos: bool | None = None,
    chat_template: bool = False,
    **settings: Any,
) -> pl.DataFrame:
    """Score a model on prompt-target pairs: rank and probability of every target.

    Parameters
    ----------
    model : Path or str
        A model's folder, a pointer to it (`model.json` of the workflow), or an id on the Hugging Face hub.
        Weights are read from safetensors only. A model of the hub is fetched once; with the environment
        variable `HF_HUB_OFFLINE=1`, only what was fetched before is found. The folder of a LoRA adapter
        (PEFT) is a model too.
    pairs : DataFrame, Path, str, or list of dict
        At least `prompt` and `target`. Nothing is put between them: a target usually begins with a space.
        `keyword` and `pair_id` are kept where they are given. A file is `.parquet` or `.jsonl`.
    base : Path or str, optional
        Of an adapter: the model that it is applied to. By default what the adapter names: a folder, an id on
        the hub or a row of the table of models.
    add_bos : bool, optional
        Whether a BOS token comes first; by default the pointer or the tokenizer decides.
    chat_template : bool, default=False
        Whether pairs are scored inside the model's chat template.
    **settings
        Fields of :class:`fathom.config.scoring.Scoring`: `batch_tokens` (1,024 on a processor,
        16,384 on a GPU), `device` ("auto"), `dtype`
        ("float32") and `attention` ("auto").

    Returns
    -------
    DataFrame of shape (n_pairs, 13)
        One row for each pair, in their order, under contract SCORES: `rank` is 1 for the most likely token,
        `rival_rank` the target's place among the targets of all these pairs, `rival` the one ahead of all.

    Raises
    ------
    InputError
        If the model or the pairs cannot be read or do not fit each other, or a setting is unknown.

    Examples
    --------
    >>> import fathom
    >>> pairs = [
    ...     {"prompt": "The agent learns a", "target": " policy"},
    ...     {"prompt": "It maximizes the expected", "target": " reward"},
    ... ]
    >>> scores = fathom.score("gpt2", pairs)
    >>> scores.select("tokens", "rank", "probability").shape
    (2, 3)
    >>> scores["rank"].min() >= 1
    True

    The same on a GPU, in half the memory: `fathom.score("gpt2", pairs, device="cuda", dtype="bfloat16")`.
    A wrong name is answered with the right one:

    >>> fathom.score("gpt2", pairs, dytpe="bfloat16")
    Traceback (most recent call last):
        ...
    fathom.errors.InputError: settings: unknown key 'dytpe'; did you mean dtype?
    """
    chosen = check_values(settings, Scoring, "settings")
    complete = take_pairs(pairs)
    require_extra("models", "fathom.score")
    pointer = find_pointer(model, base)
    if add_bos is not None:
        pointer = replace(pointer, add_bos=add_bos)
    if chat_template:
        pointer = replace(pointer, chat_template=True)
    if pointer.fingerprint:
        check_fingerprint(pointer)
    (loaded, *_), tokenizer = load_copies(pointer, chosen)
    return score_benchmarks(loaded, tokenizer, [complete], chosen, pointer)[0]
