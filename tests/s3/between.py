"""A go-between before an S3 server, which answers itself where a test says so; signatures stay valid."""

import http.client
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Final
from urllib.parse import urlsplit

from tests import loopback

_OWN: Final = {"connection", "transfer-encoding", "content-length"}
MESSAGES: Final = {
    "SlowDown": (503, "Please reduce your request rate."),
    "ExpiredToken": (400, "The provided token has expired."),
}


@dataclass
class Between:
    """Passes requests on to `target`. `fault`: the code of the error to answer a request with, or CUT."""

    target: str
    fault: Callable[["Handler"], str | None] = lambda _: None
    url: str = ""
    answered: Counter[str] = field(default_factory=Counter)


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
        code = self.between.fault(self)
        self.between.answered[code or "passed"] += 1
        if code is None:
            self._pass_on(body)
        elif code == CUT:
            self._pass_half(body)
        else:
            status, message = MESSAGES[code]
            error = f"<Error><Code>{code}</Code><Message>{message}</Message></Error>".encode()
            self._answer(status, [("Content-Type", "application/xml")], error)

    do_HEAD = do_PUT = do_POST = do_DELETE = do_GET  # noqa: N815 - names of the standard library

    def _pass_on(self, body: bytes) -> None:
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
        self._answer(answer.status, fields, content)

    def _pass_half(self, body: bytes) -> None:
        connection = http.client.HTTPConnection(self.between.target, timeout=60)
        connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            connection.putheader(name, value)
        with suppress(OSError):
            connection.endheaders(body[: len(body) // 2])
        connection.close()
        self.close_connection = True

    def _answer(self, status: int, fields: list[tuple[str, str]], content: bytes) -> None:
        self.send_response_only(status)
        for name, value in fields:
            self.send_header(name, value)
        if self.command != "HEAD" and status != 204:
            self.send_header("Content-Length", str(len(content)))
        elif not any(name == "Content-Length" for name, _ in fields) and status != 204:
            self.send_header("Content-Length", "0")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

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
