"""A real server as a process of its own, until it answers."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from fathom.errors import InputError
from fathom.jobs.services import RequestLimits, Service

PATIENCE = 1800.0
"""Seconds to wait for a server, which may compile first."""


def find_port() -> str:
    """Return a port that is free now."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return str(free.getsockname()[1])


@contextmanager
def run_server(
    command: Sequence[str | Path], port: str, log: Path, environment: Mapping[str, str] | None = None
) -> Iterator[str]:
    """Run a server that listens at a port; yield its address as soon as it lists its models."""
    with log.open("w") as output:
        process = subprocess.Popen(
            command,
            env=os.environ | (environment or {}),
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    url = f"http://127.0.0.1:{port}/v1"
    try:
        _wait_for(url, process, log)
        yield url
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(60)


def _wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        assert process.poll() is None, log.read_text()[-3000:]
        try:
            with Service(url, RequestLimits(5.0, 0, 0.0)) as service:
                service.get(f"{url}/models", 1_000_000)
        except InputError:
            time.sleep(1)
        else:
            return
    raise AssertionError(log.read_text()[-3000:])
