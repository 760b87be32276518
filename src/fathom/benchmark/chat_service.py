"""Ask a service that speaks OpenAI's protocol for a benchmark: one request, one whole answer."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from fathom.errors import InputError
from fathom.jobs.services import Service

KEY_VARIABLE = "FATHOM_SERVER_KEY"
"""The variable with the key of a service; many local services need none."""

_PATH = "/chat/completions"
_LIMIT, _NEWER_LIMIT = "max_tokens", "max_completion_tokens"
"""Names of the option that limits an answer; some models accept only the newer one, and say so."""
TEMPERATURE = "temperature"
"""The option for randomness; models that think refuse it, and say so."""
_REASONS = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"}
"""Reasons why an answer ends, in the words of the Anthropic API, which records use."""
Message = dict[str, str]
_HINT = "check the address under --service: it usually ends in /v1"


def check_address(address: str) -> str:
    """Return the address of a service without a trailing slash; raise `InputError` if it is invalid."""
    try:
        parts = urlsplit(address)
        fit = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        fit = False
    if not fit:
        raise InputError("not an address", "--service", "such as http://localhost:8000/v1")
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise InputError(
            "this address must have only server and path", "--service", f"a key belongs in {KEY_VARIABLE}"
        )
    return address.rstrip("/")


def ask_service(service: Service, model: str, text: str, max_tokens: int, size: int) -> dict[str, Any]:
    """Return a model's answer in the form of the Anthropic API, with the raw answer as `response`.

    Raise `InputError` if the service reports an error, is busy after all attempts, or answers something else.
    `size`: most bytes of the answer.
    """
    return ask_chat(service, model, [{"role": "user", "content": text}], {_LIMIT: max_tokens}, size)


def ask_chat(
    service: Service, model: str, messages: Sequence[Message], options: dict[str, Any], size: int
) -> dict[str, Any]:
    """Return a model's answer to messages, see :func:`ask_service`.

    Parameters
    ----------
    options : dict
        `max_tokens`, and `temperature` if wanted. Options that the service refuses are renamed or removed
        here too, for the next request.
    size : int
        Most bytes of the answer.
    """
    while True:
        asked = dict(options)
        try:
            found = service.post(_PATH, {"model": model, "messages": messages, **asked}, size)
            break
        except InputError as error:
            if _LIMIT in asked and _NEWER_LIMIT in error.what:
                options[_NEWER_LIMIT] = asked[_LIMIT]
                options.pop(_LIMIT, None)
            elif TEMPERATURE in asked and TEMPERATURE in error.what:
                options.pop(TEMPERATURE, None)
            else:
                raise
    try:
        return _read_answer(found)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise InputError("not an answer of a language model", f"{service.address}{_PATH}", _HINT) from error


def _read_answer(found: Any) -> dict[str, Any]:
    choice = found["choices"][0]
    text = choice["message"].get("content") or ""
    text.encode()
    used = found.get("usage") or {}
    counts = {"input_tokens": "prompt_tokens", "output_tokens": "completion_tokens"}
    reason = choice.get("finish_reason")
    return {
        "model": found.get("model"),
        "content": [{"type": "text", "text": text}],
        "stop_reason": _REASONS.get(reason, reason),
        "usage": {ours: int(used.get(theirs) or 0) for ours, theirs in counts.items()},
        "response": found,
    }
