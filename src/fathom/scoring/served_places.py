"""Ranks and first tokens from llama.cpp's server: one request for each different beginning of a target."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from fathom.jobs.program import log
from fathom.jobs.resume import Resume
from fathom.jobs.services import Service
from fathom.models.served import ServedModel
from fathom.models.served_answers import Following, Reading, VocabularyReading, ask_vocabulary
from fathom.scoring.ranks import FirstTokens
from fathom.scoring.rivals import Rivals
from fathom.scoring.served_bits import gather_first_tokens
from fathom.scoring.served_requests import Asking, ask_in_order

if TYPE_CHECKING:
    from fathom.models.tokens import EncodedPair


def plan_places(
    benchmarks: Sequence[pl.DataFrame], rivals: Sequence[Rivals], encoded: "Sequence[EncodedPair]"
) -> list[Following]:
    """Return each different beginning that a token of a target follows, with all tokens wanted there.

    After each prompt the first tokens of the benchmark's rivals are wanted, too. `encoded` has one benchmark
    after the other.
    """
    wanted: dict[tuple[int, ...], set[int]] = {}
    first: dict[tuple[int, ...], str] = {}
    start = 0
    for pairs, each in zip(benchmarks, rivals, strict=True):
        part = encoded[start : start + len(pairs)]
        for pair, name in zip(part, pairs["pair_id"].to_list(), strict=True):
            for place in range(pair.start, len(pair.ids)):
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
    import numpy as np

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
