"""Rank and probability of every target, teacher-forced, each beginning read once [RawCorpora, Sec. 2.6]."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from fathom.config.scoring import Scoring
from fathom.errors import InputError
from fathom.models.loading import Pointer, find_context_length
from fathom.models.tokens import EncodedPair, encode_chat_prefix, encode_pairs
from fathom.numerics.matrix_products import prepack_models
from fathom.running.program import log
from fathom.running.resume import Resume
from fathom.scoring.batches import Replica, score_sequences
from fathom.scoring.inputs import COLUMNS, complete_pairs
from fathom.scoring.logits import choose_projection
from fathom.scoring.scored_sequences import ScoringPlan, TokenScores, join_token_scores, plan_sequences


def score_pairs(
    model: Any,
    tokenizer: Any,
    pairs: pl.DataFrame,
    settings: Scoring | None = None,
    add_bos: bool | None = None,
    name: str = "the model",
    chat_template: bool = False,
) -> pl.DataFrame:
    """Score a model on prompt-target pairs; see :func:`score_benchmarks`.

    Columns prompt and target are enough, see :func:`fathom.scoring.inputs.complete_pairs`; without settings,
    the defaults hold.
    """
    pointer = Pointer(name, Path(), add_bos=add_bos, chat_template=chat_template)
    return score_benchmarks(model, tokenizer, [complete_pairs(pairs)], settings or Scoring(), pointer)[0]


def score_benchmarks(
    model: Any,
    tokenizer: Any,
    benchmarks: Sequence[pl.DataFrame],
    settings: Scoring,
    pointer: Pointer | None = None,
    resume: Resume | None = None,
) -> list[pl.DataFrame]:
    """Score a model on several benchmarks at once: what their pairs share is read once.

    Parameters
    ----------
    model : transformers causal language model, or a list of the same model on several devices
        Batches are dealt out to the devices; the scores do not depend on how many there are.
    tokenizer : its tokenizer
    benchmarks : sequence of DataFrame
        Columns pair_id, keyword, prompt, target; more are ignored.
    settings : Scoring
        Uses `batch_tokens`; halved, and halved again, while a GPU's memory runs out.
    pointer : Pointer, optional
        Its name for messages, whether a BOS token comes first, and whether its chat template is around.
    resume : Resume, optional
        Where finished sequences are saved, so that a stopped run resumes.

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
    for pairs in benchmarks:
        check_pairs(pairs)
    pointer = pointer or Pointer("the model", Path())
    every = pl.concat([pairs.select(COLUMNS) for pairs in benchmarks])
    prefix = encode_chat_prefix(tokenizer, pointer.add_bos) if pointer.chat_template else []
    texts = every["prompt"].to_list(), every["target"].to_list()
    encoded = encode_pairs(tokenizer, *texts, pointer.add_bos, prefix)
    names, models = every["pair_id"].to_list(), model if isinstance(model, list) else [model]
    check_lengths(models[0], encoded, names, pointer.name)
    plan = plan_sequences(encoded)
    _log_plan(plan, encoded)
    _log_unknown(tokenizer.unk_token_id, encoded, pointer.name)
    tokens, entries = join_token_scores([]), 1
    if plan.sequences:
        with _evaluate(models, plan.sequences[0].ids, pointer.name) as replicas:
            entries = replicas[0].project.entries
            _check_entries(entries, encoded, names, pointer.name)
            parts, count = list[TokenScores](), 0
            for part in score_sequences(replicas, plan.sequences, settings.batch_tokens, resume):
                _check_finite(part, count, plan, names, pointer.name)
                parts.append(part)
                count += len(part.rank)
            tokens = join_token_scores(parts)
    rows = [tokens.pick(places) for places in plan.rows]
    scores = _make_frame(every, encoded, rows, entries)
    ends = [len(pairs) for pairs in benchmarks]
    return [scores.slice(sum(ends[:place]), size) for place, size in enumerate(ends)]


@contextmanager
def _evaluate(models: Sequence[Any], ids: Sequence[int], name: str) -> Iterator[list[Replica]]:
    """Give each device's model with its output layer, in evaluation; set back what was in training."""
    import torch

    training = [model.training for model in models]
    try:
        with torch.inference_mode(), prepack_models(models):
            yield [Replica(choose_projection(model.eval(), ids, name), model.device) for model in models]
    finally:
        for model, was in zip(models, training, strict=True):
            model.train(was)


def check_pairs(pairs: pl.DataFrame) -> None:
    """Raise `InputError` if pairs lack a column or a pair id stands twice."""
    missing = [column for column in COLUMNS if column not in pairs.columns]
    if missing:
        raise InputError(f"pairs lack: {', '.join(missing)}", "pairs", f"they need {', '.join(COLUMNS)}")
    twice = pairs.filter(pairs["pair_id"].is_duplicated())["pair_id"]
    if len(twice):
        raise InputError(f"pair {twice[0]!r} stands twice", "pairs", "each pair needs its own pair_id")


def check_lengths(model: Any, encoded: Sequence[EncodedPair], names: Sequence[str], name: str) -> None:
    """Raise `InputError` if a pair does not fit the model's context."""
    context = find_context_length(model)
    for pair, pair_name in zip(encoded, names, strict=True):
        if context is not None and len(pair.ids) - 1 > context:
            raise InputError(
                f"pair {pair_name!r} has {len(pair.ids)} tokens, the context of {name} is {context}",
                "pairs",
                "make pairs with the tokenizer of the smallest model, or lower pairs.max_tokens",
            )


def _check_entries(entries: int, encoded: Sequence[EncodedPair], names: Sequence[str], name: str) -> None:
    """Raise `InputError` if a target has a token that the model gives no logit."""
    for pair, pair_name in zip(encoded, names, strict=True):
        largest = max(pair.ids[pair.start :])
        if largest >= entries:
            raise InputError(
                f"pair {pair_name!r} has token {largest}, {name} gives logits for {entries:,} only",
                "scores",
                "check that the tokenizer belongs to the model",
            )


def _check_finite(part: TokenScores, before: int, plan: ScoringPlan, names: Sequence[str], name: str) -> None:
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


def _log_plan(plan: ScoringPlan, encoded: Sequence[EncodedPair]) -> None:
    """Log how much the pairs share."""
    log.info(
        "%s pairs of %s tokens: %s sequences of %s tokens are read",
        f"{len(encoded):,}",
        f"{sum(len(pair.ids) - 1 for pair in encoded):,}",
        f"{len(plan.sequences):,}",
        f"{sum(len(found.ids) for found in plan.sequences):,}",
    )


def _log_unknown(unknown: int | None, encoded: Sequence[EncodedPair], name: str) -> None:
    """Log how many targets are none to the tokenizer: what is scored is its token for unknown words."""
    count = sum(unknown in pair.ids[pair.start :] for pair in encoded)
    if count:
        log.info("%s targets hold what the tokenizer of %s does not know", f"{count:,}", name)


def _make_frame(
    pairs: pl.DataFrame, encoded: Sequence[EncodedPair], rows: Sequence[TokenScores], entries: int
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
