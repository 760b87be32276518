"""Many requests to a server, several in flight; answers are saved and not asked for again."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from fathom.jobs.program import log, show_progress
from fathom.jobs.resume import Resume, State
from fathom.jobs.services import Service, ask_side_by_side
from fathom.models.served import ServedModel, connect
from fathom.models.served_answers import (
    AnswerError,
    Following,
    FollowingReading,
    Question,
    Reading,
    VocabularyReading,
    explain,
)

_FIRST = 20
"""Number of first answers to check."""

Q = TypeVar("Q", Question, Following)
R = TypeVar("R", Reading, FollowingReading, VocabularyReading)


@dataclass(frozen=True)
class Asking(Generic[Q, R]):
    """How to ask questions.

    `ask`: takes a service and a question, and returns the answer, or None if it is empty; raises
    `AnswerError`. `check`: takes the first answers; raises `AnswerError` if asking further is useless.
    """

    ask: Callable[[Service, Q], R | None]
    kind: type[R]  # of the answers, whose fields are arrays of one length
    check: Callable[[Sequence[R | None]], None] = lambda _: None


def ask_in_order(
    model: ServedModel, questions: Sequence[Q], asking: Asking[Q, R], resume: Resume | None
) -> list[R | None]:
    """Return what a server answers to all questions, in their order; save answers as they come."""
    readings = _load(asking.kind, resume)
    if readings:
        log.info("resuming a stopped run: %s requests are answered", f"{len(readings):,}")
    if len(readings) >= _FIRST:
        _check(model, questions, readings[:_FIRST], asking)
    left = len(questions) - len(readings)
    ticks = iter(show_progress(range(left), "requests", left))
    try:
        with connect(model.address, model.served) as service:
            for reading in _ask(service, model, questions[len(readings) :], asking.ask):
                readings.append(reading)
                next(ticks, None)
                if len(readings) == min(_FIRST, len(questions)):
                    _check(model, questions, readings, asking)
                if resume is not None and resume.is_due():
                    _save(resume, readings)
    finally:
        if resume is not None and readings:
            _save(resume, readings)
    next(ticks, None)
    return readings


def _check(
    model: ServedModel, questions: Sequence[Q], readings: Sequence[R | None], asking: Asking[Q, R]
) -> None:
    try:
        asking.check(readings)
    except AnswerError as error:
        raise explain(error, questions[0], model.pointer.server) from error


def _ask(
    service: Service, model: ServedModel, questions: Sequence[Q], ask: Callable[[Service, Q], R | None]
) -> Iterator[R | None]:
    """Return answers in the order of the questions; a fault says which one it was."""

    def ask_one(question: Q) -> R | None:
        try:
            return ask(service, question)
        except AnswerError as error:
            what = service.clean(str(error))
            raise explain(AnswerError(what), question, model.pointer.server) from error

    return ask_side_by_side(ask_one, questions, model.served.in_flight)


def _save(resume: Resume, readings: Sequence[Reading | FollowingReading | VocabularyReading | None]) -> None:
    """Save answers: their arrays one after the other, and how long each is; -1 for none."""
    import numpy as np

    given: list[Any] = [each for each in readings if each is not None]
    names = given[0]._fields if given else ()
    arrays = {name: np.concatenate([getattr(each, name) for each in given]) for name in names}
    lengths = [-1 if each is None else len(each[0]) for each in readings]
    resume.save(State({"lengths": lengths}, arrays))


def _load(kind: type[R], resume: Resume | None) -> list[R | None]:
    state = resume.load() if resume is not None else None
    found: list[R | None] = []
    if state is None:
        return found
    start = 0
    for length in state.values["lengths"]:
        if length < 0:
            found.append(None)
            continue
        part = slice(start, start + length)
        found.append(kind(*(state.arrays[name][part] for name in kind._fields)))
        start += length
    return found
