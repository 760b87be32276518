"""A chat service that answers by a rule."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from tests.benchmark.stub_service import completion
from tests.servers import forget_servers, listen

VARIABLE, SECRET = "TALKER_KEY", "sk-secret-0123456789"
Body = dict[str, Any]


@dataclass
class Chat:
    """What the service says, and what it was asked.

    Attributes
    ----------
    rule : callable
        Takes a request; returns a text, or a status with the body of an error.
    """

    rule: Callable[[Body], str | tuple[int, Body]] = lambda _: "no idea"
    asked: list[Body] = field(default_factory=list)
    keys: set[str | None] = field(default_factory=set)
    lock: Any = field(default_factory=threading.Lock)
    url: str = ""

    @property
    def messages(self) -> list[str]:
        """The messages of all requests as text, which tells one from another."""
        return [json.dumps(body["messages"]) for body in self.asked]


class Handler(BaseHTTPRequestHandler):
    """Answers as its stub's rule says."""

    stub: Chat

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        with self.stub.lock:
            self.stub.asked.append(body)
            self.stub.keys.add(self.headers.get("authorization"))
            said = self.stub.rule(body)
        status, answer = completion(said, model="talker-2099") if isinstance(said, str) else said
        text = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("retry-after", "0")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Chat]:
    """Run the service, and put its key into the environment."""
    stub = Chat()
    with listen(Handler, stub) as server:
        stub.url = f"http://127.0.0.1:{server.server_port}/v1"
        forget_servers(monkeypatch, VARIABLE)
        monkeypatch.setenv(VARIABLE, SECRET)
        yield stub
