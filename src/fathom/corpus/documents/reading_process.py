"""Reads files in a separate process: one that hangs, crashes or eats memory does not affect the others.

`python -m fathom.corpus.documents.reading_process` reads requests, JSON lines, from standard input, and
writes an answer to each.
"""

import os
import resource
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NamedTuple, Self

import orjson

from fathom.corpus.documents.reading import read_document
from fathom.corpus.documents.sections import FileContent, Section
from fathom.errors import InputError

SECONDS = 300
"""Most processor seconds for one file: a PDF of 3,000 pages takes a tenth."""
MEMORY = 3 << 30
"""Most bytes of memory for the process."""


class _Running(NamedTuple):
    process: "subprocess.Popen[bytes]"
    requests: IO[bytes]
    answers: IO[bytes]


class ReadingProcess:
    """Reads files one after another; use it as a context.

    A file may have `max_mb` megabytes, also unpacked, and take so many processor seconds.
    """

    def __init__(self, max_mb: int, seconds: int = SECONDS) -> None:
        self._max_mb, self._seconds = max_mb, seconds
        self._process: _Running | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def read(self, path: Path) -> FileContent:
        """Read a file into sections.

        Raises
        ------
        InputError
            As :func:`fathom.corpus.documents.reading.read_document`; also if reading crashes or exceeds its
            time or memory.
        ModuleNotFoundError
            If the format's reader is not installed.
        """
        process = self._process = self._process or self._start()
        request = {"path": os.fsencode(path).hex(), "max_mb": self._max_mb, "seconds": self._seconds}
        with suppress(BrokenPipeError):  # it has ended without an answer
            process.requests.write(orjson.dumps(request, option=orjson.OPT_APPEND_NEWLINE))
            process.requests.flush()
        line = process.answers.readline()
        if not line.endswith(b"\n"):
            code = process.process.wait()
            self._stop()  # the next file gets a new process
            problem = (
                f"reading it ends the reader (exit code {code}): the file is broken, or needs too much memory"
            )
            if code == -signal.SIGXCPU:
                problem = f"reading it takes more than {self._seconds} seconds of processor time"
            raise InputError(problem, str(path))
        answer = orjson.loads(line)
        if (
            "missing" in answer
        ):  # a fault of the installation, not of the file: all files of its kind would be left out
            raise ModuleNotFoundError(f"No module named {answer['missing']!r}", name=answer["missing"])
        if "what" in answer:
            raise InputError(answer["what"], str(path), answer["hint"])
        return FileContent.restore(answer)

    def _start(self) -> _Running:
        command = [sys.executable, "-m", "fathom.corpus.documents.reading_process"]
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        if process.stdin is None or process.stdout is None:
            raise OSError("the process that reads files has no pipes")
        return _Running(process, process.stdin, process.stdout)

    def _stop(self) -> None:
        if self._process is not None:
            self._process.process.kill()
            self._process.process.wait()
            with suppress(BrokenPipeError):
                self._process.requests.close()
            self._process.answers.close()
        self._process = None


def answer_requests(requests: IO[bytes], answers: IO[bytes]) -> None:
    """Read the files that requests name until they end."""
    for line in requests:
        request = orjson.loads(line)
        _limit(request["seconds"])
        path = Path(os.fsdecode(bytes.fromhex(request["path"])))
        answers.write(orjson.dumps(_read(path, request["max_mb"]), option=orjson.OPT_APPEND_NEWLINE))
        answers.flush()


def _read(path: Path, max_mb: int) -> FileContent | dict[str, Any]:
    try:
        content = _try(path, max_mb)
    except InputError as error:
        return {"what": error.what, "hint": error.hint}
    except ModuleNotFoundError as error:
        return {"missing": error.name}
    except MemoryError:
        return {"what": f"reading it takes more than {MEMORY / 1e9:.0f} GB of memory", "hint": ""}
    # lone surrogates cannot be stored
    sections = [
        Section(_clean(each.anchor), tuple(map(_clean, each.headings)), _clean(each.text))
        for each in content.sections
    ]
    return replace(content, title=_clean(content.title), sections=sections)


def _try(path: Path, max_mb: int) -> FileContent:
    """Read a file; turn errors of libraries into `InputError`, so that the process continues."""
    try:
        return read_document(path, max_mb)
    except (InputError, MemoryError, ModuleNotFoundError):
        raise
    except Exception as error:
        raise InputError(f"it cannot be read: {type(error).__name__}: {error}", str(path)) from error


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def _limit(seconds: int) -> None:
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    wanted = int(used.ru_utime + used.ru_stime) + 1 + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (wanted if hard < 0 else min(wanted, hard), hard))
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    limits = [each for each in (soft, hard, MEMORY) if each != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_DATA, (min(limits), hard))


if __name__ == "__main__":
    answer_requests(sys.stdin.buffer, sys.stdout.buffer)
