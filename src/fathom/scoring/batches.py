"""Passes in batches, on one device or dealt out to several: same batches, same scores."""

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from itertools import islice
from typing import Any, NamedTuple

from fathom.errors import InputError
from fathom.running.program import log, show_progress
from fathom.running.resume import Resume, State
from fathom.scoring.logits import Projection, score_batch
from fathom.scoring.scored_sequences import ScoredSequence, TokenScores, join_token_scores

_AHEAD = 2  # batches that wait for each device, so that none is idle


class Replica(NamedTuple):
    """A model on one device.

    Attributes
    ----------
    project : Projection
        Its output layer.
    device : torch.device
        Where it lies.
    """

    project: Projection
    device: Any


def score_sequences(
    replicas: Sequence[Replica], sequences: Sequence[ScoredSequence], budget: int, resume: Resume | None
) -> Iterator[TokenScores]:
    """Yield the scores of wanted tokens in the order of sequences; halve batches if memory runs out.

    Parameters
    ----------
    replicas : sequence of Replica
        The same model on each device. Which batches there are does not depend on their number.
    sequences : sequence of ScoredSequence
    budget : int
        Tokens in a batch, padding counted.
    resume : Resume, optional
        Where finished sequences are saved; batches are those of a run without a stop, so scores are the same
        bytes.

    Raises
    ------
    InputError
        If a GPU's memory does not hold one pass.
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
        for batch, found in _deal(replicas, _cut(sequences, done, budget)):
            if found is None:
                if len(batch) == 1:
                    raise InputError(
                        "the GPU's memory does not hold one pair",
                        "scoring",
                        "use a larger GPU or dtype bfloat16",
                    )
                budget = budget // 2
                torch.cuda.empty_cache()
                log.info("out of GPU memory: batches of %s tokens from here on", budget)
                break  # what other devices did meanwhile is done again, in the smaller batches
            yield found  # what is no finite number ends the run here, and is not kept
            done += len(batch)
            if resume is not None:
                finished.append(found)
                if resume.is_due():
                    resume.save(
                        State({"sequences": done, "budget": budget}, join_token_scores(finished)._asdict())
                    )
            for _ in islice(ticks, len(batch)):
                pass
    for _ in ticks:
        pass


def _cut(sequences: Sequence[ScoredSequence], start: int, budget: int) -> Iterator[Sequence[ScoredSequence]]:
    """Yield batches of a number of tokens; the first pass of each is its longest."""
    while start < len(sequences):
        size = max(1, budget // len(sequences[start].ids))
        yield sequences[start : start + size]
        start += size


def _deal(
    replicas: Sequence[Replica], batches: Iterator[Sequence[ScoredSequence]]
) -> Iterator[tuple[Sequence[ScoredSequence], TokenScores | None]]:
    """Yield batches with their scores, in order, each device taking its turn; None where memory ran out."""
    if len(replicas) == 1:  # in this thread: others have threads of torch of their own
        for batch in batches:
            yield batch, _try_batch(replicas[0], batch)
        return
    waiting: deque[tuple[Sequence[ScoredSequence], Future[TokenScores | None]]] = deque()
    with ExitStack() as stack:
        hands = [stack.enter_context(ThreadPoolExecutor(1)) for _ in replicas]
        for turn, batch in enumerate(batches):
            place = turn % len(replicas)
            waiting.append((batch, hands[place].submit(_try_batch, replicas[place], batch)))
            if len(waiting) >= _AHEAD * len(replicas):
                first, future = waiting.popleft()
                yield first, future.result()
        for batch, future in waiting:
            yield batch, future.result()


def _try_batch(replica: Replica, batch: Sequence[ScoredSequence]) -> TokenScores | None:
    """Return the scores of a batch, or None if the GPU's memory ran out."""
    import torch

    try:
        with torch.inference_mode():  # a thread's own state
            return score_batch(replica.project, batch, replica.device)
    except torch.cuda.OutOfMemoryError:
        return None
