"""Batched scoring on one or several devices; batches and scores do not depend on their number."""

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from itertools import islice
from typing import Any, NamedTuple

from fathom.errors import InputError
from fathom.jobs.program import log, show_progress
from fathom.jobs.resume import Resume, State
from fathom.models.placement import count_stages, find_input_device
from fathom.models.text_model import count_alike, find_long_length
from fathom.scoring.logits import Projection, choose_projection, score_batch
from fathom.scoring.scored_sequences import ScoredSequence, TokenScores, join_token_scores

_QUEUED = 2  # batches queued per device, so that none is idle


class Replica(NamedTuple):
    """A copy of the model.

    `long`: longer sequences share batches among themselves
    (:func:`fathom.models.text_model.find_long_length`).
    """

    projection: Projection
    device: Any
    stages: int = 1  # number of devices that it is spread over, each with its own batch
    others: Sequence[int] = ()  # tokens whose log-probabilities to compute in place of every target
    long: int | None = None


def open_replica(model: Any, ids: Sequence[int], name: str) -> Replica:
    """Return a copy of the model with its projection, chosen on some tokens.

    Raises
    ------
    InputError
        If the model is not causal; see :func:`fathom.scoring.logits.choose_projection`.
    """
    projection, device = choose_projection(model, ids, name), find_input_device(model)
    return Replica(projection, device, count_stages(model), long=find_long_length(model))


def score_sequences(
    replicas: Sequence[Replica], sequences: Sequence[ScoredSequence], budget: int, resume: Resume | None
) -> Iterator[TokenScores]:
    """Yield the scores of all targets, in the order of the sequences; halve batches on out-of-memory.

    Parameters
    ----------
    replicas : sequence of Replica
        The same model on each device. The batches do not depend on the number of replicas.
    sequences : sequence of ScoredSequence
        The longest first.
    resume : Resume, optional
        Saves finished sequences. A resumed run uses the batches of an uninterrupted one, so that scores have
        the same bytes.
    """
    import torch

    done, finished = 0, list[TokenScores]()
    if resume is not None and (state := resume.load()) is not None:
        done, budget = state.values["sequences"], state.values["budget"]
        log.info("resuming a stopped run: %s sequences are done", f"{done:,}")
        finished = [TokenScores(**state.arrays)]
        yield from finished
    ticks = iter(show_progress(range(done, len(sequences)), "sequences", len(sequences) - done))
    while done < len(sequences):
        for batch, found in _distribute(replicas, _cut_batches(sequences, done, budget, replicas[0].long)):
            if found is None:
                if len(batch) == 1:
                    raise InputError(
                        "a single pair does not fit into GPU memory",
                        "scoring",
                        "use a larger GPU or dtype bfloat16",
                    )
                budget = budget // 2
                torch.cuda.empty_cache()
                log.info("out of GPU memory: continuing with batches of %s tokens", budget)
                break  # batches finished by other devices in the meantime are repeated at the smaller size
            yield found  # the caller stops here on non-finite numbers, before they are saved
            done += len(batch)
            if resume is not None:
                finished.append(found)
                if resume.is_due():
                    resume.save(
                        State({"sequences": done, "budget": budget}, join_token_scores(finished).to_arrays())
                    )
            for _ in islice(ticks, len(batch)):
                pass
    for _ in ticks:
        pass


def _cut_batches(
    sequences: Sequence[ScoredSequence], start: int, budget: int, long: int | None
) -> Iterator[Sequence[ScoredSequence]]:
    """Yield batches of at most `budget` tokens; the first sequence of each is its longest."""
    ids = [some.ids for some in sequences]
    while start < len(sequences):
        size = count_alike(ids, start, max(1, budget // len(ids[start])), long)
        yield sequences[start : start + size]
        start += size


def _distribute(
    replicas: Sequence[Replica], batches: Iterator[Sequence[ScoredSequence]]
) -> Iterator[tuple[Sequence[ScoredSequence], TokenScores | None]]:
    """Yield batches with their scores, in order; devices take turns. None: out of memory."""
    lanes = [replica for replica in replicas for _ in range(replica.stages)]
    if len(lanes) == 1:  # in this thread: `torch.set_num_threads` does not apply to others
        for batch in batches:
            yield batch, _try_batch(lanes[0], batch)
        return
    waiting: deque[tuple[Sequence[ScoredSequence], Future[TokenScores | None]]] = deque()
    with ExitStack() as stack:
        workers = [stack.enter_context(ThreadPoolExecutor(1)) for _ in lanes]
        for number, batch in enumerate(batches):
            turn = number % len(lanes)
            waiting.append((batch, workers[turn].submit(_try_batch, lanes[turn], batch)))
            if len(waiting) >= _QUEUED * len(lanes):
                first, future = waiting.popleft()
                yield first, future.result()
        for batch, future in waiting:
            yield batch, future.result()


def _try_batch(replica: Replica, batch: Sequence[ScoredSequence]) -> TokenScores | None:
    """Return None if GPU memory ran out."""
    import torch

    try:
        with torch.inference_mode():  # per thread
            return score_batch(replica.projection, batch, replica.device, replica.others)
    except torch.cuda.OutOfMemoryError:
        return None
