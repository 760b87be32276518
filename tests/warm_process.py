"""A process that has imported what is slow to import, and forks into each program that a test starts.

Reads requests from standard input, one JSON object a line, and answers each with the exit code. A fork is a
process of its own: with its own modules, environment, log and exit code, but without the seconds of imports.
Nothing of fathom is imported before the fork, so a program finds the library that its PYTHONPATH names; nor
is polars, whose threads would not survive it.
"""

import importlib
import json
import os
import runpy
import signal
import sys
from pathlib import Path
from typing import Any

import pydantic


def main() -> None:
    """Answer requests until standard input ends."""
    pydantic.create_model("Model", field=(int, pydantic.Field(1)))  # what pydantic itself imports late
    for line in sys.stdin:
        request = json.loads(line)
        for name in request["imports"]:
            importlib.import_module(name)
        child = os.fork()
        if not child:
            become(request)
            return
        _, status = os.waitpid(child, 0)
        print(json.dumps(os.waitstatus_to_exitcode(status)), flush=True)


def become(request: dict[str, Any]) -> None:
    """Take the streams, folder, environment and arguments of a program, and run it."""
    for descriptor, flags in ((0, os.O_RDONLY), (1, os.O_WRONLY), (2, os.O_WRONLY)):
        opened = os.open(request["streams"][descriptor], flags)
        os.dup2(opened, descriptor)
        os.close(opened)
    signal.alarm(request["seconds"])
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    sys.argv = list(request["command"])
    is_file = sys.argv[0].endswith(".py")
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    sys.path[:1] = [
        str(Path(path).absolute()) for path in (Path(sys.argv[0]).parent if is_file else ".", *paths)
    ]
    importlib.invalidate_caches()
    if is_file:
        runpy.run_path(sys.argv[0], run_name="__main__")
    else:
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
