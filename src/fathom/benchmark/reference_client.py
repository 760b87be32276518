"""Send requests for a benchmark to a language model, and keep every answer, as each costs money.

They go to a service that speaks OpenAI's protocol, by default that of Anthropic.

Each request gives two files: `NAME.json`, the record (request, model, date, raw answer, tokens), and
`NAME.txt`, the text of the answer. A request whose record exists is not sent again.
"""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

from fathom.benchmark.chat_service import KEY_VARIABLE, ask_service, check_address
from fathom.errors import InputError
from fathom.io.bounded_requests import clean_text, read_key
from fathom.io.files import hash_text, read_json, read_plain_text, write_json, write_text
from fathom.jobs.program import log, show_progress
from fathom.jobs.services import Manners, RefusedRequestError, Service

ANTHROPIC, ANTHROPIC_KEY = "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY"
"""The service that is asked by default, and the variable with its key."""
_CERTIFICATE = (
    "if the service's certificate is signed by your own authority, name the authority's file in SSL_CERT_FILE"
)
_AGAIN = "the answers so far are kept: run the same command again later"
_NAMES = "check the model's name under --model; the address under --service usually ends in /v1"
_REFUSED = "check --model and --max-tokens (each model has its own largest value)"
_FRAME, _BYTES, _FEWEST = 1_000_000, 1000, 20.0
"""Bytes of an answer besides its tokens and for each; tokens a second at least, for it comes whole."""
_COUNTS = ("input_tokens", "output_tokens")
_UNFINISHED = {
    "max_tokens": (
        "the answer was cut off at {limit:,} tokens",
        "raise --max-tokens, or put fewer categories into each request (fathom request write --per-request)",
    ),
    "model_context_window_exceeded": (
        "the answer was cut off at the end of the model's context",
        "put fewer categories into each request (fathom request write --per-request)",
    ),
    "refusal": ("the model refuses to answer", "check the request, ask another model, or leave it out"),
}


@dataclass(frozen=True)
class RequestSettings:
    """How requests are sent.

    Parameters
    ----------
    timeout : float, default=600.0
        Seconds to wait for an answer, beside the time that its tokens take to be written.
    retries : int, default=6
        Attempts after the first one.
    """

    model: str
    max_tokens: int
    timeout: float = 600.0
    retries: int = 6
    service: str = ANTHROPIC

    def __post_init__(self) -> None:
        if self.max_tokens < 1 or not self.timeout > 0 or self.retries < 0:
            raise InputError("a number is too small", "--max-tokens, --timeout, --retries", "see --help")
        check_address(self.service)

    @property
    def key_variable(self) -> str:
        """The variable with the key of the service."""
        return ANTHROPIC_KEY if self.is_default else KEY_VARIABLE

    @property
    def is_default(self) -> bool:
        """Whether the service is Anthropic's, which has no answer without a key."""
        return check_address(self.service) == ANTHROPIC

    @property
    def manners(self) -> Manners:
        """How the service is asked."""
        return Manners(self.timeout + self.max_tokens / _FEWEST, self.retries, 0.0)


def send_requests(requests: Sequence[Path], folder: Path, settings: RequestSettings) -> dict[str, int]:
    """Send the requests without an answer, one after the other, and save each answer as it arrives.

    Parameters
    ----------
    folder : Path
        Folder of the answers, which are named after the requests.

    Returns
    -------
    dict of str to int
        Answers `kept` from before and `received` now, and the `input_tokens` and `output_tokens` of these.

    Raises
    ------
    InputError
        If a request is missing, empty or has another's name; if the folder holds the answer to a different
        request; if the key is missing; if the service reports an error; if an answer is
        refused, cut off or empty. Earlier answers are saved, and an incomplete answer is saved separately.
    """
    unanswered = _find_unanswered(requests, folder, settings.model)
    counts = {"kept": len(requests) - len(unanswered), "received": 0, "input_tokens": 0, "output_tokens": 0}
    if not unanswered:
        return counts
    key = _read_key(settings)
    _check_folder(folder)
    log.info("%s requests to %s; %s are answered already", len(unanswered), settings.model, counts["kept"])
    with Service(check_address(settings.service), settings.manners, key) as service:
        for request, text in show_progress(unanswered.items(), "requests"):
            answer = _request_answer(service, key, text, settings, request)
            _check_answer(answer, str(request))
            _save_answer(answer, request, text, folder, settings)
            used = {name: int(answer["usage"].get(name) or 0) for name in _COUNTS}
            log.info("%s: answered, %s tokens in, %s out", request.name, *(f"{n:,}" for n in used.values()))
            for name, number in {**used, "received": 1}.items():
                counts[name] += number
    return counts


def _find_unanswered(requests: Sequence[Path], folder: Path, model: str) -> dict[Path, str]:
    """Return the texts of requests without an answer; write missing text files of the other answers."""
    unanswered: dict[Path, str] = {}
    names: dict[str, Path] = {}
    for request in requests:
        other = names.setdefault(request.stem, request)
        if other is not request:
            raise InputError(f"its answer would overwrite the answer to {other}", str(request), "rename one")
        if request.resolve().parent == folder.resolve():
            raise InputError(
                "answers would be among the requests", str(request), "choose another folder for --output"
            )
        text = read_plain_text(request)
        if not text.strip():
            raise InputError("the request is empty", str(request), "write it again: fathom request write")
        path = folder / f"{request.stem}.json"
        if not path.exists():
            unanswered[request] = text
            continue
        record = read_json(path)
        found = (record.get("request_sha256"), record.get("model")) if isinstance(record, dict) else None
        if found != (hash_text(text), model):
            raise InputError(
                f"not the answer of {model} to {request}", str(path), "choose another folder for --output"
            )
        _check_answer(record.get("answer"), str(path))
        _write_missing_text(record["answer"], path)
    return unanswered


def _check_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(f"answers cannot be saved here: {error}", str(folder), "choose another") from error


def _read_key(settings: RequestSettings) -> str:
    variable = settings.key_variable
    key = read_key(variable)
    if not key and settings.is_default:
        raise InputError(
            "no key for the Anthropic API", variable, f"run `export {variable}=...` in this shell first"
        )
    return key


def _request_answer(
    service: Service, key: str, text: str, settings: RequestSettings, request: Path
) -> dict[str, Any]:
    """Return the answer to a request; a service's faults name the request."""
    size = _FRAME + _BYTES * settings.max_tokens
    try:
        found = ask_service(service, settings.model, text, settings.max_tokens, size)
    except InputError as error:
        hint = error.hint.replace("the key", f"the key in {settings.key_variable}")
        hint = _NAMES if "answers 404" in error.what else hint
        hint = _CERTIFICATE if "CERTIFICATE" in error.what else hint
        hint = _REFUSED if isinstance(error, RefusedRequestError) else hint
        raise InputError(error.what, f"{request}: {error.where}", hint) from error
    hidden: dict[str, Any] = _hide(found, key) if key else found
    return hidden


def _hide(value: Any, key: str) -> Any:
    """Return JSON values without the key: answers are kept in files, and a service may send it back."""
    if isinstance(value, dict):
        return {_hide(name, key): _hide(each, key) for name, each in value.items()}
    if isinstance(value, list):
        return [_hide(each, key) for each in value]
    return value.replace(key, "***") if isinstance(value, str) else value


def _check_answer(answer: Any, where: str) -> None:
    """Raise `InputError` unless a raw message has blocks of text and counts of tokens, fit to be written."""
    try:
        _join_text(answer).encode()
        numbers = [answer["usage"].get(name) or 0 for name in _COUNTS]
        fit = all(isinstance(number, int) for number in numbers)
    except (AttributeError, LookupError, TypeError, ValueError):
        fit = False
    if not fit:
        raise InputError("not an answer of the service", where, "delete this file: the request is sent again")


def _save_answer(
    answer: Mapping[str, Any], request: Path, text: str, folder: Path, settings: RequestSettings
) -> None:
    """Save an answer and its record; save an incomplete one separately, and raise `InputError`."""
    record = {
        "request": request.name,
        "request_sha256": hash_text(text),
        "model": settings.model,
        "max_tokens": settings.max_tokens,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "service": settings.service,
        "answer": answer,
    }
    if answer.get("stop_reason") == "end_turn" and _join_text(answer).strip():
        path = folder / f"{request.stem}.json"
        write_json(path, record)
        _write_missing_text(answer, path)
        return
    names = (folder / f"{request.stem}.unfinished-{number}.json" for number in count(1))
    path = next(name for name in names if not name.exists())
    write_json(path, record)
    reason = clean_text(str(answer.get("stop_reason")))
    what, hint = _UNFINISHED.get(reason, ("the answer is empty or incomplete", _AGAIN))
    what = what.format(limit=settings.max_tokens)
    raise InputError(f"{what} (stop reason {reason}); saved as {path}", str(request), hint)


def _join_text(answer: Mapping[str, Any]) -> str:
    return "".join(block["text"] for block in answer["content"] if block["type"] == "text")


def _write_missing_text(answer: Mapping[str, Any], record: Path) -> None:
    """Write the text of an answer beside its record, unless it exists: a person may have edited it."""
    path = record.with_suffix(".txt")
    if not path.exists():
        write_text(path, _join_text(answer).rstrip("\n") + "\n")
