"""A server that imitates the service which writes reference benchmarks."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from tests.servers import forget_servers, listen

from fathom.benchmark.chat_service import KEY_VARIABLE

SECRET = "sk-test-0123456789"


@dataclass
class Stub:
    """A server that gives the prepared replies, one a request, and keeps what it was asked."""

    replies: list[tuple[Any, ...]] = field(default_factory=list)
    asked: list[dict[str, object]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    url: str = ""


def completion(
    text: str | None = "pairs", stop: str | None = "stop", model: str = "some-model"
) -> tuple[int, object]:
    """Return the whole answer of a service that speaks OpenAI's protocol."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": stop}
    used = {"prompt_tokens": 7, "completion_tokens": 42, "total_tokens": 49}
    return 200, {"object": "chat.completion", "model": model, "choices": [choice], "usage": used}


class Handler(BaseHTTPRequestHandler):
    """Gives the replies of its stub."""

    stub: Stub

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.stub.asked.append(json.loads(body))
        self.stub.keys.append(self.headers.get("authorization") or self.headers.get("x-api-key") or "")
        self.stub.paths.append(self.path)
        status, answer, *headers = self.stub.replies.pop(0)
        text = answer if isinstance(answer, str) else json.dumps(answer)
        self.send_response(status)
        self.send_header("content-type", "application/json")
        for name, value in (headers[0] if headers else {"retry-after": "0"}).items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stub]:
    """Run the server, and put its key into the environment."""
    stub = Stub()
    with listen(Handler, stub) as server:
        stub.url = f"http://127.0.0.1:{server.server_port}"
        forget_servers(monkeypatch, "FATHOM_SERVER")
        forget_servers(monkeypatch, "ANTHROPIC")
        monkeypatch.setenv(KEY_VARIABLE, SECRET)
        yield stub
