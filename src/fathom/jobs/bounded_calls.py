"""Calls driven by untrusted files or services, bounded in time: tokenizers, templates, LaTeX, queries."""

import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

from fathom.errors import InputError
from fathom.io.bounded_requests import BoundError

Found = TypeVar("Found")

TOKENIZER_SECONDS, TOKENIZER_RATE = 60.0, 10_000.0
"""Time for one call of a tokenizer: seconds, plus a rate in characters (or tokens) per second."""
TEMPLATE_SECONDS, TEMPLATE_BYTES = 10.0, 1 << 30
"""Time and additional memory for one text in a chat template."""


def run_within(seconds: float, work: Callable[[], Found]) -> Found:
    """Run a call within a time; return its result or raise its error.

    `work`: releases Python's global lock, so that other threads run beside it.

    Raises
    ------
    BoundError
        If it does not end in time.
    """
    ended: Future[Found] = Future()

    def call() -> None:
        try:
            ended.set_result(work())
        except BaseException as error:  # noqa: BLE001 -- the thread that waits raises it
            ended.set_exception(error)

    threading.Thread(target=call, daemon=True).start()
    if not wait([ended], seconds).done:
        raise BoundError(f"no complete answer after {seconds:,.0f} seconds")
    return ended.result()


def call_tokenizer(
    call: Callable[..., Found], what: str | Sequence[str] | Sequence[Sequence[int]], source: str, **how: Any
) -> Found:
    """Run a tokenizer, whose regular expressions come from its files, on texts or tokens.

    Raise `InputError` if the tokenizer gives up, or needs longer than TOKENIZER_SECONDS and TOKENIZER_RATE
    allow.
    """
    size = len(what) if isinstance(what, str) else sum(map(len, what))
    try:
        return run_within(TOKENIZER_SECONDS + size / TOKENIZER_RATE, partial(call, what, **how))
    except BoundError as error:
        problem = f"the tokenizer does not end: {error}, for {size:,} characters or tokens"
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # of the Rust library, which does not export it
            raise
        problem = f"the tokenizer gives up: {error}"
    raise InputError(
        problem,
        str(Path(source, "tokenizer.json")),
        "a regular expression of its normalizer, pre_tokenizer or decoder loops: take the tokenizer from the "
        "model's publisher, or leave this model out",
    )


def render_bounded(render: Callable[[], Found]) -> Found:
    """Render a chat template, which is a program of the model's publisher.

    Time is bounded only in the main thread, memory only on Linux.

    Raises
    ------
    BoundError
        If it needs longer than TEMPLATE_SECONDS.
    MemoryError
        If it needs more memory than TEMPLATE_BYTES.
    """
    with _bound_memory(TEMPLATE_BYTES):
        return interrupt_after(TEMPLATE_SECONDS, render)


def interrupt_after(seconds: float, work: Callable[[], Found], processor: bool = False) -> Found:
    """Run a call, interrupting it after a time in the main thread; return its result.

    Parameters
    ----------
    work : callable
        Python code. It may be interrupted anywhere, even in `finally`, so the caller has to restore state.
    processor : bool, default=False
        Count seconds of the processor, not of the clock.

    Raises
    ------
    BoundError
        If it does not end in time.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    timer, alarm = (
        (signal.ITIMER_VIRTUAL, signal.SIGVTALRM) if processor else (signal.ITIMER_REAL, signal.SIGALRM)
    )
    running = True

    # not in this function itself, where nothing would catch it
    def interrupt(_: int, frame: FrameType | None) -> None:
        if running and frame is not None and frame.f_code is not interrupt_after.__code__:
            raise _LateError

    before = signal.signal(alarm, interrupt)
    try:
        # repeatedly: Python drops errors in callbacks of weak references and in finalizers
        signal.setitimer(timer, seconds, seconds / 10)
        return work()
    except _LateError:
        raise BoundError(f"it does not end after {seconds:g} seconds") from None
    finally:
        running = False
        signal.setitimer(timer, 0)
        signal.signal(alarm, before)


class _LateError(BaseException):
    """Not an `Exception`, as Jinja continues after those of constants."""


@contextmanager
def _bound_memory(size: int) -> Iterator[None]:
    if sys.platform != "linux":
        yield
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    held = re.search(r"^VmData:\s+(\d+) kB", status, re.MULTILINE)
    limits = [each for each in (soft, hard) if each != resource.RLIM_INFINITY]
    if held is not None:
        limits.append(int(held[1]) * 1024 + size)
    resource.setrlimit(resource.RLIMIT_DATA, (min(limits, default=soft), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
