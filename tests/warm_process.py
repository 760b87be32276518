"""A process that has imported what is slow to import, and forks into each program that a test starts.

Its client is a file named `python` that takes the place of the interpreter: it sends its arguments, folder,
environment and streams over a socket, and ends as the program ends. A fork is a process of its own, with its
own modules, environment, log and exit code, but without the seconds of imports. Nothing of fathom is imported
before the fork, so a program finds the library that its PYTHONPATH names; nor is polars, whose threads would
not survive it.
"""

import atexit
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn


def serve(listener: socket.socket, names: list[str]) -> None:
    """Import packages, then answer requests until standard input ends, as it does with the parent."""
    for name in names:
        importlib.import_module(name)
    if "pydantic" in names:  # what pydantic itself imports late
        importlib.import_module("pydantic").create_model("Model", field=(int, 1))
    gc.collect()
    gc.freeze()  # or the first collection of each program would write to all of it, and so copy it
    while listener in select.select([listener, sys.stdin], [], [])[0]:
        connection, _ = listener.accept()
        if not os.fork():
            listener.close()
            keep(connection)
            return
        connection.close()
        collect(os.WNOHANG)
    collect(0)


def collect(flags: int) -> None:
    """Collect the children that have ended, or all."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, flags)[0]:
            pass


def keep(connection: socket.socket) -> None:
    """Start the program of one request, and tell how it ended; kill it if its client ends before it."""
    request, streams = receive(connection)
    child = os.fork()
    if not child:
        connection.close()
        end(become, request, streams)
    for stream in streams:
        os.close(stream)
    ended = os.pidfd_open(child)
    if ended not in select.select([ended, connection], [], [])[0]:
        os.kill(child, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with suppress(BrokenPipeError):  # there is no client any more
        connection.sendall(json.dumps(code).encode())
    os._exit(0)


def receive(connection: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """Return a request, a line of JSON, and the three streams that came with it."""
    text, streams, _, _ = socket.recv_fds(connection, 1 << 16, 3)
    while not text.endswith(b"\n"):
        text += connection.recv(1 << 16)
    return json.loads(text), streams


def become(request: dict[str, Any], streams: list[int]) -> None:
    """Take the streams, folder, environment and arguments of a program, and run it."""
    for descriptor, stream in enumerate(streams):
        os.dup2(stream, descriptor)
        os.close(stream)
    sys.stdout = open(1, "w", buffering=1, encoding=sys.stdout.encoding, closefd=False)  # noqa: SIM115 -- of this stream
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    sys.executable = request["executable"]
    sys.argv = list(request["arguments"])
    is_module = sys.argv[0] == "-m"
    if is_module:
        sys.argv.pop(0)
    first = "." if is_module else Path(sys.argv[0]).parent
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    sys.path[:1] = [str(Path(path).absolute()) for path in (first, *paths)]
    importlib.invalidate_caches()
    if is_module:
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(sys.argv[0], run_name="__main__")


def end(program: Callable[..., None], *arguments: object) -> NoReturn:
    """Run a program and end as Python does, without taking its modules apart: that would copy all memory."""
    code: object = 0
    try:
        program(*arguments)
    except SystemExit as ending:
        code = ending.code or 0
    except BaseException as error:  # noqa: BLE001 -- printed as Python prints it
        sys.excepthook(type(error), error, error.__traceback__)
        code = -signal.SIGINT if isinstance(error, KeyboardInterrupt) else 1
    if not isinstance(code, int):
        print(code, file=sys.stderr)
        code = 1
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):  # nobody reads it any more, or it is closed
            code = code or 120
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code & 0xFF)


def ask(address: str, executable: str) -> None:
    """Have the program of this process's own arguments run by the process at an address; end as it ends."""
    if sys.argv[1] != "-m" and not sys.argv[1].endswith(".py"):  # other options: what Python itself is for
        os.execv(sys.executable, [sys.executable, *sys.argv[1:]])  # noqa: S606
    request = {"arguments": sys.argv[1:], "folder": str(Path.cwd()), "environment": dict(os.environ)}
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address)
        socket.send_fds(connection, [b" "], [0, 1, 2])
        connection.sendall(json.dumps(request | {"executable": executable}).encode() + b"\n")
        code = json.loads(connection.recv(100) or "1")
    if code < 0:
        if code == -signal.SIGINT:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    sys.exit(code)


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as listener:
        serve(listener, sys.argv[2:])
