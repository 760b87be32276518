"""Send requests for a benchmark to a language model, and keep every answer, as each costs money.

They go through the Anthropic API, or to a service that speaks OpenAI's protocol.

Each request gives two files: `NAME.json`, the record (request, model, date, raw answer, tokens), and
`NAME.txt`, the text of the answer. A request whose record exists is not sent again.
"""

import logging
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fathom.benchmark import chat_service
from fathom.errors import InputError
from fathom.io.bounded_requests import BoundError, Bounds, bound_response, clean_text, read_key
from fathom.io.files import hash_text, read_json, read_plain_text, write_json, write_text
from fathom.jobs.bounded_calls import run_within
from fathom.jobs.extras import explain_imports
from fathom.jobs.program import log, show_progress
from fathom.jobs.services import Manners, Service

if TYPE_CHECKING:
    from anthropic import Anthropic

KEY_VARIABLE = "ANTHROPIC_API_KEY"
_ADDRESS = "check ANTHROPIC_BASE_URL if it is set"
_TOO_MUCH = f"lower --max-tokens or put fewer categories in each request; {_ADDRESS}"
_CERTIFICATE = (
    f"{_ADDRESS}; if the service's certificate is signed by your own authority, name the authority's file in "
    "SSL_CERT_FILE"
)
_AGAIN = "the answers so far are kept: run the same command again later"
# hints by the API's type of error
_HINTS = {
    "authentication_error": f"check the key in {KEY_VARIABLE}",
    "permission_error": f"the key in {KEY_VARIABLE} has no access: check its workspace and the model's name",
    "not_found_error": "check the name under --model",
    "billing_error": "check the account's credit",
    "invalid_request_error": "check --model and --max-tokens (each model has its own largest value)",
    "request_too_large": "put fewer categories in each request",
    "rate_limit_error": f"too many requests or tokens for this account; {_AGAIN}",
    "overloaded_error": f"the service is busy; {_AGAIN}",
}
_FRAME, _BYTES, _FEWEST, _WAIT = 1_000_000, 1000, 5.0, 60.0
"""Bytes of an answer besides its tokens and for each; tokens a second at least; longest wait in seconds."""
_COUNTS = ("input_tokens", "output_tokens")
_MALFORMED = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""What the client raises at a stream that is none."""
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
    model : str
        Full name of the model.
    max_tokens : int
        Limit on the length of an answer.
    timeout : float, default=600.0
        Seconds to wait for the next part of an answer.
    retries : int, default=6
        Attempts after the first one.
    service : str, default=""
        Address of a service that speaks OpenAI's protocol; empty: the Anthropic API. Its answers come whole.
    """

    model: str
    max_tokens: int
    timeout: float = 600.0
    retries: int = 6
    service: str = ""

    def __post_init__(self) -> None:
        """Raise `InputError` if a number is too small."""
        if self.max_tokens < 1 or not self.timeout > 0 or self.retries < 0:
            raise InputError("a number is too small", "--max-tokens, --timeout, --retries", "see --help")
        if self.service:
            chat_service.check_address(self.service)

    @property
    def bounds(self) -> Bounds:
        """What an answer may cost: a service that stays within the settings never meets them."""
        seconds = (self.retries + 1) * self.timeout + self.retries * _WAIT + self.max_tokens / _FEWEST
        return Bounds(_FRAME + _BYTES * self.max_tokens, seconds, _WAIT)


def send_requests(requests: Sequence[Path], folder: Path, settings: RequestSettings) -> dict[str, int]:
    """Send the requests without an answer, one after the other, and save each answer as it arrives.

    Parameters
    ----------
    requests : sequence of Path
        Text files, as `fathom request write` writes them.
    folder : Path
        Folder of the answers, which are named after the requests.
    settings : RequestSettings
        Model, length, timeout and retries.

    Returns
    -------
    dict of str to int
        Answers `kept` from before and `received` now, and the `input_tokens` and `output_tokens` of these.

    Raises
    ------
    InputError
        If a request is missing, empty or has another's name; if the folder holds the answer to a different
        request; if the key or the package is missing; if the service reports an error; if an answer is
        refused, cut off or empty. Earlier answers are saved, and an incomplete answer is saved separately.
    """
    unanswered = _find_unanswered(requests, folder, settings.model)
    counts = {"kept": len(requests) - len(unanswered), "received": 0, "input_tokens": 0, "output_tokens": 0}
    if not unanswered:
        return counts
    key = read_key(chat_service.KEY_VARIABLE) if settings.service else _read_key()
    _check_folder(folder)
    log.info("%s requests to %s; %s are answered already", len(unanswered), settings.model, counts["kept"])
    with _open(key, settings) as ask:
        for request, text in unanswered.items():
            answer = ask(text, request)
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
    """Raise `InputError` if the folder is not writable, before an answer is paid for."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(f"answers cannot be saved here: {error}", str(folder), "choose another") from error


def _read_key() -> str:
    """Return the key from the environment; raise `InputError` if it is missing or malformed."""
    key = read_key(KEY_VARIABLE)
    if not key:
        raise InputError(
            "no key for the Anthropic API",
            KEY_VARIABLE,
            f"run `export {KEY_VARIABLE}=...` in this shell first",
        )
    return key


@contextmanager
def _open(key: str, settings: RequestSettings) -> Iterator[Callable[[str, Path], dict[str, Any]]]:
    """Yield what sends a text, the content of a file, and returns the answer."""
    if not settings.service:
        with _connect(key, settings) as client:
            yield lambda text, request: _request_answer(client, text, settings, request)
        return
    address = chat_service.check_address(settings.service)
    with Service(address, Manners(settings.timeout, settings.retries, 0.0), key) as service:
        yield lambda text, request: _ask_service(service, key, text, settings, request)


def _ask_service(
    service: Service, key: str, text: str, settings: RequestSettings, request: Path
) -> dict[str, Any]:
    """Return the answer of a service that speaks OpenAI's protocol; its faults name the request."""
    try:
        found = chat_service.ask_service(
            service, settings.model, text, settings.max_tokens, settings.bounds.size
        )
    except InputError as error:
        hint = error.hint.replace("the key", f"the key in {chat_service.KEY_VARIABLE}")
        raise InputError(error.what, f"{request}: {error.where}", hint) from error
    hidden: dict[str, Any] = _hide(found, key) if key else found
    return hidden


def _connect(key: str, settings: RequestSettings) -> "Anthropic":
    """Return a client that waits and retries by itself, and logs it."""
    with explain_imports():
        import anthropic
        import httpx2
    notes = logging.getLogger("anthropic")
    notes.handlers, notes.propagate = log.handlers, False
    notes.setLevel(logging.INFO)
    try:
        return anthropic.Anthropic(
            api_key=key,
            max_retries=settings.retries,
            timeout=anthropic.Timeout(settings.timeout, connect=min(30.0, settings.timeout)),
            default_headers={"Accept-Encoding": "identity"},
            http_client=anthropic.DefaultHttpxClient(
                event_hooks={"response": [partial(bound_response, bounds=settings.bounds)]}
            ),
        )
    except httpx2.InvalidURL as error:
        raise InputError(f"not an address: {error}", "ANTHROPIC_BASE_URL", "correct or unset it") from error


def _request_answer(
    client: "Anthropic", text: str, settings: RequestSettings, request: Path
) -> dict[str, Any]:
    """Return the raw message that answers a request; a service's faults become one message each."""
    import anthropic
    import httpx2

    where, key = str(request), str(client.api_key)
    service = clean_text(str(client.base_url), key)
    try:
        found = run_within(settings.bounds.seconds, partial(_stream_answer, client, text, settings))
    except BoundError as error:
        raise InputError(f"{service}: {error}", where, _TOO_MUCH) from error
    except anthropic.APIStatusError as error:
        raise _explain_error(error, request, key) from error
    except (anthropic.APIConnectionError, httpx2.HTTPError) as error:
        reason = " ".join(filter(None, [str(error), str(error.__cause__ or "")]))
        hint = _CERTIFICATE if "SSL" in reason else _AGAIN
        raise InputError(f"no answer from {service}: {clean_text(reason, key)}", where, hint) from error
    except _MALFORMED as error:
        raise InputError(
            f"unexpected answer from {service}: {clean_text(str(error), key)}", where, _ADDRESS
        ) from error
    if found is None:
        raise InputError(f"{service} sent no message", where, _ADDRESS)
    hidden: dict[str, Any] = _hide(found, key)
    return hidden


def _hide(value: Any, key: str) -> Any:
    """Return JSON values without the key: answers are kept in files, and a service may send it back."""
    if isinstance(value, dict):
        return {_hide(name, key): _hide(each, key) for name, each in value.items()}
    if isinstance(value, list):
        return [_hide(each, key) for each in value]
    return value.replace(key, "***") if isinstance(value, str) else value


def _stream_answer(client: "Anthropic", text: str, settings: RequestSettings) -> dict[str, Any] | None:
    """Return the raw message, streamed as long answers must be; None if none began."""
    started = False
    with client.messages.stream(
        model=settings.model,
        max_tokens=settings.max_tokens,
        messages=[{"role": "user", "content": text}],
    ) as stream:
        for event in show_progress(stream, "pieces of the answer"):
            started = started or event.type == "message_start"
        return stream.current_message_snapshot.to_dict(mode="json", warnings=False) if started else None


def _check_answer(answer: Any, where: str) -> None:
    """Raise `InputError` unless a raw message has blocks of text and counts of tokens, fit to be written."""
    try:
        _join_text(answer).encode()
        numbers = [answer["usage"].get(name) or 0 for name in _COUNTS]
        fit = all(isinstance(number, int) for number in numbers)
    except _MALFORMED:
        fit = False
    if not fit:
        raise InputError("not an answer of the service", where, _ADDRESS)


def _explain_error(error: Any, request: Path, key: str) -> InputError:
    """Return the service's error as an `InputError`, with a hint."""
    kind = clean_text(str(error.type or ""), key)
    about = clean_text(str(error.api_message or error.message), key)
    hint = _HINTS.get(kind, _AGAIN if error.status_code == 200 or error.status_code >= 500 else "")
    return InputError(f"the service answers {kind or error.status_code}: {about}", str(request), hint)


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
        **_name_sender(settings),
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


def _name_sender(settings: RequestSettings) -> dict[str, str]:
    """Return what sent a request, for the record: the package, or the service that it went to."""
    if settings.service:
        return {"service": settings.service}
    import anthropic

    return {"package": f"anthropic {anthropic.__version__}"}


def _join_text(answer: Mapping[str, Any]) -> str:
    """Return the text of a raw message without the model's thinking."""
    return "".join(block["text"] for block in answer["content"] if block["type"] == "text")


def _write_missing_text(answer: Mapping[str, Any], record: Path) -> None:
    """Write the text of an answer beside its record, unless it exists: a person may have edited it."""
    path = record.with_suffix(".txt")
    if not path.exists():
        write_text(path, _join_text(answer).rstrip("\n") + "\n")
