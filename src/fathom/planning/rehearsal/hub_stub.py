"""A stub of the Hugging Face hub on 127.0.0.1, for what huggingface_hub asks of it: listings and files.

A rehearsal serves its small models and data sets there; tests break it.
"""

import hashlib
import json
import os
import re
import socket
import ssl
import struct
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit

from fathom.io.files import hash_text

Cut = Literal["close", "reset"]
_COMMIT = re.compile("[0-9a-f]{40}")


@dataclass
class Hub:
    """Repositories of the stub, and what was asked of it.

    `files`: by id, then by commit: the files of a repository. `branches`: by id, then by name, such as
    `main`: the commit of a branch or tag. `keys`: by id of a private repository: the key without which it is
    said not to be there. `cuts`: by name of a file: after how many bytes its next download is cut off, and
    how.
    """

    address: str = ""
    files: dict[str, dict[str, Mapping[str, bytes]]] = field(default_factory=dict)
    branches: dict[str, dict[str, str]] = field(default_factory=dict)
    gated: set[str] = field(default_factory=set)  # ids of repositories that list their files, but give none
    keys: dict[str, str] = field(default_factory=dict)
    cuts: dict[str, tuple[int, Cut]] = field(default_factory=dict)
    broken: bool = False
    broken_after_cut: bool = False  # whether the next cut breaks the hub
    asked: list[tuple[str, str, str]] = field(default_factory=list)  # method, path and range of each request

    def add(self, identifier: str, *revisions: Mapping[str, bytes]) -> list[str]:
        """Add a repository; return the commits of its revisions, the last of which is `main`."""
        commits = [hash_text(f"{identifier}{number}")[:40] for number in range(len(revisions))]
        self.files[identifier] = dict(zip(commits, revisions, strict=True))
        self.branches[identifier] = {"main": commits[-1]}
        return commits

    def publish(self, identifier: str, revision: str, files: Mapping[str, bytes]) -> None:
        """Add files to a repository at a commit, or at a branch or tag by its name; empty: `main`."""
        is_commit = _COMMIT.fullmatch(revision) is not None
        commit = revision if is_commit else hash_text(identifier, revision)[:40]
        self.files.setdefault(identifier, {})[commit] = files
        named = self.branches.setdefault(identifier, {})
        named.setdefault("main", commit)
        if not is_commit:
            named[revision or "main"] = commit

    def list_downloads(self, name: str) -> list[str]:
        """Return the ranges of all downloads of a file since the last call of `asked.clear`."""
        return [part for method, path, part in self.asked if method == "GET" and path.endswith(f"/{name}")]


def read_folder(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder and its subfolders, by their paths within it."""
    files = (file for file in sorted(folder.rglob("*")) if file.is_file())
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}


@contextmanager
def serve_hub() -> Iterator[Hub]:
    """Serve a stub of the hub inside the `with` block."""
    hub = Hub()
    with listen(_Handler, hub) as server:
        hub.address = f"http://127.0.0.1:{server.server_port}"
        yield hub


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    stub: Hub

    def log_message(self, *_: object) -> None:
        """Stay silent."""

    def do_HEAD(self) -> None:
        """Answer without a body."""
        self.do_GET()

    def do_GET(self) -> None:
        """Answer with a listing, or the bytes of a file."""
        path = unquote(urlsplit(self.path).path).strip("/")
        self.stub.asked.append((self.command, path, self.headers.get("Range", "")))
        # data sets as well as models
        words = re.sub("^(api/models/|api/datasets/|datasets/)", "", path).split("/")
        identifier = "/".join(words[:2])
        verb, revision, name = _split(words[2:])
        if refusal := self._find_refusal(identifier, verb, revision):
            return self._refuse(*refusal)
        if verb == "auth-check":
            return self._send_json({})
        files = self.stub.files[identifier]
        commit = self.stub.branches[identifier].get(revision, revision)
        if verb == "revision":
            return self._send_json({"id": identifier, "sha": commit, "siblings": []})
        if verb == "tree":
            whole = "recursive=true" in urlsplit(self.path).query.lower()
            listed = [_list_file(*file) for file in files[commit].items()] if whole else None
            return self._send_json(listed or _list_folder(files[commit], name))
        return self._send_file(identifier, commit, name, files[commit])

    def _find_refusal(self, identifier: str, verb: str, revision: str) -> tuple[int, str] | None:
        """Return status and code of what is refused before a file is asked for; None if nothing is."""
        if identifier not in self.stub.files:
            return 404, "RepoNotFound"
        key = self.stub.keys.get(identifier)
        if key and self.headers.get("Authorization") != f"Bearer {key}":
            return 401, "RepoNotFound"
        if verb == "auth-check":
            return (403, "GatedRepo") if identifier in self.stub.gated else None
        commit = self.stub.branches[identifier].get(revision, revision)
        return None if commit in self.stub.files[identifier] else (404, "RevisionNotFound")

    def _send_file(self, identifier: str, commit: str, name: str, files: Mapping[str, bytes]) -> None:
        if identifier in self.stub.gated:
            return self._refuse(403, "GatedRepo")
        if name not in files:
            return self._refuse(404, "EntryNotFound")
        if self.command == "GET" and self.stub.broken:
            return self._refuse(500, "")
        text = files[name]
        start = int((self.headers.get("Range") or "bytes=0-").removeprefix("bytes=").split("-")[0])
        headers = {"ETag": f'"{hashlib.sha256(text).hexdigest()}"', "X-Repo-Commit": commit}
        if start:
            headers["Content-Range"] = f"bytes {start}-{len(text) - 1}/{len(text)}"
        cut = self.stub.cuts.pop(name, None) if self.command == "GET" else None
        self.stub.broken |= cut is not None and self.stub.broken_after_cut
        return self._send(206 if start else 200, text[start:], headers, cut)

    def _send_json(self, values: object) -> None:
        self._send(200, json.dumps(values).encode(), {"Content-Type": "application/json"})

    def _refuse(self, status: int, code: str) -> None:
        self._send(status, b"", {"X-Error-Code": code})

    def _send(
        self, status: int, text: bytes, headers: Mapping[str, str], cut: tuple[int, Cut] | None = None
    ) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(text))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "HEAD":
            return
        self.wfile.write(text[: cut[0]] if cut else text)
        if cut:
            if cut[1] == "reset":  # the peer gets no end of the stream, but an error
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                os.close(self.connection.detach())  # the server would say the end first
            self.close_connection = True


def _split(words: list[str]) -> tuple[str, str, str]:
    verb, revision, *rest = [*words, *("revision", "main")[len(words) :]]
    return verb, revision, "/".join(rest)


def _list_folder(files: Mapping[str, bytes], folder: str) -> list[dict[str, object]]:
    start = f"{folder}/" if folder else ""
    inside = [name for name in files if name.startswith(start)]
    folders = sorted({name[len(start) :].partition("/")[0] for name in inside if "/" in name[len(start) :]})
    listed = [_list_file(name, files[name]) for name in inside if "/" not in name[len(start) :]]
    found: list[dict[str, object]] = [
        {"type": "directory", "path": f"{start}{name}", "oid": "0" * 40} for name in folders
    ]
    return found + listed


def _list_file(name: str, text: bytes) -> dict[str, object]:
    return {"type": "file", "path": name, "size": len(text), "oid": hashlib.sha256(text).hexdigest()[:40]}


@contextmanager
def listen(
    handler: type[BaseHTTPRequestHandler], stub: object, tls: ssl.SSLContext | None = None
) -> Iterator[ThreadingHTTPServer]:
    """Serve requests in a thread; the handler finds the stub, what it gives and was asked, as its `stub`."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (handler,), {"stub": stub}))
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
