"""What all tests share."""

import gc
import logging
import os
import signal
from pathlib import Path

import pytest

# two processes with two threads each wait for each other on two cores; read by torch when it is imported
os.environ.setdefault("OMP_NUM_THREADS", "1")

# what a shell ignores for commands in the background or under `nohup` would be ignored by what tests start
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

_SHARED = Path(__file__).resolve().parents[1].parent / "shared" / "data"


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of real data beside the repository; skip where there is none."""
    if not _SHARED.is_dir():
        pytest.skip("needs the real data beside the repository (../shared/data)")
    return _SHARED


@pytest.fixture(autouse=True)
def closed_log() -> None:
    """Close the log that a command opened in an earlier test: `caplog` would miss messages or double them."""
    log = logging.getLogger("fathom")
    log.handlers, log.propagate = [], True
    log.setLevel(logging.NOTSET)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest tests, so that processes that share the work end together."""
    items.sort(key=lambda item: item.path.parent.name not in {"end_to_end", "workflow"})


def pytest_collection_finish() -> None:
    """Leave what tests import out of garbage collection: each pass would look at millions of objects."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish() -> None:
    """Let hypothesis, which may be imported last, see what refers to what."""
    gc.unfreeze()
