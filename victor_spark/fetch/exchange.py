"""One HTTP request and what came of it, bounded in time and size."""

import asyncio
import ssl
import time
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import aiohttp
from yarl import URL

from victor_spark.fetch import addresses

PART: Final = 64 << 10


@dataclass(frozen=True)
class Limits:
    """Seconds for a whole exchange and for a connection, bytes of a body, and who may be asked."""

    seconds: float = 60.0
    connect_seconds: float = 15.0
    max_bytes: int = 10 << 20
    allow_private: bool = False


@dataclass(frozen=True)
class Answer:
    """An exchange with an answer: heads as they went over the line, the body without its transfer encoding.

    `truncated` is why the body is not whole (a WARC-Truncated reason: length, time, disconnect), None where
    it is.
    """

    url: str
    at: datetime
    request_head: tuple[tuple[str, str], ...]
    status: int
    reason: str
    version: str
    head: tuple[tuple[str, str], ...]
    body: bytes
    truncated: str | None
    ip: str | None
    seconds: float

    def header(self, name: str) -> str | None:
        """The first header of that name."""
        return next((value for key, value in self.head if key.lower() == name.lower()), None)


@dataclass(frozen=True)
class Failure:
    """An exchange without an answer: a short status (dns, private_address, tls, timeout, connection) and
    why.
    """

    url: str
    status: str
    why: str


@asynccontextmanager
async def client(limits: Limits, user_agent: str) -> AsyncIterator[aiohttp.ClientSession]:
    """The HTTP client: no cookies, no proxy, no redirects of its own, bodies as they come."""
    connector = aiohttp.TCPConnector(
        limit=0,
        force_close=True,
        socket_factory=addresses.sockets(allow_private=limits.allow_private),
    )
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=limits.connect_seconds)
    headers = {
        "User-Agent": user_agent,
        "Accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.5",
        "Accept-Encoding": "gzip, deflate",
    }
    async with aiohttp.ClientSession(
        connector=connector,
        timeout=timeout,
        headers=headers,
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
    ) as session:
        yield session


async def ask(
    session: aiohttp.ClientSession, url: str, limits: Limits, max_bytes: int | None = None
) -> Answer | Failure:
    """GETs one address; never raises for what a server or the net does."""
    started, at = time.monotonic(), datetime.now(UTC)
    deadline = asyncio.get_running_loop().time() + limits.seconds
    try:
        async with (
            asyncio.timeout_at(deadline),
            session.get(URL(url, encoded=True), allow_redirects=False) as response,
        ):
            ip = _peer(response)
            body, truncated = await _body(response, max_bytes or limits.max_bytes, deadline)
            version = response.version or aiohttp.HttpVersion11
            return Answer(
                url=url,
                at=at,
                request_head=tuple(response.request_info.headers.items()),
                status=response.status,
                reason=response.reason or "",
                version=f"HTTP/{version.major}.{version.minor}",
                head=tuple(
                    (name.decode("latin-1"), value.decode("latin-1")) for name, value in response.raw_headers
                ),
                body=body,
                truncated=truncated,
                ip=ip,
                seconds=time.monotonic() - started,
            )
    except TimeoutError:
        return Failure(url, "timeout", f"no answer within {limits.seconds:g} s")
    except (aiohttp.ClientError, OSError, ValueError) as error:
        return _failure(url, error)


def decoded(answer: Answer) -> bytes:
    """The body without its content encoding, as far as it can be read."""
    if (answer.header("Content-Encoding") or "").strip().lower() not in ("gzip", "x-gzip", "deflate"):
        return answer.body
    for window in (47, -15):  # gzip and zlib, or bare deflate
        try:
            return zlib.decompressobj(window).decompress(answer.body, 10 << 20)
        except zlib.error:
            continue
    return b""


def _peer(response: aiohttp.ClientResponse) -> str | None:
    transport = response.connection.transport if response.connection else None
    peer = transport.get_extra_info("peername") if transport else None
    return str(peer[0]) if peer else None


async def _body(response: aiohttp.ClientResponse, limit: int, deadline: float) -> tuple[bytes, str | None]:
    """As much of the body as comes within the limits, and why it is not whole."""
    body = bytearray()
    try:
        async with asyncio.timeout_at(deadline - 0.05):  # sooner than the one around it
            async for part in response.content.iter_chunked(PART):
                body += part
                if len(body) > limit:
                    return bytes(body[:limit]), "length"
    except TimeoutError:
        return bytes(body), "time"
    except (aiohttp.ClientError, OSError):
        return bytes(body), "disconnect"
    return bytes(body), None


def _failure(url: str, error: BaseException) -> Failure:
    why = " ".join(str(error).split())[:300] or type(error).__name__
    if addresses.REFUSED in why:
        return Failure(url, "private_address", why)
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return Failure(url, "dns", why)
    if isinstance(error, aiohttp.ClientSSLError | ssl.SSLError):
        return Failure(url, "tls", why)
    if isinstance(error, aiohttp.ClientResponseError | ValueError):
        return Failure(url, "bad_answer", why)
    return Failure(url, "connection", why)
