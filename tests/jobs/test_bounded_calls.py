"""Calls that a stranger's files steer end in time, with one message."""

import signal
import time
import weakref
from functools import partial

import pytest
from tests.refusals import refuses
from tests.tiny import make_byte_tokenizer
from tokenizers import Regex, decoders, normalizers, pre_tokenizers

from fathom.io.bounded_requests import BoundError
from fathom.jobs import bounded_calls
from fathom.jobs.bounded_calls import call_tokenizer, interrupt_after, run_within

TEXT = "the quick brown fox jumps over the lazy dog " * 100
GIVES_UP, NEVER_ENDS = Regex("(a+)+b"), Regex(r"[a-z ]*[a-z ]*(?![a-z ]|$)")


def spin(seconds: float) -> None:
    """Compute for some seconds of the processor."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def test_a_call_gives_what_it_returns_or_raises():
    assert run_within(10, lambda: 3) == 3
    with pytest.raises(ZeroDivisionError):
        run_within(10, lambda: 1 // 0)
    with pytest.raises(KeyboardInterrupt):  # of any kind
        run_within(10, lambda: (_ for _ in ()).throw(KeyboardInterrupt))


def test_a_call_that_does_not_end_is_given_up():
    start = time.monotonic()
    with pytest.raises(BoundError, match="0 seconds"):
        run_within(0.05, lambda: time.sleep(5))
    assert time.monotonic() - start < 4


def test_a_call_is_interrupted_or_gives_what_it_returns_or_raises():
    assert interrupt_after(10, lambda: 3) == 3
    with pytest.raises(ZeroDivisionError):
        interrupt_after(10, lambda: 1 // 0)
    before = signal.getsignal(signal.SIGALRM)
    with pytest.raises(BoundError, match="seconds"):
        interrupt_after(0.05, partial(spin, 10))
    assert signal.getsignal(signal.SIGALRM) is before and signal.getitimer(signal.ITIMER_REAL) == (0, 0)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("processor", [False, True])
def test_an_interruption_that_python_drops_is_made_again(processor):
    """What is raised in the callback of a weak reference ends the callback alone."""

    def work() -> None:
        dropped = set[int]()
        reference = weakref.ref(dropped, lambda _: spin(10))
        del dropped
        spin(10)
        assert reference() is None

    start = time.monotonic()
    with pytest.raises(BoundError):
        interrupt_after(0.1, work, processor)
    assert time.monotonic() - start < 10


@pytest.mark.parametrize("part", ["pre_tokenizer", "normalizer", "decoder"])
def test_a_regular_expression_that_gives_up_is_one_message(part):
    tokenizer = make_byte_tokenizer([TEXT], 280)
    core = tokenizer.backend_tokenizer
    if part == "pre_tokenizer":
        core.pre_tokenizer = pre_tokenizers.Split(GIVES_UP, "isolated")
    elif part == "normalizer":
        core.normalizer = normalizers.Replace(GIVES_UP, "x")
    else:
        core.decoder = decoders.Replace(GIVES_UP, "x")
    call, what = tokenizer, "a" * 60
    if part == "decoder":
        call, what = tokenizer.batch_decode, [[tokenizer.convert_tokens_to_ids("a")] * 60]
        core.decoder = decoders.Sequence([decoders.Fuse(), core.decoder])
    with refuses("m/tokenizer.json", "gives up", "retry-limit"):
        call_tokenizer(call, what, "m")


def test_a_regular_expression_that_does_not_end_is_one_message(monkeypatch):
    tokenizer = make_byte_tokenizer([TEXT], 280)
    assert call_tokenizer(tokenizer, TEXT, "m") == tokenizer(TEXT)
    monkeypatch.setattr(bounded_calls, "TOKENIZER_SECONDS", 0.2)
    monkeypatch.setattr(bounded_calls, "TOKENIZER_RATE", 1e9)
    tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Split(NEVER_ENDS, "isolated")
    with refuses("m/tokenizer.json", "does not end"):
        call_tokenizer(tokenizer, TEXT[:1500], "m")
