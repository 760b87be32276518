"""Servers on this machine that answer while a `with` block runs."""

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


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
