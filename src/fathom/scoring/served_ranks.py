"""Ranks and probabilities of targets from a server: requests, and scores from the answers."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from fathom.errors import InputError
from fathom.jobs.bounded_calls import call_tokenizer
from fathom.jobs.program import log
from fathom.jobs.resume import Resume
from fathom.jobs.services import Service
from fathom.models.served import Maker, ServedModel
from fathom.models.served_answers import (
    ENTRY_BYTES,
    FRAME_BYTES,
    Following,
    Question,
    Reading,
    Way,
    check_given,
    make_body,
    make_vocabulary_body,
    read_answer,
)
from fathom.scoring.bits import Rivals, choose_rivals
from fathom.scoring.pair_files import COLUMNS
from fathom.scoring.ranks import (
    FirstTokens,
    add_rivals,
    check_entries,
    check_pairs,
    encode_benchmarks,
    make_frame,
)
from fathom.scoring.scored_sequences import TokenScores, find_containing
from fathom.scoring.served_bits import ask_first_tokens, ask_places, count_requests, plan_places
from fathom.scoring.served_requests import Asking, ask_in_order

if TYPE_CHECKING:
    from fathom.models.tokens import EncodedPair


class Plan(NamedTuple):
    """Questions to a server.

    `places`: for each pair, its question, and where its tokens are among the wanted ones; None: all of them.
    """

    questions: list[Question]
    places: list[tuple[int, list[int] | None]]
    encoded: "list[EncodedPair] | None"  # the pairs' tokens; None: they are sent as text


def plan_questions(model: ServedModel, benchmarks: Sequence[pl.DataFrame]) -> Plan:
    """Return the requests that score all pairs; a pair that begins another one shares its request."""
    joined = pl.concat([pairs.select(COLUMNS) for pairs in benchmarks])
    if model.sends_text:
        return _plan_texts(joined)
    encoded, names = _encode(model, benchmarks), joined["pair_id"].to_list()
    containing = find_containing(sorted({tuple(pair.ids) for pair in encoded}))
    wanted: dict[tuple[int, ...], set[int]] = {}
    first: dict[tuple[int, ...], str] = {}
    for pair, name in zip(encoded, names, strict=True):
        ids = containing[tuple(pair.ids)]
        wanted.setdefault(ids, set()).update(range(pair.start, len(pair.ids)))
        first.setdefault(ids, name)
    numbers = {ids: number for number, ids in enumerate(sorted(wanted))}
    spell = make_speller(model, wanted) if find_top_k(model) else lambda _: ()
    questions = [
        Question(ids, tuple(sorted(wanted[ids])), f"pair {first[ids]!r}", spell(ids)) for ids in numbers
    ]
    places: list[tuple[int, list[int] | None]] = []
    for pair in encoded:
        number = numbers[containing[tuple(pair.ids)]]
        rows = {place: row for row, place in enumerate(questions[number].wanted)}
        places.append((number, [rows[place] for place in range(pair.start, len(pair.ids))]))
    return Plan(questions, places, encoded)


def _encode(model: ServedModel, benchmarks: Sequence[pl.DataFrame]) -> "list[EncodedPair]":
    """Raise `InputError` if a pair has more tokens than the server takes."""
    joined = pl.concat([pairs.select(COLUMNS) for pairs in benchmarks])
    encoded = encode_benchmarks(model.tokenizer, joined, model.pointer)
    context = model.statement.context
    for pair, name in zip(encoded, joined["pair_id"].to_list(), strict=True):
        if context is not None and len(pair.ids) >= context:
            raise InputError(
                f"pair {name!r} has {len(pair.ids)} tokens, but the server takes {context - 1}",
                model.pointer.server,
                "start it with a longer context, or lower pairs.max_tokens",
            )
    return encoded


def make_speller(
    model: ServedModel, prompts: Iterable[tuple[int, ...]]
) -> Callable[[tuple[int, ...]], tuple[str, ...]]:
    """Return a function that gives the text of each token of a prompt."""
    ids = sorted({token for prompt in prompts for token in prompt})
    decode = model.tokenizer.batch_decode
    texts = call_tokenizer(decode, [[token] for token in ids], str(model.pointer.path))
    found = dict(zip(ids, texts, strict=True))
    return lambda prompt: tuple(found[token] for token in prompt)


def _plan_texts(pairs: pl.DataFrame) -> Plan:
    numbers: dict[tuple[str, str], int] = {}
    questions: list[Question] = []
    places: list[tuple[int, list[int] | None]] = []
    for name, prompt, target in pairs.select("pair_id", "prompt", "target").iter_rows():
        if (prompt, target) not in numbers:
            numbers[prompt, target] = len(questions)
            questions.append(Question(prompt + target, (len(prompt),), f"pair {name!r}"))
        places.append((numbers[prompt, target], None))
    return Plan(questions, places, None)


def describe_plan(model: ServedModel, benchmarks: Sequence[pl.DataFrame]) -> dict[str, Any]:
    """Describe what would be sent: number of requests and tokens, and the first request.

    The number of requests for bits is the largest possible: a server that gives its whole vocabulary needs
    one per prompt.
    """
    top_k, name = find_top_k(model), model.address.name
    sent: Sequence[Question | Following]
    if model.statement.maker == Maker.LLAMACPP:
        encoded = _encode(model, benchmarks)
        places = plan_places(benchmarks, _list_rivals(model, benchmarks), encoded)
        first = make_vocabulary_body(places[0], name, model.entries, model.forced)
        sent, more = places, 0
    else:
        plan = plan_questions(model, benchmarks)
        first, sent = make_body(plan.questions[0], name, top_k), plan.questions
        rivals = [] if top_k else _list_rivals(model, benchmarks)
        more = count_requests(benchmarks, rivals, plan.encoded or []) if rivals else 0
    return {
        "server": model.pointer.server,
        "server_says": model.statement.text,
        "ranks": "exact" if not top_k else f"known among the {top_k} most likely",
        "requests": len(sent),
        "requests_for_bits": more,
        "characters" if model.sends_text else "tokens": sum(len(question.prompt) for question in sent),
        "first_request": first,
    }


def find_top_k(model: ServedModel) -> int:
    """Return how many most likely entries to ask for; 0 if the server gives ranks."""
    return 0 if model.statement.gives_ranks and not model.sends_text else model.served.top_k


def score_served(
    model: ServedModel,
    benchmarks: Sequence[pl.DataFrame],
    resume: Resume | None = None,
    report: dict[str, Any] | None = None,
) -> tuple[list[pl.DataFrame], list[dict[str, Any]]]:
    """Score a model behind a server on several benchmarks.

    Return the scores of each, in the order of its pairs, and additions to its report. They are under SCORES
    if the server gives ranks, else under TOP_SCORES, without pairs that could not be scored.

    Parameters
    ----------
    benchmarks : sequence of DataFrame
        Columns pair_id, keyword, prompt, target; others are ignored.
    report : dict, optional
        Receives `sharpness` as in :func:`fathom.scoring.ranks.score_benchmarks`, or `no_bits`, why the
        server gives none.

    Raises
    ------
    InputError
        If the server cannot be reached or gives unexpected answers; earlier answers are saved.
    """
    top_k, (way, why) = find_top_k(model), model.following
    rivals = [] if way == Way.NONE else _list_rivals(model, benchmarks)
    asked = _ask(model, benchmarks, rivals, resume)
    frames, reports, start = [], [], 0
    for pairs in benchmarks:
        part = slice(start, start + len(pairs))
        start += len(pairs)
        own = asked.readings[part]
        encoded = asked.encoded[part] if asked.encoded is not None else None
        if top_k:
            frame, details = _make_top_scores(pairs, own, encoded)
            details = {"top_k": top_k, "sent": "text" if encoded is None else "token ids", **details}
        else:
            frame, details = _make_scores(model, pairs, own, encoded or [])
        frames.append(frame)
        reports.append(details)
    sharpness: list[list[float | None]]
    if way == Way.NONE:
        log.warning("no bits: %s", why)
        sharpness, said = [[] for _ in frames], {"no_bits": why}
    else:
        added = map(add_rivals, frames, benchmarks, asked.first)
        frames, sharpness = (list(each) for each in zip(*added, strict=True))
        said = {}
    if report is not None:
        report.update(said, sharpness=sharpness)
    return frames, reports


def score_served_among(
    model: ServedModel, pairs: pl.DataFrame, words: Sequence[str], resume: Resume | None = None
) -> tuple[pl.DataFrame, FirstTokens]:
    """Like :func:`fathom.scoring.ranks.score_among`, by a server that gives ranks and first tokens."""
    check_pairs(pairs)
    require_first_tokens(model)
    asked = _ask(model, [pairs], [choose_rivals(model.tokenizer, words)], resume)
    scores, _ = _make_scores(model, pairs, asked.readings, asked.encoded or [])
    return scores, asked.first[0]


def require_first_tokens(model: ServedModel) -> None:
    """Raise `InputError` if a server does not give log-probabilities of any tokens after a prompt."""
    way, why = model.following
    if way == Way.NONE:
        raise InputError(
            f"this server cannot compare models on few pairs: {why}",
            model.pointer.server,
            "use vLLM or llama.cpp; only `fathom score` takes any server",
        )


class _Answers(NamedTuple):
    """Answers of a server: by pair, and the first tokens of each benchmark, if given."""

    readings: "list[Reading | None]"
    encoded: "list[EncodedPair] | None"
    first: list[FirstTokens]


def _list_rivals(model: ServedModel, benchmarks: Sequence[pl.DataFrame]) -> list[Rivals]:
    return [choose_rivals(model.tokenizer, pairs["target"].to_list()) for pairs in benchmarks]


def _ask(
    model: ServedModel, benchmarks: Sequence[pl.DataFrame], rivals: Sequence[Rivals], resume: Resume | None
) -> _Answers:
    way = model.following[0]
    if way == Way.EACH:
        encoded = _encode(model, benchmarks)
        readings, first = ask_places(model, benchmarks, rivals, encoded, resume)
        return _Answers([*readings], encoded, first)
    plan, top_k = plan_questions(model, benchmarks), find_top_k(model)
    log.info("pairs %s, requests %s", f"{len(plan.places):,}", f"{len(plan.questions):,}")
    found = ask_all(model, plan.questions, top_k, resume)
    own = [_pick(found[number], rows) for number, rows in plan.places]
    if not top_k:
        _check_ranks(model, own)
    if way == Way.NONE:
        return _Answers(own, plan.encoded, [])
    return _Answers(
        own, plan.encoded, ask_first_tokens(model, benchmarks, rivals, plan.encoded or [], resume)
    )


def ask_all(
    model: ServedModel, questions: Sequence[Question], top_k: int, resume: Resume | None = None
) -> list[Reading | None]:
    """Return a server's answers to all questions, in order; save them as they come."""
    name = model.address.name

    def ask(service: Service, question: Question) -> Reading | None:
        size = FRAME_BYTES + ENTRY_BYTES * len(question.prompt) * (2 + top_k)
        answer = service.post("/completions", make_body(question, name, top_k), size)
        return read_answer(answer, question, name, top_k)

    def check(readings: Sequence[Reading | None]) -> None:
        if top_k:
            check_given(readings, top_k)

    return ask_in_order(model, questions, Asking(ask, Reading, check), resume)


def _pick(reading: Reading | None, rows: list[int] | None) -> Reading | None:
    if reading is None or rows is None:
        return reading
    return Reading(
        reading.rank[rows], reading.known[rows], reading.log_probability[rows], reading.given[rows]
    )


def _check_ranks(model: ServedModel, readings: Iterable[Reading | None]) -> None:
    """Raise `InputError` if a rank is larger than the tokenizer's vocabulary."""
    largest = max((int(each.rank.max()) for each in readings if each is not None), default=0)
    if largest > model.entries:
        raise InputError(
            f"the server gives rank {largest:,}, but the tokenizer has {model.entries:,} entries",
            str(model.pointer.path),
            "put the model's config.json beside the tokenizer, or use the model's own tokenizer",
        )


def _make_scores(
    model: ServedModel, pairs: pl.DataFrame, readings: Sequence[Reading | None], encoded: "list[EncodedPair]"
) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Return scores from ranks, under contract SCORES."""
    rows = [
        TokenScores(each.rank, np.zeros(len(each.rank), np.int64), each.log_probability)
        for each in readings
        if each is not None
    ]
    check_entries(model.entries, encoded, pairs["pair_id"].to_list(), model.pointer.name)
    return make_frame(pairs, encoded, rows, model.entries), {"ties": "counted as larger by the server"}


def _make_top_scores(
    pairs: pl.DataFrame, readings: Sequence[Reading | None], encoded: "list[EncodedPair] | None"
) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Return scores with ranks known up to a limit, under contract TOP_SCORES.

    A pair's rank is at least the mean of its tokens' lower bounds. The least of these means among pairs
    with an unknown rank is the limit for all pairs: ranks above it are infinite.
    """
    kept: list[int] = []
    rows: list[tuple[int, float, float, float]] = []
    censored: list[bool] = []
    left_out: Counter[str] = Counter()
    for place, reading in enumerate(readings):
        if reading is None or not reading.rank.all():
            left_out["target_inside_a_token" if reading is None else "likely_tokens_of_one_text"] += 1
            continue
        kept.append(place)
        numbers = reading.log_probability
        mean = float(reading.rank.mean())
        rows.append((len(reading.rank), mean, float(np.exp(numbers).mean()), float(numbers.sum())))
        censored.append(not reading.known.all())
    if not kept:
        raise InputError("no pair could be scored", "scores", f"left out: {dict(left_out)}")
    least = np.array([mean for _, mean, *_ in rows])
    limit = least[censored].min() if any(censored) else math.inf
    unknown = np.array(censored) | (least > limit)
    ranks = np.where(unknown, math.inf, least)
    backed_off = [encoded[place].backed_off if encoded is not None else False for place in kept]
    frame = pairs.select("pair_id", "keyword")[kept].with_columns(
        pl.Series("tokens", [row[0] for row in rows], pl.Int32),
        pl.Series("rank", ranks, pl.Float64),
        pl.Series("probability", [row[2] for row in rows], pl.Float64),
        pl.Series("log_probability", [row[3] for row in rows], pl.Float64),
        pl.Series("backed_off", backed_off, pl.Boolean),
    )
    report = {"rank_limit": float(limit) if math.isfinite(limit) else None, "above_limit": int(unknown.sum())}
    return frame, report | {"left_out": dict(sorted(left_out.items()))}
