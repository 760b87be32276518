"""A client of JSON services: retries, a rate limit, and bounds on bytes, time and waiting."""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from multiprocessing.pool import AsyncResult, ThreadPool
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar

import orjson

from fathom.errors import InputError
from fathom.io.bounded_requests import BoundError, Bounds, bound_response, clean_text
from fathom.jobs.bounded_calls import run_within

if TYPE_CHECKING:
    import httpx2

_BUSY = frozenset({408, 425, 429, 500, 502, 503, 504, 529})
"""Answers after which the same request may succeed later."""
_REFUSED = frozenset({400, 422})
_WAIT = 30.0
"""Longest wait in seconds between two attempts."""
_CONNECT = 30.0
"""Longest time in seconds that a connection may take."""
_QUEUED = 2  # requests queued for each in flight
_AGAIN = "check that the server runs and can be reached from here; earlier answers are kept"

Question = TypeVar("Question")
Answer = TypeVar("Answer")


class RefusedRequestError(InputError):
    """A service refuses a request (400 or 422)."""


class RequestLimits(NamedTuple):
    """How to ask a service.

    `timeout`: seconds to wait for the next part of an answer. `per_second`: most requests per second; 0: no
    limit.
    """

    timeout: float
    retries: int
    per_second: float


class Service:
    """A JSON service at an address; several threads may ask it at one time.

    `key`: sent as a bearer token, and never shown in messages; empty: none.
    """

    def __init__(self, address: str, limits: RequestLimits, key: str = "") -> None:
        import httpx2

        self.address, self._limits, self._key = address, limits, key
        self._stopped, self._turn, self._next = threading.Event(), threading.Lock(), 0.0
        headers = {"Accept-Encoding": "identity", "Accept": "application/json"}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        timeout = httpx2.Timeout(limits.timeout, connect=min(_CONNECT, limits.timeout))
        self._client = httpx2.Client(headers=headers, timeout=timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopped.set()
        self._client.close()

    def get(self, url: str, size: int) -> Any:
        """Return the JSON value at an address of the same server, asked for once; see :meth:`post`."""
        return self._ask("GET", url, None, size, 1)

    def post(self, path: str, body: Any, size: int) -> Any:
        """Send a JSON value to a path below the address; return the answer.

        Raise `InputError` if the service is not reached, is busy after all attempts, refuses the request
        (`RefusedRequestError`), goes beyond a bound, or answers anything but JSON. `size`: bytes that the
        answer may have.
        """
        return self._ask("POST", f"{self.address}{path}", orjson.dumps(body), size, 1 + self._limits.retries)

    def clean(self, text: str) -> str:
        """Return text of the service, made safe for messages."""
        return clean_text(text, self._key)

    def _ask(self, method: str, url: str, body: bytes | None, size: int, attempts: int) -> Any:
        import httpx2

        seconds = (attempts + 1) * self._limits.timeout + (attempts - 1) * _WAIT
        bounds = Bounds(size, seconds, _WAIT)
        send = partial(self._send, method, url, body, bounds)
        try:
            response = run_within(bounds.seconds, partial(self._repeat, send, attempts))
        except BoundError as error:
            raise InputError(self.clean(str(error)), url, _AGAIN) from error
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            reason = self.clean(str(error) or type(error).__name__)
            raise InputError(f"no answer: {reason}", url, _AGAIN) from error
        if response.status_code != 200:
            refused = response.status_code in _REFUSED
            raise (RefusedRequestError if refused else InputError)(*self._explain(response, url))
        try:
            return orjson.loads(response.content)
        except orjson.JSONDecodeError as error:
            kind = response.headers.get("content-type", "something")
            what = f"the server answers {self.clean(kind)} and not JSON: {self.clean(response.text)[:80]}"
            raise InputError(what, url, "check the address: it usually ends in /v1") from error

    def _repeat(self, send: "Callable[[], httpx2.Response]", attempts: int) -> "httpx2.Response":
        import httpx2

        for attempt in range(attempts):
            last = attempt + 1 == attempts
            wait = min(0.5 * 2.0**attempt, _WAIT)
            try:
                response = send()
            except httpx2.TransportError:
                if last or self._stopped.is_set():
                    raise
            else:
                if response.status_code not in _BUSY or last:
                    return response
                wait = float(response.headers.get("retry-after", wait))  # bounded: it is a number
            if self._stopped.wait(wait):
                break
        raise BoundError("the request was given up")

    def _send(self, method: str, url: str, body: bytes | None, bounds: Bounds) -> "httpx2.Response":
        self._wait_for_turn()
        headers = {"Content-Type": "application/json"} if body is not None else {}
        with self._client.stream(method, url, content=body, headers=headers) as response:
            bound_response(response, bounds)
            response.read()
            return response

    def _wait_for_turn(self) -> None:
        """Wait until one more request keeps the rate limit; raise `BoundError` once the service is closed."""
        if self._stopped.is_set():
            raise BoundError("the request was given up")
        if not self._limits.per_second:
            return
        with self._turn:
            now = time.monotonic()
            start = max(now, self._next)
            self._next = start + 1 / self._limits.per_second
        self._stopped.wait(start - now)

    def _explain(self, response: "httpx2.Response", url: str) -> tuple[str, str, str]:
        status = response.status_code
        hints = {401: "check the key", 403: "check the key", 404: "check the address: it usually ends in /v1"}
        try:
            said = orjson.loads(response.content)
        except orjson.JSONDecodeError:
            said = response.text if "html" not in response.headers.get("content-type", "") else ""
        while isinstance(said, dict):
            said = next((said[name] for name in ("error", "message", "detail") if said.get(name)), "")
        text = self.clean(str(said))
        hint = hints.get(status, _AGAIN if status in _BUSY else "")
        return f"the server answers {status}{': ' if text else ''}{text}", url, hint


def ask_side_by_side(
    ask: Callable[[Question], Answer], questions: Iterable[Question], in_flight: int
) -> Iterator[Answer]:
    """Yield answers in the order of the questions; so many requests are in flight at one time."""
    waiting: deque[AsyncResult[Answer]] = deque()
    workers = ThreadPool(in_flight)  # its threads do not keep a program from ending
    try:
        for question in questions:
            waiting.append(workers.apply_async(ask, (question,)))
            if len(waiting) >= _QUEUED * in_flight:
                yield waiting.popleft().get()
        while waiting:
            yield waiting.popleft().get()
    finally:
        workers.terminate()  # after a fault, what still waits is not asked
