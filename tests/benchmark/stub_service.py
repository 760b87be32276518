"""A server that imitates the service which writes reference benchmarks."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler

import pytest
from tests.servers import forget_servers, listen

from fathom.benchmark.reference_client import KEY_VARIABLE

SECRET = "sk-test-0123456789"


@dataclass
class Stub:
    """A server that gives the prepared replies, one a request, and keeps what it was asked."""

    replies: list[object] = field(default_factory=list)
    asked: list[dict[str, object]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    url: str = ""


def message(
    text: str = "pairs",
    stop: str | None = "end_turn",
    thought: str = "",
    model: str = "some-model-1-20990101",
) -> list[dict[str, object]]:
    """Return the events of a streamed answer; without a stop reason it breaks off before its end."""
    start = {"id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": [],
             "stop_reason": None, "stop_sequence": None,
             "usage": {"input_tokens": 7, "output_tokens": 1}}  # fmt: skip
    events: list[dict[str, object]] = [{"type": "message_start", "message": start}, {"type": "ping"}]
    if thought:
        block = {"type": "thinking", "thinking": "", "signature": ""}
        delta = {"type": "thinking_delta", "thinking": thought}
        events += [{"type": "content_block_start", "index": 0, "content_block": block},
                   {"type": "content_block_delta", "index": 0, "delta": delta},
                   {"type": "content_block_stop", "index": 0}]  # fmt: skip
    place = 1 if thought else 0
    events.append(
        {"type": "content_block_start", "index": place, "content_block": {"type": "text", "text": ""}}
    )
    deltas = [{"type": "text_delta", "text": letter} for letter in text]
    events += [{"type": "content_block_delta", "index": place, "delta": delta} for delta in deltas]
    if stop is None:
        return events
    return [*events, {"type": "content_block_stop", "index": place},
            {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None},
             "usage": {"output_tokens": 42}},
            {"type": "message_stop"}]  # fmt: skip


def completion(
    text: str | None = "pairs", stop: str | None = "stop", model: str = "some-model"
) -> tuple[int, object]:
    """Return the whole answer of a service that speaks OpenAI's protocol."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": stop}
    used = {"prompt_tokens": 7, "completion_tokens": 42, "total_tokens": 49}
    return 200, {"object": "chat.completion", "model": model, "choices": [choice], "usage": used}


def error(kind: str, text: str = "no luck") -> dict[str, object]:
    return {"type": "error", "error": {"type": kind, "message": text}}


class Handler(BaseHTTPRequestHandler):
    """Gives the replies of its stub."""

    stub: Stub

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.stub.asked.append(json.loads(body))
        self.stub.keys.append(self.headers.get("authorization") or self.headers.get("x-api-key") or "")
        self.stub.paths.append(self.path)
        reply = self.stub.replies.pop(0)
        if isinstance(reply, tuple):  # status and body of an error
            text = json.dumps(reply[1]) if isinstance(reply[1], dict) else reply[1]
            self.send_response(reply[0])
            self.send_header("content-type", "application/json")
            for name, value in (reply[2] if len(reply) > 2 else {"retry-after-ms": "1"}).items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(text)))
            self.end_headers()
            self.wfile.write(text.encode())
            return
        assert isinstance(reply, list)
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        last = reply[-1] if reply else {}
        cut = last.get("type") == "cut"
        if cut:  # promises more than it sends
            self.send_header("content-length", "1000000")
        self.end_headers()
        endless = last.get("type") == "for ever"
        for event in reply[: len(reply) - cut - endless]:
            self._send(event)
        with suppress(ConnectionError):
            while endless:
                time.sleep(last["wait"])
                self._send(last["event"])

    def _send(self, event: dict[str, object]) -> None:
        self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
        self.wfile.flush()

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stub]:
    """Run the server, and let the client find it and a key."""
    stub = Stub()
    with listen(Handler, stub) as server:
        stub.url = f"http://127.0.0.1:{server.server_port}"
        forget_servers(monkeypatch, "ANTHROPIC")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", stub.url)
        monkeypatch.setenv(KEY_VARIABLE, SECRET)
        yield stub
