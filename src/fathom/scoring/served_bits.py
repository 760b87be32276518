"""First tokens of candidates from a server, for bits and ranks among rivals as from weights.

With llama.cpp's server, the same answers give the ranks of all tokens of a target: one request for each
distinct beginning of a target.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fathom.jobs.program import log
from fathom.jobs.resume import Resume
from fathom.jobs.services import Service
from fathom.models.served import ServedModel
from fathom.models.served_answers import (
    MOST_NAMED,
    Following,
    FollowingReading,
    Reading,
    VocabularyReading,
    Way,
    ask_following,
    ask_vocabulary,
)
from fathom.scoring.bits import Rivals
from fathom.scoring.ranks import FirstTokens
from fathom.scoring.served_requests import Asking, ask_in_order

if TYPE_CHECKING:
    from fathom.models.tokens import EncodedPair


def count_requests(
    benchmarks: Sequence[pl.DataFrame], rivals: Sequence[Rivals], encoded: "Sequence[EncodedPair]"
) -> int:
    """Return the number of requests for bits if tokens are named; see :func:`ask_first_tokens`."""
    return len(_cut_questions(plan_places(benchmarks, rivals, encoded, only_first=True), Way.NAMED))


def _cut_questions(questions: Sequence[Following], way: Way) -> list[Following]:
    """Return the requests: one per prompt, or one per largest number of named tokens."""
    if way == Way.ALL:
        return list(questions)
    return [
        question._replace(tokens=question.tokens[start : start + MOST_NAMED])
        for question in questions
        for start in range(0, len(question.tokens), MOST_NAMED)
    ]


def ask_first_tokens(
    model: ServedModel,
    benchmarks: Sequence[pl.DataFrame],
    rivals: Sequence[Rivals],
    encoded: "Sequence[EncodedPair]",
    resume: Resume | None,
) -> list[FirstTokens]:
    """Ask a server for the first tokens of all pairs and their rivals, by benchmark.

    See :attr:`fathom.models.served.ServedModel.following`. `encoded` has one benchmark after the other.
    """
    way, name, entries = model.following[0], model.address.name, model.entries
    questions = plan_places(benchmarks, rivals, encoded, only_first=True)
    requests = _cut_questions(questions, way)
    if not requests:
        return [FirstTokens(each, np.empty(0), None) for each in rivals]
    log.info("prompts %s, requests for bits %s", f"{len(questions):,}", f"{len(requests):,}")

    def ask(service: Service, question: Following) -> FollowingReading:
        return ask_following(service, question, name, way, entries)

    part = resume.part(f"following-{way}") if resume is not None else None
    answers = ask_in_order(model, requests, Asking(ask, FollowingReading), part)
    values = iter(np.concatenate([each.log_probability for each in answers if each is not None]))
    given = {
        question.prompt: (question.tokens, np.fromiter(values, np.float32, len(question.tokens)))
        for question in questions
    }
    return gather_first_tokens(given, benchmarks, rivals, encoded)


def gather_first_tokens(
    given: Mapping[tuple[int, ...], tuple[tuple[int, ...], NDArray[np.float32]]],
    benchmarks: Sequence[pl.DataFrame],
    rivals: Sequence[Rivals],
    encoded: "Sequence[EncodedPair]",
) -> list[FirstTokens]:
    """Return the first tokens of targets and rivals, given the tokens after each prompt, sorted, in nats."""
    found, start = [], 0
    for pairs, each in zip(benchmarks, rivals, strict=True):
        own, others = np.empty(len(pairs)), np.empty((len(pairs), len(each.tokens)), np.float32)
        for row, pair in enumerate(encoded[start : start + len(pairs)]):
            tokens, numbers = given[tuple(pair.ids[: pair.start])]
            place = np.searchsorted(tokens, pair.ids[pair.start])
            own[row] = np.nan if pair.backed_off else numbers[place]
            others[row] = numbers[np.searchsorted(tokens, each.tokens)]
        found.append(FirstTokens(each, own, others))
        start += len(pairs)
    return found


def plan_places(
    benchmarks: Sequence[pl.DataFrame],
    rivals: Sequence[Rivals],
    encoded: "Sequence[EncodedPair]",
    only_first: bool = False,
) -> list[Following]:
    """Return each distinct beginning before a token of a target, with all tokens wanted there.

    After each prompt the first tokens of the benchmark's rivals are wanted, too. `encoded` has one benchmark
    after the other. With `only_first`, beginnings are only prompts.
    """
    wanted: dict[tuple[int, ...], set[int]] = {}
    first: dict[tuple[int, ...], str] = {}
    start = 0
    for pairs, each in zip(benchmarks, rivals, strict=True):
        part = encoded[start : start + len(pairs)]
        for pair, name in zip(part, pairs["pair_id"].to_list(), strict=True):
            for place in range(pair.start, pair.start + 1 if only_first else len(pair.ids)):
                before = tuple(pair.ids[:place])
                more = each.tokens if place == pair.start else ()
                wanted.setdefault(before, set()).update(more, [pair.ids[place]])
                first.setdefault(before, f"pair {name!r}")
        start += len(pairs)
    return [Following(before, tuple(sorted(wanted[before])), first[before]) for before in sorted(wanted)]


def ask_places(
    model: ServedModel,
    benchmarks: Sequence[pl.DataFrame],
    rivals: Sequence[Rivals],
    encoded: "Sequence[EncodedPair]",
    resume: Resume | None,
) -> tuple[list[Reading], list[FirstTokens]]:
    """Ask llama.cpp's server for all tokens of all targets, by pair, and for their rivals, by benchmark."""
    name, entries, forced = model.address.name, model.entries, model.forced
    questions = plan_places(benchmarks, rivals, encoded)
    if not questions:
        return [], [FirstTokens(each, np.empty(0), None) for each in rivals]
    log.info("pairs %s, requests %s", f"{len(encoded):,}", f"{len(questions):,}")

    def ask(service: Service, question: Following) -> VocabularyReading:
        return ask_vocabulary(service, question, name, entries, forced)

    part = resume.part("places") if resume is not None else None
    answers = ask_in_order(model, questions, Asking(ask, VocabularyReading), part)
    given = {
        question.prompt: (question.tokens, each)
        for question, each in zip(questions, answers, strict=True)
        if each is not None
    }
    readings = []
    for pair in encoded:
        ranks, numbers = [], []
        for place in range(pair.start, len(pair.ids)):
            tokens, found = given[tuple(pair.ids[:place])]
            row = int(np.searchsorted(tokens, pair.ids[place]))
            ranks.append(int(found.rank[row]))
            numbers.append(float(found.log_probability[row]))
        count = len(ranks)
        readings.append(
            Reading(
                np.array(ranks, np.int64), np.ones(count, bool), np.array(numbers), np.zeros(count, np.int64)
            )
        )
    numbers_by_prompt = {
        prompt: (tokens, each.log_probability.astype(np.float32)) for prompt, (tokens, each) in given.items()
    }
    return readings, gather_first_tokens(numbers_by_prompt, benchmarks, rivals, encoded)
