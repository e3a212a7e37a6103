"""Small sites on 127.0.0.x: correct, slow, endless, circular, inconsistent; they log each request."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from typing import Any

PAGE = b"<html><head><title>t</title></head><body><p>%s</p></body></html>"


class Site:
    """One host: what it was asked, and when by its own monotonic clock."""

    def __init__(self, host: str, robots: str | None, own: dict[str, Callable[[Any, int], None]]) -> None:
        self.asked: list[tuple[float, str]] = []
        self.agents: list[str] = []
        self.robots = robots
        self.broken = False
        self.own = own
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                site.asked.append((time.monotonic(), self.path))
                site.agents.append(self.headers["User-Agent"])
                self.close_connection = True
                n = sum(path == self.path for _, path in site.asked)
                with suppress(OSError):  # the fetcher had enough
                    site.answer(self, n)

            def log_message(self, *_: Any) -> None: ...

        self.server = ThreadingHTTPServer((host, 0), Handler)
        self.server.daemon_threads = True
        self.base = f"http://{host}:{self.server.server_port}"

    def answer(self, request: Any, n: int) -> None:
        path = request.path
        if self.broken:
            send(request, 500, b"")
        elif path in self.own:
            self.own[path](request, n)
        elif path == "/robots.txt":
            send(request, 404 if self.robots is None else 200, (self.robots or "").encode(), "text/plain")
        else:
            send(request, 200, PAGE % path.encode())

    def paths(self) -> list[str]:
        return [path for _, path in self.asked]

    def gaps(self) -> list[float]:
        times = [at for at, _ in self.asked]
        return [later - earlier for earlier, later in pairwise(times)]


def send(
    request: Any, status: int, body: bytes, kind: str = "text/html; charset=utf-8", **headers: str
) -> None:
    request.send_response(status)
    for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
        request.send_header(name.replace("_", "-"), value)
    request.end_headers()
    request.wfile.write(body)


def redirect(target: str, status: int = 302) -> Callable[[Any, int], None]:
    return lambda request, _: send(request, status, b"", Location=target)


def endless(request: Any, _: int) -> None:
    request.send_response(200)
    request.send_header("Content-Type", "text/html")
    request.end_headers()
    while True:
        request.wfile.write(b"<p>and so on</p>" * 1000)


def drop_by_drop(request: Any, _: int) -> None:
    request.send_response(200)
    request.send_header("Content-Type", "text/html")
    request.end_headers()
    while True:
        request.wfile.write(b"<p>drop</p>")
        request.wfile.flush()
        time.sleep(0.1)


def silent(_: Any, __: int) -> None:
    time.sleep(3)


def promises_more(request: Any, _: int) -> None:
    request.send_response(200)
    request.send_header("Content-Type", "text/html")
    request.send_header("Content-Length", "5000")
    request.end_headers()
    request.wfile.write(b"<p>this is all there is</p>")


def chunked(request: Any, _: int) -> None:
    request.send_response(200)
    request.send_header("Content-Type", "text/html")
    request.send_header("Transfer-Encoding", "chunked")
    request.end_headers()
    for part in (b"<p>in ", b"two parts</p>"):
        request.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
    request.wfile.write(b"0\r\n\r\n")


def busy_at_first(request: Any, n: int) -> None:
    send(request, 503 if n == 1 else 200, b"<p>later</p>", **({"Retry_After": "1"} if n == 1 else {}))


@contextmanager
def serving(
    host: str, robots: str | None = None, *, broken: bool = False, **own: Callable[[Any, int], None]
) -> Iterator[Site]:
    """A running site; `own` are its special pages: name → what answers /name."""
    site = Site(host, robots, {f"/{name}": answer for name, answer in own.items()})
    site.broken = broken
    thread = threading.Thread(target=site.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        site.server.shutdown()
        site.server.server_close()
        thread.join()
