"""Teacher-forced rank and probability of every target; reads shared prefixes once [RawCorpora, Sec. 2.6]."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fathom.config.scoring import Scoring
from fathom.errors import InputError
from fathom.jobs.program import log
from fathom.jobs.resume import Resume
from fathom.models.loading import Pointer, find_context_length
from fathom.models.text_model import find_long_length
from fathom.models.tokens import EncodedPair, encode_chat_prefix, encode_pairs
from fathom.scoring.batches import open_replica, score_sequences
from fathom.scoring.bits import Rivals, choose_rivals, measure_bits, rank_among_rivals
from fathom.scoring.logits import describe_non_finite, evaluate_models
from fathom.scoring.pair_files import COLUMNS
from fathom.scoring.scored_sequences import ScoringPlan, TokenScores, join_token_scores, plan_sequences


class ScoringOptions(NamedTuple):
    """Options of scoring; see :func:`score_benchmarks`."""

    settings: Scoring
    pointer: Pointer
    resume: Resume | None = None
    report: dict[str, Any] | None = None


class FirstTokens(NamedTuple):
    """Data for calculating ranks among rivals and bits.

    `own` (ndarray of shape (n_pairs,), float64): log-probability of each target's first token after its
    prompt, in nats; NaN where the pair is backed off: that token holds text of the prompt, so the rivals'
    tokens do not compare with it. `others` (ndarray of shape (n_pairs, n_rivals), float32, or None):
    log-probability of each rival's first token after each prompt; None without pairs.
    """

    rivals: Rivals
    own: NDArray[np.float64]
    others: NDArray[np.float32] | None


def score_benchmarks(
    model: Any,
    tokenizer: Any,
    benchmarks: Sequence[pl.DataFrame],
    settings: Scoring,
    pointer: Pointer | None = None,
    resume: Resume | None = None,
    report: dict[str, Any] | None = None,
) -> list[pl.DataFrame]:
    """Score a model on several benchmarks; sequences that their pairs share are read once.

    Parameters
    ----------
    model : transformers causal language model, or list of copies of one model on several devices
        Batches are distributed over the devices; the scores do not depend on their number.
    benchmarks : sequence of DataFrame
        Columns pair_id, keyword, prompt, target; others are ignored.
    resume : Resume, optional
        Saves finished sequences, so that a stopped run resumes.
    report : dict, optional
        Receives `projection`, how logits were computed, and `sharpness`, of each benchmark by fold of
        keywords: see :class:`fathom.scoring.bits.PairBits`.

    Raises
    ------
    InputError
        If a benchmark has duplicate pair ids, a pair is longer than the model's context, logits are not
        finite, a target token has no logit, or the model is not causal.
    """
    for pairs in benchmarks:
        check_pairs(pairs)
    options = ScoringOptions(settings, pointer or Pointer("the model", Path()), resume, report)
    rivals = [choose_rivals(tokenizer, pairs["target"].to_list()) for pairs in benchmarks]
    found = []
    read = _read(model, tokenizer, benchmarks, rivals, options)
    for pairs, (plain, first) in zip(benchmarks, read, strict=True):
        scores, sharpness = add_rivals(plain, pairs, first)
        found.append(scores)
        if report is not None:
            report.setdefault("sharpness", []).append(sharpness)
    return found


def score_among(
    model: Any, tokenizer: Any, pairs: pl.DataFrame, words: Sequence[str], options: ScoringOptions
) -> tuple[pl.DataFrame, FirstTokens]:
    """Score a part of a benchmark with given candidates; return its first tokens, for bits of the whole.

    `words` are the distinct targets of the whole benchmark. Bits and ranks among rivals are unknown in the
    scores, under SCORES, as a part does not decide them.
    """
    check_pairs(pairs)
    ((scores, first),) = _read(model, tokenizer, [pairs], [choose_rivals(tokenizer, words)], options)
    return scores, first


def _read(
    model: Any,
    tokenizer: Any,
    benchmarks: Sequence[pl.DataFrame],
    rivals: Sequence[Rivals],
    options: ScoringOptions,
) -> list[tuple[pl.DataFrame, FirstTokens]]:
    joined = pl.concat([pairs.select(COLUMNS) for pairs in benchmarks])
    encoded = encode_benchmarks(tokenizer, joined, options.pointer)
    names, models = joined["pair_id"].to_list(), model if isinstance(model, list) else [model]
    check_lengths(models[0], encoded, names, options.pointer.name)
    plan = plan_sequences(encoded, find_long_length(models[0]))
    _log_plan(plan, encoded)
    others = sorted({token for each in rivals for token in each.tokens})
    tokens, entries = join_token_scores([]), 1
    if plan.sequences:
        with evaluate_models(models):
            ids = plan.sequences[0].ids
            replicas = [open_replica(each, ids, options.pointer.name) for each in models]
            entries = replicas[0].projection.entries
            if options.report is not None:
                options.report["projection"] = replicas[0].projection.name
            check_entries(entries, encoded, names, options.pointer.name)
            replicas = [replica._replace(others=others) for replica in replicas]
            parts, count = list[TokenScores](), 0
            budget = options.settings.count_tokens(replicas[0].device.type)
            for part in score_sequences(replicas, plan.sequences, budget, options.resume):
                _check_finite(part, count, plan, names, options.pointer.name)
                parts.append(part)
                count += len(part.rank)
            tokens = join_token_scores(parts)
            _log_ties(tokens, entries, options.pointer.name)
    found, start = list[tuple[pl.DataFrame, FirstTokens]](), 0
    places = {token: place for place, token in enumerate(others)}
    for pairs, each in zip(benchmarks, rivals, strict=True):
        end = start + len(pairs)
        rows = plan.rows[start:end]
        scores = make_frame(pairs, encoded[start:end], [tokens.pick(every) for every in rows], entries)
        first = tokens.pick([every[0] for every in rows])
        columns = None if first.others is None else first.others[:, [places[token] for token in each.tokens]]
        own = np.where(scores["backed_off"], np.nan, first.log_probability)
        found.append((scores, FirstTokens(each, own, columns)))
        start = end
    return found


def add_rivals(
    scores: pl.DataFrame, pairs: pl.DataFrame, first: FirstTokens
) -> tuple[pl.DataFrame, list[float | None]]:
    """Return scores with each target's bits and rank among its rivals, and the sharpness by fold."""
    if first.others is None:  # no pairs
        return scores, []
    targets, keywords = pairs["target"].to_list(), pairs["keyword"].to_list()
    ranks = rank_among_rivals(first.rivals, targets, first.own, first.others)
    found = measure_bits(first.rivals, targets, keywords, first.own, first.others)
    scores = scores.with_columns(
        rival_rank=pl.Series(ranks.rank),
        rival=pl.Series(ranks.first, dtype=pl.String),
        bits=pl.Series(found.bits),
        ceiling=pl.Series(found.ceiling),
    )
    return scores, found.sharpness


def encode_benchmarks(tokenizer: Any, pairs: pl.DataFrame, pointer: Pointer) -> list[EncodedPair]:
    """Encode pairs according to a model's pointer: with or without a BOS token, or in its chat template."""
    prefix = encode_chat_prefix(tokenizer, pointer.add_bos) if pointer.chat_template else []
    texts = pairs["prompt"].to_list(), pairs["target"].to_list()
    encoded = encode_pairs(tokenizer, *texts, pointer.add_bos, prefix)
    _log_unknown(tokenizer.unk_token_id, encoded, pointer.name)
    return encoded


def check_pairs(pairs: pl.DataFrame) -> None:
    """Raise `InputError` if a column is missing or a pair id is duplicated."""
    missing = [column for column in COLUMNS if column not in pairs.columns]
    if missing:
        raise InputError(f"missing columns: {', '.join(missing)}", "pairs", f"required: {', '.join(COLUMNS)}")
    duplicates = pairs.filter(pairs["pair_id"].is_duplicated())["pair_id"]
    if len(duplicates):
        raise InputError(f"duplicate pair_id {duplicates[0]!r}", "pairs", "give each pair its own pair_id")


def check_lengths(model: Any, encoded: Sequence[EncodedPair], names: Sequence[str], name: str) -> None:
    """Raise `InputError` if a pair does not fit the model's context."""
    context = find_context_length(model)
    if context is None:
        return
    sizes = [(len(pair.ids), pair_name) for pair, pair_name in zip(encoded, names, strict=True)]
    if long := [each for each in sizes if each[0] - 1 > context]:  # the last token is not read
        (size, first), (longest, _) = long[0], max(long)
        raise InputError(
            f"{len(long):,} of {len(sizes):,} pairs exceed the {context:,} tokens of {name}'s context: pair "
            f"{first!r} has {size:,}, the longest {longest:,}",
            "pairs",
            "lower pairs.max_tokens: it counts tokens of pairs.tokenizer, and this model may need more",
        )


def check_entries(entries: int, encoded: Sequence[EncodedPair], names: Sequence[str], name: str) -> None:
    """Raise `InputError` if the model has no logit for a target token."""
    for pair, pair_name in zip(encoded, names, strict=True):
        largest = max(pair.ids[pair.start :])
        if largest >= entries:
            raise InputError(
                f"pair {pair_name!r} has token {largest}, but {name} has only {entries:,} logits",
                "scores",
                "check that the tokenizer belongs to the model",
            )


def _check_finite(part: TokenScores, before: int, plan: ScoringPlan, names: Sequence[str], name: str) -> None:
    """Raise `InputError` if a log-probability is not finite; `before`: number of tokens in earlier parts."""
    wrong = np.flatnonzero(~np.isfinite(part.log_probability))
    if len(wrong):
        row = before + int(wrong[0])
        pair = next(pair for pair, rows in zip(names, plan.rows, strict=True) if row in rows)
        raise describe_non_finite(name, f"pair {pair!r}", "scores")


def _log_ties(tokens: TokenScores, entries: int, name: str) -> None:
    """Warn of logits that are alike: the rank of any token is then 1."""
    if count := int((2 * (tokens.ties + 1) > entries).sum()):
        log.warning(
            "%s gives %s of %s target tokens the same logit as most of its vocabulary, and so the rank 1: "
            "a corrupt checkpoint, or an output layer not trained yet",
            *(name, f"{count:,}", f"{len(tokens.ties):,}"),
        )


def _log_plan(plan: ScoringPlan, encoded: Sequence[EncodedPair]) -> None:
    log.info(
        "pairs %s, tokens %s; read as sequences %s, tokens %s",
        f"{len(encoded):,}",
        f"{sum(len(pair.ids) - 1 for pair in encoded):,}",
        f"{len(plan.sequences):,}",
        f"{sum(len(found.ids) for found in plan.sequences):,}",
    )


def _log_unknown(unknown: int | None, encoded: Sequence[EncodedPair], name: str) -> None:
    count = sum(unknown in pair.ids[pair.start :] for pair in encoded)
    if count:
        log.info("%s targets contain words unknown to the tokenizer of %s", f"{count:,}", name)


def make_frame(
    pairs: pl.DataFrame, encoded: Sequence[EncodedPair], rows: Sequence[TokenScores], entries: int
) -> pl.DataFrame:
    """Return scores by pair, such as mean rank and probability over a target's tokens; without rivals."""
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
        "rival_rank": ([float("nan")] * len(rows), pl.Float64),
        "rival": ([""] * len(rows), pl.String),
        "bits": ([float("nan")] * len(rows), pl.Float64),
        "ceiling": ([float("nan")] * len(rows), pl.Float64),
    }
    series = [pl.Series(name, values, dtype=dtype) for name, (values, dtype) in columns.items()]
    return pairs.select("pair_id", "keyword").with_columns(series)
