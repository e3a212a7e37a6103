"""A proxy before an S3 server, which answers requests itself where a test says so; signatures stay valid."""

import http.client
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Final
from urllib.parse import urlsplit

from tests import loopback

_OWN: Final = {"connection", "transfer-encoding", "content-length"}
MESSAGES: Final = {
    "SlowDown": (503, "Please reduce your request rate."),
    "ExpiredToken": (400, "The provided token has expired."),
    "AccessDenied": (403, "Access Denied"),
}


@dataclass
class Between:
    """Passes requests on to `target`, unless `fault` returns a fault for a request.

    A fault is the code of an error to answer with, or CUT, or how many bytes of the answer's body are sent.
    `ranges` are those that were asked for; `answered` counts codes. With a lock as `turn`, a request
    waits until the one before it has its answer.
    """

    target: str
    fault: Callable[["Handler"], str | int | None] = lambda _: None
    url: str = ""
    answered: Counter[str | int] = field(default_factory=Counter)
    ranges: list[str] = field(default_factory=list)
    turn: AbstractContextManager[object] = field(default_factory=nullcontext)

    def fail(self, *faults: str | int | None) -> None:
        """Sets the faults of the next requests with a range."""
        waiting = list(faults)
        self.fault = lambda handler: waiting.pop(0) if waiting and "Range" in handler.headers else None


CUT: Final = "cut"
"""Half of the request's body is passed on, and then both connections break."""


class Handler(BaseHTTPRequestHandler):
    """Passes one request on."""

    between: Between
    protocol_version = "HTTP/1.1"

    def log_message(self, *args: object) -> None:
        """Says nothing."""

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if "Range" in self.headers:
            self.between.ranges.append(self.headers["Range"].removeprefix("bytes="))
        with self.between.turn:
            self._serve(body)

    do_HEAD = do_PUT = do_POST = do_DELETE = do_GET  # noqa: N815 - names of the standard library

    def _serve(self, body: bytes) -> None:
        code = self.between.fault(self)
        self.between.answered["passed" if code is None else code] += 1
        if code is None or isinstance(code, int):
            self._pass_on(body, code)
        elif code == CUT:
            self._pass_half(body)
        else:
            status, message = MESSAGES[code]
            error = f"<Error><Code>{code}</Code><Message>{message}</Message></Error>".encode()
            self._answer(status, [("Content-Type", "application/xml")], error)

    def _pass_on(self, body: bytes, n: int | None = None) -> None:
        connection = http.client.HTTPConnection(self.between.target, timeout=60)
        try:
            connection.request(self.command, self.path, body, dict(self.headers))
            answer = connection.getresponse()
            content = answer.read()
        except OSError:  # the server is away
            self.close_connection = True
            self.connection.close()
            return
        finally:
            connection.close()
        fields = [(name, value) for name, value in answer.getheaders() if name.lower() not in _OWN]
        if self.command == "HEAD":
            fields.append(("Content-Length", answer.getheader("Content-Length") or "0"))
        self._answer(answer.status, fields, content, n)

    def _pass_half(self, body: bytes) -> None:
        connection = http.client.HTTPConnection(self.between.target, timeout=60)
        connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            connection.putheader(name, value)
        with suppress(OSError):
            connection.endheaders(body[: len(body) // 2])
        connection.close()
        self.close_connection = True

    def _answer(
        self, status: int, fields: list[tuple[str, str]], content: bytes, n: int | None = None
    ) -> None:
        self.send_response_only(status)
        for name, value in fields:
            self.send_header(name, value)
        if self.command != "HEAD" and status != 204:
            self.send_header("Content-Length", str(len(content)))
        elif not any(name == "Content-Length" for name, _ in fields) and status != 204:
            self.send_header("Content-Length", "0")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content[:n])
            self.close_connection = n is not None

    @property
    def wrote_ledger(self) -> bool:
        """Whether the request enters a wave in the ledger of a run."""
        return self.command == "PUT" and "/_run/ledger/" in urlsplit(self.path).path


@contextmanager
def between(target: str) -> Iterator[Between]:
    """Runs a go-between; `url` is its address."""
    made = Between(target)
    with loopback.served(type("Bound", (Handler,), {"between": made})) as made.url:
        yield made
