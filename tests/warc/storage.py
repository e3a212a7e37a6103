"""An S3 on this machine, and a go-between that fails in ways a test writes down."""

import http.client
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from tests import loopback

ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_MAX_ATTEMPTS": "1",  # our own tries are what is tested
}
FOREIGN = ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN")


@dataclass
class GoBetween:
    """Passes requests on to `target`; `faults`: what it does instead, for one GET of an object each."""

    target: str
    faults: list[Callable[["Handler"], None]] = field(default_factory=list)
    ranges: list[str] = field(default_factory=list)
    url: str = ""


class Handler(BaseHTTPRequestHandler):
    """Passes one request on."""

    between: GoBetween
    protocol_version = "HTTP/1.1"

    def log_message(self, *args: object) -> None:
        """Says nothing."""

    def do_GET(self) -> None:
        if "Range" in self.headers:
            self.between.ranges.append(self.headers["Range"].removeprefix("bytes="))
            if self.between.faults:
                self.between.faults.pop(0)(self)
                return
        self.pass_on()

    def do_HEAD(self) -> None:
        self.pass_on()

    def pass_on(self, n: int | None = None) -> None:
        """The true answer, or only the first `n` bytes of its body."""
        connection = http.client.HTTPConnection(self.between.target)
        connection.request(self.command, self.path, headers=dict(self.headers))
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("transfer-encoding", "connection", "content-length", "server", "date"):
                self.send_header(name, value)
        self.send_header("Content-Length", answer.getheader("Content-Length") or str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body[:n])
        self.close_connection = n is not None

    def busy(self) -> None:
        """S3's word for: slower, please."""
        body = b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"
        self.send_response(503)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def between(target: str) -> Iterator[GoBetween]:
    """Runs a go-between; `url` is its address."""
    gone_between = GoBetween(target)
    with loopback.served(type("Bound", (Handler,), {"between": gone_between})) as gone_between.url:
        yield gone_between


def fresh() -> None:
    """Forgets the connections that fsspec keeps."""
    import s3fs

    s3fs.S3FileSystem.clear_instance_cache()


@contextmanager
def s3() -> Iterator[Any]:
    """A moto server: a boto3 client of it. The environment points there, for us and our child processes."""
    pytest.importorskip("s3fs")
    moto_server = pytest.importorskip("moto.server")
    boto3 = pytest.importorskip("boto3")
    before = dict(os.environ)
    server = moto_server.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    for name in FOREIGN:
        os.environ.pop(name, None)
    os.environ.update(ENVIRONMENT, AWS_ENDPOINT_URL=f"http://{host}:{port}")
    fresh()
    client = boto3.client("s3")
    try:
        yield client
    finally:
        client.close()
        fresh()
        os.environ.clear()
        os.environ.update(before)
        server.stop()
