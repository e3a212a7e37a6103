"""Servers of tests, on 127.0.0.1."""

import secrets
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@contextmanager
def served(handler: Callable[..., BaseHTTPRequestHandler]) -> Iterator[str]:
    """Runs a server that answers with `handler`; its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # type: ignore[method-assign]  # clients may hang up as well
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def free_ports(n: int) -> list[int]:
    """Free ports of 127.0.0.1, from a range of which connections get none."""
    ports: list[int] = []
    with ExitStack() as stack:
        while len(ports) < n:
            listener = stack.enter_context(socket.socket())
            with suppress(OSError):
                listener.bind(("127.0.0.1", 10_000 + secrets.randbelow(20_000)))
                ports.append(listener.getsockname()[1])
    return ports
