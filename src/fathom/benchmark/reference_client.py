"""Send requests for a benchmark through the Anthropic API; keep every answer that was paid for.

For each request two files: `NAME.json`, the record (who was asked what and when, the raw answer, its tokens),
and `NAME.txt`, the answer's text. A record that fits its request is never asked for again.
"""

import logging
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fathom.benchmark.reference import read_plain_text
from fathom.errors import InputError
from fathom.io.files import hash_text, read_json, write_json, write_text
from fathom.running.program import log, show_progress

if TYPE_CHECKING:
    from anthropic import Anthropic

KEY = "ANTHROPIC_API_KEY"
_INSTALL = "python -m pip install 'anthropic>=2'"
_AGAIN = "answers that came are kept: start the same command again later"
# what the API calls an error, and what to do about it
_HINTS = {
    "authentication_error": f"check the key in {KEY}",
    "permission_error": f"the key in {KEY} may not use this: check its workspace and the model's name",
    "not_found_error": "check the name under --model",
    "billing_error": "check the account's credit",
    "invalid_request_error": "check --model and --max-tokens (each model has its own largest value)",
    "request_too_large": "put fewer categories into each request",
    "rate_limit_error": f"too many requests or tokens for this account; {_AGAIN}",
    "overloaded_error": f"the service is busy; {_AGAIN}",
}
_UNFINISHED = {
    "max_tokens": (
        "the answer was cut off at {limit:,} tokens",
        "raise --max-tokens, or put fewer categories into each request (write_request.py --per-request)",
    ),
    "model_context_window_exceeded": (
        "the answer was cut off at the end of the model's context",
        "put fewer categories into each request (write_request.py --per-request)",
    ),
    "refusal": ("the model refuses to answer", "look at the request, ask another model, or leave it out"),
}


@dataclass(frozen=True)
class Sending:
    """How to send: model, longest answer in tokens, seconds of silence, further attempts."""

    model: str
    max_tokens: int
    timeout: float = 600.0
    retries: int = 6


def send_requests(requests: Sequence[Path], folder: Path, settings: Sending) -> dict[str, int]:
    """Send each request that has no answer yet, one after the other, and save each answer as it comes.

    Parameters
    ----------
    requests : sequence of Path
        Text files, as `write_request.py` writes them.
    folder : Path
        Where answers are and will be; named after the requests.
    settings : Sending
        Model, length, timeout and retries.

    Returns
    -------
    dict of str to int
        Counts: answers `kept` and `received`, and `input_tokens` and `output_tokens` of the latter.

    Raises
    ------
    InputError
        If a request is missing, empty or named like another; if the folder holds an answer to something else;
        if key or package are missing; if the service refuses; if an answer is refused, cut off or empty. What
        came before is saved, and an answer that is not whole is saved apart.
    """
    waiting = _find_waiting(requests, folder, settings.model)
    counts = {"kept": len(requests) - len(waiting), "received": 0, "input_tokens": 0, "output_tokens": 0}
    if not waiting:
        return counts
    key = _read_key()
    _check_folder(folder)
    log.info("%s requests to %s; %s answers are there", len(waiting), settings.model, counts["kept"])
    with _connect(key, settings) as client:
        for request, text in waiting.items():
            answer = _ask(client, text, settings, request)
            _save(answer, request, text, folder, settings)
            used = {name: int(answer["usage"].get(name) or 0) for name in ("input_tokens", "output_tokens")}
            log.info("%s: answered, %s tokens in, %s out", request.name, *(f"{n:,}" for n in used.values()))
            for name, number in {**used, "received": 1}.items():
                counts[name] += number
    return counts


def _find_waiting(requests: Sequence[Path], folder: Path, model: str) -> dict[Path, str]:
    """Return the requests that have no answer, with their texts; write out answers whose text is missing."""
    waiting: dict[Path, str] = {}
    names: dict[str, Path] = {}
    for request in requests:
        other = names.setdefault(request.stem, request)
        if other is not request:
            raise InputError(f"the answer would have the name of that to {other}", str(request), "rename one")
        if request.resolve().parent == folder.resolve():
            raise InputError(
                "answers would lie among the requests", str(request), "choose another folder for --output"
            )
        text = read_plain_text(request)
        if not text.strip():
            raise InputError("the request is empty", str(request), "write it again with write_request.py")
        path = folder / f"{request.stem}.json"
        if not path.exists():
            waiting[request] = text
            continue
        record = read_json(path)
        found = (record.get("request_sha256"), record.get("model")) if isinstance(record, dict) else None
        if found != (hash_text(text), model):
            raise InputError(
                f"this is no answer to {request} by {model}", str(path), "choose another folder for --output"
            )
        _write_missing_text(record["answer"], path)
    return waiting


def _check_folder(folder: Path) -> None:
    """Raise `InputError` if nothing can be written here, before an answer is paid for."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(f"no answer can be saved here: {error}", str(folder), "choose another") from error


def _read_key() -> str:
    """Return the key of the environment; raise `InputError` if there is none or it cannot be one."""
    key = os.environ.get(KEY, "").strip()
    if not key:
        raise InputError(
            "there is no key for the Anthropic API", KEY, f"export {KEY}=... in this shell first"
        )
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise InputError("this is no key: it holds blanks or other letters", KEY, "copy the key once more")
    return key


def _connect(key: str, settings: Sending) -> "Anthropic":
    """Return a client that waits and tries again by itself, and says so in the log."""
    try:
        import anthropic
        import httpx2
    except ImportError as error:
        raise InputError("the package anthropic is not installed", "", _INSTALL) from error
    notes = logging.getLogger("anthropic")
    notes.handlers, notes.propagate = log.handlers, False
    notes.setLevel(logging.INFO)
    try:
        return anthropic.Anthropic(
            api_key=key,
            max_retries=settings.retries,
            timeout=anthropic.Timeout(settings.timeout, connect=min(30.0, settings.timeout)),
        )
    except httpx2.InvalidURL as error:
        raise InputError(f"this is no address: {error}", "ANTHROPIC_BASE_URL", "mend or unset it") from error


def _ask(client: "Anthropic", text: str, settings: Sending, request: Path) -> dict[str, Any]:
    """Return the raw message that answers a request; it is streamed, as long answers have to be."""
    import anthropic
    import httpx2

    started = False
    try:
        with client.messages.stream(
            model=settings.model,
            max_tokens=settings.max_tokens,
            messages=[{"role": "user", "content": text}],
        ) as stream:
            for event in show_progress(stream, "pieces of the answer"):
                started = started or event.type == "message_start"
            if started:
                message: dict[str, Any] = stream.current_message_snapshot.to_dict(mode="json")
                return message
    except anthropic.APIStatusError as error:
        raise _explain(error, request) from error
    except (anthropic.APIConnectionError, httpx2.HTTPError) as error:
        reason = " ".join(filter(None, [str(error), str(error.__cause__ or "")]))
        raise InputError(f"no answer from {client.base_url}: {reason}", str(request), _AGAIN) from error
    except (anthropic.APIResponseValidationError, ValueError) as error:
        raise InputError(f"{client.base_url} answers in another form: {error}", str(request)) from error
    raise InputError(
        f"{client.base_url} sent no message", str(request), "check ANTHROPIC_BASE_URL, if it is set"
    )


def _explain(error: Any, request: Path) -> InputError:
    """Return what an error of the service means to a user."""
    kind = str(error.type or "")
    about = error.api_message or error.message
    hint = _HINTS.get(kind, _AGAIN if error.status_code == 200 or error.status_code >= 500 else "")
    return InputError(f"the service answers {kind or error.status_code}: {about}", str(request), hint)


def _save(answer: Mapping[str, Any], request: Path, text: str, folder: Path, settings: Sending) -> None:
    """Save an answer with all that is known of it; one that is not whole apart, and raise `InputError`."""
    import anthropic

    record = {
        "request": request.name,
        "request_sha256": hash_text(text),
        "model": settings.model,
        "max_tokens": settings.max_tokens,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "package": f"anthropic {anthropic.__version__}",
        "answer": answer,
    }
    whole = answer.get("stop_reason") == "end_turn" and bool(_join_text(answer).strip())
    if whole:
        path = folder / f"{request.stem}.json"
        write_json(path, record)
        _write_missing_text(answer, path)
        return
    names = (folder / f"{request.stem}.unfinished-{number}.json" for number in count(1))
    path = next(name for name in names if not name.exists())
    write_json(path, record)
    reason = str(answer.get("stop_reason"))
    what, hint = _UNFINISHED.get(reason, ("the answer is empty or broke off", _AGAIN))
    what = what.format(limit=settings.max_tokens)
    raise InputError(f"{what} (stop reason {reason}); it is kept in {path}", str(request), hint)


def _join_text(answer: Mapping[str, Any]) -> str:
    """Return the text of a raw message, without the model's thinking."""
    return "".join(block["text"] for block in answer["content"] if block["type"] == "text")


def _write_missing_text(answer: Mapping[str, Any], record: Path) -> None:
    """Write the text of an answer beside its record, unless it is there: a person may have mended it."""
    path = record.with_suffix(".txt")
    if not path.exists():
        write_text(path, _join_text(answer).rstrip("\n") + "\n")
