"""One HTTP exchange by aiohttp, limited in time and size; the result is always an `Answer` or a `Failure`."""

import os
import ssl
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

import aiohttp
from yarl import URL

from victor_spark.fetch import Limits, addresses
from victor_spark.warc.headers import MAX_HEADER, decoded
from victor_spark.warc.shard import HTML_TYPES

PART: Final = 64 << 10

_STATUSES: Final = (
    (TimeoutError, "timeout"),
    (aiohttp.ClientConnectorDNSError, "dns"),
    (UnicodeError, "dns"),  # a host name with an empty label
    (aiohttp.ClientSSLError, "tls"),
    (ssl.SSLError, "tls"),
    (aiohttp.ClientConnectionError, "connection"),
    (OSError, "connection"),
    (aiohttp.ClientError, "bad_answer"),
    (ValueError, "bad_answer"),
)
"""The status of a failure by its exception, the first that fits."""


@dataclass(frozen=True)
class Answer:
    """An exchange with a response: its head, and its body without the transfer encoding.

    `truncated`: the WARC-Truncated reason of an incomplete body (length, time, disconnect), or None.
    """

    url: str
    at: datetime
    request: bytes
    status: int
    head: bytes
    body: bytes
    truncated: str | None
    ip: str | None
    seconds: float
    headers: tuple[tuple[bytes, bytes], ...] = ()

    def header(self, name: str) -> str | None:
        """The first header of that name: UTF-8, else Latin-1."""
        wanted = name.lower().encode()
        return next((decoded(value) for key, value in self.headers if key.lower() == wanted), None)


@dataclass(frozen=True)
class Failure:
    """An exchange without a response: a short status and the reason.

    The status is one of dns, private_address, tls, timeout, connection, bad_answer, error.
    """

    status: str
    why: str


class _Response(aiohttp.ClientResponse):
    """A response that keeps the IP address of its server, also when the connection is closed."""

    ip: str | None = None

    async def start(self, connection: Any) -> aiohttp.ClientResponse:
        peer = connection.transport and connection.transport.get_extra_info("peername")
        self.ip = str(peer[0]) if peer else None
        return await super().start(connection)


def session(user_agent: str, limits: Limits) -> aiohttp.ClientSession:
    """A client: a connection for each request, no cookies, no proxy, no private address unless allowed."""
    opening = partial(addresses.unconnected, allow_private=limits.allow_private)
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, force_close=True, socket_factory=opening),
        headers={
            "User-Agent": " ".join(user_agent.split()),
            "Accept": f"{','.join(HTML_TYPES)};q=0.9,*/*;q=0.5",
            "Accept-Encoding": "gzip, deflate",
        },
        cookie_jar=aiohttp.DummyCookieJar(),
        response_class=_Response,
        timeout=aiohttp.ClientTimeout(
            total=limits.seconds, sock_connect=min(limits.connect_seconds, limits.seconds)
        ),
        auto_decompress=False,
        max_line_size=MAX_HEADER,
        max_field_size=MAX_HEADER,
    )


async def ask(client: aiohttp.ClientSession, url: str, max_bytes: int) -> Answer | Failure:
    """The result of a GET request; no behaviour of the server or the network raises an error."""
    started, at = time.monotonic(), datetime.now(UTC)
    try:
        async with client.get(URL(url, encoded=True), allow_redirects=False) as response:
            assert isinstance(response, _Response)
            body, truncated = await _body(response, max_bytes)
            version, sent = response.version or aiohttp.HttpVersion11, response.request_info
            fields = [(name.encode(), text.encode("utf-8", "replace")) for name, text in sent.headers.items()]
            status_line = f"HTTP/{version.major}.{version.minor} {response.status} {response.reason or ''}"
            return Answer(
                url=url,
                at=at,
                request=_head(f"GET {sent.url.raw_path_qs} HTTP/1.1", fields),
                status=response.status,
                head=_head(status_line, _stored(response.raw_headers, len(body))),
                body=body,
                truncated=truncated,
                ip=response.ip,
                seconds=time.monotonic() - started,
                headers=response.raw_headers,
            )
    except Exception as error:  # noqa: BLE001 - an answer can make a library raise any error
        why = " ".join(_reason(error, client.timeout).split())[:300] or type(error).__name__
        status = next((status for kind, status in _STATUSES if isinstance(error, kind)), "error")
        if addresses.REFUSED in why:
            status = "private_address"
        return Failure(status, f"{type(error).__name__}: {why}" if status == "error" else why)


def _reason(error: Exception, limit: aiohttp.ClientTimeout) -> str:
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return f"no connection within {limit.sock_connect:g} s"
    if isinstance(error, TimeoutError):
        return f"no answer within {limit.total:g} s"
    if isinstance(error, aiohttp.ClientResponseError):
        return error.message
    cause: Any = getattr(error, "os_error", error)  # aiohttp's own text begins with host, port and ssl
    why = getattr(cause, "strerror", None) or str(cause)
    # asyncio's text repeats the address, and does not give the system's reason.
    return os.strerror(cause.errno).lower() if "Connect call failed" in why and cause.errno else why


async def _body(response: aiohttp.ClientResponse, limit: int) -> tuple[bytes, str | None]:
    """As much of the body as arrives within the limits, and the reason why it is incomplete."""
    body = bytearray()
    try:
        while part := await response.content.read(PART):
            body += part
            if len(body) > limit:
                return bytes(body[:limit]), "length"
    except TimeoutError:
        return bytes(body), "time"
    except (aiohttp.ClientError, OSError):
        return bytes(body), "disconnect"
    return bytes(body), None


def _stored(headers: Iterable[tuple[bytes, bytes]], n_bytes: int) -> Iterator[tuple[bytes, bytes]]:
    """The headers, those renamed that do not describe the stored body: chunked encoding, another length."""
    for name, value in headers:
        wrong = {b"transfer-encoding": True, b"content-length": value != b"%d" % n_bytes}
        yield b"X-Archive-Orig-" + name if wrong.get(name.lower()) else name, value


def _head(first_line: str, headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    lines = [first_line.encode("utf-8", "surrogateescape"), *(b"%b: %b" % each for each in headers)]
    return b"\r\n".join([*lines, b"", b""])
