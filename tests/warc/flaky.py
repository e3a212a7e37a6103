"""A web server on this machine with faults that a test lists, request by request."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Self

from tests import loopback

_RANGE = re.compile(r"bytes=(\d+)-(\d*)")


@dataclass
class Site:
    """The files of a server, its faults, and the requests that it got.

    `faults`: one for each request that comes, then all is well; None: serve it.
    """

    files: dict[str, bytes]
    faults: list[Callable[["Handler"], None] | None] = field(default_factory=list)
    ranges: bool = True
    etag: str = '"first"'
    url: str = ""
    asked: list[tuple[int, int | None]] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)

    def always(self, fault: Callable[["Handler"], None]) -> Self:
        """Answers all further requests with this fault."""
        self.faults = [fault] * 1000
        return self


class Handler(BaseHTTPRequestHandler):
    """Serves one request of a `Site`."""

    site: Site
    protocol_version = "HTTP/1.1"

    def log_message(self, *args: object) -> None:
        """Logs nothing."""

    def do_GET(self) -> None:
        found = _RANGE.fullmatch(self.headers.get("Range", ""))
        self.site.asked.append(
            (int(found[1]), int(found[2]) + 1 if found[2] else None) if found else (0, None)
        )
        fault = self.site.faults.pop(0) if self.site.faults else None
        (fault or Handler.serve)(self)

    def serve(self, *, promised: int | None = None, sent: int | None = None) -> None:
        """The file, or the range of it; `sent` bytes of it where `promised` are announced."""
        content = self.site.files.get(self.path)
        if content is None:
            self.answer(404)
            return
        start, end = self.site.asked[-1]
        if not self.site.ranges or "Range" not in self.headers:
            self.answer(200, content[:sent], len(content) if promised is None else promised)
        elif start >= len(content):
            self.answer(416, fields={"Content-Range": f"bytes */{len(content)}"})
        else:
            part = content[start:end]
            span = {"Content-Range": f"bytes {start}-{start + len(part) - 1}/{len(content)}"}
            self.answer(206, part[:sent], len(part) if promised is None else promised, fields=span)

    def answer(
        self, status: int, body: bytes = b"", length: int | None = None, fields: dict[str, str] | None = None
    ) -> None:
        """An answer; the connection breaks when less comes than was promised."""
        self.site.answers.append(status)
        self.send_response(status)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.send_header("ETag", self.site.etag)
        for name, value in (fields or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        if length is not None and length != len(body):
            self.close_connection = True


def status(code: int, **fields: str) -> Callable[[Handler], None]:
    """The fault of answering with a status."""
    named = {name.replace("_", "-"): value for name, value in fields.items()}
    return lambda handler: handler.answer(code, fields=named)


def cut_after(n: int) -> Callable[[Handler], None]:
    """The fault of hanging up after so many bytes."""
    return lambda handler: handler.serve(sent=n)


def hang_up(handler: Handler) -> None:
    """The fault of hanging up without a word."""
    handler.site.answers.append(0)
    handler.close_connection = True


@contextmanager
def served(site: Site) -> Iterator[Site]:
    """Runs the server; `site.url` is its address."""
    handler = type("Bound", (Handler,), {"site": site})
    with loopback.served(handler) as site.url:
        yield site
