"""Rank and probability of every target, teacher-forced, each beginning read once (000: 2.6; spec 2.1)."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import polars as pl

from fathom.config.scoring import Scoring
from fathom.errors import InputError
from fathom.models.loading import find_context
from fathom.models.tokens import Encoded, encode_pairs
from fathom.program import log, show_progress
from fathom.scoring.inputs import COLUMNS, complete_pairs
from fathom.scoring.logits import Projection, choose_projection, score_batch
from fathom.scoring.partial import Partial, Tokens, join_tokens
from fathom.scoring.passes import Pass, Plan, plan_passes


def score_pairs(
    model: Any,
    tokenizer: Any,
    pairs: pl.DataFrame,
    settings: Scoring | None = None,
    add_bos: bool | None = None,
    name: str = "the model",
) -> pl.DataFrame:
    """Score a model on prompt-target pairs; see :func:`score_benchmarks`.

    Columns prompt and target are enough, see :func:`fathom.scoring.inputs.complete_pairs`; without settings,
    the defaults hold.
    """
    benchmarks = [complete_pairs(pairs)]
    return score_benchmarks(model, tokenizer, benchmarks, settings or Scoring(), add_bos, name)[0]


def score_benchmarks(
    model: Any,
    tokenizer: Any,
    benchmarks: Sequence[pl.DataFrame],
    settings: Scoring,
    add_bos: bool | None = None,
    name: str = "the model",
    partial: Partial | None = None,
) -> list[pl.DataFrame]:
    """Score a model on several benchmarks at once: what their pairs share is read once.

    Parameters
    ----------
    model, tokenizer : transformers causal language model and its tokenizer
    benchmarks : sequence of DataFrame
        Columns pair_id, keyword, prompt, target; more are ignored.
    settings : Scoring
        Uses `batch_tokens`; halved, and halved again, while a GPU's memory runs out.
    add_bos : bool, optional
        Whether a BOS token comes first; None asks the tokenizer.
    name : str
        Name of the model for messages.
    partial : Partial, optional
        Where finished passes are kept until all are done.

    Returns
    -------
    list of DataFrame
        Under contract SCORES, one for each benchmark, in the order of its pairs.

    Raises
    ------
    InputError
        If pair ids stand twice in a benchmark, a pair is longer than the model's context, logits are no
        finite numbers or fewer than the tokenizer's entries, or the model is not causal.
    """
    import torch

    for pairs in benchmarks:
        check_pairs(pairs)
    every = pl.concat([pairs.select(COLUMNS) for pairs in benchmarks])
    encoded = encode_pairs(tokenizer, every["prompt"].to_list(), every["target"].to_list(), add_bos)
    names = every["pair_id"].to_list()
    check_lengths(model, encoded, names, name)
    plan = plan_passes(encoded)
    _log_plan(plan, encoded)
    _log_unknown(tokenizer.unk_token_id, encoded, name)
    tokens, entries = join_tokens([]), 1
    training = model.training
    model.eval()
    with torch.inference_mode():
        if plan.passes:
            project = choose_projection(model, plan.passes[0].ids, name)
            entries = project.entries
            _check_entries(entries, encoded, names, name)
            parts, count = list[Tokens](), 0
            for part in score_passes(model, project, plan.passes, settings.batch_tokens, partial):
                _check_finite(part, count, plan, names, name)
                parts.append(part)
                count += len(part.rank)
            tokens = join_tokens(parts)
    model.train(training)
    rows = [tokens.pick(places) for places in plan.rows]
    scores = _make_frame(every, encoded, rows, entries)
    ends = [len(pairs) for pairs in benchmarks]
    return [scores.slice(sum(ends[:place]), size) for place, size in enumerate(ends)]


def check_pairs(pairs: pl.DataFrame) -> None:
    """Raise `InputError` if pairs lack a column or a pair id stands twice."""
    missing = [column for column in COLUMNS if column not in pairs.columns]
    if missing:
        raise InputError(f"pairs lack: {', '.join(missing)}", "pairs", f"they need {', '.join(COLUMNS)}")
    twice = pairs.filter(pairs["pair_id"].is_duplicated())["pair_id"]
    if len(twice):
        raise InputError(f"pair {twice[0]!r} stands twice", "pairs", "each pair needs its own pair_id")


def check_lengths(model: Any, encoded: Sequence[Encoded], names: Sequence[str], name: str) -> None:
    """Raise `InputError` if a pair does not fit the model's context."""
    context = find_context(model)
    for pair, pair_name in zip(encoded, names, strict=True):
        if context is not None and len(pair.ids) - 1 > context:
            raise InputError(
                f"pair {pair_name!r} has {len(pair.ids)} tokens, the context of {name} is {context}",
                "pairs",
                "make pairs with the tokenizer of the smallest model, or lower pairs.max_tokens",
            )


def _check_entries(entries: int, encoded: Sequence[Encoded], names: Sequence[str], name: str) -> None:
    """Raise `InputError` if a target has a token that the model gives no logit."""
    for pair, pair_name in zip(encoded, names, strict=True):
        largest = max(pair.ids[pair.start :])
        if largest >= entries:
            raise InputError(
                f"pair {pair_name!r} has token {largest}, {name} gives logits for {entries:,} only",
                "scores",
                "check that the tokenizer belongs to the model",
            )


def _check_finite(part: Tokens, before: int, plan: Plan, names: Sequence[str], name: str) -> None:
    """Raise `InputError` if a log-probability is no finite number; `before` tokens came in earlier parts."""
    import numpy as np

    wrong = np.flatnonzero(~np.isfinite(part.log_probability))
    if len(wrong):
        row = before + int(wrong[0])
        pair = next(pair for pair, rows in zip(names, plan.rows, strict=True) if row in rows)
        raise InputError(
            f"{name} gives logits that are no finite numbers on pair {pair!r}",
            "scores",
            "a corrupt checkpoint, or float16 overflows: use float32 or bfloat16",
        )


def _log_plan(plan: Plan, encoded: Sequence[Encoded]) -> None:
    """Log how much the pairs share."""
    log.info(
        "%s pairs of %s tokens: %s sequences of %s tokens are read",
        f"{len(encoded):,}",
        f"{sum(len(pair.ids) - 1 for pair in encoded):,}",
        f"{len(plan.passes):,}",
        f"{sum(len(found.ids) for found in plan.passes):,}",
    )


def _log_unknown(unknown: int | None, encoded: Sequence[Encoded], name: str) -> None:
    """Log how many targets are none to the tokenizer: what is scored is its token for unknown words."""
    count = sum(unknown in pair.ids[pair.start :] for pair in encoded)
    if count:
        log.info("%s targets hold what the tokenizer of %s does not know", f"{count:,}", name)


def score_passes(
    model: Any, project: Projection, passes: Sequence[Pass], budget: int, partial: Partial | None
) -> Iterator[Tokens]:
    """Yield the scores of wanted tokens in the order of passes; halve batches if memory runs out."""
    import torch

    done = 0
    if partial is not None:
        kept, done, budget = partial.load(budget)
        yield from kept
    ticks = iter(show_progress(range(done, len(passes)), "sequences", len(passes) - done))
    while done < len(passes):
        size = max(1, budget // len(passes[done].ids))
        batch = passes[done : done + size]
        found = _try_batch(model, project, batch)
        if found is None:
            if len(batch) == 1:
                raise InputError(
                    "the GPU's memory does not hold one pair", "scoring", "use a larger GPU or dtype bfloat16"
                )
            budget = budget // 2
            torch.cuda.empty_cache()
            log.info("out of GPU memory: batches of %s tokens from here on", budget)
            continue
        yield found  # what is no finite number ends the run here, and is not kept
        done += len(batch)
        if partial is not None:
            partial.add(found, done, budget)
        for _ in islice(ticks, len(batch)):
            pass
    for _ in ticks:
        pass


def _try_batch(model: Any, project: Projection, batch: Sequence[Pass]) -> Tokens | None:
    """Return the scores of a batch, or None if the GPU's memory ran out."""
    import torch

    try:
        return score_batch(project, batch, model.device)
    except torch.cuda.OutOfMemoryError:
        return None


def _make_frame(
    pairs: pl.DataFrame, encoded: Sequence[Encoded], rows: Sequence[Tokens], entries: int
) -> pl.DataFrame:
    """Return scores by pair: means of ranks and probabilities over a target's tokens."""
    import numpy as np

    columns: dict[str, tuple[Any, Any]] = {
        "tokens": ([len(row.rank) for row in rows], pl.Int32),
        "rank": ([float(row.rank.mean()) for row in rows], pl.Float64),
        "rank_midpoint": ([float((row.rank + row.ties / 2).mean()) for row in rows], pl.Float64),
        "rank_first": ([int(row.rank[0]) for row in rows], pl.Int64),
        "rank_share": ([float(row.rank.mean()) / entries for row in rows], pl.Float64),
        "ties": ([int(row.ties.sum()) for row in rows], pl.Int64),
        "probability": ([float(np.exp(row.log_probability).mean()) for row in rows], pl.Float64),
        "log_probability": ([float(row.log_probability.sum()) for row in rows], pl.Float64),
        "backed_off": ([pair.backed_off for pair in encoded], pl.Boolean),
    }
    series = [pl.Series(name, values, dtype=dtype) for name, (values, dtype) in columns.items()]
    return pairs.select("pair_id", "keyword").with_columns(series)
